import argparse
import struct
import sys
from contextlib import contextmanager
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure

from isthmus.cli import demo
from isthmus.cli.errors import UserError
from isthmus.spanning_tree import SpanningTree


def parse(*arguments):
    parser = argparse.ArgumentParser()
    demo.add_options(parser)
    return parser.parse_args([*map(str, arguments)])


def names_in(directory):
    return [path.name for path in directory.iterdir()]


def outcome(name="points", *, in_picture=True, labels=(0, 0, 1, 1), kmeans_labels=(1, 0, 0, 0)):
    example = demo.Example(
        name,
        np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 1.0], [5.0, 2.0]]),
        np.array([0, 0, 1, 1]),
        in_picture,
    )
    return demo.Outcome(
        example=example,
        labels=np.array(labels),
        error=0.0,
        seconds=0.00123,
        spanning_tree=SpanningTree.from_edges([[0, 1], [1, 2], [2, 3]], [1.0, 4.1, 1.0]),
        paper_error=0.125,
        kmeans_labels=np.array(kmeans_labels),
        kmeans_error=0.25,
    )


@pytest.fixture(scope="module")
def outcomes():
    return [demo.compare(example) for example in demo.examples()]


@pytest.fixture
def quick(monkeypatch):
    """A demo of one made-up outcome."""
    monkeypatch.setattr(demo, "examples", lambda: [None])
    monkeypatch.setattr(demo, "compare", lambda example: outcome())


@pytest.fixture
def no_work(monkeypatch):
    def refuse():
        pytest.fail("work was begun")

    monkeypatch.setattr(demo, "examples", refuse)


def test_command_line():
    assert parse().output == Path("isthmus-demo.png")
    assert not parse().no_picture
    assert parse("-o", "a.png").output == parse("--output", "a.png").output == Path("a.png")
    assert parse("--no-picture").no_picture


def test_four_data_sets_are_clustered_as_published(outcomes):
    found = {each.example.name: each for each in outcomes}
    assert list(found) == ["two moons", "multi-scale", "Iris", "Ionosphere"]
    assert found["two moons"].error == 0
    assert found["multi-scale"].error == 0
    assert found["two moons"].paper_error == 0
    assert found["multi-scale"].paper_error == 0
    assert found["Iris"].paper_error == pytest.approx(11 / 150)
    assert found["Ionosphere"].paper_error == pytest.approx(53 / 351)
    assert all(each.kmeans_error > each.paper_error for each in outcomes)
    assert all(each.kmeans_error > each.error for each in outcomes)
    assert all(each.seconds > 0 for each in outcomes)
    assert [each.example.n_clusters for each in outcomes] == [2, 3, 3, 2]


def test_the_whole_command(tmp_path, capsys):
    picture = tmp_path / "demo.png"
    assert demo.run(parse("--output", picture)) == 0
    printed = capsys.readouterr().out
    lines = printed.splitlines()
    assert lines[0].split() == " ".join(demo._HEADINGS).split()
    names = "two moons", "multi-scale", "Iris", "Ionosphere"
    for line, name in zip(lines[1:5], names, strict=True):
        assert line.strip().startswith(name)
    for line, error in zip(lines[3:5], ("0.073", "0.151"), strict=True):  # as published
        assert error in line
    assert any("TransitiveKMeans is the paper's method" in line for line in lines)
    assert lines[-1] == f"picture: {picture}"
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG\r\n")
    width, height = struct.unpack(">II", content[16:24])
    assert width == 1400
    assert 700 <= height <= 1000
    assert len(content) < 400_000
    assert names_in(tmp_path) == ["demo.png"]


def test_table_is_aligned():
    small = outcome("moons", labels=(0, 1, 1, 1))
    assert demo.table([small, outcome("a longer name")]) == [
        "     data set  n  k  sizes of clusters  TransitiveCut  TransitiveKMeans  K-means    time",
        "        moons  4  2              3 + 1          0.000             0.125    0.250  1.2 ms",
        "a longer name  4  2              2 + 2          0.000             0.125    0.250  1.2 ms",
    ]


def test_picture_has_a_row_for_each_example_to_be_drawn(outcomes):
    axes = demo.draw(outcomes).axes
    titles = [ax.get_title() for ax in axes]
    assert titles[0::3] == [f"K-means: error {each.kmeans_error:.3f}" for each in outcomes[:2]]
    assert titles[1::3] == ["minimum spanning tree, cut edges dashed"] * 2
    assert titles[2::3] == [f"TransitiveCut: error {each.error:.3f}" for each in outcomes[:2]]
    assert [ax.get_ylabel() for ax in axes[0::3]] == ["two moons", "multi-scale"]


