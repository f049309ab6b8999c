"""Cholesky factors of a batch of positive definite matrices, kept as whitening matrices."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tgm.distributions.arrays import FloatArray
from tgm.errors import DataError


@dataclass(frozen=True, eq=False)
class Factor:
    """A factorised batch of positive definite matrices A.

    lower (K, O, O): the Cholesky factors L, with L L^T = A.
    log_det (K,): ln |A|.
    """

    lower: FloatArray
    log_det: FloatArray

    @cached_property
    def whitening(self) -> FloatArray:
        """(K, O, O): lower triangular U with U A U^T = I, so that A^-1 = U^T U; computed once."""
        # LAPACK leaves rounding errors above the diagonal of the inverse; they are set to 0.
        return np.tril(np.linalg.inv(self.lower))

    @property
    def inverse(self) -> FloatArray:
        """A^-1, of shape (K, O, O)."""
        return np.swapaxes(self.whitening, -1, -2) @ self.whitening

    def quadratic(self, vectors: FloatArray) -> FloatArray:
        """x^T A^-1 x for one vector x per matrix: (K, O) to (K,)."""
        whitened = np.einsum("...ij,...j->...i", self.whitening, vectors)
        return np.asarray(np.sum(whitened**2, axis=-1))

    def trace_with(self, matrices: FloatArray) -> FloatArray:
        """tr(A^-1 B) for one B per matrix: (K, O, O) to (K,)."""
        return np.asarray(np.sum((self.whitening @ matrices) * self.whitening, axis=(-1, -2)))


def factorise(matrices: FloatArray, name: str) -> Factor:
    """Factorise positive definite matrices (K, O, O); `name` is used in the error."""
    try:
        lower = np.asarray(np.linalg.cholesky(matrices), dtype=np.float64)
    except np.linalg.LinAlgError:
        raise _not_positive_definite(matrices, name) from None
    log_det = 2 * np.sum(np.log(np.einsum("...ii->...i", lower)), axis=-1)
    if not np.all(np.isfinite(log_det)):
        raise _not_positive_definite(matrices, name)
    return Factor(lower=lower, log_det=log_det)


def _not_positive_definite(matrices: FloatArray, name: str) -> DataError:
    for index, matrix in enumerate(matrices):
        if not np.all(np.isfinite(matrix)):
            return DataError(f"{name}[{index}] has entries that are not finite: {matrix.tolist()}")
        smallest = float(np.linalg.eigvalsh(matrix)[0])
        if smallest <= 0:
            return DataError(
                f"{name}[{index}] is not positive definite: its smallest eigenvalue is "
                f"{smallest:.3g}, and it must be above zero"
            )
    return DataError(f"{name} holds a matrix that is singular to working precision")
