"""What the explorer page shows, without a browser."""

import json
import re
import shutil
import subprocess
import sys
from base64 import b64decode
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import load_iris, make_blobs

from isthmus import TransitiveCut, TransitiveKMeans, UltrametricTree
from isthmus.cut.api import CutClusterer
from isthmus.cut.settings import CutSettings
from isthmus.datasets import make_two_moons
from isthmus.explorer import html_page
from isthmus.explorer.cells import Cells, colours_by_overlap
from isthmus.explorer.differences import largest_differences
from isthmus.explorer.page_data import page_data
from isthmus.explorer.part_tree import PartTree
from isthmus.explorer.payload import payload
from isthmus.explorer.sample import rows_to_show
from isthmus.explorer.shown_tree import tree_of_shown
from isthmus.explorer.user_table import read_columns

PAGE = Path(html_page.__file__).with_name("page")


def points_of(n_rows, seed, n_features=2):
    """Return points, many of them equal or equally far apart."""
    return np.random.default_rng(seed).integers(0, 6, (n_rows, n_features)).astype(float)


def labels_on_page(data, k):
    i = data.clustering.path.n_clusters.tolist().index(k)
    return data.cells.labels[i][data.cells.cell_of]


FITS = (
    "cut",
    "auto",
    "kmeans",
    "random starts",
    "smallest",
    "weights",
    "kmeans weights",
    "precomputed",
    "neighbours",
    "function",
    "sparse",
    "ties",
    "one column",
    "many columns",
    "noise",
    "kmeans noise",
    "noise, weights",
)


@pytest.fixture(scope="module")
def all_fits():
    """Return models by FITS, each with what its explore needs."""
    points, _ = make_blobs(120, centers=5, cluster_std=1.5, random_state=1)
    apart, _ = make_blobs(120, centers=3, cluster_std=0.5, random_state=1)
    weights = np.random.default_rng(0).integers(0, 3, 120)
    distances = np.abs(points[:, None] - points).sum(axis=2)
    given = {"coordinates": points}
    return {
        "cut": (TransitiveCut(4).fit(points), {}),
        "auto": (TransitiveCut("auto").fit(apart), {}),
        "kmeans": (TransitiveKMeans(4).fit(points), {}),
        "random starts": (TransitiveKMeans(4, init="random", random_state=0).fit(points), {}),
        "smallest": (TransitiveCut(4, min_cluster_size=9).fit(points), {}),
        "weights": (TransitiveCut(4).fit(points, sample_weight=weights), {"X": points}),
        "kmeans weights": (TransitiveKMeans(4).fit(points, sample_weight=weights), {"X": points}),
        "precomputed": (TransitiveCut(4, metric="precomputed").fit(distances), given),
        "neighbours": (TransitiveCut(4, n_neighbors=5).fit(points), {}),
        "function": (
            TransitiveCut(4, metric=lambda a, b: abs(len(a) - len(b))).fit(
                ["a" * i for i in range(120)]
            ),
            given,
        ),
        "sparse": (TransitiveCut(4).fit(csr_array(np.abs(points))), {}),
        "ties": (TransitiveCut(4).fit(points_of(120, 0)), {}),
        "one column": (TransitiveCut(4).fit(points[:, :1]), {}),
        "many columns": (TransitiveCut(4).fit(points_of(120, 3, 9)), {}),
        "noise": (TransitiveCut(4, noise=0.2).fit(points), {}),
        "kmeans noise": (TransitiveKMeans(4, noise=0.2).fit(points), {}),
        "noise, weights": (
            TransitiveCut(4, noise=0.2).fit(points, sample_weight=weights),
            {"X": points},
        ),
    }


@pytest.mark.parametrize("name", FITS)
def test_labels_are_those_of_labels_for(all_fits, name):
    model, how = all_fits[name]
    data = model.explore(**how).data
    numbers = data.clustering.path.n_clusters
    assert numbers[0] == 1
    assert numbers[-1] == (20 if name != "smallest" else numbers[-1])
    for k in numbers:
        assert (labels_on_page(data, k) == model.labels_for(k)).all()


