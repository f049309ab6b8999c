"""Slow and obvious versions of the equations, to hold the fast ones against.

Straight from the paper with its errata mended: loops over points and components, mpmath at
50 digits. Nothing here imports the code under test. Numbers go in as float arrays and come out
as mpmath numbers in lists, one per component, or one row per point.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import mpmath as mp
import numpy as np
import numpy.typing as npt
from scipy import stats

mp.mp.dps = 50

OUTLIER = "outlier"  # the state of an observation that belongs to none

Array = npt.NDArray[np.float64]
Numbers = list[mp.mpf]


@dataclass(frozen=True)
class Belief:
    """The parameters of a mixture as plain arrays: d, m, beta, v and W^-1, one per component."""

    d: Array
    m: Array
    beta: Array
    v: Array
    inverse_w: Array


def random_covariance(rng: np.random.Generator, n_features: int) -> Array:
    """A positive definite matrix in uneven units, its condition number moderate."""
    root = rng.normal(size=(n_features, n_features))
    units = np.exp(rng.normal(size=n_features))
    return (root @ root.T + 0.3 * np.eye(n_features)) * np.outer(units, units)


def random_belief(rng: np.random.Generator, n_components: int, n_features: int) -> Belief:
    """A valid belief with nothing special about it."""
    return Belief(
        d=rng.gamma(2.0, 2.0, size=n_components) + 0.05,
        m=rng.normal(scale=2.0, size=(n_components, n_features)),
        beta=rng.gamma(2.0, 1.0, size=n_components) + 0.05,
        v=n_features - 1 + rng.gamma(2.0, 2.0, size=n_components) + 0.1,
        inverse_w=np.array([random_covariance(rng, n_features) for _ in range(n_components)]),
    )


def column(vector: Array) -> mp.matrix:
    return mp.matrix([mp.mpf(float(x)) for x in vector])


def square(matrix: Array) -> mp.matrix:
    return mp.matrix([[mp.mpf(float(x)) for x in row] for row in matrix])


def trace(matrix: mp.matrix) -> mp.mpf:
    return mp.fsum(matrix[i, i] for i in range(matrix.rows))


def quadratic(vector: mp.matrix, matrix: mp.matrix) -> mp.mpf:
    return (vector.T * matrix * vector)[0]


# Dirichlet ---------------------------------------------------------------------------------


def dirichlet_expected_log(d: Array) -> Numbers:
    """psi(d_k) - psi(sum of d)."""
    total = mp.fsum(mp.mpf(float(x)) for x in d)
    return [mp.psi(0, mp.mpf(float(x))) - mp.psi(0, total) for x in d]


def dirichlet_log_normaliser(d: Array) -> mp.mpf:
    """ln B(d)."""
    values = [mp.mpf(float(x)) for x in d]
    return mp.fsum(mp.loggamma(x) for x in values) - mp.loggamma(mp.fsum(values))


def dirichlet_expected_log_density(d: Array, log_weights: Numbers) -> mp.mpf:
    """E[ln Dir(D; d)] given E[ln D]."""
    products = ((mp.mpf(float(x)) - 1) * log for x, log in zip(d, log_weights, strict=True))
    return mp.fsum(products) - dirichlet_log_normaliser(d)


def dirichlet_kl(p: Array, q: Array) -> mp.mpf:
    """E_p[ln p - ln q]."""
    log_weights = dirichlet_expected_log(p)
    return dirichlet_expected_log_density(p, log_weights) - dirichlet_expected_log_density(
        q, log_weights
    )


# Gaussian ----------------------------------------------------------------------------------


def gaussian_log_density(x: Array, mean: Array, covariance: Array) -> mp.mpf:
    """ln N(x; mean, covariance)."""
    sigma = square(covariance)
    distance = quadratic(column(x) - column(mean), sigma**-1)
    return -(len(mean) * mp.log(2 * mp.pi) + mp.log(mp.det(sigma)) + distance) / 2


def gaussian_kl(mean_p: Array, cov_p: Array, mean_q: Array, cov_q: Array) -> mp.mpf:
    """KL(p || q)."""
    sigma_p, sigma_q = square(cov_p), square(cov_q)
    precision_q = sigma_q**-1
    distance = quadratic(column(mean_p) - column(mean_q), precision_q)
    log_ratio = mp.log(mp.det(sigma_q) / mp.det(sigma_p))
    return (trace(precision_q * sigma_p) + distance - len(mean_p) + log_ratio) / 2


# Normal-Wishart ----------------------------------------------------------------------------


def log_multigamma(a: mp.mpf, dimension: int) -> mp.mpf:
    """ln Gamma_O(a)."""
    constant = mp.mpf(dimension * (dimension - 1)) / 4 * mp.log(mp.pi)
    return constant + mp.fsum(mp.loggamma(a + mp.mpf(1 - i) / 2) for i in range(1, dimension + 1))


def expected_log_det(belief: Belief, k: int) -> mp.mpf:
    """O ln 2 + ln |W| + the sum of psi((v + 1 - i) / 2) over i = 1..O."""
    dimension = belief.m.shape[1]
    v = mp.mpf(float(belief.v[k]))
    psi = mp.fsum(mp.psi(0, (v + 1 - i) / 2) for i in range(1, dimension + 1))
    return dimension * mp.log(2) - mp.log(mp.det(square(belief.inverse_w[k]))) + psi


def wishart_log_density_constant(belief: Belief, k: int) -> mp.mpf:
    """ln of the factor in front of |Lambda|^((v - O - 1) / 2) exp(...), equation (A.1)."""
    dimension = belief.m.shape[1]
    v = mp.mpf(float(belief.v[k]))
    log_det_w = -mp.log(mp.det(square(belief.inverse_w[k])))
    return -v * dimension / 2 * mp.log(2) - v / 2 * log_det_w - log_multigamma(v / 2, dimension)


def normal_wishart_log_normaliser(belief: Belief, k: int) -> mp.mpf:
    """ln of the integral over mu and Lambda of the density without its constant."""
    beta = mp.mpf(float(belief.beta[k]))
    mean_part = mp.mpf(belief.m.shape[1]) / 2 * mp.log(2 * mp.pi / beta)
    return mean_part - wishart_log_density_constant(belief, k)


def expected_log_mean_density(own: Belief, q: Belief, k: int) -> mp.mpf:
    """E_q[ln N(mu; m, (beta Lambda)^-1)] for own's m and beta: B.2 and B.6."""
    dimension = own.m.shape[1]
    beta, beta_q, v_q = (mp.mpf(float(x)) for x in (own.beta[k], q.beta[k], q.v[k]))
    gap = column(own.m[k]) - column(q.m[k])
    distance = v_q * quadratic(gap, square(q.inverse_w[k]) ** -1)
    return (
        dimension * mp.log(beta / (2 * mp.pi))
        + expected_log_det(q, k)
        - beta * dimension / beta_q
        - beta * distance
    ) / 2


def expected_log_wishart_density(own: Belief, q: Belief, k: int) -> mp.mpf:
    """E_q[ln Wishart(Lambda; W, v)] for own's W and v: B.3 and B.7."""
    dimension = own.m.shape[1]
    v, v_q = mp.mpf(float(own.v[k])), mp.mpf(float(q.v[k]))
    overlap = trace(square(own.inverse_w[k]) * square(q.inverse_w[k]) ** -1)
    return (
        wishart_log_density_constant(own, k)
        + (v - dimension - 1) / 2 * expected_log_det(q, k)
        - v_q / 2 * overlap
    )


