"""A fitted model in one file: the same model in another process, and never another one."""

import copy
import os
import pickle
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, cityblock, pdist
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import kneighbors_graph

from files import forged
from inputs import points
from isthmus import TransitiveCut, TransitiveKMeans
from isthmus.estimators.fitted import FittedModel
from isthmus.estimators.persistence import _STORED

X = points("blobs", 60, 2, seed=0)
WEIGHTS = np.arange(60) % 4
MODELS = {
    "default": (TransitiveKMeans(3), X, None),
    "embedding": (TransitiveKMeans(3, space="embedding", power=0.5), X, None),
    "cut": (TransitiveCut(3), X, None),
    "weights": (TransitiveKMeans(3), X, WEIGHTS),
    "whole weights": (TransitiveKMeans(3), X, WEIGHTS + 1.0),
    "least size": (TransitiveKMeans(2, min_cluster_size=4), X, None),
    "least weight": (TransitiveKMeans(2, min_cluster_size=2.5), X, WEIGHTS),
    "given rows": (TransitiveKMeans(2, init=[1, 30]), X, WEIGHTS),
    "random starts": (TransitiveKMeans(3, init="random", random_state=5, n_init=2), X, None),
    "generator": (
        TransitiveKMeans(3, init="k-means++", random_state=np.random.RandomState(5)),
        X,
        None,
    ),
    "metric": (
        TransitiveKMeans(3, metric="minkowski", metric_params={"p": 3, "w": np.ones(2)}),
        X,
        None,
    ),
    "frame": (TransitiveKMeans(3), pd.DataFrame(X, columns=["länge", "b"]), None),
    "sparse": (TransitiveKMeans(3), csr_array(X), None),
    "distances": (TransitiveKMeans(3, metric="precomputed"), pdist(X), None),
    "graph": (
        TransitiveCut(3, metric="precomputed", disconnected="join"),
        kneighbors_graph(X, 2, mode="distance"),
        None,
    ),
    "one point": (TransitiveKMeans(1), X[:1], None),
    "for this process": (
        TransitiveKMeans(np.int64(3), n_jobs=2, verbose=0),
        X.astype(np.float32),
        None,
    ),
}


@pytest.fixture(params=MODELS, scope="module")
def model(request):
    estimator, data, weights = MODELS[request.param]
    return estimator.fit(data, sample_weight=weights)


def assert_same_model(found, model):
    assert type(found) is type(model)
    np.testing.assert_array_equal(found.labels_, model.labels_)
    assert found.labels_.dtype == model.labels_.dtype
    assert found.tree_ == model.tree_
    assert found.spanning_tree_ == model.spanning_tree_
    assert found.spanning_tree_.engine == model.spanning_tree_.engine
    assert found.tree_.spanning_tree is found.spanning_tree_
    assert found.inertia_ == model.inertia_
    assert getattr(found, "n_iter_", None) == getattr(model, "n_iter_", None)
    assert found.n_features_in_ == model.n_features_in_
    assert hasattr(found, "feature_names_in_") == hasattr(model, "feature_names_in_")
    if hasattr(found, "feature_names_in_"):
        assert found.feature_names_in_.tolist() == model.feature_names_in_.tolist()
    if model.tree_.n_points > 1 and isinstance(getattr(model, "init", ""), str):
        expected = pickle.loads(pickle.dumps(model)).labels_for(2)  # a generator moves on
        np.testing.assert_array_equal(found.labels_for(2), expected)


