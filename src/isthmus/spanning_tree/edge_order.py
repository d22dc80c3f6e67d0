"""The total order of edges: by weight, then by smaller index, then by larger index."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from isthmus._numba.kernel import AHEAD, kernel, kernel_part, prefetch
from isthmus._utils.parallel import Workers, chunks
from isthmus._utils.typing import Floats, Ints

# Up to this number of edges NumPy sorts in a moment, and nothing has to be compiled.
_FEW = 5000
# Where more than this share of edges is about as long as another one, they are sorted thrice.
_MANY_TIES = 0.05
# Runs of edges up to this length are sorted in compiled code.
_SHORT = 4096
# Edges per task: to be gathered; or to be turned into integers, in several passes, in a cache.
_BLOCK = 1 << 17
_CACHED = 1 << 14


def sort_edges(edges: Ints, weights: Floats, n_jobs: int = 1) -> tuple[Ints, Floats]:
    """Return edges, each given with its smaller index first, and their weights, in total order.

    Sorting numbers is several times faster than sorting indices by them. So each weight's leading
    bits are put together with its index in one integer, and these are sorted. (The bits of floats
    that are not negative, read as integers, are ordered as the floats are.) Runs of
    equal leading bits are few, or long because the weights are equal; they are sorted again.
    """
    n_edges = len(weights)
    if n_edges <= _FEW:
        order = np.lexsort((edges[:, 1], edges[:, 0], weights))
        # + 0.0: a negative zero is a zero
        return edges[order].astype(np.int64, copy=False), weights[order] + 0.0
    if weights.min() == weights.max():
        sorted_edges = np.empty((n_edges, 2), dtype=np.int64)
        _sort_pairs(edges, sorted_edges, n_jobs)
        return sorted_edges, weights + 0.0
    # bits for the number of an edge, or of a point
    n_bits = n_edges.bit_length()
    keys = sort_numbers(_keys_of(weights, n_bits), n_jobs)
    if 3 * n_bits <= 63 and _has_many_runs(keys, n_bits):
        return _sort_many_ties(keys, n_bits, edges, weights, n_jobs)
    sorted_edges, sorted_weights = _gathered(keys, n_bits, edges, weights, n_jobs)
    for begin, end in _sort_short_runs(keys, n_bits, sorted_edges, sorted_weights, n_jobs):
        _sort_run(sorted_edges[begin:end], sorted_weights[begin:end], n_bits)
    return sorted_edges, sorted_weights


def _keys_of(weights: Floats, n_bits: int) -> Ints:
    """Return the bits of weights, the last n_bits of each replaced by its index.

    On one thread: several, a few microseconds at a time, wait for one another longer than that.
    """
    keys = np.empty(len(weights), dtype=np.int64)
    for start, stop in chunks(len(keys), _CACHED):
        part = keys[start:stop]
        np.add(weights[start:stop], 0.0, out=part.view(np.float64))
        part &= -(1 << n_bits)
        part |= np.arange(start, stop)
    return keys


def _has_many_runs(keys: Ints, n_bits: int) -> bool:
    """Whether many sorted keys agree with the next one but for the last n_bits."""
    n_equal = 0
    for start, stop in chunks(len(keys) - 1, _CACHED):
        differing = keys[start + 1 : stop + 1] ^ keys[start:stop]
        n_equal += int(np.count_nonzero(differing < (1 << n_bits)))
    return n_equal > _MANY_TIES * len(keys)


def sort_numbers(numbers: Ints, n_jobs: int) -> Ints:
    """Return integers in ascending order; they are sorted in place, or used as scratch.

    Each thread sorts a part. Then neighbouring parts are merged, in blocks that all threads share.
    """
    n_numbers = len(numbers)
    if n_jobs == 1 or n_numbers <= 2 * _BLOCK:
        numbers.sort()
        return numbers
    bounds = [n_numbers * part // n_jobs for part in range(n_jobs + 1)]
    other = np.empty_like(numbers)
    with Workers(n_jobs) as workers:
        workers.in_blocks(
            n_jobs, 1, lambda _, part, __: numbers[bounds[part] : bounds[part + 1]].sort()
        )
        while len(bounds) > 2:
            if len(bounds) % 2 == 0:  # the last part is merged with nothing
                bounds.append(n_numbers)
            for low, middle, high in zip(bounds[:-2:2], bounds[1:-1:2], bounds[2::2], strict=True):
                _merge(numbers, other, low, middle, high, workers)
            numbers, other, bounds = other, numbers, bounds[::2]
    return numbers


def _merge(numbers: Ints, out: Ints, low: int, middle: int, high: int, workers: Workers) -> None:
    def work(_: int, start: int, stop: int) -> None:
        merge_numbers(numbers, out, low, middle, high, start, stop)

    workers.in_blocks(high - low, _BLOCK, work)


def _share_out(n_items: int, size: int, n_jobs: int, work: Callable[[int, int, int], None]) -> None:
    with Workers(n_jobs if n_items > 2 * _BLOCK else 1) as workers:  # few are not worth a thread
        workers.in_blocks(n_items, size, work)


def _gathered(
    keys: Ints, n_bits: int, edges: Ints, weights: Floats, n_jobs: int
) -> tuple[Ints, Floats]:
    """Return edges and weights in the order of the indices in the last n_bits of the keys."""
    source = np.ascontiguousarray(edges)
    ordered, lengths = np.empty((len(keys), 2), dtype=np.int64), np.empty(len(keys))

    def work(_: int, start: int, stop: int) -> None:
        gather_edges(keys, n_bits, source, weights, ordered, lengths, start, stop)

    _share_out(len(keys), _BLOCK, n_jobs, work)
    return ordered, lengths


def _sort_many_ties(
    keys: Ints, n_bits: int, edges: Ints, weights: Floats, n_jobs: int
) -> tuple[Ints, Floats]:
    """Do what sort_edges does where weights have few different leading bits, by two sorts more.

    keys : (n,) int64
        Leading bits of weights and, in the last n_bits, the index of each; sorted.
    """
    mask = (1 << n_bits) - 1
    # The leading bits give way to their rank, which leaves bits for all others.
    order = keys & mask
    ranked = _ranks(keys >> n_bits) << n_bits
    ranked |= (weights + 0.0).view(np.int64)[order] & mask
    ranked <<= n_bits
    ranked |= order
    ranked = sort_numbers(ranked, n_jobs)
    # Likewise the weights, which leaves bits for both ends.
    ends, sorted_weights = _gathered(ranked, n_bits, edges, weights, n_jobs)
    keys = _ranks(ranked >> n_bits) << n_bits
    keys |= ends[:, 0]
    keys <<= n_bits
    keys |= ends[:, 1]
    keys = sort_numbers(keys, n_jobs)
    np.bitwise_and(keys, mask, out=ends[:, 1])
    keys >>= n_bits
    np.bitwise_and(keys, mask, out=ends[:, 0])
    return ends, sorted_weights


def _ranks(ascending: Ints) -> Ints:
    """Return the number of different smaller ones for each of some ascending numbers."""
    ranks = np.zeros(len(ascending), dtype=np.int64)
    np.cumsum(ascending[1:] != ascending[:-1], out=ranks[1:])
    return ranks


def _sort_short_runs(
    keys: Ints, n_bits: int, edges: Ints, weights: Floats, n_jobs: int = 1
) -> list[list[int]]:
    """Sort, in place, short runs of equal keys but for the last n_bits; return the long ones."""
    runs: list[list[int]] = []

    def work(_: int, start: int, stop: int) -> None:
        long_runs = np.empty(((stop - start) // _SHORT + 2, 2), dtype=np.int64)
        n_long = sort_runs(keys, n_bits, edges, weights, long_runs, start, stop)
        runs.extend(long_runs[:n_long].tolist())

    _share_out(len(keys), _BLOCK, n_jobs, work)
    return runs


def _sort_run(edges: Ints, weights: Floats, n_bits: int) -> None:
    """Sort edges in place whose weights differ in their last n_bits only."""
    if weights.min() < weights.max():
        keys = (weights.view(np.int64) & ((1 << n_bits) - 1)) << n_bits
        keys |= np.arange(len(keys))
        keys.sort()
        order = keys & ((1 << n_bits) - 1)
        edges[:], weights[:] = edges[order], weights[order]
        runs = _sort_short_runs(keys, n_bits, edges, weights)
    else:
        runs = [[0, len(edges)]]
    for begin, end in runs:  # the weights of each are equal
        _sort_pairs(edges[begin:end], edges[begin:end])


def _sort_pairs(edges: Ints, out: Ints, n_jobs: int = 1) -> None:
    """Fill out, perhaps the same array, with edges sorted by smaller and then by larger index."""
    n_bits = int(edges.max()).bit_length()
    pairs = np.empty(len(edges), dtype=np.int64)

    def pack(_: int, start: int, stop: int) -> None:
        part = pairs[start:stop]
        np.left_shift(edges[start:stop, 0], n_bits, out=part, dtype=np.int64)
        part |= edges[start:stop, 1]

    def unpack(_: int, start: int, stop: int) -> None:
        part, ends = pairs[start:stop], out[start:stop]
        np.right_shift(part, n_bits, out=ends[:, 0])
        np.bitwise_and(part, (1 << n_bits) - 1, out=ends[:, 1])

    _share_out(len(pairs), _CACHED, n_jobs, pack)
    pairs = sort_numbers(pairs, n_jobs)
    _share_out(len(pairs), _CACHED, n_jobs, unpack)


@kernel
def merge_numbers(
    numbers: Ints, merged: Ints, low: int, middle: int, high: int, start: int, stop: int
) -> None:
    """Merge numbers[low:middle] and numbers[middle:high], both ascending, into merged[low:high].

    Only its positions low + start … low + stop - 1 are filled.
    """
    # How many of the first ``start`` numbers come from the first part: such that none of them is
    # above one of the second part that is left.
    least, most = max(0, start - (high - middle)), min(start, middle - low)
    while least < most:
        taken = (least + most) // 2
        if numbers[low + taken] <= numbers[middle + start - taken - 1]:
            least = taken + 1
        else:
            most = taken
    i, j, k = low + least, middle + start - least, low + start
    while i < middle and j < high and k < low + stop:
        # This many steps end neither part: no branch in them that could be mispredicted.
        n_steps = min(middle - i, high - j)
        for _ in range(min(n_steps, low + stop - k)):
            first, second = numbers[i], numbers[j]
            merged[k] = min(first, second)
            is_first = int(first <= second)
            i += is_first
            j += 1 - is_first
            k += 1
    rest = i if j == high else j  # what is left comes from one part
    for step in range(low + stop - k):
        merged[k + step] = numbers[rest + step]


@kernel
def gather_edges(
    keys: Ints,
    n_bits: int,
    edges: Ints,
    weights: Floats,
    sorted_edges: Ints,
    sorted_weights: Floats,
    start: int,
    stop: int,
) -> None:
    """Fill positions start … stop - 1 by the indices in the last n_bits of the keys."""
    mask = (1 << n_bits) - 1
    for e in range(start, stop):
        if e + AHEAD < stop:
            prefetch(edges, 2 * (keys[e + AHEAD] & mask))
            prefetch(weights, keys[e + AHEAD] & mask)
        source = keys[e] & mask
        sorted_edges[e, 0] = edges[source, 0]
        sorted_edges[e, 1] = edges[source, 1]
        sorted_weights[e] = weights[source] + 0.0


@kernel_part
def comes_before(weight: float, i: int, j: int, e: int, edges: Ints, weights: Floats) -> bool:
    """Whether an edge comes before edge e in the total order."""
    if weight != weights[e]:
        return bool(weight < weights[e])
    if i != edges[e, 0]:
        return bool(i < edges[e, 0])
    return bool(j < edges[e, 1])


@kernel
def sort_runs(
    keys: Ints,
    n_bits: int,
    edges: Ints,
    weights: Floats,
    long_runs: Ints,
    start: int,
    stop: int,
) -> int:
    """Sort, in place, short runs of edges whose keys agree but for the last n_bits: Shell's sort.

    Those that begin at start … stop - 1. Fills long_runs with where longer ones begin and end, and
    returns how many there are.
    """
    n_long = 0
    begin = start
    while 0 < begin < stop and (keys[begin] >> n_bits) == (keys[begin - 1] >> n_bits):
        begin += 1
    while begin < stop:
        end = begin + 1
        while end < keys.shape[0] and (keys[end] >> n_bits) == (keys[begin] >> n_bits):
            end += 1
        gap = 1
        if end - begin > _SHORT:
            long_runs[n_long, 0] = begin
            long_runs[n_long, 1] = end
            n_long += 1
            gap = 0
        while 3 * gap + 1 < end - begin and gap > 0:
            gap = 3 * gap + 1
        while gap > 0:
            for e in range(begin + gap, end):
                weight, i, j = weights[e], edges[e, 0], edges[e, 1]
                f = e
                while f >= begin + gap and comes_before(weight, i, j, f - gap, edges, weights):
                    weights[f] = weights[f - gap]
                    edges[f, 0] = edges[f - gap, 0]
                    edges[f, 1] = edges[f - gap, 1]
                    f -= gap
                weights[f] = weight
                edges[f, 0] = i
                edges[f, 1] = j
            gap //= 3
        begin = end
    return n_long
