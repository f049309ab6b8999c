"""Every formula against mpmath at 50 digits, on random cases.

Run from the root of the repository: python -m campaigns.formulas [cases]
"""

import sys
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from tests import oracles

from tgm.distributions import (
    FloatArray,
    Moments,
    NormalWishart,
    dirichlet,
    gaussian,
    normal_wishart,
)
from tgm.perception import Mixture, free_energy, log_responsibilities
from tgm.perception.free_energy import collapsed_free_energy

LIMIT = 1e-10


def main() -> None:
    """Print the worst relative error of each formula; fail if one is above the limit."""
    n_cases = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    worst: dict[str, float] = {}
    for seed in range(n_cases):
        for name, error in errors_of_case(seed).items():
            worst[name] = max(error, worst.get(name, 0.0))
    print(f"{'formula':40} worst relative error in {n_cases:,} cases")
    for name, error in worst.items():
        print(f"{name:40} {error:.1e}{'  TOO LARGE' if error > LIMIT else ''}")
    sys.exit(int(max(worst.values()) > LIMIT))


def as_mixture(belief: oracles.Belief) -> Mixture:
    """The library's mixture with the parameters of the oracle's belief."""
    components = NormalWishart(
        mean=belief.m,
        mean_precision=belief.beta,
        dof=belief.v,
        inverse_scale=belief.inverse_w,
    )
    return Mixture(weight_concentration=belief.d, components=components)


def errors_of_case(seed: int) -> dict[str, float]:
    """The relative error of each formula in one random case."""
    rng = np.random.default_rng(seed)
    n_components, n_features = int(rng.integers(1, 4)), int(rng.integers(1, 5))
    p, q = (oracles.random_belief(rng, n_components, n_features) for _ in range(2))
    points = rng.normal(scale=3.0, size=(int(rng.integers(1, 5)), n_features))
    resp = rng.dirichlet(np.ones(n_components), size=len(points))
    return {
        **_dirichlet_errors(p, q),
        **_gaussian_errors(p, q, points),
        **_normal_wishart_errors(p, q, points),
        **_mixture_errors(p, points, resp),
    }


def relative_error(seen: npt.ArrayLike, wanted: Sequence[object]) -> float:
    """The largest relative error; values below a hundredth are held to a hundredth of LIMIT."""
    seen_flat = np.ravel(np.asarray(seen, dtype=np.float64))
    errors = [
        float(abs(oracles.mp.mpf(float(x)) - y) / max(abs(y), 0.01))
        for x, y in zip(seen_flat, wanted, strict=True)
    ]
    return max(errors)


def _dirichlet_errors(p: oracles.Belief, q: oracles.Belief) -> dict[str, float]:
    return {
        "dirichlet.expected_log": relative_error(
            dirichlet.expected_log(p.d), oracles.dirichlet_expected_log(p.d)
        ),
        "dirichlet.log_normaliser": relative_error(
            dirichlet.log_normaliser(p.d), [oracles.dirichlet_log_normaliser(p.d)]
        ),
        "dirichlet.kl": relative_error(dirichlet.kl(p.d, q.d), [oracles.dirichlet_kl(p.d, q.d)]),
    }


def _gaussian_errors(p: oracles.Belief, q: oracles.Belief, points: FloatArray) -> dict[str, float]:
    each = range(len(p.d))
    pairs = [
        [oracles.gaussian_kl(p.m[i], p.inverse_w[i], q.m[j], q.inverse_w[j]) for j in each]
        for i in each
    ]
    density = [
        oracles.gaussian_log_density(x, p.m[k], p.inverse_w[k]) for x in points for k in each
    ]
    return {
        "gaussian.kl": relative_error(
            gaussian.kl(p.m, p.inverse_w, q.m, q.inverse_w), [pairs[k][k] for k in each]
        ),
        "gaussian.pairwise_kl": relative_error(
            gaussian.pairwise_kl(p.m, p.inverse_w, q.m, q.inverse_w),
            [x for row in pairs for x in row],
        ),
        "gaussian.log_density": relative_error(
            gaussian.log_density(points, p.m, p.inverse_w), density
        ),
    }


def _normal_wishart_errors(
    p: oracles.Belief, q: oracles.Belief, points: FloatArray
) -> dict[str, float]:
    components, other = as_mixture(p).components, as_mixture(q).components
    each = range(len(p.d))
    every = [(x, k) for x in points for k in each]
    whole = Moments.of_points(points, np.ones((len(points), len(p.d))))
    return {
        "normal_wishart.expected_log_det": relative_error(
            normal_wishart.expected_log_det(components),
            [oracles.expected_log_det(p, k) for k in each],
        ),
        "normal_wishart.log_normaliser": relative_error(
            normal_wishart.log_normaliser(components),
            [oracles.normal_wishart_log_normaliser(p, k) for k in each],
        ),
        "normal_wishart.kl": relative_error(
            normal_wishart.kl(components, other), [oracles.normal_wishart_kl(p, q, k) for k in each]
        ),
        "normal_wishart.log_evidence": relative_error(
            normal_wishart.log_evidence(components, whole),
            [oracles.log_evidence(p, k, points) for k in each],
        ),
        "normal_wishart.predictive_log_density": relative_error(
            normal_wishart.predictive_log_density(components, points),
            [oracles.predictive_log_density(p, k, x) for x, k in every],
        ),
        "normal_wishart.expected_log_density": relative_error(
            normal_wishart.expected_log_density(components, points),
            [oracles.expected_log_density(p, k, x) for x, k in every],
        ),
    }


def _mixture_errors(
    prior: oracles.Belief, points: FloatArray, resp: FloatArray
) -> dict[str, float]:
    statistics = Moments.of_points(points, resp)
    posterior = as_mixture(prior).update(statistics)
    wanted = oracles.updated(prior, points, resp)
    terms = oracles.free_energy_terms(prior, wanted, points, resp)
    seen = free_energy(as_mixture(prior), as_mixture(wanted), points, resp)
    assignments = np.sum(resp * np.log(resp), axis=0)
    log_resp = oracles.log_responsibilities(wanted, points)
    total = oracles.free_energy(terms)
    errors = {
        "mixture.update, weight_concentration": relative_error(
            posterior.weight_concentration, wanted.d
        ),
        "mixture.update, mean": relative_error(posterior.components.mean, wanted.m.ravel()),
        "mixture.update, mean_precision": relative_error(
            posterior.components.mean_precision, wanted.beta
        ),
        "mixture.update, dof": relative_error(posterior.components.dof, wanted.v),
        "mixture.update, inverse_scale": relative_error(
            posterior.components.inverse_scale, wanted.inverse_w.ravel()
        ),
        "log_responsibilities": relative_error(
            log_responsibilities(as_mixture(wanted), points), [x for row in log_resp for x in row]
        ),
        "free_energy.total": relative_error(seen.total, [total]),
        "free_energy, collapsed": relative_error(
            collapsed_free_energy(as_mixture(prior), statistics, assignments), [total]
        ),
    }
    by_term = seen.by_term()
    for name, value in terms.items():
        errors[f"free_energy.{name}"] = relative_error(by_term[name], [value])
    return errors


if __name__ == "__main__":
    main()