def test_a_loaded_model_is_the_same(model, tmp_path):
    model.save(tmp_path / "model")
    found = type(model).load(tmp_path / "model")
    assert_same_model(found, model)
    for name, value in model.get_params().items():
        if name not in ("random_state", "metric_params"):
            assert getattr(found, name) == value
    if not isinstance(getattr(model, "random_state", 0), np.random.RandomState):
        found.save(tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_a_loaded_model_predicts_the_same(model, tmp_path):
    model.save(tmp_path / "model")
    found = type(model).load(tmp_path / "model")
    new = points("gaussian", 20, 2, seed=1)
    if model.metric == "precomputed":
        new = cdist(new, X)
    elif hasattr(model, "feature_names_in_"):
        new = pd.DataFrame(new, columns=model.feature_names_in_)
    np.testing.assert_array_equal(found.predict(new), model.predict(new))
    np.testing.assert_array_equal(found.transform(new), model.transform(new))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("points", None, "points must be there"),
        ("metric", "precomputed", "points must be there"),
        ("metric", "nonsense", "Unknown metric"),
        ("metric", 3, "Unknown metric"),
        ("metric_params", {"dict": {"p": 3}}, "parameters"),
        ("points", {"list": []}, "array"),
        ("points", {"array": 2}, "there are 60 points"),
        ("points", {"names": ["a"]}, "2D array|convert"),
    ],
)
def test_points_that_no_fit_leaves_behind(name, value, words, tmp_path):
    path = tmp_path / "model"
    TransitiveKMeans(3).fit(X).save(path)
    header, rest = forged.parts_of(path)
    header["content"]["state"]["dict"][name] = value
    forged.write(path, header, rest)
    with pytest.raises(ValueError, match=words):
        TransitiveKMeans.load(path)


@pytest.mark.parametrize("n_features", [None, 2, 61])
def test_distances_to_other_rows_than_those_of_the_fit(n_features, tmp_path):
    path = tmp_path / "model"
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    TransitiveCut(3, metric="precomputed").fit(distances).save(path)
    header, rest = forged.parts_of(path)
    header["content"]["state"]["dict"]["n_features"] = n_features
    forged.write(path, header, rest)
    with pytest.raises(ValueError, match="one to every row of the fit"):
        TransitiveCut.load(path)


def test_a_loaded_model_can_be_fitted_again(model, tmp_path):
    model.save(tmp_path / "model")
    found = type(model).load(tmp_path / "model")
    if model.metric == "euclidean" and model.n_clusters == 3:
        labels = found.fit(X[:40]).labels_
        assert labels.shape == (40,)


def test_every_field_of_a_fit_is_stored(model):
    derived = {"tree", "neighbors"}  # from the spanning tree, and part of the neighborhood
    assert {field.name for field in fields(FittedModel)} == set(_STORED) | derived


def test_small(tmp_path):
    """Edges, weights and labels: 28 bytes a point, the points once, and a short header."""
    many = points("blobs", 5000, 2, seed=0)
    model = TransitiveKMeans(3).fit(many)
    model.labels_for(5)
    model.save(tmp_path / "model")
    assert (tmp_path / "model").stat().st_size < 5000 * 28 + many.nbytes + 3000


def test_a_fit_is_needed(tmp_path):
    with pytest.raises(NotFittedError):
        TransitiveKMeans().save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_what_is_about_the_process_stays_there(tmp_path):
    cache = tmp_path / "cache"
    model = TransitiveKMeans(2, memory=str(cache), verbose=lambda *_: None).fit(X)
    model.save(tmp_path / "model")
    assert str(cache).encode() not in (tmp_path / "model").read_bytes()
    found = type(model).load(tmp_path / "model")
    assert (found.memory, found.verbose) == (None, 0)
    assert_same_model(found, model.set_params(verbose=0))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"metric": cityblock}, "metric is a function.*precomputed"),
        (
            {"metric": "minkowski", "metric_params": {"p": 2, "w": np.ones((1, 1, 1))}},
            "metric_para",
        ),
        ({"random_state": np.random}, "random_state"),
    ],
)
def test_code_is_refused_before_the_file_is_touched(parameters, words, tmp_path):
    model = TransitiveKMeans(2).fit(X).set_params(**parameters)
    (tmp_path / "model").write_text("before")
    with pytest.raises(TypeError, match=words):
        model.save(tmp_path / "model")
    assert (tmp_path / "model").read_text() == "before"


def test_one_bit_in_each_byte(tmp_path):
    path = tmp_path / "model"
    TransitiveKMeans(2).fit(X[:20], sample_weight=WEIGHTS[:20]).save(path)
    whole = path.read_bytes()
    with path.open("r+b", buffering=0) as stream:
        for place, byte in enumerate(whole):
            os.pwrite(stream.fileno(), bytes([byte ^ 1 << place % 8]), place)
            with pytest.raises(ValueError, match=r"model: (the|this|its) "):
                TransitiveKMeans.load(path)
            os.pwrite(stream.fileno(), bytes([byte]), place)
    TransitiveKMeans.load(path)


