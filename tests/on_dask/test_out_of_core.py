"""``isthmus cluster --out-of-core``: the labels of the command in memory, from any kind of file."""

import json
import sys

import numpy as np
import pandas as pd
import pytest

from isthmus.cli import block_sources, csv_blocks
from isthmus.cli.main import run

N_ROWS, BLOCK = 2500, 400


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(block_sources, "BLOCK", BLOCK)
    monkeypatch.setattr(csv_blocks, "BLOCK", BLOCK)
    monkeypatch.setattr(csv_blocks, "_BYTES", 1 << 13)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    centres = rng.random((5, 2)) * 10
    points = centres[rng.integers(0, 5, N_ROWS)] + 0.2 * rng.normal(size=(N_ROWS, 2))
    return pd.DataFrame(
        {
            "name": [f"row {i}, “{i % 7}”" for i in range(N_ROWS)],
            "x": points[:, 0],
            "y": points[:, 1],
        }
    )


def write(frame, kind, folder):
    """Write a table; return what the command is given."""
    half = len(frame) // 2 + 13
    if kind == "npy":
        np.save(folder / "points.npy", frame[["x", "y"]].to_numpy(dtype=np.float32))
        return folder / "points.npy"
    if kind == "parquet":
        frame.to_parquet(folder / "points.parquet", row_group_size=300, index=False)
        return folder / "points.parquet"
    if kind == "csv":
        frame.to_csv(folder / "points.csv", index=False)
        return folder / "points.csv"
    inside = folder / "parts"
    inside.mkdir()
    (inside / "_SUCCESS").touch()
    for number, part in enumerate((frame[:half], frame[half:])):
        if kind == "folder of CSV":
            part.to_csv(inside / f"{number}.csv", index=False)
        else:
            part.to_parquet(inside / f"{number}.parquet", row_group_size=450, index=False)
    return inside


def in_memory(frame, kind, folder):
    source = folder / "whole.npy" if kind == "npy" else folder / "whole.csv"
    if kind == "npy":
        np.save(source, frame[["x", "y"]].to_numpy(dtype=np.float32))
    else:
        frame.to_csv(source, index=False)
    columns = [] if kind == "npy" else ["--columns", "x,y"]
    assert run(["cluster", str(source), "-k", "5", *columns, "-o", str(folder / "l.npy")]) == 0
    return np.load(folder / "l.npy")


@pytest.mark.parametrize(
    "kind", ["npy", "parquet", "csv", "folder of CSV", "folder of Parquet files"]
)
def test_labels_are_those_of_the_command_in_memory(frame, kind, tmp_path, capsys):
    expected = in_memory(frame, kind, tmp_path)
    given = write(frame, kind, tmp_path)
    columns = [] if kind == "npy" else ["--columns", "x,y"]
    command = ["cluster", str(given), "-k", "5", *columns, "--out-of-core"]
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    capsys.readouterr()
    for ending in ("npy", "parquet", "csv"):
        output = tmp_path / f"found.{ending}"
        options = ["--scratch", str(scratch), "--json", "-o", str(output)]
        assert run([*command, *options]) == 0
        if ending == "npy":
            found = np.load(output)
        else:
            table = (
                pd.read_parquet(output) if ending == "parquet" else pd.read_csv(output, header=0)
            )
            found = table.iloc[:, -1] if kind == "npy" else table["cluster"]
            if kind != "npy":
                assert table["name"].tolist() == frame["name"].tolist()
                np.testing.assert_allclose(table["x"].astype(float), frame["x"], rtol=1e-15)
        if ending == "csv" and kind == "npy":  # without a header there is none
            found = np.loadtxt(output, delimiter=",")[:, -1]
        np.testing.assert_array_equal(np.asarray(found, dtype=int), expected)
        summary = json.loads(capsys.readouterr().err)
        assert summary["n_points"] == N_ROWS
        assert summary["sizes"] == np.bincount(expected).tolist()
        assert not list(scratch.iterdir())


