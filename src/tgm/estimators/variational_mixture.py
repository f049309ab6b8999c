"""The variational mixture as an estimator of scikit-learn."""

from __future__ import annotations

import sys
import warnings
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from tgm.distributions import FloatArray, IntArray
from tgm.distributions.threads import one_thread
from tgm.errors import ConfigError, DataError
from tgm.estimators.covariance import KINDS, CovarianceKind
from tgm.estimators.online import Stream
from tgm.estimators.search import Course, climb, find
from tgm.estimators.sources import ArrayPoints, Points, ScaledPoints, as_source, batches
from tgm.estimators.survey import Survey, check_sizes, survey
from tgm.estimators.units import Fitted, in_order
from tgm.estimators.weight_prior import DirichletProcess, FiniteDirichlet, WeightPrior

WEIGHT_PRIORS: dict[str, type[DirichletProcess] | type[FiniteDirichlet]] = {
    "dirichlet_process": DirichletProcess,
    "dirichlet_distribution": FiniteDirichlet,
}


class VariationalMixture(DensityMixin, BaseEstimator):  # type: ignore[misc]
    """A Gaussian mixture that finds its number of components by evidence.

    The fit is deterministic: the same points give the same components, in every run. It does not
    depend on the units of the features. NaN means missing; such values are integrated out.

    Parameters:
        n_components: "auto", or the largest number of components to use.
        covariance_type: "full", "diag" or "low_rank" (many features that go together in few
            directions).
        weight_concentration_prior_type: "dirichlet_process" or "dirichlet_distribution".
        weight_concentration_prior: of the process, or of each component; above 0.
        tol: nats per point; sweeps end when the free energy falls by less.
        max_iter: sweeps over all points after the search for components.
        random_state: for `sample` alone.

    Attributes:
        n_components_: components found.
        weights_: (n_components_,) expected weights, the largest first.
        means_: (n_components_, n_features)
        covariances_: (n_components_, n_features, n_features)
        precisions_: (n_components_, n_features, n_features) the expected precisions.
        free_energy_: variational free energy of all points, in nats; lower is better.
        history_: list of dicts: action, n_components, free_energy, n_points (the search looks at a
            sample of large data), in the order of the fit.
        converged_: whether the free energy had stopped falling.
        n_iter_: sweeps over all points.
        n_features_in_, feature_names_in_: as everywhere in scikit-learn.
    """

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        covariance_type: str = "full",
        weight_concentration_prior_type: str = "dirichlet_process",
        weight_concentration_prior: float = 1.0,
        tol: float = 1e-5,
        max_iter: int = 100,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.weight_concentration_prior_type = weight_concentration_prior_type
        self.weight_concentration_prior = weight_concentration_prior
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: object = None) -> VariationalMixture:
        """Find the components of X.

        Args:
            X: (n_samples, n_features) array or data frame; or, for data larger than memory, a path
                to a Parquet file, a folder of such or a .npy file, a memory map, a Dask array or
                data frame, or a `tgm.estimators.ParquetPoints`.
            y: not used.
        """
        kind, weight_prior, at_most = self._settings()
        source = as_source(X)
        if source is None:
            points = self._points(X, reset=True)
            source = ArrayPoints(points, names=getattr(self, "feature_names_in_", None))
        else:
            self._remember_features(source)
        with one_thread():
            seen = survey(source)
            scaled = (seen.sample - seen.mean) / seen.scale
            course = find(scaled, kind, weight_prior, seen.blur(), at_most)
            self._finish(course, seen, source, scaled)
        return self

    def partial_fit(self, X: Any, y: object = None) -> VariationalMixture:
        """Learn from one more batch.

        Args:
            X: (n_samples, n_features) array or data frame; or a source, as `fit` takes it: one
                pass over its chunks, each of which is a batch.
            y: not used.

        The cost of a batch does not depend on how many there were before. The search for components
        is repeated, in a bounded sample, whenever the number of points has doubled. Batches after
        a `fit` begin again: `fit` keeps nothing of its points that could be added to.
        """
        stream: Stream | None = getattr(self, "stream_", None)
        source = as_source(X)
        if source is None:
            source = ArrayPoints(self._points(X, reset=stream is None), rows=sys.maxsize)
        elif stream is None:
            self._remember_features(source)
        else:
            self._check_features(source)
        stream = stream or Stream.begin(*self._settings(), source.n_features)
        names = getattr(self, "feature_names_in_", None)
        with one_thread():
            for index, batch in enumerate(batches(source)):
                check_sizes(batch, names, index)
                if len(batch):
                    stream.add(batch)
        if stream.fitted is None or stream.course is None:
            raise DataError("there are no points: 0 rows")
        self.stream_, self.fitted_ = stream, stream.fitted
        self.n_iter_ = stream.n_batches
        self.converged_ = stream.course.converged
        self.history_ = _as_dicts(stream.course, stream.fitted, stream.known)
        return self

    def fit_predict(self, X: Any, y: object = None) -> IntArray:
        """Fit, then the component of each point, (n_samples,)."""
        return self.fit(X).predict(X)

    def predict(self, X: Any) -> IntArray:
        """The most probable component of each point, (n_samples,)."""
        return np.concatenate([part.argmax(axis=1) for part in self._each(X, "probabilities")])

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each component for each point, (n_samples, n_components_)."""
        return np.concatenate(list(self._each(X, "probabilities")))

    def score_samples(self, X: Any) -> FloatArray:
        """ln of the predictive density of each point, (n_samples,): of its known features."""
        return np.concatenate(list(self._each(X, "log_density")))

    def score(self, X: Any, y: object = None) -> float:
        """The mean of `score_samples`."""
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1) -> tuple[FloatArray, IntArray]:
        """Points drawn from the predictive density, and their components."""
        check_is_fitted(self, "fitted_")
        if not _is_count(n_samples):
            raise ConfigError(f"n_samples is {n_samples!r:.60}; it must be an integer above 0")
        state = check_random_state(self.random_state)
        rng = np.random.default_rng(int(state.randint(2**31 - 1)))
        return self._fitted().draw(int(n_samples), rng)

    @property
    def n_components_(self) -> int:
        """Components found."""
        return self._fitted().model.n_components

    @property
    def weights_(self) -> FloatArray:
        """(n_components_,) expected weights."""
        return self._fitted().model.weights

    @property
    def means_(self) -> FloatArray:
        """(n_components_, n_features)"""
        return self._fitted().means

    @property
    def covariances_(self) -> FloatArray:
        """(n_components_, n_features, n_features)"""
        return self._fitted().covariances

    @property
    def precisions_(self) -> FloatArray:
        """(n_components_, n_features, n_features) the expected precisions."""
        return self._fitted().precisions

    @property
    def free_energy_(self) -> float:
        """Of all points, in nats; after `partial_fit` of the sums that it has kept."""
        fitted = self._fitted()
        if hasattr(self, "stream_"):
            own = fitted.model.free_energy(self.stream_.log_q)
            return fitted.free_energy(own, self.stream_.known)
        return float(self.final_free_energy_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _fitted(self) -> Fitted:
        check_is_fitted(self, "fitted_")
        fitted: Fitted = self.fitted_
        return fitted

    def _each(self, X: Any, method: str) -> Any:
        """A method of the fitted model, applied to each chunk of X."""
        fitted = self._fitted()
        source = as_source(X)
        if source is None:
            yield getattr(fitted, method)(self._points(X, reset=False))
            return
        self._check_features(source)
        yield from source.map(_Chunk(fitted, method))

    def _points(self, X: Any, *, reset: bool) -> FloatArray:
        points: npt.NDArray[np.float64] = validate_data(
            self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan"
        )
        return points

    def _check_features(self, source: Points) -> None:
        """DataError unless the source has the features that the mixture was fitted with."""
        if source.n_features != self.n_features_in_:
            raise DataError(
                f"X has {source.n_features} features; the mixture has {self.n_features_in_}"
            )
        known = getattr(self, "feature_names_in_", None)
        if known is not None and source.names is not None and [*known] != [*source.names]:
            raise DataError(
                f"the columns of X are {[*source.names]!r:.200}; the mixture was fitted with "
                f"{[*known]!r:.200}, in this order"
            )

    def _remember_features(self, source: Points) -> None:
        self.n_features_in_ = source.n_features
        if source.names is not None:
            self.feature_names_in_ = np.asarray(source.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _settings(self) -> tuple[CovarianceKind, WeightPrior, int | None]:
        """The parameters as what they stand for, checked."""
        for name, known in (
            ("covariance_type", KINDS),
            ("weight_concentration_prior_type", WEIGHT_PRIORS),
        ):
            if getattr(self, name) not in known:
                wanted = ", ".join(known)
                raise ConfigError(f"{name} is {getattr(self, name)!r}; wanted one of {wanted}")
        for name, least in (("weight_concentration_prior", 0.0), ("tol", -np.inf)):
            value = getattr(self, name)
            if not (isinstance(value, (int, float, np.number)) and least < value < np.inf):
                raise ConfigError(f"{name} is {value!r}; it must be a number above {least}")
        if not _is_count(self.max_iter):
            raise ConfigError(f"max_iter is {self.max_iter!r}; it must be an integer above 0")
        at_most = None if self.n_components == "auto" else self.n_components
        if at_most is not None and not _is_count(at_most):
            raise ConfigError(
                f'n_components is {at_most!r}; it must be "auto" or an integer above 0'
            )
        kind: CovarianceKind = KINDS[self.covariance_type]()
        prior = WEIGHT_PRIORS[self.weight_concentration_prior_type]
        concentration = float(self.weight_concentration_prior)
        return kind, prior(concentration), None if at_most is None else int(at_most)

    def _finish(self, course: Course, seen: Survey, source: Points, scaled: FloatArray) -> None:
        """Sweeps over all points, and what the fit leaves behind."""
        if seen.n_points == len(scaled):
            points: Points = ArrayPoints(scaled)
        else:
            points = ScaledPoints(source, seen.mean, seen.scale)
        course.free_energy, course.n_sweeps = np.inf, 0  # until now of the sample
        climb(course, points, tolerance=self.tol, max_sweeps=self.max_iter)
        if not course.converged:
            warnings.warn(
                f"the free energy still falls after {self.max_iter} sweeps; raise max_iter",
                ConvergenceWarning,
                stacklevel=3,
            )
        if hasattr(self, "stream_"):
            del self.stream_
        self.fitted_ = Fitted(in_order(course.model), seen.mean, seen.scale)
        self.final_free_energy_ = self.fitted_.free_energy(course.free_energy, seen.known)
        self.history_ = _as_dicts(course, self.fitted_, seen.known)
        self.n_iter_ = course.n_sweeps
        self.converged_ = course.converged


class _Chunk:
    """A method of the fitted model as a function of a chunk; can be sent to another process."""

    def __init__(self, fitted: Fitted, method: str) -> None:
        self._fitted, self._method = fitted, method

    def __call__(self, index: int, chunk: FloatArray) -> FloatArray:
        result: FloatArray = getattr(self._fitted, self._method)(chunk)
        return result


def _is_count(value: object) -> bool:
    is_integer = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return is_integer and int(value) >= 1  # type: ignore[call-overload]


def _as_dicts(course: Course, fitted: Fitted, known: FloatArray) -> list[dict[str, Any]]:
    """The history, with free energies in the data's units; the search may see a sample only."""
    events = [asdict(event) for event in course.history]
    n_all = float(fitted.model.moments.weight.sum())
    for event in events:
        share = event["n_points"] / n_all
        event["free_energy"] = fitted.free_energy(event["free_energy"], known * share)
        event["n_points"] = round(event["n_points"])
    return events
