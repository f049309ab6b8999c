"""A process in which one constant has another value. A script: it is run by its path.

The import hook is installed before anything of tgm is imported. It adds an assignment to the
source of one module, right after that of the constant. Values that are derived from the constant
at import, and modules that import it by name, follow.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import json
import sys
from collections.abc import Sequence
from types import CodeType, ModuleType


class PatchedLoader(importlib.machinery.SourceFileLoader):
    """Loads a module with one more assignment."""

    constant: str
    value: str

    def get_code(self, fullname: str) -> CodeType:
        """Compile the changed source; no cached bytecode is read or written."""
        tree = ast.parse(self.get_data(self.path))
        places = [
            index
            for index, statement in enumerate(tree.body)
            for node in ast.walk(statement)
            if isinstance(statement, ast.Assign | ast.AnnAssign)
            and isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Store)
            and node.id == self.constant
        ]
        if not places:
            raise ImportError(f"{fullname} assigns no {self.constant}")
        addition = ast.parse(f"{self.constant} = {self.value}").body
        tree.body[places[0] + 1 : places[0] + 1] = addition
        return compile(tree, self.path, "exec", dont_inherit=True)


class Patch(importlib.abc.MetaPathFinder):
    """Finds one module, to load it with another value of one of its constants."""

    def __init__(self, module: str, constant: str, value: str) -> None:
        """Patch `constant` of `module`; `value` is an expression."""
        self.module, self.constant, self.value = module, constant, value

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The module's own spec with another loader; None for all other modules."""
        if fullname != self.module:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None:
            return None
        loader = PatchedLoader(fullname, spec.origin)
        loader.constant, loader.value = self.constant, self.value
        spec.loader = loader
        return spec


def main() -> None:
    """Print one line of JSON for each run: what was measured, and its seconds of processor time."""
    request = json.loads(sys.argv[1])
    if request["module"]:
        patch = Patch(request["module"], request["constant"], request["value"])
        sys.meta_path.insert(0, patch)

    import resource
    import time

    from tgm.experiments.harness.plain import to_plain
    from tgm.experiments.sensitivity.worlds import measure

    if request["module"] and request["module"] not in sys.modules:
        sys.exit(f"{request['module']} is not imported by the agent")
    most = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (request["seconds"], most))
    for world in request["worlds"]:
        for seed in range(request["seeds"]):
            began = time.process_time()
            measured = to_plain(measure(world, seed))
            print(json.dumps([measured, round(time.process_time() - began, 3)]), flush=True)


if __name__ == "__main__":
    main()
