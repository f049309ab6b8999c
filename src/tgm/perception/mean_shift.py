"""Mean shift with a flat window: clusters whose number is not given."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from tgm.distributions import FloatArray, IntArray
from tgm.errors import ConfigError
from tgm.perception.points import as_points

MAX_ITERATIONS = 300  # moves of a window
SHORTEST_MOVE = 1e-3  # share of the radius; a window that moves less has converged
PAIRS_PER_BLOCK = 4_000_000  # (window, member) pairs in memory at once


@dataclass(frozen=True, eq=False)
class Clusters:
    """labels (N,): the cluster of each point. centres (C, O): where the windows converged."""

    labels: IntArray
    centres: FloatArray

    @property
    def n_clusters(self) -> int:
        """C."""
        return len(self.centres)


def mean_shift(points: npt.ArrayLike, bandwidth: float) -> Clusters:
    """Cluster points (N, O) by windows of radius `bandwidth` that move to the densest places.

    One window starts at each point and moves to the mean of its members until it converges. Of
    windows that converge within a bandwidth of each other only the most populous is kept. Each
    point belongs to the nearest kept window. Clusters are ordered, the most populous first.
    """
    array = as_points(points)
    if not (np.isfinite(bandwidth) and bandwidth > 0):
        raise ConfigError(f"bandwidth is {bandwidth}; it must be finite and above 0")
    centres, n_members = _converged_windows(array, bandwidth)
    centres = _without_duplicates(centres, n_members, bandwidth)
    _, labels = cKDTree(centres).query(array)
    return Clusters(labels=labels.astype(np.intp), centres=centres)


def _converged_windows(points: FloatArray, bandwidth: float) -> tuple[FloatArray, IntArray]:
    """Where the windows converge (W, O), and how many members each has (W,)."""
    tree = cKDTree(points)
    windows = np.unique(points, axis=0)
    centres, counts = [], []
    for iteration in range(MAX_ITERATIONS + 1):
        moved, n_members = _move(tree, points, windows, bandwidth)
        step = np.sqrt(np.sum((moved - windows) ** 2, axis=1))
        is_done = (step <= SHORTEST_MOVE * bandwidth) | (iteration == MAX_ITERATIONS)
        centres.append(moved[is_done])
        counts.append(n_members[is_done])
        # Windows with the same members have the same mean to the last bit: keep one of them.
        windows = np.unique(moved[~is_done], axis=0)
        if not len(windows):
            break
    return np.concatenate(centres), np.concatenate(counts)


def _move(
    tree: cKDTree, points: FloatArray, windows: FloatArray, bandwidth: float
) -> tuple[FloatArray, IntArray]:
    """The mean (W, O) and the number (W,) of the points inside each window (W, O)."""
    means, sizes = windows.copy(), np.zeros(len(windows), dtype=np.intp)
    for block in _blocks(tree, windows, bandwidth):
        inside = _members(tree, windows[block], bandwidth)
        count = np.diff(inside.indptr)
        # A window is empty only if rounding moved it away from its members: it stays in place.
        mean = (inside @ points) / np.maximum(count, 1)[:, None]
        means[block] = np.where(count[:, None] > 0, mean, windows[block])
        sizes[block] = count
    return means, sizes


def _blocks(tree: cKDTree, windows: FloatArray, bandwidth: float) -> list[IntArray]:
    """Indices of the windows, in blocks of at most about PAIRS_PER_BLOCK members."""
    rows = np.arange(len(windows))
    if len(windows) * tree.n <= PAIRS_PER_BLOCK:
        return [rows]
    sizes = tree.query_ball_point(windows, bandwidth, return_length=True)
    part = np.cumsum(sizes) // PAIRS_PER_BLOCK
    return np.split(rows, np.flatnonzero(np.diff(part)) + 1)


def _members(tree: cKDTree, windows: FloatArray, bandwidth: float) -> csr_array:
    """Which points are in which window: a sparse matrix of ones, (W, N)."""
    pairs = cKDTree(windows).sparse_distance_matrix(tree, bandwidth, output_type="ndarray")
    shape = (len(windows), tree.n)
    inside = csr_array((np.ones(len(pairs)), (pairs["i"], pairs["j"])), shape=shape)
    # Sort the members by index, so that equal windows are summed in the same order.
    inside.sort_indices()
    return inside


def _without_duplicates(centres: FloatArray, n_members: IntArray, bandwidth: float) -> FloatArray:
    """Centres (C, O), most populous first, none within a bandwidth of one before it."""
    # lexsort sorts by its last key first: members, then the coordinates from left to right.
    order = np.lexsort([*centres.T[::-1], n_members])[::-1]
    centres = centres[order]
    tree = cKDTree(centres)
    is_kept = np.ones(len(centres), dtype=np.bool_)
    for index, centre in enumerate(centres):
        if is_kept[index]:
            is_kept[tree.query_ball_point(centre, bandwidth)] = False
            is_kept[index] = True
    return centres[is_kept]