@pytest.mark.parametrize("name", FITS)
def test_figures_are_those_of_the_summary(all_fits, name):
    model, how = all_fits[name]
    data = model.explore(**how).data
    i = data.clustering.path.n_clusters.tolist().index(model.n_clusters_)
    clusters, figures = data.clusters.of_numbers[i], data.clusters.figures
    summary = model.summary_
    assert (data.clustering.rows[figures.medoids[clusters]] == summary.medoids).all()
    assert (figures.widest_gaps[clusters] == summary.widest_gaps).all()
    assert (figures.distances[clusters] == summary.distances).all()
    sizes = data.clusters.members[clusters] @ data.cells.sizes
    assert (sizes == summary.sizes).all()
    assert np.isfinite(figures.widest_gaps).all()
    assert (figures.medoids >= 0).all()


def test_a_part_that_is_not_cut_keeps_its_colour(all_fits):
    for name in ("cut", "weights", "smallest", "ties", "noise"):
        model, how = all_fits[name]
        data = model.explore(**how).data
        seen = {}
        for i, k in enumerate(data.clustering.path.n_clusters):
            labels, colours = labels_on_page(data, k), data.clusters.colours_of_numbers[i]
            assert sorted(colours) == list(range(k))
            for label, colour in enumerate(colours):
                rows = frozenset(np.flatnonzero(labels == label))
                assert seen.setdefault(rows, colour) == colour


def test_colours_of_clusters_that_are_not_nested():
    labels = [
        np.zeros(10, int),
        np.repeat([1, 0], [4, 6]),
        np.array([0, 0, 2, 2, 1, 1, 1, 1, 2, 2]),
    ]
    cells = Cells.of_labels(np.zeros(10, int), labels)
    one, two, three = colours_by_overlap(cells, [1, 2, 3])
    assert one.tolist() == [0]
    assert two.tolist() == [0, 1]  # label 0 has six of the ten rows
    assert sorted(three) == [0, 1, 2]
    assert three[1] == two[0]


def test_noise_has_a_label_of_its_own():
    labels = [np.zeros(6, int), np.array([0, 0, 1, 1, -1, -1])]
    cells = Cells.of_labels(np.zeros(6, int), labels)
    assert (cells.labels[1][cells.cell_of] == labels[1]).all()
    assert [each.tolist() for each in colours_by_overlap(cells, [1, 2])] == [[0], [0, 1]]


def test_rows_in_no_cluster(all_fits):
    """As a fit with noise would give them: labels of -1, which the page shows in grey."""
    model, _ = all_fits["cut"]
    page = model.explore()
    clustering = page.data.clustering
    labels = clustering.path.labels.copy()
    labels[3, model.outlier_scores_ > 0.3] = -1
    assert (labels[3] == -1).any()
    noisy = replace(clustering, path=replace(clustering.path, labels=labels))
    data = page_data(noisy, page.data.options)
    assert (labels_on_page(data, 4) == labels[3]).all()
    sizes = data.clusters.members[data.clusters.of_numbers[3]] @ data.cells.sizes
    assert (sizes == np.bincount(labels[3] + 1)[1:]).all()
    assert (labels_on_page(data, 5) == model.labels_for(5)).all()
    assert payload(data)["numbers"] == list(range(1, 21))