def normal_wishart_kl(p: Belief, q: Belief, k: int) -> mp.mpf:
    """E_p[ln p - ln q]."""
    return (
        expected_log_mean_density(p, p, k)
        + expected_log_wishart_density(p, p, k)
        - expected_log_mean_density(q, p, k)
        - expected_log_wishart_density(q, p, k)
    )


def student_t_log_density(
    x: mp.matrix, mean: mp.matrix, beta: mp.mpf, v: mp.mpf, inverse_w: mp.matrix
) -> mp.mpf:
    """ln of the predictive density of one component (Bishop 10.81 and 10.82)."""
    dimension = x.rows
    dof = v + 1 - dimension
    precision = dof * beta / (1 + beta) * inverse_w**-1
    distance = quadratic(x - mean, precision)
    return (
        mp.loggamma((dof + dimension) / 2)
        - mp.loggamma(dof / 2)
        + mp.log(mp.det(precision)) / 2
        - mp.mpf(dimension) / 2 * mp.log(mp.pi * dof)
        - (dof + dimension) / 2 * mp.log(1 + distance / dof)
    )


def predictive_log_density(belief: Belief, k: int, x: Array) -> mp.mpf:
    """The same for component k of a belief."""
    return student_t_log_density(
        column(x),
        column(belief.m[k]),
        mp.mpf(float(belief.beta[k])),
        mp.mpf(float(belief.v[k])),
        square(belief.inverse_w[k]),
    )


def log_evidence(belief: Belief, k: int, points: Array) -> mp.mpf:
    """ln p(points | component k) by the chain rule: predict each point, then learn it."""
    mean, inverse_w = column(belief.m[k]), square(belief.inverse_w[k])
    beta, v = mp.mpf(float(belief.beta[k])), mp.mpf(float(belief.v[k]))
    total = mp.mpf(0)
    for point in points:
        x = column(point)
        total += student_t_log_density(x, mean, beta, v, inverse_w)
        inverse_w = inverse_w + beta / (beta + 1) * (x - mean) * (x - mean).T
        mean = (beta * mean + x) / (beta + 1)
        beta, v = beta + 1, v + 1
    return total


# The mixture -------------------------------------------------------------------------------


def moments(points: Array, weights: Array) -> tuple[mp.mpf, mp.matrix, mp.matrix]:
    """Weight, mean and scatter of points (n, O) with weights (n,), point by point."""
    dimension = points.shape[1]
    exact = [(column(x), mp.mpf(float(w))) for x, w in zip(points, weights, strict=True)]
    weight = mp.fsum(w for _, w in exact)
    mean, scatter = mp.zeros(dimension, 1), mp.zeros(dimension, dimension)
    if weight == 0:
        return weight, mean, scatter
    for x, w in exact:
        mean += w * x / weight
    for x, w in exact:
        scatter += w * (x - mean) * (x - mean).T
    return weight, mean, scatter


def moments_by_definition(points: Array, weights: Array) -> tuple[float, Array, Array]:
    """The same, rounded to floats."""
    weight, mean, scatter = moments(points, weights)
    return float(weight), as_floats(mean).ravel(), as_floats(scatter)


def updated(belief: Belief, points: Array, resp: Array) -> Belief:
    """The posterior of section 2, rounded to floats at the end."""
    d, m, beta, v, inverse_w = [], [], [], [], []
    for k in range(len(belief.d)):
        weight, mean, scatter = moments(points, resp[:, k])
        beta_k, m_k = mp.mpf(float(belief.beta[k])), column(belief.m[k])
        gap = mean - m_k
        inverse = square(belief.inverse_w[k]) + scatter
        inverse += beta_k * weight / (beta_k + weight) * gap * gap.T
        d.append(float(mp.mpf(float(belief.d[k])) + weight))
        beta.append(float(beta_k + weight))
        v.append(float(mp.mpf(float(belief.v[k])) + weight))
        m.append(as_floats((beta_k * m_k + weight * mean) / (beta_k + weight)).ravel())
        inverse_w.append(as_floats(inverse))
    return Belief(np.array(d), np.array(m), np.array(beta), np.array(v), np.array(inverse_w))


def as_floats(matrix: mp.matrix) -> Array:
    return np.array([[float(x) for x in row] for row in matrix.tolist()])


def expected_log_density(belief: Belief, k: int, x: Array) -> mp.mpf:
    """The Gaussian part of ln rho."""
    dimension = belief.m.shape[1]
    beta, v = mp.mpf(float(belief.beta[k])), mp.mpf(float(belief.v[k]))
    distance = quadratic(column(x) - column(belief.m[k]), square(belief.inverse_w[k]) ** -1)
    return (
        expected_log_det(belief, k)
        - dimension * mp.log(2 * mp.pi)
        - dimension / beta
        - v * distance
    ) / 2


def log_responsibilities(belief: Belief, points: Array) -> list[Numbers]:
    """ln r_nk, one list per point."""
    log_weights = dirichlet_expected_log(belief.d)
    rows = []
    for x in points:
        log_rho = [log + expected_log_density(belief, k, x) for k, log in enumerate(log_weights)]
        normaliser = mp.log(mp.fsum(mp.exp(value) for value in log_rho))
        rows.append([value - normaliser for value in log_rho])
    return rows


def free_energy_terms(
    prior: Belief, posterior: Belief, points: Array, resp: Array
) -> dict[str, mp.mpf]:
    """The nine expectations of Appendix B, each summed over the components."""
    n_components = len(prior.d)
    log_weights = dirichlet_expected_log(posterior.d)
    pairs = [(n, k) for n in range(len(points)) for k in range(n_components)]
    r = {pair: mp.mpf(float(resp[pair])) for pair in pairs}
    each = range(n_components)
    return {
        "log_q_weights": dirichlet_expected_log_density(posterior.d, log_weights),
        "log_q_mean": mp.fsum(expected_log_mean_density(posterior, posterior, k) for k in each),
        "log_q_precision": mp.fsum(
            expected_log_wishart_density(posterior, posterior, k) for k in each
        ),
        "log_q_assignments": mp.fsum(x * mp.log(x) for x in r.values() if x > 0),
        "log_p_weights": dirichlet_expected_log_density(prior.d, log_weights),
        "log_p_mean": mp.fsum(expected_log_mean_density(prior, posterior, k) for k in each),
        "log_p_precision": mp.fsum(expected_log_wishart_density(prior, posterior, k) for k in each),
        "log_p_assignments": mp.fsum(r[n, k] * log_weights[k] for n, k in pairs),
        "log_p_points": mp.fsum(
            r[n, k] * expected_log_density(posterior, k, points[n]) for n, k in pairs
        ),
    }


def free_energy(terms: dict[str, mp.mpf]) -> mp.mpf:
    """F = the ln Q terms less the ln P terms."""
    return mp.fsum(x if name.startswith("log_q_") else -x for name, x in terms.items())


