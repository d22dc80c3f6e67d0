"""CUT against the rule applied edge by edge."""

import numpy as np
import pytest

from inputs import many, points
from isthmus import SpanningTree, UltrametricTree
from isthmus.cut.contracted import ContractedTree
from isthmus.cut.divisive import TooFewCutsError, cut_spanning_tree
from oracles.dense import cut


def partition(labels):
    return sorted(
        (frozenset(np.flatnonzero(labels == a).tolist()) for a in np.unique(labels)), key=min
    )


@pytest.mark.parametrize(("kind", "n", "d", "seed"), [p for p in many(120, largest=22) if p[1] > 1])
def test_parts_are_those_of_the_rule(kind, n, d, seed):
    X = points(kind, n, d, seed)
    # distinct weights: with ties several partitions obey the rule
    X = X + np.random.default_rng(seed).normal(size=X.shape) * 0.01
    tree = UltrametricTree.from_data(X)
    for k in range(1, min(n, 9) + 1):
        try:
            expected = cut(n, tree.spanning_tree.edges, tree.heights, k)
        except ValueError:  # equal scores
            continue
        assert partition(cut_spanning_tree(tree, k).labels(k)) == expected


def test_infinite_edges_are_cut_first_and_then_as_any_others():
    n_compared = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, n_infinite = 20, int(rng.integers(1, 6))
        edges = [(int(rng.integers(i)), i) for i in range(1, n)]
        weights = rng.uniform(0.1, 1.0, size=n - 1)
        weights[rng.permutation(n - 1)[:n_infinite]] = np.inf
        tree = UltrametricTree.from_spanning_tree(SpanningTree.from_edges(edges, weights))
        for k in range(1, 10):
            parts = partition(cut_spanning_tree(tree, k).labels(k))
            crossing = np.isinf(tree.heights) & [
                not any({i, j} <= part for part in parts) for i, j in tree.spanning_tree.edges
            ]
            assert crossing.sum() == min(k - 1, n_infinite)
            try:
                expected = cut(n, tree.spanning_tree.edges, np.minimum(tree.heights, 1e9), k)
            except ValueError:  # equal scores
                continue
            assert parts == expected
            n_compared += k > 1
    assert n_compared > 50


