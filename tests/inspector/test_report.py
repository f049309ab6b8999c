"""The report is the page with its data inside, and nothing in a run can get out of its data."""

import base64
import gzip
import hashlib
import json
import re
import shutil

import pytest

from tgm.errors import RunError
from tgm.inspector import payload, report
from tgm.inspector.assets import bundled, page_files, plotly_script
from tgm.inspector.report import report_data, report_page
from tgm.runs import Run

SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def test_the_bundle_has_every_module_and_no_import_left():
    script = bundled()
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE)
    for name in page_files():
        if name.endswith(".js"):
            assert f'modules["{name}"] = ' in script
    order = [m[1] for m in re.finditer(r'^modules\["([^"]+)"\] = ', script, re.MULTILINE)]
    for use in re.finditer(r'= modules\["([^"]+)"\];', script):
        defined = script.index(f'modules["{use[1]}"] = ')
        assert defined < use.start()
    assert order[-1] == "main.js"


def test_the_policy_of_the_file_allows_its_own_scripts_only(run):
    page = report_page([run])
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1]
    scripts = SCRIPT.findall(page)
    assert len(scripts) == 1
    for script in (*scripts, unpacked(page, "tgm-charts")):
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy
    assert "connect-src" not in policy  # nothing may be fetched
    assert "/static/" not in SCRIPT.sub("", page).replace("tgm-data", "")


def unpacked(page, name):
    packed = re.search(rf'id="{name}">([A-Za-z0-9+/=]*)</script>', page)[1]
    return gzip.decompress(base64.b64decode(packed)).decode("utf-8")


def data_of(page):
    return json.loads(unpacked(page, "tgm-data"))


def test_the_page_holds_no_number_that_is_not_packed(run):
    page, data = report_page([run]), report_data([run])
    assert len(page) < 0.5 * (len(json.dumps(data)) + len(plotly_script()))
    assert unpacked(page, "tgm-charts").encode() == plotly_script()


def test_the_data_is_what_the_server_gives(run, paper_run):
    data = data_of(report_page([run, paper_run]))
    expected = json.loads(json.dumps(report_data([run, paper_run])))
    assert data == expected
    [first, second] = data["runs"]["runs"]
    assert [first["name"], second["name"]] == ["d-maze", "c-paper"]
    assert set(data["summary"]) == {first["id"]}
    assert set(data["outline"]) == {first["id"], second["id"]}
    assert [int(step) for step in data["chunks"][first["id"]]] == run.chunk_steps()


HOSTILE = "</script><script>alert(1)</script><!-- & \u2028 ]]>"


def test_hostile_content_stays_within_its_element(run, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(run.folder, folder)
    facts = json.loads((folder / "run.json").read_text())
    facts["agent"] = HOSTILE
    facts["world"]["maze"]["name"] = HOSTILE
    facts["interface"]["action_names"] = [HOSTILE] * 5
    (folder / "run.json").write_text(json.dumps(facts))
    page = report_page([Run.open(folder)])
    data = data_of(page)
    assert data["runs"]["runs"][0]["agent"] == HOSTILE
    assert len(SCRIPT.findall(page)) == 1
    assert HOSTILE not in page


def test_a_long_history_is_thinned_and_says_so(run, monkeypatch):
    monkeypatch.setattr(report, "MOST_HISTORY", 1)
    steps = run.chunk_steps()
    assert len(steps) > 1
    monkeypatch.setattr(report, "LEAST_CHUNKS", 1)
    data = report_data([run])
    [summary] = data["summary"].values()
    assert summary["chunks"] == steps[-1:]
    assert summary["chunks_left_out"] == len(steps) - 1
    [chunks] = data["chunks"].values()
    assert list(chunks) == [str(steps[-1])]


@pytest.mark.parametrize("place", [0, -1])
def test_a_part_of_the_history_that_is_damaged_is_named_and_the_rest_is_shown(place, run, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(run.folder, folder)
    step = run.chunk_steps()[place]
    damaged = Run.open(folder).folder / "history" / f"{step:010}.safetensors"
    damaged.write_bytes(damaged.read_bytes()[:-100])
    data = report_data([Run.open(folder)])
    [summary], [chunks] = data["summary"].values(), data["chunks"].values()
    [problem] = [one for one in summary["health"] if one["title"] == payload.UNREADABLE]
    assert damaged.name in problem["text"]
    assert str(tmp_path) not in problem["text"]
    assert chunks.pop(str(step)) == {"error": problem["text"]}
    assert all(len(chunk["obs.step"]) for chunk in chunks.values())
    assert summary["plane"] is not None
    assert summary["interface"]["n_features"] == 2


def test_a_link_in_a_run_is_not_followed(run, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(run.folder, folder)
    (folder / "metrics.jsonl").unlink()
    (folder / "metrics.jsonl").symlink_to("/etc/passwd")
    with pytest.raises(RunError, match="is a link"):
        report_page([Run.open(folder)])