def marginalised(belief: Belief, k: int, x: Array) -> tuple[mp.mpf, mp.mpf, mp.mpf]:
    """One feature of x is NaN: ln of the integral of rho_k over it, its mean and second moment.

    By numerical integration over the missing value, 30 deviations to both sides.
    """
    missing = int(np.flatnonzero(np.isnan(x))[0])
    deviation = mp.sqrt(square(belief.inverse_w[k])[missing, missing] / float(belief.v[k]))
    middle = mp.mpf(float(belief.m[k, missing]))
    places = [middle + i * deviation for i in (-30, -8, -4, -2, 0, 2, 4, 8, 30)]

    v, beta = mp.mpf(float(belief.v[k])), mp.mpf(float(belief.beta[k]))
    constant = expected_log_det(belief, k) - len(x) * (mp.log(2 * mp.pi) + 1 / beta)
    precision = v * square(belief.inverse_w[k]) ** -1
    gap = mp.matrix([0 if np.isnan(value) else mp.mpf(float(value)) for value in x])
    gap -= column(belief.m[k])

    def rho(value: mp.mpf) -> mp.mpf:
        gap[missing] = value - middle
        return mp.exp((constant - quadratic(gap, precision)) / 2)

    with mp.workdps(20):
        total = mp.quad(rho, places)
        mean = mp.quad(lambda value: value * rho(value), places) / total
        second = mp.quad(lambda value: value**2 * rho(value), places) / total
        return mp.log(total), mean, second


def stick_breaking(counts: Array, concentration: float) -> tuple[mp.mpf, Numbers, Numbers]:
    """ln evidence of the counts, E[ln D_k] and E[D_k] (not scaled), most populous first.

    Stick k is broken at a Beta(1, a) share of what is left; later components have what remains.
    """
    a = mp.mpf(concentration)
    evidence, expected, means = mp.mpf(0), [], []
    before, left = mp.mpf(0), mp.mpf(1)
    for k, count in enumerate(counts):
        own, after = 1 + mp.mpf(float(count)), a + mp.fsum(float(n) for n in counts[k + 1 :])
        evidence += mp.log(mp.beta(own, after) / mp.beta(1, a))
        expected.append(before + mp.psi(0, own) - mp.psi(0, own + after))
        before += mp.psi(0, after) - mp.psi(0, own + after)
        means.append(left * own / (own + after))
        left *= after / (own + after)
    return evidence, expected, means


# --- transitions and planning ------------------------------------------------------------------


def transition_counts_by_loops(
    before: Array, actions: np.ndarray, after: Array, n_actions: int
) -> Array:
    """counts[a, k, j] = sum over n of [a = a_n] r0_nk r1_nj, one product at a time."""
    n_states = before.shape[1]
    counts = np.zeros((n_actions, n_states, n_states))
    for n, action in enumerate(actions):
        for k in range(n_states):
            for j in range(n_states):
                counts[action, k, j] += before[n, k] * after[n, j]
    return counts


def tabular_q_learning(
    steps: list[tuple[int, int, float, int, bool]],
    n_states: int,
    n_actions: int,
    learning_rate: float,
    gamma: float,
) -> Array:
    """Watkins' Q-learning on (state, action, reward, next state, terminated); q[state, action]."""
    q = np.zeros((n_states, n_actions))
    for state, action, reward, after, terminated in steps:
        target = reward if terminated else reward + gamma * max(q[after])
        q[state, action] = (1 - learning_rate) * q[state, action] + learning_rate * target
    return q


def value_iteration(
    successors: list[list[dict[int, float]]],
    reward: Array,
    end: Array,
    set_values: dict[tuple[int, int], float],
    gamma: float,
) -> Array:
    """q[state, action] by loops until nothing moves.

    `successors[state][action]` gives the probability of each next state, `end` that the episode
    ends instead; the rows in `set_values` have that value, whatever happens in them.
    """
    n_states, n_actions = reward.shape
    q = np.zeros((n_states, n_actions))
    for _ in range(100_000):
        new = np.zeros((n_states, n_actions))
        for state in range(n_states):
            for action in range(n_actions):
                if (state, action) in set_values:
                    new[state, action] = set_values[state, action]
                    continue
                future = sum(p * max(q[after]) for after, p in successors[state][action].items())
                going_on = 1 - end[state, action]
                new[state, action] = reward[state, action] + gamma * going_on * future
        if np.abs(new - q).max() < 1e-11:
            return new
        q = new
    raise AssertionError("no convergence")


def polya_urn_log_probability(draws: list[int], concentration: Array) -> float:
    """ln probability of a sequence of outcomes: each drawn from what is in the urn, then added."""
    urn = [float(c) for c in concentration]
    log = 0.0
    for outcome in draws:
        log += float(mp.log(urn[outcome] / sum(urn)))
        urn[outcome] += 1
    return log


def rows_log_probability(contexts: list, outcomes: list[int], concentration: Array) -> float:
    """ln probability of outcomes that are drawn from one urn for each context."""
    rows = {context: [] for context in contexts}
    for context, outcome in zip(contexts, outcomes, strict=True):
        rows[context].append(outcome)
    return sum(polya_urn_log_probability(draws, concentration) for draws in rows.values())


def nats_for_noise(before: list, actions: list, after: list[int]) -> float:
    """Nats for one urn of the next values, against urns by value, by action or by both."""
    n_values = len(set(after))
    each = np.full(n_values, 1.0 / n_values)
    common = rows_log_probability([0] * len(after), after, each)
    rivals = [before, actions, list(zip(before, actions, strict=True))]
    odds = [math.exp(rows_log_probability(rows, after, each) - common) for rows in rivals]
    return -math.log(sum(odds) / len(odds))


def nats_of_time(
    states: list, actions: list, outcomes: list[list[int]], times: list[float], parts: int
) -> float:
    """Nats for outcomes that depend on the time too: on each time, or on one border.

    Borders are those of the parts, behind the first time, and before the last one.

    Each part of `outcomes` has one outcome for each step; None where there is none.
    """
    codes = list(zip(states, actions, strict=True))
    inner = {float(np.quantile(times, k / parts)) for k in range(1, parts)}
    borders = sorted(inner | {sorted(set(times))[1], max(times)})
    clocks = [times, *([time >= border for time in times] for border in borders)]
    timed = [list(zip(rows, one, strict=True)) for one in clocks for rows in (actions, codes)]

    def evidence(rows: list, seen: list[int | None]) -> float:
        pairs = [(row, one) for row, one in zip(rows, seen, strict=True) if one is not None]
        drawn = [one for _, one in pairs]
        counts = np.bincount(drawn)
        base = (counts + 1 / len(counts)) / (len(drawn) + 1)
        each = [
            math.exp(rows_log_probability([row for row, _ in pairs], drawn, strength * base))
            for strength in (0.5, 2.0, 8.0, 32.0, 1e6)
        ]
        return sum(each) / len(each)

    found = []
    for seen in outcomes:
        with_time = sum(evidence(rows, seen) for rows in timed) / len(timed)
        found.append(with_time / sum(0.5 * evidence(rows, seen) for rows in (actions, codes)))
    return math.log(sum(found) / len(found))