def test_noise_is_in_no_branch_and_counts_in_shares(all_fits):
    for name in ("noise", "noise, weights"):
        model, how = all_fits[name]
        data = model.explore(**how).data
        noise = model.labels_ == -1
        assert (data.cells.is_noise[data.cells.cell_of] == noise).all()
        assert not data.clusters.members[:, data.cells.is_noise].any()
        assert data.clusters.members[0] @ data.cells.sizes == (~noise).sum()
        sent = payload(data)["clusters"]
        shares = np.frombuffer(b64decode(sent["share"]["data"]))
        of_four = data.clusters.of_numbers[3]
        np.testing.assert_allclose(shares[of_four], model.summary_.shares)
        np.testing.assert_allclose(sent["noiseShare"], 1 - model.summary_.shares.sum())


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 60), st.integers(0, 10**6), st.integers(2, 30))
def test_the_part_tree_holds_all_numbers_of_parts(n_rows, seed, n_parts):
    tree = UltrametricTree.from_data(points_of(n_rows, seed))
    n_parts = min(n_parts, n_rows)
    cut_tree = CutClusterer(tree).parts(CutSettings(n_parts))
    parts = PartTree.of_cuts(cut_tree, None)
    members = parts.members()
    assert members[0].all()
    assert (parts.scores[1:] <= parts.scores[:-1] * (1 + 1e-9)).all()
    for k in range(1, n_parts + 1):
        nodes = parts.nodes_of_parts(k)
        assert len(np.unique(nodes)) == k
        for part, node in enumerate(nodes):
            assert members[node, part]
        pairs = np.unique(np.column_stack([nodes[parts.part_of], cut_tree.labels(k)]), axis=0)
        assert len(pairs) == k
    covered = np.unique(np.concatenate(parts.levels()))
    assert (covered == np.arange(2 * n_parts - 1)).all()


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 50), st.integers(0, 10**6), st.floats(0.02, 1.0))
def test_distances_of_shown_points_are_exact(n_rows, seed, share):
    rng = np.random.default_rng(seed)
    tree = UltrametricTree.from_data(points_of(n_rows, seed))
    shown = np.sort(rng.permutation(n_rows)[: max(1, int(share * n_rows))])
    found = tree_of_shown(tree, shown)
    assert (found.parent < 0).sum() == 1
    expected = tree.matrix()[np.ix_(shown, shown)]
    for a in range(len(shown)):
        for b in range(a):
            assert longest_hop(found, a, b) == expected[a, b]


@pytest.mark.parametrize("max_points", [1, 20, 60])
def test_rows_of_weight_zero_are_shown_with_their_nearest_point(all_fits, max_points):
    model, how = all_fits["weights"]
    data = model.explore(**how, max_points=max_points).data
    clustering, shown = data.clustering, data.shown.tolist()
    assert len(shown) < clustering.n_rows
    hanging = [row for row in shown if row not in clustering.rows]
    assert hanging or max_points == 1
    for row in hanging:
        nearest = clustering.rows[clustering.attached_to[row]]
        hop = longest_hop(data.shown_tree, shown.index(row), shown.index(nearest))
        assert hop == np.linalg.norm(how["X"][row] - how["X"][nearest])


def longest_hop(tree, a, b):
    """Return the longest edge between two points, the obvious way."""
    to_root = {a: 0.0}
    longest, v = 0.0, a
    while tree.parent[v] >= 0:
        longest, v = max(longest, tree.length[v]), int(tree.parent[v])
        to_root[v] = longest
    longest, v = 0.0, b
    while v not in to_root:
        longest, v = max(longest, tree.length[v]), int(tree.parent[v])
    return max(longest, to_root[v])


def test_a_sample_keeps_clusters_outliers_and_small_branches():
    rng = np.random.default_rng(0)
    sizes = np.array([20_000, 5_000, 40, 3, 1])
    cell_of = np.repeat(np.arange(5), sizes)
    scores = rng.random(len(cell_of)) / 2
    outliers = rng.choice(20_000, 30, replace=False)
    scores[outliers] = 0.9
    needed = np.array([7, 20_100])
    shown = rows_to_show(cell_of, scores, needed, 1000)
    assert len(shown) == 1000
    assert set(outliers) | set(needed) | set(range(25_040, 25_044)) <= set(shown)
    counts = np.bincount(cell_of[shown])
    assert counts[0] > 3 * counts[1] > 300
    assert counts[2] >= 1
    assert (rows_to_show(cell_of, scores, needed, 10**6) == np.arange(len(cell_of))).all()
    again = rows_to_show(cell_of, scores, needed, 1000)
    assert (again == shown).all()