def array_numbers(path):
    """Return the numbers of the arrays of a model's file, by name."""
    header, _ = forged.parts_of(path)
    state = header["content"]["state"]["dict"]
    rows = state["rows"]["dict"]
    tree = state["spanning_tree"]["dict"]
    links = dict(zip(("begin", "point", "length"), rows["attachments"]["list"], strict=True))
    return {
        name: value["array"]
        for name, value in {**tree, **rows, **links, "labels": state["labels"]}.items()
        if isinstance(value, dict) and "array" in value
    }


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("labels", lambda a: a + 1, "numbers of clusters"),
        ("labels", lambda a: a - 1, "numbers of clusters"),
        ("labels", lambda a: a[:-1], "labels must have the shape"),
        ("labels", lambda a: a.astype(np.int64), "labels must be an array"),
        ("point_weights", lambda a: a * 0.0, "sample_weight is zero for every row"),
        ("point_weights", lambda a: a * np.inf, "sample_weight must be finite"),
        ("point_weights", lambda a: a * (np.arange(len(a)) > 0), "weights must be above zero"),
        ("point_weights", lambda a: a * 1e300 ** (np.arange(len(a)) < 1), "more than a factor of"),
        ("point_weights", lambda a: a[1:], "weights must have the shape"),
        ("is_fitted", lambda a: ~a, "each point of the tree"),
        ("is_fitted", lambda a: a.astype(np.uint8), "is_fitted must be an array"),
        ("begin", lambda a: a[::-1].copy(), "in order"),
        ("begin", lambda a: a[1:], "attachments must have the shape"),
        ("point", lambda a: a + 1000, "lead nowhere"),
        ("point", lambda a: a - 1000, "lead nowhere"),
        ("point", lambda a: a[1:], "attachments must have the shape"),
        ("labels", np.ones_like, "no cluster without a row"),
        ("length", lambda a: -1.0 - a, "finite lengths, not negative"),
        ("length", lambda a: a * np.nan, "finite lengths, not negative"),
        ("length", lambda a: np.where(np.arange(len(a)) == 1, np.inf, a), "finite lengths"),
        ("length", lambda a: a[::-1].copy(), "in the order of their lengths"),
        ("edges", lambda a: a[[0, *range(len(a) - 1)]], "cycle"),
    ],
)
def test_arrays_that_no_fit_leaves_behind(name, change, words, tmp_path):
    path = tmp_path / "model"
    TransitiveKMeans(3).fit(X, sample_weight=WEIGHTS).save(path)
    number = array_numbers(path)[name]
    header, rest = forged.parts_of(path)
    shapes = [description["shape"] for description in header["arrays"]]
    sizes = [
        int(np.prod(shape)) * int(description["dtype"][2:])
        for shape, description in zip(shapes, header["arrays"], strict=True)
    ]
    offset = sum(-(-size // 64) * 64 for size in sizes[:number])
    array = np.frombuffer(rest[offset : offset + sizes[number]], header["arrays"][number]["dtype"])
    forged.write(
        path, *forged.replace_array(header, rest, number, change(array.reshape(shapes[number])))
    )
    with pytest.raises(ValueError, match=words):
        TransitiveKMeans.load(path)


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (("parameters", "__class__"), "os.system", "unknown"),
        (("parameters", "memory"), "/somewhere/with/pickles", "unknown"),
        (("parameters", "metric"), {"function": "os.system"}, "unknown"),
        (("state", "clusterer"), 1, "unknown"),
        (("state", "__dict__"), 1, "unknown"),
        (("state", "n_iter"), 0, "integer above zero"),
        (("state", "n_iter"), True, "integer above zero"),
        (("state", "kmeans_inertia"), -1.0, "not negative"),
        (("state", "kmeans_inertia"), {"float": "nan"}, "not negative"),
        (("state", "n_features"), "two", "integer"),
        (("state", "labels"), {"list": [1, 2]}, "labels must be an array"),
        (("state", "feature_names"), {"names": ["a"]}, "as many"),
        (("state", "feature_names"), {"list": ["a", "b"]}, "strings"),
        (("state", "settings", "n_clusters"), 61, "n_clusters=61"),
        (("state", "settings", "n_clusters"), 10**400, "n_clusters"),
        (("state", "settings", "space"), "os.system", "space must be"),
        (("state", "settings", "more"), 1, "more"),
        (("state", "settings", "init"), {"list": [0, 1, 99]}, "from 0 to 44"),
        (("state", "rows", "attachments"), None, "attachment"),
        (("state", "rows", "attachments"), {"list": []}, "values to unpack"),
        (("state", "rows", "point_weights"), None, "attachment"),
        (("state", "settings", "n_init"), 2**31, "n_init must be at most"),
    ],
)
def test_values_that_no_fit_leaves_behind(place, value, words, tmp_path):
    path = tmp_path / "model"
    TransitiveKMeans(3).fit(X, sample_weight=WEIGHTS).save(path)
    header, rest = forged.parts_of(path)
    inside = header["content"]
    for name in place[:-1]:
        inside = inside[name]["dict"]
    inside[place[-1]] = value
    forged.write(path, header, rest)
    with pytest.raises(ValueError, match=f"model: .*{words}"):
        TransitiveKMeans.load(path)