@pytest.mark.parametrize(("kind", "n", "d", "seed"), many(56))
def test_contracted_edges_leave_the_rest_of_the_spanning_tree(kind, n, d, seed):
    tree = UltrametricTree.from_data(points(kind, n, d, seed))
    for n_edges in sorted({0, 1, n // 3, n - 2, n - 1} & set(range(n))):
        contracted = ContractedTree.of(tree, n_edges)
        position, parent, size, merge = contracted.rooted
        nodes = contracted.node if n_edges < n - 1 else tree.leaf_order
        members = [tree.members(int(node)).tolist() for node in nodes[position.argsort()]]
        assert sorted(np.concatenate(members)) == list(range(n))
        assert 0 in members[0]
        component_of = {point: at for at, part in enumerate(members) for point in part}
        assert (parent[0], merge[0]) == (-1, -1)
        assert sorted(merge[1:]) == list(range(n - 1 - n_edges, n - 1))
        sizes = np.ones(len(contracted), dtype=int)
        for at in range(n_edges, 0, -1):
            ends = tree.spanning_tree.edges[merge[at]]
            assert {component_of[i] for i in ends.tolist()} == {at, parent[at]}
            assert parent[at] < at
            sizes[parent[at]] += sizes[at]
        np.testing.assert_array_equal(size, sizes)
        # A branch is a slice: the parent is the component before, or one of its ancestors.
        for at in range(1, len(contracted)):
            above = at - 1
            while above != parent[at]:
                above = parent[above]
                assert above >= 0
        np.testing.assert_array_equal(contracted.weights(None), [len(part) for part in members])
        point_weights = np.random.default_rng(seed).uniform(1, 2, size=n)
        expected = [point_weights[part].sum() for part in members]
        np.testing.assert_allclose(contracted.weights(point_weights), expected, rtol=1e-14)


def cut_slowly(tree, k, point_weights=None, least=0.0):
    """CUT on the points, whatever is contracted: of scores that agree, the edge merged last."""
    n, ones = tree.n_points, np.ones(tree.n_points) if point_weights is None else point_weights
    parts, last = [set(range(n))], []
    edges, weights = tree.spanning_tree.edges.tolist(), tree.heights
    while len(parts) < k:
        found = []
        for part in parts:
            inside = [e for e in range(n - 1) if e not in last and set(edges[e]) <= part]
            neighbours = {i: [] for i in part}
            for e in inside:
                neighbours[edges[e][0]].append((edges[e][1], e))
                neighbours[edges[e][1]].append((edges[e][0], e))
            for e in inside:
                side, todo = {edges[e][0]}, [edges[e][0]]
                while todo:
                    for j, f in neighbours[todo.pop()]:
                        if f != e and j not in side:
                            side.add(j)
                            todo.append(j)
                a, b = ones[list(side)].sum(), ones[list(part - side)].sum()
                if min(a, b) >= least * (1 - 1e-12):
                    found.append((weights[e] * a * b / (a + b), e, side, part))
        if not found:
            raise TooFewCutsError(len(parts))
        best = max(score for score, *_ in found)
        _, e, side, part = max((f for f in found if f[0] >= best * (1 - 1e-12)), key=lambda f: f[1])
        parts.remove(part)
        parts += [side, part - side]
        last.append(e)
    return sorted(map(frozenset, parts), key=min)


@pytest.mark.parametrize("point_weights", [None, "whole", "any"])
@pytest.mark.parametrize("least", [0.0, 3.0])
def test_contraction_changes_no_part(point_weights, least):
    """Nor do ties: the heaviest edges suffice, or CUT looks at all of them."""
    n_contracted = n_in_full = n_refused = 0
    clouds = [("blobs", 25 + seed, 2, seed) for seed in range(40)]
    for kind, n, d, seed in [*many(120, largest=40), *clouds]:
        if n < 4:
            continue
        rng = np.random.default_rng(seed)
        tree = UltrametricTree.from_data(points(kind, n, d, seed))
        given = {
            None: None,
            "whole": rng.integers(1, 5, size=n).astype(float),
            "any": 10.0 ** rng.uniform(-2, 2, size=n),
        }[point_weights]
        k = int(rng.integers(2, min(n, 7)))
        n_edges = max(1, (n - 1) // int(rng.integers(2, 8)), k * int(rng.integers(0, 2)))
        try:
            expected = cut_slowly(tree, k, given, least)
        except TooFewCutsError as error:
            n_parts = error.n_parts
            with pytest.raises(TooFewCutsError, match=f"only {n_parts} parts"):
                cut_spanning_tree(tree, k, given, least, n_edges)
            n_refused += 1
            continue
        parts = cut_spanning_tree(tree, k, given, least, n_edges)
        assert partition(parts.labels(k)) == expected
        n_contracted += len(parts.label) < n
        n_in_full += len(parts.label) == n
        node_labels = np.full(2 * n - 1, -7, dtype=np.int32)
        parts.label_nodes(k, node_labels)
        seen = [2 * n - 2]
        for node in seen:  # which grows
            labels = np.unique(parts.labels(k)[tree.members(node)])
            assert node_labels[node] == (labels[0] if len(labels) == 1 else -1)
            seen += tree.children[node - n].tolist() if len(labels) > 1 else []
        for fewer in range(1, k):
            np.testing.assert_array_equal(
                parts.labels(fewer),
                cut_spanning_tree(tree, fewer, given, least, n_edges).labels(fewer),
            )
    assert min(n_contracted, n_in_full) > 20
    assert n_refused > 5 or not least


@pytest.mark.parametrize("kind", ["lattice", "duplicates", "all equal"])
def test_ties_give_exactly_k_connected_parts(kind):
    tree = UltrametricTree.from_data(points(kind, 40, 2, seed=0))
    for k in (1, 2, 13, 39, 40):
        labels = cut_spanning_tree(tree, k).labels(k)
        assert len(np.unique(labels)) == k
        crossing = labels[tree.spanning_tree.edges]
        assert np.count_nonzero(crossing[:, 0] != crossing[:, 1]) == k - 1


def test_weights_near_the_largest_float_do_not_overflow():
    edges = np.column_stack([np.arange(399), np.arange(1, 400)])
    heights = np.linspace(1e307, 1.7e308, 399)
    labels = [
        cut_spanning_tree(
            UltrametricTree.from_spanning_tree(SpanningTree.from_edges(edges, heights * scale)), 3
        ).labels(3)
        for scale in (1.0, 2.0**-30)
    ]
    np.testing.assert_array_equal(labels[0], labels[1])


def test_parts_are_nested_in_k():
    tree = UltrametricTree.from_data(points("blobs", 200, 2, seed=0))
    most = cut_spanning_tree(tree, 20)
    coarse = cut_spanning_tree(tree, 3).labels(3)
    for k in range(4, 20):
        fine = cut_spanning_tree(tree, k).labels(k)
        np.testing.assert_array_equal(most.labels(k), fine)
        assert all(len(np.unique(coarse[fine == a])) == 1 for a in range(k))
        coarse = fine