def nats_of_rounded_amounts(
    points: Array,
    actions: list[int],
    amounts: list[bool],
    start: int,
    widths: tuple[float, ...],
    counts: tuple[float, ...],
    surprise: tuple[float, ...],
) -> float:
    """Nats by which steps are predicted better by near ones than by those from the same symbol."""
    which = [i for i, one in enumerate(amounts) if one]
    names = [i for i, one in enumerate(amounts) if not one]
    values = [sorted(set(points[:, i].tolist())) for i in which]
    deviation = [float(np.std(points[:, i])) for i in which]
    each = 1.0 / math.prod(len(one) for one in values)
    steps = [
        ((action, *before[names].tolist()), before[which], after[which])
        for before, after, action in zip(points[:-1], points[1:], actions[1:], strict=True)
        if action != start
    ]

    def bell(k: int, at: float, centre: float, width: float) -> float:
        heights = {v: math.exp(-0.5 * ((v - centre) / width) ** 2) for v in values[k]}
        return heights[at] / max(sum(heights.values()), 1e-300)

    def log_evidence(weight, hit) -> float:
        found = []
        for count, share in itertools.product(counts, surprise):
            total = 0.0
            for t, (group, before, after) in enumerate(steps):
                old = [step for step in steps[:t] if step[0] == group]
                same = sum(np.allclose(a - b, after - before, atol=1e-8) for _, b, a in old)
                base = (1 - share) * (same + each) / (len(old) + 1) + share * each
                weights = [weight(before, b) for _, b, _ in old]
                hits = [hit(before, after, b, a) for _, b, a in old]
                led = sum(w * h for w, h in zip(weights, hits, strict=True))
                total += math.log((led + count * base) / (sum(weights) + count))
            found.append(total)
        return float(np.logaddexp.reduce(found)) - math.log(len(found))

    by_name = log_evidence(
        lambda x, y: float((x == y).all()), lambda _x, there, _y, a: float((there == a).all())
    )
    by_amount = []
    for alike, near, moves in itertools.product(widths, widths, (0.0, 1.0)):

        def weight(x, y, near=near):
            return math.exp(-0.5 * sum(((x - y) / deviation / near) ** 2))

        def hit(x, there, y, a, alike=alike, moves=moves):
            return math.prod(
                bell(k, float(there[k]), float(a[k] + moves * (x[k] - y[k])), alike * deviation[k])
                for k in range(len(which))
            )

        by_amount.append(log_evidence(weight, hit))
    return float(np.logaddexp.reduce(by_amount)) - math.log(len(by_amount)) - by_name


def unseen_share_by_urns(
    draws: list[int], weights: list[float], each: float, hopeful: float = 1.0
) -> float:
    """Probability that the next outcome is a new one, if nobody knows how many there are.

    The mean over the urns that hold most that is new, as many as have `hopeful` of the posterior.

    An urn of k colours has probability weights[k - 1]; each colour has `each` balls at first.
    Outcomes 0, 1, ... in the order of their first time may be any different colours.
    """
    n_seen = len(set(draws))
    urns = []
    for k, weight in enumerate(weights, start=1):
        for colours in itertools.permutations(range(k), n_seen):
            drawn = [colours[outcome] for outcome in draws]
            joint = weight * math.exp(polya_urn_log_probability(drawn, np.full(k, each)))
            urns.append(((k - n_seen) * each / (k * each + len(draws)), joint))
    total = sum(joint for _, joint in urns)
    left, mean = hopeful, 0.0
    for new, joint in sorted(urns, reverse=True):
        part = min(left, joint / total)
        mean += new * part / hopeful
        left -= part
    return mean


def misreading_log_probability(draws: list[int], usual: int, places: int, misread: Array) -> float:
    """ln probability of a sequence of outcomes of a row that always leads to `usual`.

    Each step is read right or wrong, with odds that are an urn of their own; a wrong one is taken
    for any of the other places. The usual outcome is one of all places.
    """
    wrong, right = (float(c) for c in misread)
    log = -mp.log(places)
    for outcome in draws:
        if outcome == usual:
            log += mp.log(right / (wrong + right))
            right += 1
        else:
            log += mp.log(wrong / (wrong + right) / (places - 1))
            wrong += 1
    return float(log)


# --- one step explained ------------------------------------------------------------------------


def joint_posterior(
    likelihood: Array,
    before: list[tuple[int, float]],
    rows: dict[int, Array],
    start_row: Array,
    elsewhere: Array,
    new_density: float,
    row_prior: float,
    outlier_share: float = 0.0,
    outlier_density: float = 0.0,
) -> tuple[dict[tuple[int | None, int | str | None], float], float]:
    """Every way in which a step can have gone, and the density of its observation.

    The keys are (state before, state after); before is None where it is not known, after is None
    for a new state. With probability `outlier_share` the observation belongs to no state, whatever
    the step did: that is the one key (None, OUTLIER). A row of tries is a Dirichlet whose base,
    worth `row_prior` tries, is: a third stay, a third `elsewhere` (n,) among the known states, a
    third new. Where the state before is not known there is no staying, and `elsewhere` has two
    thirds.

    Args:
        likelihood: (n,) density of the observation in each known state.
        before: (state, probability).
        rows: (n,) tries of the action in each state of `before`.
        start_row: (n,) how often an unknown whereabouts turned out to be each state.
        elsewhere: (n,) probabilities.
        new_density: of the observation in a state never seen.
        outlier_density: of an observation that belongs to no state.
    """
    weights: dict[tuple[int | None, int | str | None], float] = {}
    regular = 1 - outlier_share
    sources: list[tuple[int | None, float, Array]] = [(s, p, rows[s]) for s, p in before]
    sources.append((None, 1 - sum(p for _, p in before), start_row))
    for state, probability, row in sources:
        tries = sum(row)
        for after in range(len(likelihood)):
            if state is None:
                base = 2 / 3 * elsewhere[after]
            else:
                base = (1 / 3 if after == state else 0) + 1 / 3 * elsewhere[after]
            predicted = (row[after] + row_prior * base) / (tries + row_prior)
            weights[state, after] = regular * probability * predicted * likelihood[after]
        new = row_prior / 3 / (tries + row_prior)
        weights[state, None] = regular * probability * new * new_density
    weights[None, OUTLIER] = outlier_share * outlier_density
    total = sum(weights.values())
    return {key: weight / total for key, weight in weights.items()}, total


def enumerated_filter(
    start: np.ndarray, rows: np.ndarray, likelihood: np.ndarray
) -> tuple[np.ndarray, float]:
    """The belief in the last state, by adding up every path of states.

    start (K,), rows (T, K, K) of each step, likelihood (T + 1, K) of each observation. Returns the
    belief (K,) and the probability of all observations.
    """
    n_states, n_steps = len(start), len(rows)
    belief = np.zeros(n_states)
    for path in itertools.product(range(n_states), repeat=n_steps + 1):
        probability = start[path[0]] * likelihood[0, path[0]]
        for t in range(n_steps):
            probability *= rows[t, path[t], path[t + 1]] * likelihood[t + 1, path[t + 1]]
        belief[path[-1]] += probability
    return belief / belief.sum(), float(belief.sum())


# --- the scale -----------------------------------------------------------------------------------


def student_log_density(offset: Array, scale: Array, dof: float) -> float:
    """ln density of a Student t about zero whose scale matrix is diagonal, with roots `scale`."""
    n = len(offset)
    total = mp.loggamma((dof + n) / 2) - mp.loggamma(mp.mpf(dof) / 2)
    total -= mp.mpf(n) / 2 * mp.log(dof * mp.pi)
    square = mp.mpf(0)
    for x, s in zip(offset, scale, strict=True):
        square += (mp.mpf(float(x)) / mp.mpf(float(s))) ** 2
        total -= mp.log(mp.mpf(float(s)))
    return float(total - (dof + n) / 2 * mp.log(1 + square / dof))


