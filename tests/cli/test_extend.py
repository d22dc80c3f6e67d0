"""isthmus extend: the labels and the model that 'isthmus cluster' finds in all rows."""

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isthmus import TransitiveCut, TransitiveKMeans, minimum_spanning_tree

N_OLD = 60


@pytest.fixture
def points():
    """Two groups, of which the smaller one grows larger by the last rows; some far from both."""
    rng = np.random.default_rng(3)
    old = [rng.normal(0, 1, (35, 2)), rng.normal(9, 1, (25, 2))]
    return np.concatenate([*old, rng.normal(9, 1, (18, 2)), rng.uniform(-20, 30, (2, 2))])


@pytest.fixture
def tables(points, tmp_path):
    """Write old.csv, new.csv with its columns elsewhere, and all.csv."""
    table = pd.DataFrame(points, columns=["x", "y"])
    table.loc[[7, N_OLD + 4], "y"] = np.nan
    rest = table[N_OLD:].assign(name="new")[["y", "name", "x"]]
    for name, rows in {"old": table[:N_OLD], "new": rest, "all": table}.items():
        rows.to_csv(tmp_path / f"{name}.csv", index=False)


@pytest.fixture
def model(isthmus, tmp_path, points):
    """Save a model of the old rows without missing values; write the new rows."""
    for name, rows in {"old": points[:N_OLD], "new": points[N_OLD:]}.items():
        pd.DataFrame(rows, columns=["x", "y"]).to_csv(tmp_path / f"{name}.csv", index=False)
    result = isthmus("cluster", "old.csv", "-k", 2, "--save", "m.isthmus", "-o", "out.csv")
    assert result.status == 0, result.err
    return tmp_path / "m.isthmus"


@pytest.mark.parametrize(
    "options",
    [
        "--missing drop",
        "--missing drop -k auto",
        "--missing drop --method kmeans",
        "--missing drop --metric manhattan --min-cluster-size 4",
        "--missing drop --metric canberra",
        "--missing drop --neighbors 5",
        "--missing drop --noise auto",
        "--missing nan-euclidean",
        "--missing nan-euclidean --method kmeans",
        "--missing nan-euclidean --noise auto",
    ],
)
def test_a_table_in_two_parts_is_one_table(isthmus, tables, tmp_path, options):
    command = ["-k", 3, *options.split(), "--labels-only"]
    assert isthmus("cluster", "old.csv", *command, "--save", "m").status == 0
    result = isthmus("extend", "m", "new.csv", "--labels-only", "--save", "larger")
    assert result.status == 0, result.err
    together = isthmus("cluster", "all.csv", *command, "--save", "all")
    assert result.out.splitlines()[1:] == together.out.splitlines()[1 + N_OLD :]
    assert (tmp_path / "larger").read_bytes() == (tmp_path / "all").read_bytes()


@pytest.mark.parametrize("weights", [[], ["--column-weight", "height=5"]], ids=" ".join)
@pytest.mark.parametrize("gaps", [False, True])
def test_tables_of_all_kinds(isthmus, tmp_path, weights, gaps):
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"height": rng.normal(size=40), "town": rng.choice(["a", "b", "c"], 40)})
    table["since"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 99, 40), "D")
    table.loc[35:, "town"] = "d"  # which the first fit does not know
    table.loc[36, "height"] = 7.0  # beyond its range
    if gaps:
        table.loc[::6, "height"] = np.nan
    for name, rows in {"old": table[:30], "new": table[30:], "all": table}.items():
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
    command = ["-k", 3, "--metric", "gower", *weights, "--labels-only"]
    assert isthmus("cluster", "old.csv", *command, "--save", "m").status == 0
    result = isthmus("extend", "m", "new.csv", "--labels-only", "--save", "larger")
    assert result.status == 0, result.err
    together = isthmus("cluster", "all.csv", *command, "--save", "all")
    assert result.out.splitlines()[1:] == together.out.splitlines()[31:]
    assert (tmp_path / "larger").read_bytes() == (tmp_path / "all").read_bytes()


