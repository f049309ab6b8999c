"""Findings about a run: what is wrong, what is unusual, what is sound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tgm.agent.diagnosis import finding_of, remedy_of
from tgm.distributions import BoolArray, FloatArray
from tgm.distributions.gaussian import with_width
from tgm.envs import EnvSpec, Maze
from tgm.experiments.structure import compare_structure
from tgm.inspector.finding import Finding, Level, worst_first
from tgm.inspector.log import Log
from tgm.inspector.plain import text
from tgm.planning.model_planner import TRIED
from tgm.runs import Frame, RunStatus
from tgm.runs.summary import advice_in, solved_of

OVERLAP = 2.0  # standard deviations; two nearer means may be one place with two states
WIDE = 1.7  # times the median width; a wider state may be two places
HAS_DATA = 0.5  # points
MOST_NAMED = 8
FEW_PAIRS = 3  # up to so many overlaps get a finding each
CUT = 0.5  # overlapping pairs for each state: with more, places are cut into pieces
SCALE_WORDS = (
    "So many states overlap that places seem to be cut into pieces. Set bandwidth to the distance "
    "of two places, or leave out features that are noise."
)
RECENT = 20  # episodes
MOST_PAIRED = 1500  # states whose pairs are compared
MOST_WORK = 200_000_000  # pairs times the cube of features: a second
MOST_CELLS = 10_000_000  # of the transition matrices that are compared with the maze
BLOCK = 2_000_000  # numbers of the covariances that are averaged in one block


def findings(
    status: RunStatus,
    steps: tuple[int, int],
    log: Log,
    frame: Frame | None,
    world: EnvSpec,
) -> list[Finding]:
    """All findings, the worst first.

    Args:
        status: whether the run goes on.
        steps: how many were taken, and how many were planned.
        log: its log.
        frame: the model after the last step; None for agents without a history.
        world: the environment of the run.
    """
    maze = world.maze
    found = [_state_of_run(status, steps), *_log_problems(log), *_ends(log, world, status)]
    found += [*_advice(status), *_features(status)]
    if frame is not None and len(frame.ids):
        places = not flows(frame)
        found += _overlapping(frame) if places else []
        found += [*_wide(frame), *_without_data(frame)]
        # From support points laws lead on, whatever was tried there.
        found += [*_never_left(frame), *_untried(frame)] if places else []
        n_cells = frame.n_actions * len(frame.ids) ** 2
        if maze is not None and frame.mean.shape[1] == 2 and n_cells <= MOST_CELLS:
            found += _against_the_maze(frame, maze)
        if places and not any(finding.level in ("warning", "problem") for finding in found):
            text = f"{len(frame.ids)} states: none overlap, none is too wide, each has data."
            found.append(Finding("good", "The states look sound", text))
    elif frame is not None:
        found.append(Finding("note", "No states yet", "The model has no component so far."))
    return worst_first(found)


def _state_of_run(status: RunStatus, steps: tuple[int, int]) -> Finding:
    done = f"{steps[0]} of {steps[1]} planned steps"
    because = f" {status.reason}" if status.reason else ""
    if status.state == "finished":
        return Finding("good", "The run is finished", f"{done} were taken.")
    if status.state == "live":
        return Finding("note", "The run is live", f"{done} so far; this page follows it.")
    if status.state == "unknown":
        return Finding("note", "The run is live or was killed", f"{done} so far.{because}")
    if status.state == "interrupted":
        return Finding("warning", "The run was interrupted", f"{done} were taken.{because}")
    title = "The run failed" if status.state == "failed" else "The run is broken"
    return Finding("problem", title, f"{done} were taken.{because}")


def _advice(status: RunStatus) -> list[Finding]:
    """What the agent itself said, in its words: whether learning works, and what to do."""
    return [
        Finding("warning", text(_sentence(finding_of(advice))), text(f"{remedy_of(advice)}."))
        for advice in advice_in(status)
    ]


def _features(status: RunStatus) -> list[Finding]:
    """Which features tell states apart, if some do not; written at the end of a run."""
    advice = text(status.result.get("features"))
    return [Finding("note", "Features were left out", f"{_sentence(advice)}.")] if advice else []


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _log_problems(log: Log) -> list[Finding]:
    found = [Finding("problem", "The log is damaged", f"{text}.") for text in log.problems]
    if not log.is_whole:
        text = "The log is long: its beginning and end are shown whole, the middle by samples."
        found.append(Finding("note", "Curves are thinned", text))
    return found


def _ends(log: Log, world: EnvSpec, status: RunStatus) -> list[Finding]:
    """How episodes end: in a maze, by reaching the goal; elsewhere an end may be good or bad."""
    maze = world.maze
    if maze is not None and (why := maze.why_unsolvable(world.episode_limit)):
        text = f"No episode can end at the goal: {why}."
        return [Finding("problem", "The goal is out of reach", text)]
    ended = log.episodes["terminated"]
    if not ended:
        return [Finding("note", "No episode has ended", "There is no return to show yet.")]
    if maze is None:
        text = _ends_in_words(sum(ended), len(ended))
        return [Finding("note", "How episodes end", text)]
    if not any(ended) and solved_of(status.result, world):
        text = f"None of {len(ended)} episodes reached it while learning; greedy ones after it did."
        return [Finding("note", "The goal was reached after learning only", text)]
    if not any(ended):
        text = f"None of {len(ended)} episodes terminated; all were cut off by the time limit."
        return [Finding("warning", "The goal was never reached", text)]
    first = ended.index(1)
    step = int(log.episodes["step"][first])
    recent = ended[-RECENT:]
    text = (
        f"First at step {step}, in episode {log.episodes['episode'][first]}. Of the last "
        f"{len(recent)} episodes {sum(recent)} terminated."
    )
    level: Level = "good" if sum(recent) else "warning"
    title = "The goal was reached" if sum(recent) else "The goal is no longer reached"
    return [Finding(level, title, text, step=step)]


def _ends_in_words(n_terminated: int, n: int) -> str:
    """How many episodes ended by themselves, and how many were cut off."""
    if n == 1:
        return f"The one episode {'terminated' if n_terminated else 'ran into its limit'}."
    if n_terminated == n:
        return f"All {n} episodes terminated; none ran into a limit."
    if n_terminated == 0:
        return f"All {n} episodes ran into their limit; none terminated."
    cut_off = n - n_terminated
    others = "the other one" if cut_off == 1 else f"the other {cut_off}"
    return f"{n_terminated} of {n} episodes terminated; {others} ran into a limit."


def _overlapping(frame: Frame) -> list[Finding]:
    """Pairs of components whose means are less than OVERLAP standard deviations apart."""
    n_states, n_features = frame.mean.shape
    if n_states > MOST_PAIRED or n_states**2 * n_features**3 > MOST_WORK:
        text = f"{n_states} states of {n_features} features are too many to compare all pairs."
        return [Finding("note", "Overlaps were not searched", text)]
    distance = separations(frame.mean, frame.covariance)
    alike = distance == 0.0  # clones: one look, and rows of their own
    pairs = np.argwhere(np.triu((distance < OVERLAP) & ~alike, 1))
    pairs = pairs[np.argsort(distance[pairs[:, 0], pairs[:, 1]])]
    named = [
        (int(frame.ids[one]), int(frame.ids[other]), float(distance[one, other]))
        for one, other in pairs[:MOST_NAMED]
    ]
    found = _looking_alike(frame, alike)
    if len(pairs) <= FEW_PAIRS:
        return found + [
            Finding(
                "warning",
                f"States {one} and {other} overlap",
                f"Their means are {apart:.1f} standard deviations apart: they may be one place "
                "that was found twice.",
                (one, other),
            )
            for one, other, apart in named
        ]
    listed = ", ".join(f"{one} and {other} ({apart:.1f})" for one, other, apart in named)
    more = f", and {len(pairs) - len(named)} more" if len(pairs) > len(named) else ""
    text = (
        "They may be places that were found twice. Distance of their means in standard "
        f"deviations: {listed}{more}."
    )
    ids = tuple(dict.fromkeys(id_ for one, other, _ in named for id_ in (one, other)))
    found.append(Finding("warning", f"{len(pairs)} pairs of states overlap", text, ids))
    if len(pairs) >= CUT * n_states:
        found.append(Finding("warning", "The scale may not fit", SCALE_WORDS))
    return found


def _looking_alike(frame: Frame, alike: BoolArray) -> list[Finding]:
    """States that share one look, (n, n) `alike`: what follows tells them apart."""
    shared = np.flatnonzero(alike.sum(axis=1) > 1)
    if not len(shared):
        return []
    text = (
        "They are seen in the same way, and told apart by what came before and what follows: "
        f"{_named(tuple(int(frame.ids[i]) for i in shared))}."
    )
    return [Finding("note", f"{len(shared)} states are places that look alike", text)]


def separations(mean: FloatArray, covariance: FloatArray) -> FloatArray:
    """(n, n) distance between each two means, in standard deviations of their mean covariance."""
    n_states, n_features = mean.shape
    rows = max(1, BLOCK // max(1, n_states * n_features**2))
    blocks = [np.zeros((0, n_states))]
    for start in range(0, n_states, rows):
        some = slice(start, start + rows)
        difference = mean[some, None] - mean[None]
        average = with_width(0.5 * (covariance[some, None] + covariance[None]))
        solved = np.linalg.solve(average, difference[..., None])[..., 0]
        blocks.append(np.sqrt(np.maximum(np.einsum("ijk,ijk->ij", difference, solved), 0.0)))
    return np.concatenate(blocks)


def _wide(frame: Frame) -> list[Finding]:
    """Components much wider than most."""
    if len(frame.ids) < 4:
        return []
    widths = np.sqrt(np.linalg.eigvalsh(frame.covariance)[:, -1])
    usual = float(np.median(widths))
    if usual <= 0:
        return []
    found = []
    for index in np.argsort(-widths)[:MOST_NAMED]:
        if widths[index] > WIDE * usual and frame.weight[index] >= 2:
            id_ = int(frame.ids[index])
            text = (
                f"Its standard deviation is {widths[index]:.2g} along its long axis, "
                f"{widths[index] / usual:.1f} times the usual: it may be several places in one."
            )
            found.append(Finding("warning", f"State {id_} is wide", text, (id_,)))
    return found


def flows(frame: Frame) -> bool:
    """Whether states are support points, no places: only then some were never visited."""
    return bool((frame.weight == 0.0).any())


def _without_data(frame: Frame) -> list[Finding]:
    found = []
    n_imagined = int((frame.weight == 0.0).sum())
    if n_imagined:
        text = f"{n_imagined} of {len(frame.ids)} states were not visited: laws lead there."
        found.append(Finding("note", "Imagined states", text))
    empty = tuple(int(i) for i in frame.ids[(frame.weight < HAS_DATA) & (frame.weight > 0.0)])
    if empty:
        text = f"{_named(empty)} hold less than half a point: no observation supports them."
        found.append(Finding("warning", "Components without data", text, empty))
    return found


def _never_left(frame: Frame) -> list[Finding]:
    """States in which actions were tried, but none led to another state or to an end."""
    left: dict[int, float] = {}
    tries: dict[int, float] = {}
    for (id_, _), row in frame.rows.items():
        total = sum(row.next.values())
        stays = row.next.get(id_, 0.0) / total if total > 0 else 0.0
        left[id_] = left.get(id_, 0.0) + row.visits * max(row.end, 1.0 - stays)
        tries[id_] = tries.get(id_, 0.0) + row.visits
    stuck = tuple(
        int(id_) for id_ in frame.ids if tries.get(int(id_), 0.0) >= 1 and left[int(id_)] < TRIED
    )
    if not stuck:
        return []
    text = f"No action has led out of {_named(stuck)} so far: either a trap, or too few tries."
    return [Finding("warning", "States never left", text, stuck)]


def _untried(frame: Frame) -> list[Finding]:
    tried = sum(row.visits > TRIED for row in frame.rows.values())
    total = frame.n_actions * len(frame.ids)
    if tried >= total:
        text = f"Each of {total} pairs of state and action has been tried."
        return [Finding("good", "Everything was tried", text)]
    text = (
        f"{total - tried} of {total} pairs of state and action were not tried; the plan does not "
        "use them."
    )
    return [Finding("note", "Some actions are unknown", text)]


def _against_the_maze(frame: Frame, maze: Maze) -> list[Finding]:
    report = compare_structure(_LearnedMap.of(frame), maze)
    counts = report.counts
    if counts["learned"] == len(report.cells) == len(frame.ids):
        text = f"One state for each of the {len(report.cells)} cells of maze {maze.name}."
        return [Finding("good", "The map is exact", text)]
    words = {
        "fused": "covered only by a state of another cell",
        "duplicated": "with several states",
        "missing": "without any state",
    }
    parts = [f"{counts[kind]} {what}" for kind, what in words.items() if counts[kind]]
    text = f"Of {len(report.cells)} cells, {counts['learned']} have a state of their own"
    text += "".join(f", {part}" for part in parts) + "."
    return [Finding("note", "Compared with the true maze", text)]


@dataclass(frozen=True, eq=False)
class _LearnedMap:
    """A frame's states and transitions; a frame computes these arrays at each access."""

    n_states: int
    means: FloatArray
    covariances: FloatArray
    transition_matrix: FloatArray
    transition_counts: FloatArray

    @classmethod
    def of(cls, frame: Frame) -> _LearnedMap:
        counts = frame.transition_counts
        return cls(frame.n_states, frame.mean, frame.covariance, frame.transition_matrix, counts)


def _named(ids: tuple[int, ...]) -> str:
    names = ", ".join(str(id_) for id_ in ids[:MOST_NAMED])
    more = f" and {len(ids) - MOST_NAMED} more" if len(ids) > MOST_NAMED else ""
    return f"{'states' if len(ids) > 1 else 'state'} {names}{more}"