@dataclass
class ActionLaw:
    """The displacements of one action so far."""

    seen: list[Array]

    def density(self, offset: Array, reach: Array) -> float:
        """Nine parts the normal of those that were seen, one part a Student t of 3 degrees."""
        broad = float(np.exp(student_log_density(offset, reach, 3.0)))
        if not self.seen:
            return broad
        total, points = 0.2 + len(self.seen), np.array(self.seen)
        mean = points.mean(axis=0)
        scatter = ((points - mean) ** 2).sum(axis=0)
        density = 1.0
        for x, m, square, first in zip(offset, mean, scatter, reach**2, strict=True):
            variance = (0.2 * first + square) / total * (1 + 1 / total) + 1e-3
            density *= np.exp(-0.5 * (x - m) ** 2 / variance) / np.sqrt(2 * np.pi * variance)
        return 0.9 * density + 0.1 * broad


def scale_evidence(
    points: Array,
    actions: list[int],
    deviation: Array,
    typical_step: Array,
    others: list[tuple[float, float]] | None = None,
) -> tuple[float, list[int]]:
    """ln evidence of states as wide as `deviation`, and the state of each point, one at a time.

    A state is the mean of its points. A row begins with half a try: a third stays, a third leads
    elsewhere (2 % anywhere, the rest as the displacements of the action say), a third to a new
    state. An action of -1 begins an episode: all starts are one row, which stays nowhere. With 1 %
    a point belongs to no state; then the most usual state of the row goes on. `others` are ln
    densities of what else was seen of each point, if it belongs to a state and if it does not.
    """
    points, reach = points / deviation, typical_step / deviation
    members: list[list[Array]] = [[points[0]]]
    laws: dict[int, ActionLaw] = {}
    rows: dict[tuple[int | None, int], list[int]] = {(None, -1): [0]}
    labels, total = [0], 0.0
    others = others or [(0.0, 0.0)] * len(points)
    for x, action, seen in zip(points[1:], actions[1:], others[1:], strict=True):
        means = [np.mean(state, axis=0) for state in members]
        state, law = labels[-1], laws.setdefault(action, ActionLaw([]))
        row = rows.setdefault((None if action == -1 else state, action), [])
        if action == -1:
            base = [2 / 3 / len(means)] * len(means)
        else:
            ways = [law.density(mean - means[state], reach) for mean in means]
            base = [
                (0.98 * way / sum(ways) + 0.02 / len(means) + (j == state)) / 3
                for j, way in enumerate(ways)
            ]
        terms = []
        for j, mean in enumerate(means):
            spread = 1 + 1 / len(members[j])
            density = np.exp(-0.5 * np.sum((x - mean) ** 2) / spread)
            density /= (2 * np.pi * spread) ** (len(x) / 2)
            terms.append((row.count(j) + 0.5 * base[j]) / (len(row) + 0.5) * density)
        jump = law.density(x - means[state], reach)
        terms += [0.5 / 3 / (len(row) + 0.5) * jump, 0.01 * jump]
        terms = [term * np.exp(seen[0]) for term in terms[:-1]] + [terms[-1] * np.exp(seen[1])]
        total += float(np.log(sum(terms))) - float(np.log(deviation).sum())
        best = int(np.argmax(terms))
        if best == len(means) + 1:
            found = max(sorted(set(row)), key=row.count) if row else state
        else:
            found = best
            if found == len(members):
                members.append([])
            members[found].append(x)
            if action != -1 and found != state:
                law.seen.append(x - means[state])
        row.append(found)
        labels.append(found)
    return total, labels


def common_log_densities(points: Array, typical_step: Array) -> list[list[tuple[float, float]]]:
    """ln densities of each value of each feature: if all are of one normal, and if it is faulty.

    A normal-gamma whose first guess is one step, worth one value, is learned from the values
    before, but for observations that, given all, are faulty in all features; 1 % are. The first
    value has no density.
    """
    points = points - points[0]
    n, n_features = points.shape

    def parts(feature: int, value: float, before: Array) -> tuple[float, float]:
        step, n_before = typical_step[feature], max(1, len(before))
        mean = sum(before) / n_before
        square = step**2 + sum((other - mean) ** 2 for other in before)
        scale = np.sqrt(square / (n_before + 1) * (1 + 1 / n_before))
        off = np.array([value - mean])
        usual = student_log_density(off, np.array([scale]), n_before + 1)
        return usual, student_log_density(off, np.array([step]), 3.0)

    def is_usual_given(kept: Array, point: Array) -> bool:
        both = [parts(f, point[f], kept[:, f]) for f in range(n_features)]
        odds = sum(max(np.log(0.01), np.log(0.99) + usual - broad) for usual, broad in both)
        return bool(odds > np.log(0.01))

    is_usual = [True] * n
    for _ in range(5):
        kept = points[np.array(is_usual)]
        before, is_usual = is_usual, [is_usual_given(kept, point) for point in points]
        if is_usual == before:
            break
    found = []
    for feature in range(n_features):
        densities = [(0.0, 0.0)]
        for row in range(1, n):
            kept = points[:row][np.array(is_usual[:row])]
            usual, broad = parts(feature, points[row, feature], kept[:, feature])
            mixed = float(np.log(0.99 * np.exp(usual) + 0.01 * np.exp(broad)))
            densities.append((mixed, broad))
        found.append(densities)
    return found


def normal_gamma_log_evidence(
    values: Array, mean: float, strength: float, shape: float, rate: float
) -> float:
    """ln of the marginal likelihood of numbers, by a sum over means and precisions."""
    precision = np.exp(np.linspace(-25.0, 12.0, 2401))
    step = 37.0 / 2400
    about = float(np.mean([*values, mean]))
    total = 0.0
    for tau in precision:
        # The mean is within some deviations of what the numbers and the prior say.
        width = 12.0 / np.sqrt(tau * (strength + len(values))) + np.ptp([*values, mean])
        means = about + np.linspace(-width, width, 2001)
        log_density = -0.5 * strength * tau * (means - mean) ** 2
        log_density += 0.5 * np.log(strength * tau / (2 * np.pi))
        for value in values:
            log_density += 0.5 * np.log(tau / (2 * np.pi)) - 0.5 * tau * (value - means) ** 2
        inner = float(np.exp(log_density).sum() * (means[1] - means[0]))
        gamma = shape * mp.log(rate) - mp.loggamma(shape) + shape * np.log(tau) - rate * tau
        total += inner * float(mp.exp(gamma)) * step
    return float(np.log(total))


# Regression --------------------------------------------------------------------------------