def test_labels_alone(frame, tmp_path):
    given = write(frame, "parquet", tmp_path)
    output = tmp_path / "labels.csv"
    options = ["--columns", "x,y", "--labels-only", "--out-of-core", "-o", str(output)]
    assert run(["cluster", str(given), "-k", "3", *options]) == 0
    assert pd.read_csv(output).columns.tolist() == ["cluster"]


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("", "line 1002, column 2 ('x'): the field is empty; leave such rows"),
        ("nan", "line 1002, column 2 ('x'): 'nan' is a missing value"),
    ],
)
def test_a_row_that_cannot_be_clustered_is_named(frame, cell, words, tmp_path, capsys):
    broken = frame.astype(object)
    broken.loc[1000, "x"] = cell
    broken.to_csv(tmp_path / "broken.csv", index=False)
    options = ["--columns", "x,y", "--out-of-core", "-o", str(tmp_path / "out.csv")]
    assert run(["cluster", str(tmp_path / "broken.csv"), "-k", "2", *options]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out.csv").exists()


# What is refused before anything is read; each file is only named, or empty.
REFUSED = [
    (["-"], "reads its input twice"),
    ([], "reads its input twice"),
    (["nowhere.parquet"], "No such file"),
    (["points.parquet", "--method", "kmeans"], "--method cut only"),
    (["points.parquet", "--metric", "gower"], "does not serve --metric gower"),
    (["points.parquet", "--neighbors", "5"], "does not serve --neighbors"),
    (["points.parquet", "--noise", "auto"], "does not serve --noise"),
    (["points.parquet", "--metric", "haversine", "--unit", "degrees"], "does not serve --unit"),
    (["points.parquet", "--save", "model.isthmus"], "does not serve --save"),
    (["points.parquet", "--metric", "minkowski", "--p", "3"], "does not serve --p"),
    (["points.parquet", "--missing", "drop"], "does not serve --missing"),
    (["points.parquet", "--scale", "standard"], "does not serve --scale"),
    (["points.parquet", "--decimal", "comma"], "do not apply to parquet input"),
    (["points.parquet", "--delimiter", ";"], "do not apply to parquet input"),
    (["points.parquet", "--header"], "do not apply to parquet input"),
    (["points.parquet", "--encoding", "cp1252"], "does not serve --encoding"),
    (["points.parquet", "--sheet", "one"], "does not serve --sheet"),
    (["points.parquet", "--must-link", "pairs.csv"], "does not serve --must-link"),
    (["points.parquet", "--cannot-link", "pairs.csv"], "does not serve --cannot-link"),
    (["points.parquet", "--space", "rows"], "--method kmeans"),
    (["points.parquet", "--neighborhood", "shared"], "--neighbors"),
    (["points.parquet", "--scratch", "nowhere"], "not a folder"),
    (["points.csv.gz"], "unpack points.csv.gz first"),
    (["points.xlsx"], "reads CSV, TSV, NumPy and Parquet files"),
    (["no_table"], "no file with a known ending"),
    (["two_formats"], "files of several formats"),
    (["two_arrays"], "only a single one can be read"),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED)
def test_what_is_refused_before_anything_is_read(arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("points.parquet", "points.csv.gz", "points.xlsx", "pairs.csv"):
        (tmp_path / name).touch()
    for name in ("no_table/notes.md", "two_formats/a.csv", "two_formats/b.parquet"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    for name in ("two_arrays/a.npy", "two_arrays/b.npy"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert run(["cluster", *arguments, "-k", "2", "--out-of-core", "-o", "out.csv"]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out.csv").exists()


def test_a_scratch_folder_without_out_of_core_is_refused(frame, tmp_path, capsys):
    given = write(frame, "csv", tmp_path)
    assert run(["cluster", str(given), "-k", "2", "--scratch", str(tmp_path)]) == 2
    assert "--scratch is for --out-of-core" in capsys.readouterr().err


def test_without_dask_the_command_says_what_to_install(tmp_path, monkeypatch, capsys):
    (tmp_path / "points.parquet").touch()
    monkeypatch.delitem(sys.modules, "isthmus.dask", raising=False)
    monkeypatch.setitem(sys.modules, "dask.array", None)
    assert run(["cluster", str(tmp_path / "points.parquet"), "-k", "2", "--out-of-core"]) == 2
    assert "pip install 'isthmus[dask]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "not numeric"),
        (["-k", "9999", "--columns", "x,y"], "n_clusters=9999"),
        (["--columns", "x", "--label-column", "y"], "already has"),
        (["--columns", "z"], "no column 'z'"),
    ],
)
def test_what_is_wrong_with_a_table_is_said(frame, arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write(frame, "parquet", tmp_path)
    options = ["-k", "2", *arguments, "--out-of-core", "-o", "out.csv"]
    assert run(["cluster", "points.parquet", *options]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out.csv").exists()