def test_picture_shows_the_edges_that_are_cut(outcomes):
    axes = demo.draw(outcomes).axes
    for ax, each in zip(axes[1::3], outcomes, strict=False):
        inside, cut = (drawn for drawn in ax.collections if isinstance(drawn, LineCollection))
        n_points, k = len(each.example.X), each.example.n_clusters
        assert len(inside.get_segments()) == n_points - k
        assert len(cut.get_segments()) == k - 1
        assert inside.get_linestyle() == [(0.0, None)]
        assert cut.get_linestyle()[0][1] is not None


def test_colours_mean_the_same_in_all_panels_of_a_row():
    # The first two points are K-means' cluster 1 and our cluster 1: both stand for class 0.
    each = outcome(labels=(1, 1, 0, 0), kmeans_labels=(1, 1, 1, 0))
    for ax in demo.draw([each]).axes:
        first = next(drawn for drawn in ax.collections if isinstance(drawn, PathCollection))
        assert np.asarray(first.get_offsets())[:2].tolist() == [[0.0, 0.0], [1.0, 0.0]]


def test_nothing_in_the_picture_overlaps_or_is_clipped(outcomes):
    figure = demo.draw(outcomes)
    figure.canvas.draw()
    width, height = figure.canvas.get_width_height()
    boxes = [ax.get_tightbbox() for ax in figure.axes]
    for i, box in enumerate(boxes):
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= width
        assert box.y1 <= height
        for other in boxes[:i]:
            assert not box.overlaps(other)


def test_without_a_picture_none_is_written(quick, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert demo.run(parse("--no-picture")) == 0
    assert names_in(tmp_path) == []
    printed = capsys.readouterr().out
    assert "0.125" in printed
    assert "picture" not in printed


def test_without_matplotlib_the_picture_is_refused(no_work, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UserError, match=r"pip install 'isthmus\[plot\]' .*--no-picture"):
        demo.run(parse("-o", tmp_path / "a.png"))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing/a.png", "the directory .*missing does not exist"),
        ("file/a.png", "the directory .*file does not exist"),
        ("directory.png", "it is a directory"),
        ("a.pdf", "the picture is a PNG"),
        ("a", "the picture is a PNG"),
        ("dangling.png", "the directory .* does not exist"),
    ],
)
def test_a_path_that_cannot_be_written_is_refused_before_any_work(no_work, tmp_path, name, reason):
    (tmp_path / "file").touch()
    (tmp_path / "directory.png").mkdir()
    (tmp_path / "dangling.png").symlink_to(tmp_path / "missing" / "a.png")
    with pytest.raises(UserError, match=f"^cannot write .*{name}: {reason}"):
        demo.run(parse("-o", tmp_path / name))


def test_a_directory_without_permission_is_refused_before_any_work(no_work, tmp_path, monkeypatch):
    monkeypatch.setattr(demo.os, "access", lambda path, mode: False)
    with pytest.raises(UserError, match="no permission to write to its directory"):
        demo.run(parse("-o", tmp_path / "a.png"))


def test_a_name_without_a_directory_means_the_current_one(quick, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert demo.run(parse("-o", "a.PNG")) == 0
    assert names_in(tmp_path) == ["a.PNG"]


def test_a_link_stays_a_link(quick, tmp_path):
    (tmp_path / "link.png").symlink_to(tmp_path / "real.png")
    assert demo.run(parse("-o", tmp_path / "link.png")) == 0
    assert (tmp_path / "link.png").is_symlink()
    assert (tmp_path / "real.png").read_bytes().startswith(b"\x89PNG")


def test_a_picture_that_fails_halfway_leaves_the_old_one(quick, tmp_path, monkeypatch):
    def fail_halfway(self, target, **options):
        target.write(b"half a picture")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Figure, "savefig", fail_halfway)
    picture = tmp_path / "a.png"
    picture.write_bytes(b"old")
    with pytest.raises(UserError, match=r"cannot write .*a\.png: No space left on device"):
        demo.run(parse("-o", picture))
    assert picture.read_bytes() == b"old"
    assert names_in(tmp_path) == ["a.png"]


def test_an_explorer_page_is_written_where_asked_for(quick, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert demo.run(parse("--no-picture", "--page", page)) == 0
    assert f"file://{page}" in capsys.readouterr().out
    assert "setosa" in page.read_text(encoding="utf-8")
    with pytest.raises(UserError, match=r"\*\.html"):
        demo.run(parse("--no-picture", "--page", tmp_path / "page.png"))


def test_a_page_that_cannot_be_written_is_told(quick, tmp_path, monkeypatch):
    @contextmanager
    def fail(path):
        raise OSError(27, "File too large")
        yield

    monkeypatch.setattr("isthmus.cli.output_file.atomic_file", fail)
    with pytest.raises(UserError, match=r"cannot write .*page\.html: File too large\."):
        demo.run(parse("--no-picture", "--page", tmp_path / "page.html"))