def regression_log_evidence(x: Array, y: Array, precision: Array, scale: Array, dof: float):
    """ln p(y | x) of a matrix-normal-inverse-Wishart, point by point.

    Each point is a multivariate Student t given those before it: weights N^-1 X^T Y, and
    p(y) = t(y; weights^T x, (1 + x^T N^-1 x) scale / (dof - d + 1), dof - d + 1).
    """
    n_targets = y.shape[1]
    matrix, moment = mp.diag([mp.mpf(float(p)) for p in precision]), mp.zeros(x.shape[1], n_targets)
    residual, nu, total = mp.diag([mp.mpf(float(s)) for s in scale]), mp.mpf(dof), mp.mpf(0)
    for inputs, targets in zip(x, y, strict=True):
        point, target = column(inputs), column(targets)
        inverse = matrix**-1
        spread = 1 + quadratic(point, inverse)
        off = target - (inverse * moment).T * point
        free = nu - n_targets + 1
        shape = residual * (spread / free)
        total += (
            mp.loggamma((free + n_targets) / 2)
            - mp.loggamma(free / 2)
            - mp.mpf(n_targets) / 2 * mp.log(free * mp.pi)
            - mp.log(mp.det(shape)) / 2
            - (free + n_targets) / 2 * mp.log(1 + quadratic(off, shape**-1) / free)
        )
        matrix, moment = matrix + point * point.T, moment + point * target.T
        residual, nu = residual + off * off.T / spread, nu + 1
    return total


def regression_predictive_covariance(
    x: Array, y: Array, precision: Array, scale: Array, dof: float, at: Array
) -> Array:
    """(n_targets, n_targets) covariance of what follows the inputs `at`, by total variance.

    E[cov(y | weights, noise)] + cov(E[y | weights, noise]) = E[noise] (1 + at^T N^-1 at), with the
    mean of an inverse Wishart, scale / (dof - d - 1), and scale and dof updated point by point.
    """
    n_targets = y.shape[1]
    matrix, moment = mp.diag([mp.mpf(float(p)) for p in precision]), mp.zeros(x.shape[1], n_targets)
    residual, nu = mp.diag([mp.mpf(float(s)) for s in scale]), mp.mpf(dof)
    for inputs, targets in zip(x, y, strict=True):
        point, target = column(inputs), column(targets)
        inverse = matrix**-1
        off = target - (inverse * moment).T * point
        residual, nu = residual + off * off.T / (1 + quadratic(point, inverse)), nu + 1
        matrix, moment = matrix + point * point.T, moment + point * target.T
    spread = (1 + quadratic(column(at), matrix**-1)) / (nu - n_targets - 1)
    return np.array((residual * spread).tolist(), dtype=float)


def weighted_plane(
    points: Array, values: Array, weights: Array, ridge: float
) -> Callable[[Array], float]:
    """The plane of weighted least squares, by lstsq on rows; a ridge for the slopes alone.

    The ridge is rows of a slope that is to be zero; the height is free because it is that of the
    weighted mean of the points.
    """
    n_features = points.shape[1]
    centre = weights @ points
    root = np.sqrt(weights)[:, None]
    rows = root * np.column_stack([np.ones(len(points)), points - centre])
    flat = np.column_stack([np.zeros(n_features), math.sqrt(ridge) * np.eye(n_features)])
    targets = np.concatenate([root[:, 0] * values, np.zeros(n_features)])
    height, *slope = np.linalg.lstsq(np.concatenate([rows, flat]), targets, rcond=None)[0]
    return lambda z: float(height + (z - centre) @ np.array(slope))


def share_of_narrower_half(freedom, n_features):
    """Mean variance below its median, of states of variance 1: by integrating its quantiles."""
    levels = (np.arange(10_000) + 0.5) / 20_000  # from 0 to 1/2
    means = [stats.chi2(n_features * f).ppf(levels).mean() / (n_features * f) for f in freedom]
    return np.average(means, weights=freedom)


# --- places that look alike ---------------------------------------------------------------------


def chance_in_turn(outcomes: list[int], base: dict[int, float], concentration: float) -> mp.mpf:
    """ln probability of outcomes of a Dirichlet-multinomial about a base, one after the other."""
    total = mp.mpf(0)
    for n, outcome in enumerate(outcomes):
        seen = outcomes[:n].count(outcome)
        share = concentration * mp.mpf(base[outcome])
        total += mp.log((seen + share) / (n + concentration))
    return total


def belief_by_paths(
    starts: Array, rows: Array, likelihoods: Array, actions: list[int]
) -> list[mp.mpf]:
    """Probability of each state at the end of an episode, by all paths through the states.

    Args:
        starts: (n_states,) where episodes begin.
        rows: (n_actions, n_states, n_states) where actions lead.
        likelihoods: (n_times, n_states) of what was seen at each time.
        actions: one less than times.
    """
    n_states = len(starts)
    found = [mp.mpf(0)] * n_states
    for path in itertools.product(range(n_states), repeat=len(likelihoods)):
        p = mp.mpf(starts[path[0]]) * mp.mpf(likelihoods[0][path[0]])
        for time, action in enumerate(actions):
            p *= mp.mpf(rows[action][path[time]][path[time + 1]])
            p *= mp.mpf(likelihoods[time + 1][path[time + 1]])
        found[path[-1]] += p
    total = mp.fsum(found)
    return [p / total for p in found]


def best_partition(
    episodes: list[list[tuple[int, int]]], log_evidence: Callable[[list[int]], float]
) -> list[int]:
    """The places of all moments of some episodes, one partition of moments after the other.

    Args:
        episodes: (action, symbol) at each moment, the action that led there.
        log_evidence: of a partition, a number for each moment: the place it is at.

    Returns:
        the partition of the highest evidence in which only moments of one symbol share a place, and
        in which the same action and symbol lead from one place to one place.
    """
    symbols = [symbol for episode in episodes for _, symbol in episode]
    best, found = -math.inf, list(range(len(symbols)))
    for places in _partitions(len(symbols)):
        looks = dict(zip(places, symbols, strict=True))
        if [looks[place] for place in places] != symbols or not _is_consistent(episodes, places):
            continue
        evidence = log_evidence(places)
        if evidence > best:
            best, found = evidence, places
    return found


def _partitions(n: int) -> Iterator[list[int]]:
    """All partitions of n things, as numbers in the order in which they come up first."""

    def grow(places: list[int]) -> Iterator[list[int]]:
        if len(places) == n:
            yield places
            return
        for place in range(max(places, default=-1) + 2):
            yield from grow([*places, place])

    return grow([])


def _is_consistent(episodes: list[list[tuple[int, int]]], places: list[int]) -> bool:
    """Whether places begin alike, and the same action and symbol lead to the same place."""
    leads: dict[tuple[int, int, int], int] = {}
    moment = 0
    for episode in episodes:
        before = -1
        for action, symbol in episode:
            if leads.setdefault((before, action, symbol), places[moment]) != places[moment]:
                return False
            before = places[moment]
            moment += 1
    return True


def moves_log_probability(moves: list[bool], prior: tuple[float, float]) -> float:
    """ln P(each comparison in turn) of an urn of "another reward" and "the same reward"."""
    other, same = prior
    total = mp.mpf(0)
    for is_move in moves:
        total += mp.log(mp.mpf(other if is_move else same) / (other + same))
        other, same = (other + 1, same) if is_move else (other, same + 1)
    return float(total)


