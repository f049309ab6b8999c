"""Logs in a data frame: states, what each action does, and a policy, without an environment.

Run it as it is: `python examples/logs_frame.py`. Needs pandas and the extra `figures`.
"""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import tgm

PLACES = np.array([[20.0, 1.0], [45.0, 1.2], [70.0, 2.5], [90.0, 4.0]])  # degrees, bar


def log_of_a_boiler(n_rows: int, seed: int = 0) -> pd.DataFrame:
    """What an operator did to a boiler: heat or cool; the third of its four states is wanted."""
    rng, state, rows = np.random.default_rng(seed), 0, []
    for row in range(n_rows):
        action = rng.choice(["cool", "heat"])
        degrees, pressure = rng.normal(PLACES[state], (1.5, 0.08))
        state = int(np.clip(state + (1 if action == "heat" else -1), 0, 3))
        rows.append((row // 100, degrees, pressure, action, float(state == 2)))
    return pd.DataFrame(rows, columns=["shift", "degrees", "pressure", "action", "reward"])


def main(n_rows: int = 2000) -> Figure:
    """Fit, decode, plan, and draw the log with its states."""
    frame = log_of_a_boiler(n_rows)
    frame.loc[frame.index % 17 == 0, "pressure"] = np.nan  # a sensor that fails now and then
    log = tgm.data.from_frame(frame, ["degrees", "pressure"], "action", "shift", "reward")
    model = tgm.TemporalMixture().fit(log)
    print(f"{model.n_states_} states, near {np.sort(model.means_[:, 0]).round().tolist()} degrees")
    plan = model.policy()
    for degrees, action in sorted(zip(model.means_[:, 0], plan.actions, strict=True)):
        print(f"at {degrees:.0f} degrees: {action}")
    states = model.decode(log)
    figure = Figure(figsize=(8.0, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(2, 1))
    shown = slice(0, 120)
    left.plot(frame["degrees"][shown], color="lightgrey")
    left.scatter(range(120), frame["degrees"][shown], c=states[shown], cmap="tab10", s=14)
    left.set(xlabel="row", ylabel="degrees", title="the log, coloured by state")
    order = np.argsort(model.means_[:, 0])
    heat = model.transitions_[list(model.actions_).index("heat")][np.ix_(order, order)]
    right.imshow(heat, cmap="Greens", vmin=0, vmax=1)
    right.set(xlabel="state after", ylabel="state before", title="what 'heat' does")
    return figure


if __name__ == "__main__":
    main().savefig("logs_frame.png")
