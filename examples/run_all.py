"""Runs every example in full and saves its picture: `make gallery`."""

import argparse
import importlib.util
import time
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent


def load(path: Path) -> ModuleType:
    """An example as a module; its `main` gives a figure."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def examples() -> list[Path]:
    """All of them."""
    return [path for path in sorted(HERE.glob("*.py")) if path != Path(__file__)]


def main() -> None:
    """Run those that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=Path, default=Path("gallery"))
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    asked.pictures.mkdir(parents=True, exist_ok=True)
    for path in examples():
        if not asked.names or path.stem in asked.names:
            began = time.perf_counter()
            print(f"== {path.stem}", flush=True)
            load(path).main().savefig(asked.pictures / f"{path.stem}.png", dpi=80)
            print(f"   {time.perf_counter() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
