"""What the package says of itself is said once."""

import re
import tomllib
from pathlib import Path

import tgm

ROOT = Path(__file__).parents[1]


def test_the_version_is_the_same_everywhere():
    written = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", written, re.M)[1] == tgm.__version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## ([\d.]+)", changes, re.M)[1] == tgm.__version__
    pages = [ROOT / "docs" / "index.md", *(ROOT / "docs").glob("tutorial-*.md")]
    for page in pages:
        wheel = re.search(r"temporal_gaussian_mixture-([\d.]+)-py3", page.read_text())
        assert wheel[1] == tgm.__version__, page.name


def test_the_source_distribution_holds_every_folder_and_file_of_the_repository():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = set(project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"])
    for name in ("src", "tests", "docs", "examples", "benchmarks", "campaigns", "Makefile"):
        assert f"/{name}" in included
    for name in included:
        assert (ROOT / name.removeprefix("/")).exists(), name


def test_no_picture_and_no_link_of_the_description_leads_nowhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "![" in text
    readme = project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    for change in readme["substitutions"]:
        text = re.sub(change["pattern"], change["replacement"], text)
    assert "![" not in text
    assert re.findall(r"\]\((?!https?:)[^)]*\)", text) == []


def test_no_extra_names_a_package_that_is_not_pinned():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    pinned = {_plain(line) for line in (ROOT / "constraints.txt").read_text().splitlines()}
    names = {_plain(one) for group in groups for one in group} - {"temporal_gaussian_mixture"}
    assert names <= pinned


def _plain(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement)[0].lower().replace("-", "_")