def test_differences_are_those_of_means():
    iris = load_iris(as_frame=True)
    frame = iris.data.assign(species=iris.target_names[iris.target])
    frame.iloc[3, 0] = np.nan
    columns = read_columns(frame)
    cell_of = np.arange(150) // 30
    members = np.array([[True, False, True, False, False], [True] * 5])
    first, everything = largest_differences(columns, cell_of, np.ones(150), members)
    inside = np.isin(cell_of, [0, 2])
    assert everything == []
    assert [abs(d.effect) for d in first] == sorted((abs(d.effect) for d in first), reverse=True)
    best = {
        (name, None): (values[inside].mean() - values[~inside].mean()) / np.nanstd(values)
        for name, values in frame.iloc[:, :4].items()
    }
    for kind in iris.target_names:
        is_kind = (frame.species == kind).to_numpy().astype(float)
        best[("species", kind)] = (is_kind[inside].mean() - is_kind[~inside].mean()) / is_kind.std()
    expected = sorted(best, key=lambda key: -abs(best[key]))[:3]
    assert [(d.name, d.category) for d in first] == expected
    assert [d.effect for d in first] == pytest.approx([best[key] for key in expected])


def test_differences_of_a_column_far_from_zero():
    values = np.tile([1e9, 1e9 + 1], 20).reshape(-1, 1)
    cell_of = np.tile([0, 1], 20)
    members = np.array([[True, False]])
    ((only,),) = largest_differences(read_columns(values), cell_of, np.ones(40), members)
    assert only.effect == pytest.approx(-2.0)


def test_weights_count_in_differences():
    values = np.array([[0.0], [1.0], [1.0]])
    members = np.array([[True, False], [False, True]])
    ((first,), _) = largest_differences(
        read_columns(values), np.array([0, 0, 1]), np.array([3.0, 1.0, 4.0]), members
    )
    assert first.inside == 0.25
    assert first.outside == 1.0


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_of_data_frames(frame):
    table = frame({"a": [1, 2], "b": ["x", None], "c": [0.5, 1.5]})
    columns = read_columns(table)
    assert columns.names == ["a", "c"]
    assert columns.texts == {"b": ["x", ""]}
    assert columns.text_of("c", np.array([1, 0])) == ["1.5", "0.5"]


def test_names_that_stand_twice():
    frame = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    columns = read_columns(frame)
    assert columns.names == ["a", "a (2)"]
    assert columns.column("a (2)").tolist() == [2, 4]


def test_axes(all_fits):
    names = {
        "cut": ["x0", "x1", "outlier score"],
        "one column": ["x0", "outlier score"],
        "precomputed": ["coordinate 1", "coordinate 2", "outlier score"],
        "sparse": ["x0", "x1", "outlier score"],
    }
    for name, expected in names.items():
        model, how = all_fits[name]
        assert [axis.name for axis in model.explore(**how).data.axes] == expected
    model, _ = all_fits["many columns"]
    axes = model.explore().data.axes
    assert [axis.name for axis in axes[:2]] == ["PC 1", "PC 2"]
    assert len(axes) == 2 + 9 + 1
    chosen = model.explore(coordinates=["x3", "x1"]).data.axes
    assert [axis.name for axis in chosen[:2]] == ["x3", "x1"]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"coordinates": np.zeros((3, 2))}, r"shape \(120, 2\), got \(3, 2\)"),
        ({"coordinates": ["x0", "y"]}, "There is no column 'y'. The columns are: x0, x1."),
        ({"coordinates": ["x0"]}, "must name two columns"),
        ({"hover": ["text"]}, "There is no column 'text'"),
        ({"X": np.zeros((3, 2))}, "X has 3 rows, but 120 rows were fitted"),
        ({"X": [["a", "b"]] * 120}, "X must be a data frame"),
        ({"max_points": 0}, "max_points"),
        ({"k_max": 0}, "k_max"),
        ({"images": "x0"}, "expected paths or data URIs"),
        ({"path": "/nowhere/page.html"}, "there is no directory"),
    ],
)
def test_errors_say_what_to_do(all_fits, how, message):
    with pytest.raises(ValueError, match=message):
        all_fits["cut"][0].explore(**how)