def row_means_log_evidence(rows: list[list[float]], variance: float, spread: float) -> float:
    """ln density of rewards of several rows, their centre integrated out by a fine grid.

    Each row draws its mean from N(centre, spread) and its rewards from N(mean, variance): all
    rewards of a row are one normal vector. Any centre is as likely, with density 1.
    """
    every = [reward for row in rows for reward in row]
    width = 12.0 * math.sqrt(variance + spread)
    centres = np.linspace(min(every) - width, max(every) + width, 1001)
    log_density = np.zeros(len(centres))
    for row in rows:
        covariance = variance * np.eye(len(row)) + spread
        law = stats.multivariate_normal(np.zeros(len(row)), covariance)
        log_density += law.logpdf(np.array(row)[None, :] - centres[:, None])
    top = log_density.max()
    return float(top + np.log(np.trapezoid(np.exp(log_density - top), centres)))


def expected_reward_by_grid(
    rewards: list[float], variance: float, centre: float, spread: float
) -> tuple[float, float]:
    """Mean and variance of the mean reward of a row, by summing over a fine grid of means."""
    width = 10.0 * math.sqrt(spread)
    means = np.linspace(centre - width, centre + width, 200_001)
    log_weight = -0.5 * (means - centre) ** 2 / spread
    for reward in rewards:
        log_weight -= 0.5 * (reward - means) ** 2 / variance
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    mean = float(weight @ means)
    return mean, float(weight @ (means - mean) ** 2)


def linear_chain_posterior(
    start: tuple[Array, Array],
    slopes: Array,
    shifts: Array,
    noises: tuple[Array, Array],
    observed: Array,
) -> tuple[Array, Array, float]:
    """Points z_0 .. z_T of a linear motion given noisy observations y_1 .. y_T, all at once.

    z_t+1 = F_t z_t + b_t + w_t and y_t = z_t + v_t. All of them are one Gaussian: its mean and
    covariance are built from the independent z_0, w and v, and conditioned on the observations.

    Args:
        start: mean (d,) and covariance (d, d) of z_0.
        slopes: (T, d, d) F.
        shifts: (T, d) b.
        noises: (d, d) covariances of each w and of each v.
        observed: (T, d) y.

    Returns:
        (T + 1, d) means, ((T + 1) d, (T + 1) d) covariance, ln density of the observations.
    """
    n, d = shifts.shape
    mean, moved_by = [start[0]], [np.eye(d, (1 + n) * d)]  # as functions of z_0, w_0, w_1, ...
    for t in range(n):
        mean.append(slopes[t] @ mean[t] + shifts[t])
        moved_by.append(slopes[t] @ moved_by[t] + np.eye(d, (1 + n) * d, (1 + t) * d))
    sources = np.zeros(((1 + n) * d, (1 + n) * d))
    for block in range(1 + n):
        at = slice(block * d, (block + 1) * d)
        sources[at, at] = start[1] if block == 0 else noises[0]
    joint = np.concatenate(moved_by) @ sources @ np.concatenate(moved_by).T
    seen = joint[d:, d:] + np.kron(np.eye(n), noises[1])
    gain = joint[:, d:] @ np.linalg.inv(seen)
    off = (observed - np.array(mean[1:])).ravel()
    after = np.array(mean).ravel() + gain @ off
    density = stats.multivariate_normal(np.zeros(n * d), seen).logpdf(off)
    return after.reshape(1 + n, d), joint - gain @ joint[d:], float(density)


def enumerated_clones(
    steps: list[int], triples: list[tuple[int, int, int]], rows: list[Array]
) -> tuple[float, list[Array], list[int]]:
    """What a path of looks says of the clones of looks, one path of clones after the other.

    Args:
        steps: the number of the triple (look, action, next look) of each step.
        triples: all of them.
        rows: by triple, (n_clones, n_clones of the next look) probabilities.

    Returns:
        the likelihood, if any clone of the first look is as likely to be the first; the expected
        tries by triple; and the likeliest path of clones.
    """
    sizes = [rows[steps[0]].shape[0], *(rows[number].shape[1] for number in steps)]
    total, best = 0.0, (-1.0, [0])
    tries = [np.zeros_like(row) for row in rows]
    for path in itertools.product(*(range(size) for size in sizes)):
        share = 1.0 / sizes[0]
        for number, one, other in zip(steps, path, path[1:], strict=False):
            share *= rows[number][one, other]
        total += share
        best = max(best, (share, list(path)), key=lambda pair: pair[0])
        for number, one, other in zip(steps, path, path[1:], strict=False):
            tries[number][one, other] += share
    return total, [one / total for one in tries], best[1]


def labels_evidence(
    moments: list[list[tuple[int, tuple[int, float, bool]]]],
    labels: list[list[int]],
    of_row: Callable[[int, int, dict[tuple[int, float, bool], int]], float],
    of_ways: Callable[[list[int], int], float],
    n_alike: dict[int, int],
) -> float:
    """ln evidence of labels as places: all rows, and where each outcome leads.

    Args:
        moments: by episode, the action and outcome (symbol, reward, ended) of each moment.
        labels: the place of each moment.
        of_row: of the outcomes of an action at a place, by symbol, action and counts.
        of_ways: of the places that one outcome led to, by counts and number of alike places.
        n_alike: by symbol.
    """
    looks, found = {}, 0.0
    for episode, path in zip(moments, labels, strict=True):
        looks |= {label: outcome[0] for label, (_, outcome) in zip(path, episode, strict=True)}
    ways: list[tuple[int, int, tuple[int, float, bool], int]] = [
        (path[i - 1], *episode[i], path[i])
        for episode, path in zip(moments, labels, strict=True)
        for i in range(1, len(episode))
    ]
    for place, action in {way[:2] for way in ways}:
        here = [way for way in ways if way[:2] == (place, action)]
        outcomes = {way[2] for way in here}
        counts = {outcome: sum(way[2] == outcome for way in here) for outcome in outcomes}
        found += of_row(looks[place], action, counts)
        for outcome in outcomes:
            reached = [way[3] for way in here if way[2] == outcome]
            each = [reached.count(label) for label in set(reached)]
            found += of_ways(each, n_alike[outcome[0]]) - math.log(1 + n_alike[outcome[0]])
    return found


def gain_of_correlations(points, correlation):
    """Nats by which N(0, correlation) explains points (N, O) better than N(0, I), one by one."""
    origin = np.zeros(len(correlation))
    alone = stats.multivariate_normal(origin, np.eye(len(correlation)))
    together = stats.multivariate_normal(origin, correlation)
    return sum(together.logpdf(point) - alone.logpdf(point) for point in points)


def mixed_rows_log_evidence(pairs: list[tuple[float, float]], shares: Sequence[float]) -> float:
    """ln evidence of rows of which some depend on a cue, by enumeration of all sets of them.

    Args:
        pairs: ln evidence of each row if it does not, and if it does.
        shares: of rows that do, as likely as each other.
    """
    total = mp.mpf(0)
    for share in shares:
        for cued in itertools.product((False, True), repeat=len(pairs)):
            found = mp.mpf(1) / len(shares)
            for is_cued, pair in zip(cued, pairs, strict=True):
                found *= (share if is_cued else 1.0 - share) * mp.exp(pair[is_cued])
            total += found
    return float(mp.log(total))


def shortest_combination(changes):
    """Weights (n,), with the sum one, of the shortest combination of changes (n, m): Lagrange."""
    n = len(changes)
    conditions = np.block([[2.0 * changes @ changes.T, np.ones((n, 1))], [np.ones((1, n)), 0.0]])
    return np.linalg.lstsq(conditions, np.append(np.zeros(n), 1.0), rcond=None)[0][:n]


