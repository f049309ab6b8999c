"""The number of each figure -> the function that draws it."""

from __future__ import annotations

from collections.abc import Callable

from tgm.experiments.figures.drawing import Drawing, Settings
from tgm.experiments.figures.forgetting import after_forgetting, before_forgetting
from tgm.experiments.figures.graphs import mixture_graph, temporal_graphs
from tgm.experiments.figures.joint import joint_learning
from tgm.experiments.figures.mazes import mazes_learned
from tgm.experiments.figures.mean_shift import mean_shift_steps
from tgm.experiments.figures.mixture import mixture_prior, mixture_steps
from tgm.experiments.figures.persistence import fixed_components
from tgm.experiments.figures.q_update import q_update
from tgm.experiments.figures.rewards import reward_curves
from tgm.experiments.figures.transitions import transition_matrices

FIGURES: dict[int, Callable[[Settings], Drawing]] = {
    1: mean_shift_steps,
    2: mixture_graph,
    3: mixture_prior,
    4: mixture_steps,
    5: temporal_graphs,
    6: joint_learning,
    7: transition_matrices,
    8: fixed_components,
    9: before_forgetting,
    10: after_forgetting,
    11: q_update,
    12: mazes_learned,
    13: reward_curves,
}