@pytest.mark.parametrize("name", ["precomputed", "function"])
def test_a_fit_without_columns_needs_coordinates(all_fits, name):
    with pytest.raises(ValueError, match="Give two coordinates for each row"):
        all_fits[name][0].explore()


def test_rows_of_weight_zero_need_the_table(all_fits):
    with pytest.raises(ValueError, match=r"Give all rows: explore\(X\)"):
        all_fits["weights"][0].explore()


def test_given_rows_have_one_number_of_clusters():
    points, _ = make_two_moons(60, random_state=0)
    model = TransitiveKMeans(2, init=[0, 59]).fit(points)
    assert model.explore().data.clustering.path.n_clusters.tolist() == [2]


def test_few_rows():
    for n in (1, 2, 3):
        page = TransitiveCut(1).fit(np.arange(2.0 * n).reshape(n, 2)).explore()
        assert page.data.clustering.path.n_clusters.tolist() == list(range(1, n + 1))
        assert "</html>" in page.html


def test_infinite_distances():
    graph = np.zeros((6, 6))
    graph[:3, :3] = graph[3:, 3:] = 1.0 - np.eye(3)
    model = TransitiveCut(2, metric="precomputed", disconnected="join").fit(csr_array(graph))
    page = model.explore(coordinates=np.arange(12.0).reshape(6, 2))
    assert "</html>" in page.html


def test_images_are_embedded(tmp_path):
    frame = pd.DataFrame({"x": [0.0, 1.0, 5.0], "y": [0.0, 1.0, 5.0]})
    path = tmp_path / "one.png"
    path.write_bytes(b"a picture")
    frame["picture"] = [str(path), "data:image/png;base64,AAAA", ""]
    model = TransitiveCut(2).fit(frame[["x", "y"]])
    page = model.explore(frame, images="picture")
    found = payload_of(page.html)["points"]["images"]
    assert found == ["data:image/png;base64,YSBwaWN0dXJl", "data:image/png;base64,AAAA", ""]
    frame.loc[2, "picture"] = "javascript:alert(1)"
    with pytest.raises(ValueError, match="Row 2 of 'picture' is no picture"):
        model.explore(frame, images="picture")


def payload_of(html):
    return json.loads(re.search(r'id="payload">(.*?)</script>', html, re.DOTALL).group(1))


def test_the_page_loads_nothing(all_fits):
    html = all_fits["cut"][0].explore(title="</title><script>").html
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html).group(1)
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy
    ours = re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL)
    assert not re.search(r"(src|href)\s*=\s*[\"']?http", ours)
    assert "&lt;/title&gt;&lt;script&gt;" in ours


def test_a_point_takes_about_twenty_bytes():
    points, _ = make_blobs(20_000, centers=5, random_state=0)
    model = TransitiveCut(5).fit(points)
    small, large = (len(model.explore(max_points=n).html) for n in (1, 20_000))
    # a sample holds the cell of each row, one byte in base64, and little else
    assert 18 < (large - small) / 20_000 + 4 / 3 < 30


def test_nothing_is_written_without_a_path(all_fits, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = all_fits["cut"][0].explore()
    assert list(tmp_path.iterdir()) == []
    assert page._repr_html_().startswith("<iframe ")
    assert 'srcdoc="&lt;!doctype html&gt;' in page._repr_html_()
    assert repr(page) == "ExplorerPage(120 rows, 120 shown, 1 to 20 clusters)"
    page.save("page.html")
    assert Path("page.html").read_text(encoding="utf-8") == page.html


def test_without_bokeh(all_fits, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "bokeh", None)
    path = tmp_path / "page.html"
    with pytest.raises(ImportError, match=r"pip install 'isthmus\[explore\]'"):
        all_fits["cut"][0].explore(path=path)
    assert not path.exists()


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.parametrize("script", html_page.SCRIPTS)
def test_scripts_are_valid(script):
    subprocess.run(["node", "--check", PAGE / script], check=True, timeout=60)


def test_all_scripts_are_in_the_page():
    assert sorted(html_page.SCRIPTS) == sorted(path.name for path in PAGE.glob("*.js"))