def places_in(value, path=()):
    """Yield the way to everything in a header."""
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for name, inside in entries:
        yield (*path, name)
        if isinstance(inside, dict | list):
            yield from places_in(inside, (*path, name))


STRANGE = (None, True, -1, 0, 2**70, 1.5, "x", [], {}, {"list": []}, {"dict": {}}, {"array": 0})


def test_anything_anywhere_in_the_header(tmp_path):
    """A model, perhaps another one, or a ValueError: never anything else."""
    path = tmp_path / "model"
    TransitiveKMeans(3, metric="minkowski", metric_params={"p": 3, "w": np.ones(2)}).fit(
        X, sample_weight=WEIGHTS
    ).save(path)
    header, rest = forged.parts_of(path)
    n_refused = 0
    for place in list(places_in(header)):
        for value in STRANGE:
            changed = copy.deepcopy(header)
            inside = changed
            for name in place[:-1]:
                inside = inside[name]
            inside[place[-1]] = value
            forged.write(path, changed, rest)
            try:
                TransitiveKMeans.load(path).labels_for(2)
            except ValueError:
                n_refused += 1
    assert n_refused > 500


def test_a_state_that_is_missing(tmp_path):
    path = tmp_path / "model"
    TransitiveKMeans(3).fit(X).save(path)
    header, rest = forged.parts_of(path)
    del header["content"]["state"]["dict"]["kmeans_inertia"]
    forged.write(path, header, rest)
    with pytest.raises(ValueError, match="'kmeans_inertia' is missing"):
        TransitiveKMeans.load(path)
    del header["content"]["state"]
    forged.write(path, header, rest)
    with pytest.raises(ValueError, match="parameters and a state"):
        TransitiveKMeans.load(path)


# Run in a new interpreter: loads a good model, then watches what bad files make Python do.
WATCH = """
import sys
from isthmus import TransitiveKMeans
good, *bad = sys.argv[1:]
model = TransitiveKMeans.load(good)
print(model.labels_.tolist(), model.inertia_, model.labels_for(4).tolist())
print(model.predict([[0.0, 0.0], [5.0, 5.0], [-9.0, 3.0]]).tolist())
watching = ("pickle", "exec", "compile", "import", "marshal", "os.", "subprocess", "ctypes.dlopen")
seen = []
sys.addaudithook(lambda event, _: seen.append(event) if event.startswith(watching) else None)
TransitiveKMeans.load(good)
for path in bad:
    try:
        TransitiveKMeans.load(path)
    except ValueError as error:
        continue
    print("loaded", path)
print(seen)
"""


