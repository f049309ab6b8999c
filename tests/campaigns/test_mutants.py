"""The campaign of mutants: which it makes, and what it says of those that no test notices."""

import json

import pytest
from campaigns.common.code_mutants import mutants_of, sample
from campaigns.common.statement_map import constants_at, users_of
from campaigns.mutants import Outcome, report, run, survivors_in

TOY = '''"""Prices."""

RATE = 0.25


def price(amount: float, floor: float) -> float:
    """With tax."""
    return max(amount * (1.0 + RATE), floor)


def count(items: list[int]) -> int:
    """Of those above one."""
    n = 0
    while items:
        n += items.pop() > 1
    return n
'''

TESTS = """
import pytest
from tgm.toy.shop import count, price


@pytest.fixture(scope="module")
def paid():
    return price(4.0, 1.0)


def test_it_is_a_price(paid):
    assert paid


def test_price(paid):
    assert paid == 5.0


def test_count():
    assert count([2, 3]) == 2
"""

SHOP = "src/tgm/toy/shop.py"


def changes(source: str) -> list[tuple[str, str]]:
    return [(mutant.before, mutant.after) for mutant in mutants_of(source, "toy.py")]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("a = b < c", ["a = b >= c"]),
        ("a = len(b) < c", ["a = len(b) >= c", "a = len(b) <= c"]),
        ("a = b is c", ["a = b is not c"]),
        ("a = (b + c) * 2.0", ["(b + c) / 2.0", "(b - c) * 2.0", "-2.0", "1.0", "4.0"]),
        ("a = b**2.5", ["a = (b * 2.5)", "-2.5", "1.25", "5.0"]),
        ("a = -(b - c)", ["a = (b - c)", "a = -(b + c)"]),
        ("a = b[0]", ["a = b[1]"]),
        ("a = b[-1]", ["a = b[1]"]),
        ("a = b + 1e-300", ["a = b - 1e-300", "a = b + -1e-300"]),
        ("a = b and not c", ["a = b or not c", "a = b and c"]),
        ("a = b if c else d", ["a = d if c else b"]),
        ("a = min(b)", ["a = max(b)"]),
        ("a = np.argmax(b)", ["a = np.argmin(b)"]),
        ("a = f(b, c)", ["a = f(c, b)"]),
        ("a = f(b, 'c')", []),
        ("a = zip(b, strict=True)", []),
        ("a: int = b", []),
        ("a += b", ["a -= b", "pass"]),
        ("a.b = c", ["pass"]),
        ("f(a)", ["pass"]),
        ("return a", ["return None"]),
        ("return None", []),
        ("raise Error('1' + f'{a + 1}')", ["pass"]),
        ("assert a < 1", []),
        ("if a: b = c", ["if not a: b = c"]),
        ("a = True", ["a = False"]),
    ],
)
def test_the_mutants_of_a_line(line, wanted):
    found = changes(f"def f():\n    '''Text.'''\n    {line}\n")
    assert len(found) == len(wanted)
    for (before, after), part in zip(found, wanted, strict=True):
        assert before == " ".join(line.split())
        assert part in after


def test_a_mutant_is_the_module_with_one_change():
    mutants = mutants_of(TOY, SHOP)
    assert {mutant.function for mutant in mutants} == {"", "price", "count"}
    for mutant in mutants:
        compile(mutant.source, SHOP, "exec")
        old, new = TOY.splitlines(), mutant.source.splitlines()
        differing = [n for n, (a, b) in enumerate(zip(old, new, strict=True), 1) if a != b]
        assert differing == [mutant.line]


def test_a_sample_takes_one_from_each_function_before_it_takes_two():
    mutants = mutants_of(TOY, SHOP)
    three = sample(mutants, 3, seed=0)
    assert {mutant.function for mutant in three} == {"", "price", "count"}
    assert sample(mutants, 8, seed=0) == sample(mutants, 8, seed=0) != sample(mutants, 8, seed=1)
    assert len(set(sample(mutants, 10**6, seed=0))) == len(mutants)


