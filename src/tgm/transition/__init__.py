"""(belief, action, belief) -> what each action does to the states."""

from tgm.transition.transition_model import TransitionModel, transition_counts

__all__ = ["TransitionModel", "transition_counts"]
