"""Laws despite noise, in few rounds: expectation and maximisation, accelerated.

Plain rounds hardly move what they ascribe to the motion instead of observations, and with it the
laws: after a dozen the laws of CartPole in noise of 5 % were still wrong by half of the noise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tgm.distributions import BoolArray, FloatArray
from tgm.distributions.acceleration import combination, covariance_of, log_covariance
from tgm.transition.flow_model import FlowModel
from tgm.transition.flow_noise import Denoised, finished, improved
from tgm.transition.flow_smoothing import smoothed
from tgm.transition.flow_units import Steps

REMEMBERED = 8  # rounds before the newest that are combined with it
COMPARED = 200  # steps at which laws of two rounds are compared
WEIGHT_OF_LAWS = 30.0  # weight of one typical displacement; a unit of ln of noise has weight 1
LITTLE_GAIN_ROUNDS = 3  # newest rounds; no more are made if they gain less than LITTLE_GAIN
LITTLE_GAIN = 1.0  # nats that the newest rounds must gain together


def settled(model: FlowModel, steps: Steps, is_next: BoolArray, most: int) -> Denoised:
    """Improve laws and noise of a model by at most so many rounds; fewer where they gain little.

    A combination of rounds that explains the steps worse than the round before is not taken.
    """
    best = now = Denoised(model, smoothed(model, steps, is_next))
    rounds: list[_Round] = []
    gains: list[float] = []
    at = np.linspace(0, len(steps.action) - 1, min(len(steps.action), COMPARED)).astype(np.intp)
    compared = steps.chosen(at)
    for _ in range(most):
        image = improved(now)
        rounds = [*rounds[-REMEMBERED:], _Round.of(now.model, image, compared)]
        before, now = now, _next(rounds, image, now, steps, is_next)
        if now.model is image:
            rounds = rounds[-1:]
        gains.append(now.smoothed.log_density - before.smoothed.log_density)
        if now.smoothed.log_density > best.smoothed.log_density:
            best = now
        if len(gains) >= LITTLE_GAIN_ROUNDS and sum(gains[-LITTLE_GAIN_ROUNDS:]) < LITTLE_GAIN:
            break
    return finished(best)


def _next(
    rounds: list[_Round], image: FlowModel, now: Denoised, steps: Steps, is_next: BoolArray
) -> Denoised:
    """What the rounds so far lead to, if it explains more than now; else the image of now."""
    if len(rounds) > 1:
        guess = _combined(rounds, image)
        found = Denoised(guess, smoothed(guess, steps, is_next))
        if found.smoothed.log_density > now.smoothed.log_density:
            return found
    return Denoised(image, smoothed(image, steps, is_next))


class _Numbers(NamedTuple):
    """What is known of laws and noise, as numbers that can be combined.

    Attributes:
        linear, bumps: weights of the laws.
        motion, observation: logarithms of noise, in typical displacements.
    """

    linear: FloatArray
    bumps: FloatArray
    motion: FloatArray
    observation: FloatArray

    @classmethod
    def of(cls, model: FlowModel) -> _Numbers:
        unit = np.outer(model.law.unit, model.law.unit)
        logs = (log_covariance(one / unit) for one in (model.law.noise, model.observation_noise))
        return cls(*model.law.weights, *logs)


class _Round(NamedTuple):
    """What one round made of a model: its image, and by how much that differs (n_numbers,)."""

    image: _Numbers
    change: FloatArray

    @classmethod
    def of(cls, before: FlowModel, image: FlowModel, steps: Steps) -> _Round:
        old, new = _Numbers.of(before), _Numbers.of(image)
        z, actions = steps.departure, steps.action
        moved = image.law.displacement(z, actions) - before.law.displacement(z, actions)
        moved *= WEIGHT_OF_LAWS / (np.sqrt(len(z)) * image.law.unit)
        noise = [new.motion - old.motion, new.observation - old.observation]
        return cls(new, np.concatenate([part.ravel() for part in (moved, *noise)]))


def _combined(rounds: list[_Round], image: FlowModel) -> FlowModel:
    """The image with laws and noise of the combination of all rounds."""
    shares = combination(np.array([one.change for one in rounds]))
    numbers = _Numbers(*(
        np.tensordot(shares, np.array(each), 1)
        for each in zip(*(one.image for one in rounds), strict=True)
    ))  # fmt: skip
    model, unit = image.frozen(), np.outer(image.law.unit, image.law.unit)
    motion = covariance_of(numbers.motion) * unit
    model.law = image.law.with_weights(numbers.linear, numbers.bumps, motion)
    model.observation_noise = covariance_of(numbers.observation) * unit
    return model
