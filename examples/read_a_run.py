"""Reading a run in Python: its episodes, its states over time, and what was seen.

Run it as it is: `python examples/read_a_run.py`. The picture needs the extra `figures`.
"""

import tempfile
from pathlib import Path

from matplotlib.figure import Figure

import tgm


def main(n_steps: int = 600) -> Figure:
    """Record a run, then read it as somebody would who has only its directory."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "run"
        tgm.TGMAgent("tgm/Maze-v0", seed=0).learn(n_steps, run_dir=folder)
        run = tgm.runs.Run.open(folder)
        episodes = [one for record in run.metrics() for one in record["episodes"]]
        frames = [(step, frame.n_states) for step, frame in run.frames(every=20)]
        points = run.chunk(run.chunk_steps()[0]).arrays["obs.point"]
        means = run.frame_at(n_steps).means
        print(
            f"{run.world.name}: {run.status().state}, {len(episodes)} episodes, "
            f"{len(points)} observations, {len(means)} states"
        )
    figure = Figure(figsize=(9.0, 3.2), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    left.plot([one["step"] for one in episodes], [one["total_reward"] for one in episodes], ".-")
    left.set(xlabel="step", title="return of an episode")
    middle.step(*zip(*frames, strict=True), where="post")
    middle.set(xlabel="step", title="states found")
    right.scatter(*points.T, s=4, color="grey")
    right.scatter(*means.T, s=60, facecolors="none", edgecolors="tab:green")
    right.set(title="observations and states", aspect="equal")
    return figure


if __name__ == "__main__":
    main().savefig("read_a_run.png")
