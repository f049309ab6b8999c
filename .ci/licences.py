"""The licences in a CycloneDX list, as a table of Markdown: `licences.py dist/sbom.cdx.json`."""

import json
import sys
from pathlib import Path
from typing import Any


def licence_of(component: dict[str, Any]) -> str:
    """The SPDX expression, ids or names; "unknown" if the package does not say."""
    found = []
    for entry in component.get("licenses", []):
        licence = entry.get("license", {})
        found.append(entry.get("expression") or licence.get("id") or licence.get("name"))
    short = [str(name).removeprefix("License :: OSI Approved :: ") for name in found if name]
    named = sorted({name for name in short if len(name) < 100})
    return ", ".join(named) or "unknown"


def main() -> None:
    """Print a row for each component, by name."""
    components = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["components"]
    print("| package | version | licence |\n|---|---|---|")
    for part in sorted(components, key=lambda part: part["name"].lower()):
        print(f"| {part['name']} | {part.get('version', '')} | {licence_of(part)} |")


if __name__ == "__main__":
    main()
