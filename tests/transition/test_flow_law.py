"""Laws of one shape against plain regression, and the best shape against all shapes by weights."""

import numpy as np
import pytest

from tgm.distributions.linear_gaussian import RegressionSums, log_evidence
from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.transition.flow_law import (
    LENGTHS,
    LINEAR_SHARE,
    SIGNAL_TO_NOISE,
    FlowLaw,
    LawShape,
    best_shape,
    spread_out,
    typical,
)
from tgm.transition.flow_units import Steps

SHAPES = [LawShape(), LawShape(0.4, True, 1e2), LawShape(0.4, False, 1e4)]


def data(n=60, seed=0):
    """Points, actions and displacements: action 1 pushes more where the first feature is large."""
    rng = np.random.default_rng(seed)
    z, action = rng.uniform(size=(n, 2)), rng.integers(2, size=n)
    moved = np.column_stack([0.1 * z[:, 1], 0.2 * action * np.sin(4.0 * z[:, 0]) - 0.1])
    return z, action, moved + 0.003 * rng.normal(size=(n, 2))


def learned(shape, n=60):
    z, action, moved = data(n)
    law = FlowLaw(shape, spread_out(z, 12), typical(moved), 2)
    law.add(z[: n // 2], action[: n // 2], moved[: n // 2])
    law.add(z[n // 2 :], action[n // 2 :], moved[n // 2 :])
    law.fit()
    return law


def inputs_of(shape, centres, z, action, n_actions=2):
    """What displacements are regressed on, one number after the other."""
    rows = []
    for point, done in zip(z, action, strict=True):
        linear = [1.0, *(point - 0.5)]
        bumps = [np.exp(-0.5 * ((point - c) ** 2).sum() / shape.length**2) for c in centres]
        row = list(linear)
        for other in range(n_actions):
            row += linear if other == done else [0.0] * len(linear)
        if shape.length and shape.is_shared:
            row += bumps
        elif shape.length:
            for other in range(n_actions):
                row += bumps if other == done else [0.0] * len(bumps)
        rows.append(row)
    return np.array(rows)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_law_is_ridge_regression_in_typical_displacements(shape):
    law, (z, action, moved) = learned(shape), data()
    inputs = inputs_of(shape, law.centres, z, action)
    np.testing.assert_allclose(law.inputs(z, action), inputs, atol=1e-12)
    n_linear = 9  # (1, z) in common, and of each action
    variance = np.full(inputs.shape[1], shape.looseness)
    variance[:n_linear] *= LINEAR_SHARE
    unit = np.sqrt((moved**2).mean(axis=0))
    weights = np.linalg.solve(
        inputs.T @ inputs + np.diag(1.0 / variance), inputs.T @ (moved / unit)
    )
    other, done, _ = data(9, seed=5)
    expected = inputs_of(shape, law.centres, other, done) @ weights * unit
    np.testing.assert_allclose(law.displacement(other, done), expected, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
def test_slopes_are_differences_of_displacements_and_inputs(shape):
    law, (z, action, _) = learned(shape), data(7, seed=2)
    step = 1e-6
    for feature in range(2):
        there, back = z.copy(), z.copy()
        there[:, feature] += step
        back[:, feature] -= step
        moved = law.displacement(there, action) - law.displacement(back, action)
        slope = law.motion(z, action)[1][:, :, feature]
        np.testing.assert_allclose(slope, moved / (2 * step), rtol=1e-4, atol=1e-6)
        inputs = law.inputs(there, action) - law.inputs(back, action)
        slope = law.input_slopes(z, action)[:, :, feature]
        np.testing.assert_allclose(slope, inputs / (2 * step), rtol=1e-4, atol=1e-6)


def test_an_action_without_bumps_of_its_own_leads_on_as_the_others():
    """With shared bumps an action that was tried once bends as the other one does."""
    z, _, _ = data(80)
    bent = np.column_stack([0.1 * z[:, 1], 0.2 * np.sin(4.0 * z[:, 0])])
    seldom = np.where(np.arange(80) == 40, 1, 0)
    errors = {}
    for is_shared in (True, False):
        law = FlowLaw(LawShape(0.4, is_shared, 1e4), spread_out(z, 12), typical(bent), 2)
        law.add(z, seldom, bent)
        law.fit()
        off = law.displacement(z, np.ones(80, np.intp)) - bent
        errors[is_shared] = np.abs(off[:, 1] - off[40, 1]).max()
    assert errors[True] < 0.5 * errors[False]


def test_the_noise_is_what_the_law_does_not_explain():
    bent, straight = learned(LawShape(0.4, False, 1e4), 400), learned(LawShape(), 400)
    z, action, moved = data(400)
    for law in (bent, straight):
        left = moved - law.displacement(z, action)
        np.testing.assert_allclose(law.noise, left.T @ left / 400, rtol=0.1, atol=1e-6)
    assert straight.noise[1, 1] > 10.0 * bent.noise[1, 1]


def test_the_best_shape_has_the_highest_evidence_of_all():
    z, action, moved = data(50)
    centres, unit = spread_out(z, 10), typical(moved)
    steps = Steps(z, action, np.zeros(50), z + moved, np.zeros(50, bool))
    evidences = {}
    for length in LENGTHS:
        for is_shared in (True, False) if length else (True,):
            for looseness in SIGNAL_TO_NOISE:
                shape = LawShape(length, is_shared, looseness)
                law = FlowLaw(shape, centres, unit, 2)
                sums = RegressionSums.of(law.inputs(z, action), moved / unit)
                evidences[shape] = log_evidence(law.prior, sums)
    shape, evidence, n = best_shape(steps, centres, 2)
    assert n == 50
    assert shape == max(evidences, key=evidences.get)
    assert shape.length > 0.0
    assert evidence == pytest.approx(evidences[shape] - 50 * np.log(unit).sum(), rel=1e-4)


def test_at_most_so_many_points_are_judged_from_the_first_to_the_last():
    z, action, moved = data(50)
    steps = Steps(z, action, np.zeros(50), z + moved, np.zeros(50, bool))
    even = steps.chosen(np.linspace(0, 49, 20).astype(np.intp))
    centres = spread_out(z, 10)
    assert best_shape(steps, centres, 2, most=20) == best_shape(even, centres, 2)
    assert best_shape(steps, centres, 2, most=20)[2] == 20


def test_a_law_survives_a_file_and_impossible_shapes_are_refused():
    law = learned(SHAPES[2])
    z, action, _ = data(5, seed=3)
    copy = FlowLaw.from_arrays(ArrayReader(law.to_arrays()), 2, 2)
    np.testing.assert_array_equal(copy.displacement(z, action), law.displacement(z, action))
    np.testing.assert_array_equal(copy.noise, law.noise)
    for shape in ([0.1, 1.0, 1e2], [0.4, 1.0, 0.0]):
        with pytest.raises(DataError, match="shape"):
            FlowLaw.from_arrays(ArrayReader(law.to_arrays() | {"shape": np.array(shape)}), 2, 2)


def test_other_weights_leave_the_law_they_were_made_from():
    law = learned(SHAPES[1])
    linear, bumps = law.weights
    other = law.with_weights(2.0 * linear, 2.0 * bumps, np.eye(2))
    z, action, _ = data(5, seed=4)
    np.testing.assert_allclose(other.displacement(z, action), 2.0 * law.displacement(z, action))
    assert law.noise[0, 0] < 0.1 < other.noise[0, 0]
