"""``isthmus cluster --out-of-core``: the labels of the command in memory, from any kind of file."""

import json

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
    [("", "row 1001, column 2 ('x'): expected a number, got an empty field"), ("nan", "Row 1000")],
)
def test_a_row_that_cannot_be_clustered_is_named(frame, cell, words, tmp_path, capsys):
    broken = frame.astype(object)
    broken.loc[1000, "x"] = cell
    broken.to_csv(tmp_path / "broken.csv", index=False)
    options = ["--columns", "x,y", "--out-of-core", "-o", str(tmp_path / "out.csv")]
    assert run(["cluster", str(tmp_path / "broken.csv"), "-k", "2", *options]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-", "-k", "2"], "reads its input twice"),
        (["nowhere.parquet", "-k", "2"], "No such file"),
        (["points.parquet", "-k", "2", "--method", "kmeans"], "--method cut only"),
        (["points.parquet", "-k", "2", "--neighbors", "5"], "does not serve --neighbors"),
        (["points.parquet", "-k", "2"], "not numeric"),
        (["points.parquet", "-k", "9999", "--columns", "x,y"], "n_clusters=9999"),
        (["points.parquet", "-k", "2", "--columns", "x", "--label-column", "y"], "already has"),
        (["points.parquet", "-k", "2", "--columns", "z"], "no column 'z'"),
        (["points.parquet", "-k", "2", "--scratch", "nowhere"], "not a folder"),
        (["empty", "-k", "2"], "no file with a known ending"),
    ],
)
def test_what_is_wrong_is_said(frame, arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write(frame, "parquet", tmp_path)
    (tmp_path / "empty").mkdir()
    assert run(["cluster", *arguments, "--out-of-core", "-o", "out.csv"]) == 2
    assert words in capsys.readouterr().err