def test_numbers_that_persist(isthmus, model, tmp_path, points):
    (tmp_path / "new.csv").write_text("x,y\n" + "9,9.5\n" * 30)
    before = TransitiveCut.load(model)
    rows = np.tile([9, 9.5], (30, 1))
    for options, expected in {
        (): TransitiveCut(2).fit([*points[:N_OLD], *rows]).labels_,
        ("--match-labels",): before.extend(rows, match_labels=True).labels_,
    }.items():
        result = isthmus("extend", model, "new.csv", "--save", "m2", *options, "--json")
        assert TransitiveCut.load(tmp_path / "m2").labels_.tolist() == expected.tolist()
        told = json.loads(result.err)
        assert told["n_changed"] == (0 if options else N_OLD)
        assert len(told["hints"]) == (0 if options else 1)
        lines = [line.rsplit(",", 1)[1] for line in result.out.splitlines()]
        assert lines == ["cluster", *expected[N_OLD:].astype(str)]


def test_the_model_changes_only_where_it_is_saved(isthmus, model, tmp_path, points):
    first = model.read_bytes()
    result = isthmus("extend", model, "new.csv", "-o", "labelled.csv")
    assert (result.status, result.out, model.read_bytes()) == (0, "", first)
    assert "saved     nowhere: --save MODEL keeps the extended model" in result.err
    assert "20 new, 80 in all" in result.err
    for n_rows in (80, 100):  # what is added twice is there twice
        result = isthmus("extend", model, "new.csv", "--save", model, "-o", "labelled.csv")
        assert result.status == 0
        assert len(TransitiveCut.load(model).labels_) == n_rows
    assert not list(tmp_path.glob("*.tmp*"))
    with (tmp_path / "labelled.csv").open(newline="") as file:  # pandas may round
        header, *rows = csv.reader(file)
    assert header == ["x", "y", "cluster"]
    np.testing.assert_array_equal(np.array(rows, dtype=float)[:, :2], points[N_OLD:])


def test_old_rows_are_labelled_anew_by_predict(isthmus, model, tmp_path, points):
    isthmus("extend", model, "new.csv", "--save", model, "--quiet", "-o", "o.csv")
    old = isthmus("predict", model, "old.csv", "--labels-only").out.split()[1:]
    assert old == TransitiveCut(2).fit(points).labels_[:N_OLD].astype(str).tolist()


def test_means_and_spreads_of_the_first_fit_stay(isthmus, tables, tmp_path):
    options = ["--missing", "mean", "--scale", "standard"]
    isthmus("cluster", "old.csv", "-k", 2, *options, "--save", "m", "-o", "o.csv")
    result = isthmus("extend", "m", "new.csv", "--save", "m2", "--labels-only")
    old, new = (pd.read_csv(f"{name}.csv")[["x", "y"]] for name in ("old", "new"))
    filled = old.fillna(old.mean())
    both = pd.concat([filled, new.fillna(old.mean())])
    scaled = (both - filled.mean()) / filled.std(ddof=0)
    expected = TransitiveCut(2).fit(scaled.to_numpy()).labels_
    assert result.out.split()[1:] == expected[N_OLD:].astype(str).tolist()
    facts = json.loads(isthmus("info", "m2", "--json").out)
    assert (facts["rows"], facts["scale"], facts["columns"]) == (80, "standard", ["x", "y"])


def test_models_of_python_keep_names_and_threads(isthmus, tmp_path, points):
    frame = pd.DataFrame(points, columns=["x", "y"])
    weights = np.arange(1.0, N_OLD + 1)
    for estimator in (TransitiveCut(2, n_jobs=2), TransitiveKMeans(2, n_jobs=2)):
        estimator.fit(frame[:N_OLD], sample_weight=weights).save(tmp_path / "m")
        frame[N_OLD:].to_csv(tmp_path / "new.csv", index=False)
        result = isthmus("extend", "m", "new.csv", "--jobs", 1, "--save", "m", "-o", "o.npy")
        assert result.status == 0, result.err
        loaded = type(estimator).load(tmp_path / "m")
        assert loaded.feature_names_in_.tolist() == ["x", "y"]
        assert (loaded.n_jobs, loaded.verbose) == (2, 0)
        fresh = estimator.fit(frame, sample_weight=[*weights, *np.ones(len(frame) - N_OLD)])
        assert loaded.labels_.tolist() == fresh.labels_.tolist()
        assert np.load("o.npy").tolist() == fresh.labels_[N_OLD:].tolist()