class Payload:
    """Leaves a file behind where it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_in_another_process_nothing_but_the_model_arrives(tmp_path):
    model = TransitiveKMeans(3).fit(X)
    good = tmp_path / "good"
    model.save(good)
    trace = tmp_path / "executed"
    payload = pickle.dumps(Payload(trace))
    pickle.loads(payload)
    assert trace.exists()  # the payload works where somebody unpickles it
    trace.unlink()
    (tmp_path / "bad pickle").write_bytes(payload)
    np.save(tmp_path / "bad.npy", np.array([Payload(trace)], dtype=object))
    np.savez(tmp_path / "bad.npz", labels_=np.array([Payload(trace)], dtype=object))
    header, rest = forged.parts_of(good)
    raw = np.frombuffer(payload, dtype=np.uint8)
    forged.write(tmp_path / "bad array", *forged.replace_array(header, rest, 0, raw))
    for number, value in enumerate(
        [
            {"function": "os.system"},
            {"py/object": "os.system", "py/reduce": ["touch", str(trace)]},
            {"!!python/object/apply:os.system": [f"touch {trace}"]},
            {"array": "__import__('os').system('true')"},
        ]
    ):
        header, rest = forged.parts_of(good)
        header["content"]["parameters"]["dict"]["metric"] = value
        forged.write(tmp_path / f"bad header {number}", header, rest)
    bad = sorted(str(path) for path in tmp_path.glob("bad*"))
    assert len(bad) == 8
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", WATCH, str(good), *bad],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    told, predicted, seen = result.stdout.splitlines()
    assert predicted == str(model.predict([[0.0, 0.0], [5.0, 5.0], [-9.0, 3.0]]).tolist())
    assert told == f"{model.labels_.tolist()} {model.inertia_} {model.labels_for(4).tolist()}"
    assert seen == "[]"
    assert not trace.exists()


def test_a_suggestion_is_kept(tmp_path):
    model = TransitiveKMeans("auto").fit(X)
    model.save(tmp_path / "model")
    found = type(model).load(tmp_path / "model")
    assert found.n_clusters_ == model.n_clusters_
    assert str(found.suggestion_) == str(model.suggestion_)
    for name in ("labels", "ranking", "strength", "silhouette"):
        np.testing.assert_array_equal(
            getattr(found.suggestion_, name), getattr(model.suggestion_, name)
        )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("confidence", 3),
        ("gap", {"array": 0}),
        ("labels", None),
        ("sizes", {"list": [1]}),
        ("reasons", {"list": [1]}),
        ("reasons", {"list": ["one"]}),
        ("sizes", {"list": []}),
        ("clear_from", "much"),
        ("n_clusters", 0),
    ],
)
def test_suggestions_that_no_fit_leaves_behind(name, value, tmp_path):
    path = tmp_path / "model"
    TransitiveKMeans("auto").fit(X).save(path)
    header, rest = forged.parts_of(path)
    header["content"]["state"]["dict"]["suggestion"]["dict"][name] = value
    forged.write(path, header, rest)
    with pytest.raises(ValueError, match=r"suggestion|count"):
        TransitiveKMeans.load(path)


@pytest.mark.parametrize("name", ["ranking", "numbers"])
@pytest.mark.parametrize("number", [-5, 0, 3, 2**40])
def test_suggestions_rank_their_own_numbers(name, number, tmp_path):
    path = tmp_path / "model"
    model = TransitiveKMeans("auto", k_max=5).fit(X)
    model.save(path)
    header, rest = forged.parts_of(path)
    place = header["content"]["state"]["dict"]["suggestion"]["dict"][name]["array"]
    changed = getattr(model.suggestion_, name).copy()
    changed[0 if changed[0] != number else 1] = number
    forged.write(path, *forged.replace_array(header, rest, place, changed))
    with pytest.raises(ValueError, match="rank the numbers of clusters"):
        TransitiveKMeans.load(path)


def test_a_loaded_model_has_its_summary(model, tmp_path):
    model.save(tmp_path / "model")
    found = type(model).load(tmp_path / "model")
    assert str(found.summary_) == str(model.summary_)
    np.testing.assert_array_equal(found.outlier_scores_, model.outlier_scores_)