def edges_log_probability(edges: Sequence[tuple[str, bool, int]]) -> float:
    """ln probability of edges that are drawn one after the other, by an integral over the share.

    Args:
        edges: of each, where it leads ("back" or "on"), whether what it leads to looks like the
            place where it begins, and how many others of that look are known by then. An edge that
            stays with its look leads back at a share that nobody knows; otherwise it leads to one
            of the others, or to a new one, all as likely as each other.
    """

    def probability(share: mp.mpf) -> mp.mpf:
        found = mp.mpf(1)
        for where, is_alike, n_others in edges:
            if where == "back":
                found *= share
            else:
                found *= ((1 - share) if is_alike else 1) / mp.mpf(1 + n_others)
        return found

    return float(mp.log(mp.quad(probability, [0, 1])))


def _pairings(actions: Sequence[int]) -> int:
    """Number of ways to make pairs of some of the actions."""
    if len(actions) < 2:
        return 1
    _, *others = actions
    return _pairings(others) + sum(_pairings([x for x in others if x != one]) for one in others)


def all_reckonings(
    episodes: Sequence[Sequence[tuple[int, int]]], axes: dict[int, tuple[int, int]]
) -> Iterator[tuple[list[list[tuple[int, ...]]], float]]:
    """The places of all steps by each set of exceptions, and ln of what axes and set cost.

    Each step of each episode gets its place by itself, as a sum over all steps before it.

    Args:
        episodes: of each step, the action (of the first, any) and the look.
        axes: of each action that moves, its axis and direction.
    """
    steps = sorted({
        (one[1], *two) for episode in episodes for one, two in itertools.pairwise(episode)
    })  # fmt: skip
    n_axes = 1 + max((axis for axis, _ in axes.values()), default=0)
    for flags in itertools.product([False, True], repeat=len(steps)):
        is_exception = dict(zip(steps, flags, strict=True))
        labels = []
        for episode in episodes:
            path = []
            for n, (_, look) in enumerate(episode):
                place = [0] * n_axes
                for (_, before), (action, after) in itertools.pairwise(episode[: n + 1]):
                    axis, direction = axes.get(action, (0, 0))
                    if (before != after) != is_exception[before, action, after]:
                        place[axis] += direction
                path.append((episode[0][1], look, *place))
            labels.append(path)
        nats = -math.log(_pairings(sorted({action for _, action, _ in steps})))
        for is_same in (True, False):
            kind = [flag for step, flag in is_exception.items() if (step[0] == step[2]) == is_same]
            nats -= math.log((len(kind) + 1) * math.comb(len(kind), sum(kind)))
        yield labels, nats


def all_walks(
    steps: Sequence[tuple[int, int]], axes: dict[int, tuple[int, int]]
) -> Iterator[tuple[list[tuple[int, ...]], float]]:
    """The places of one walk by each way to say which steps moved, and ln of its probability.

    Only ways that contradict nothing: a place has one look, and a wall is there from both sides.
    Walls and ways without one have any share, as likely as any other; the look of a new place has
    the share that it has of all looks.

    Args:
        steps: of each step, the action (of the first, any) and the look.
        axes: of each action, its axis and direction.
    """
    looks = [look for _, look in steps]
    n_axes = 1 + max(axis for axis, _ in axes.values())
    for flags in itertools.product([False, True], repeat=len(steps) - 1):
        places, walls = [(0,) * n_axes], dict[frozenset[tuple[int, ...]], set[bool]]()
        for (action, _), is_move in zip(steps[1:], flags, strict=True):
            axis, direction = axes[action]
            beyond = list(places[-1])
            beyond[axis] += direction
            walls.setdefault(frozenset([places[-1], tuple(beyond)]), set()).add(is_move)
            places.append(tuple(beyond) if is_move else places[-1])
        seen = {place: {look for at, look in zip(places, looks, strict=True) if at == place}
                for place in places}  # fmt: skip
        if all(len(one) == 1 for one in [*walls.values(), *seen.values()]):
            n, k = len(walls), sum(True in one for one in walls.values())
            nats = -math.log((n + 1) * math.comb(n, k))
            for place, (look,) in seen.items():
                if place != places[0]:
                    nats += math.log(looks.count(look) / len(looks))
            yield places, nats


def best_gain_in_doubt(
    weights: Sequence[float],
    ways: Sequence[Sequence[dict[int, float]]],
    rewards: Array,
    looks: Sequence[int],
    gamma: float,
    n_steps: int,
) -> list[float]:
    """Expected gain of each first action, if the best is done after every history.

    Args:
        weights: probability that the history so far has happened and led to each state.
        ways: ways[action][state] gives the probability of each next state; what is missing from 1
            is the end of the episode.
        rewards: (n_actions, n_states) expected.
        looks: what is seen of each state; histories differ by looks alone.
        gamma: the discount.
        n_steps: that are looked ahead.
    """
    gains = []
    for action, rows in enumerate(ways):
        gain = sum(w * rewards[action][state] for state, w in enumerate(weights))
        reached: dict[int, list[float]] = {}
        for state, w in enumerate(weights):
            for after, p in rows[state].items():
                reached.setdefault(looks[after], [0.0] * len(weights))[after] += w * p
        if n_steps > 1:
            for onward in reached.values():
                found = best_gain_in_doubt(onward, ways, rewards, looks, gamma, n_steps - 1)
                gain += gamma * max(found)
        gains.append(gain)
    return gains


def nats_for_a_cue(
    episodes: list[list[tuple]], features: Sequence[int], strengths: Sequence[float]
) -> float:
    """Nats for looks that ask for one feature of the first look, by urns and a plain loop.

    Episodes are (look, action, outcome) of each step, where looks are tuples; a first look that
    comes again is one. Looks at which each action had one outcome ask for nothing.
    """
    later: dict[tuple, list[tuple]] = {}
    for episode in episodes:
        first = episode[0][0]
        for look, action, outcome in episode:
            if look != first:
                later.setdefault(look, []).append((first, action, outcome))
    nats = 0.0
    for steps in later.values():
        if len({(action, outcome) for _, action, outcome in steps}) == len(
            {a for _, a, _ in steps}
        ):
            continue
        names = sorted({outcome for _, _, outcome in steps})
        outcomes = [names.index(outcome) for _, _, outcome in steps]
        common = rows_like_the_common_one([a for _, a, _ in steps], outcomes, strengths)
        odds = [
            math.exp(
                rows_like_the_common_one([(a, f[i]) for f, a, _ in steps], outcomes, strengths)
                - common
            )
            for i in features
        ]
        nats += math.log(0.5 + 0.5 * sum(odds) / len(odds))
    return nats


def rows_like_the_common_one(
    contexts: list, outcomes: list[int], strengths: Sequence[float]
) -> float:
    """ln probability by urns that begin like the common one; how firmly is not known."""
    n_values = max(outcomes) + 1
    counts = np.array([outcomes.count(value) for value in range(n_values)])
    base = (counts + 1.0 / n_values) / (len(outcomes) + 1.0)
    found = [math.exp(rows_log_probability(contexts, outcomes, one * base)) for one in strengths]
    return math.log(sum(found) / len(found))