def test_what_cannot_grow_is_refused_before_the_table_is_read(
    isthmus, tmp_path, points, monkeypatch
):
    (tmp_path / "new.csv").write_text("x,y\n1,2\n")
    rows = points[:20]
    distances = np.abs(rows[:, :1] - rows[:, 0])
    cases = {
        "does not know must_link": TransitiveCut(2).fit(rows, must_link=[[0, 1]]),
        "of precomputed ones a fit keeps none": TransitiveCut(2, metric="precomputed").fit(
            distances
        ),
        "1 of 20 rows had a sample_weight of 0": TransitiveCut(2).fit(
            rows, sample_weight=[0.0, *np.ones(19)]
        ),
        "which has no clusters": minimum_spanning_tree(rows),
    }
    monkeypatch.setattr("isthmus.cli.command_table.read_table", None)
    for message, saved in cases.items():
        saved.save(tmp_path / "m")
        first = (tmp_path / "m").read_bytes()
        result = isthmus("extend", "m", "new.csv", "--save", "m", "-o", "out.csv")
        assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
        assert message in result.err
        assert (tmp_path / "m").read_bytes() == first
        assert not Path("out.csv").exists()


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ("x,z\n1,2\n", [], "new.csv has no column 'y'. Its columns are 'x', 'z'."),
        ("x,y\n1,NA\n", [], "new.csv, line 2, column 2 ('y'): 'NA' is a missing value"),
        ("x,y\n1,two\n", [], "'two' is not a number"),
        ("x,y\n1,2\n", ["--columns", "x"], "the model takes its columns by their names: 'x', 'y'."),
        ("x,y,cluster\n1,2,3\n", [], "already has a column named 'cluster'"),
        ("x,y\n1,2\n", ["--save", "new.csv"], "cannot write new.csv: it is the input."),
        ("x,y\n1,2\n", ["--save", "no/m"], "the directory no does not exist"),
        ("x,y\n1,2\n", ["--save", "out.csv"], "--save and --output name the same file"),
        ("x,y\n1,2\n", ["--jobs", "0"], "must be a number of threads"),
        ("x,y\n1.7e308,1.7e308\n", [], "distance"),
    ],
)
def test_what_is_wrong_is_named(isthmus, model, tmp_path, table, options, message):
    (tmp_path / "new.csv").write_text(table)
    (tmp_path / "out.csv").write_text("as it was")
    first = model.read_bytes()
    given = options if "--save" in options else ["--save", model, *options]
    result = isthmus("extend", model, "new.csv", "-o", "out.csv", *given)
    assert (result.status, result.out) == (2, "")
    assert message in result.err
    assert model.read_bytes() == first
    assert (tmp_path / "out.csv").read_text() == "as it was"
    assert (tmp_path / "new.csv").read_text() == table


def test_nothing_to_add(isthmus, tmp_path):
    (tmp_path / "old.csv").write_text("x\n0\n1\n9\n")
    (tmp_path / "new.csv").write_text("x\nNA\n")
    isthmus("cluster", "old.csv", "-k", 2, "--missing", "drop", "--save", "m", "-o", "o.csv")
    result = isthmus("extend", "m", "new.csv")
    assert (result.status, result.out) == (2, "")
    assert "no row to add" in result.err


@pytest.mark.parametrize("command", ["extend", "predict"])
def test_the_model_is_never_the_output(isthmus, model, command):
    named = model.rename(model.with_name("model.csv"))
    first = named.read_bytes()
    result = isthmus(command, named, "new.csv", "-o", named)
    assert (result.status, named.read_bytes()) == (2, first)
    assert "it is the input" in result.err


def test_a_model_that_cannot_be_written_stays(isthmus, model, monkeypatch):
    first = model.read_bytes()

    def no_space(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("isthmus.files.model_file.atomic_file", no_space)
    result = isthmus("extend", model, "new.csv", "--save", model)
    assert (result.status, model.read_bytes()) == (2, first)
    assert "No space left on device" in result.err