def test_a_constant_concerns_the_statements_that_use_it_or_what_is_made_from_it():
    source = "A = 1\nB = A + 1\n\n\ndef f(x=3):\n    y = B\n    self.A = 2\n    return x\n"
    assert constants_at(source, (1, 0)) == {"A"}
    assert constants_at(source, (5, 0)) == {"f"}  # of a default value, the function
    assert constants_at(source, (6, 4)) == set()  # tests are known to run it, or not to
    assert users_of({"f.py": source}, {"A"}) == {("f.py", 6, 4), ("f.py", 7, 4)}
    assert constants_at("class C:\n    d: int = 1\n", (2, 4)) == {"C", "d"}


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A repository of one module with two tests; one of its mutants never ends."""
    monkeypatch.setattr("campaigns.common.mutant_trials.PATIENCE", 3.0)  # seconds
    files = {
        SHOP: TOY,
        "src/tgm/__init__.py": "",
        "src/tgm/toy/__init__.py": "",
        "tests/toy/test_shop.py": TESTS,
        "pyproject.toml": '[tool.pytest.ini_options]\naddopts = ["--import-mode=importlib"]\n',
    }
    for name, text in files.items():
        (tmp_path / "root" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "root" / name).write_text(text)
    return tmp_path / "root"


def test_what_tests_notice_is_killed_and_what_they_do_not_notice_survives(toy, capsys):
    excused = SHOP, "count", "n += items.pop() > 1", "n += items.pop() > 2"
    stale = SHOP, "count", "n = 7", "n = 8"
    excuses = {excused: "no such list", stale: "gone"}
    outcome = run(toy, ["toy"], ["tests/toy"], 10**6, n_jobs=2, excuses=excuses)
    assert (toy / SHOP).read_text() == TOY
    survived = {(mutant.before, mutant.after) for mutant, _ in outcome.survived}
    # Nothing in the list is 1.
    assert survived == {("n += items.pop() > 1", "n += items.pop() >= 1")}
    killed = {mutant.after: verdict.by for mutant, verdict in outcome.killed}
    assert killed["RATE = 0.5"] == "tests/toy/test_shop.py::test_price"
    assert killed["n -= items.pop() > 1"] == "tests/toy/test_shop.py::test_count"
    assert len(outcome.killed) + len(survived) + 1 == len(mutants_of(TOY, SHOP))
    assert [reason for _, reason in outcome.excused] == ["no such list"]
    assert outcome.stale == [stale]
    assert "no such mutant any more" not in capsys.readouterr().out
    assert report(outcome) == 1  # for the entry that fits nothing
    said = capsys.readouterr().out
    assert "no such mutant any more" in said
    assert "no such list" in said


def test_survivors_are_tried_again_after_a_new_test(toy, tmp_path, capsys):
    (toy / SHOP).write_text("def is_much(n):\n    return n > 1\n")
    tests = "from tgm.toy.shop import is_much\n\n\ndef test_two_is():\n    assert is_much(2)\n"
    (toy / "tests/toy/test_shop.py").write_text(tests)
    kept = tmp_path / "kept.jsonl"
    run(toy, ["toy"], ["tests/toy"], 10**6, kept=kept)
    assert len(kept.read_text().splitlines()) == 4
    assert [after for *_, after in survivors_in(kept)] == ["return n >= 1"]
    tests += "\n\ndef test_one_is_not():\n    assert not is_much(1)\n"
    (toy / "tests/toy/test_shop.py").write_text(tests)
    again = run(toy, ["toy"], ["tests/toy"], 0, again=survivors_in(kept))
    assert [mutant.after for mutant, _ in again.killed] == ["return n >= 1"]
    report(again)
    assert "| toy | 1 | 1 | 0 | 100.0% | 0 |" in capsys.readouterr().out


def test_a_run_that_was_stopped_goes_on(toy, tmp_path, monkeypatch):
    (toy / SHOP).write_text("def is_much(n):\n    return n > 1\n")
    tests = "from tgm.toy.shop import is_much\n\n\ndef test_two_is():\n    assert is_much(2)\n"
    (toy / "tests/toy/test_shop.py").write_text(tests)
    kept, maps = tmp_path / "kept.jsonl", tmp_path / "maps"
    whole = run(toy, ["toy"], ["tests/toy"], 10**6, kept=kept, maps=maps)
    lines = kept.read_text().splitlines(keepends=True)
    kept.write_text("".join(lines[:2]))
    # The map is kept: no file of tests is run for it again.
    monkeypatch.setattr("campaigns.common.mutant_trials._map_file", None)
    again = run(toy, ["toy"], ["tests/toy"], 10**6, kept=kept, maps=maps)
    names = [{key: json.loads(line)[key] for key in ("becomes", "killed")} for line in lines]
    left = [json.loads(line) for line in kept.read_text().splitlines()[2:]]
    assert [{key: one[key] for key in ("becomes", "killed")} for one in left] == names[2:]
    for ours, theirs in ((whole.killed, again.killed), (whole.survived, again.survived)):
        assert {mutant.key for mutant, _ in ours} == {mutant.key for mutant, _ in theirs}


def test_a_mutant_that_never_ends_is_killed(toy):
    (toy / SHOP).write_text("def count(items):\n    while items:\n        items.pop()\n")
    (toy / "tests/toy/test_shop.py").write_text(
        "from tgm.toy.shop import count\n\n\ndef test_count():\n    count([1])\n"
    )
    outcome = run(toy, ["toy"], ["tests/toy"], 10**6)
    killed = {mutant.after: verdict.by for mutant, verdict in outcome.killed}
    assert killed == {"pass": "tests/toy/test_shop.py::test_count (signal 27)"}
    assert [mutant.after for mutant, _ in outcome.survived] == ["while not items:"]


def test_too_many_survivors_make_the_campaign_fail():
    mutant, *_ = mutants_of(TOY, SHOP)
    some = [(mutant, None)]
    assert report(Outcome(killed=some * 9, survived=some)) == 0
    assert report(Outcome(killed=some * 8, survived=some)) == 1
