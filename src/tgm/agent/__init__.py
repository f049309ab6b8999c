"""Settings and presets, the learning step, and TGMAgent."""

from tgm.agent.agent import TGMAgent
from tgm.agent.explanation import Explanation
from tgm.agent.info import EpisodeInfo, LearningInfo
from tgm.config import TGMConfig

__all__ = ["EpisodeInfo", "Explanation", "LearningInfo", "TGMAgent", "TGMConfig"]
