"""One file for values and arrays: what is written is read, and all else is refused."""

import os
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array, csr_matrix

from files import forged
from isthmus import SpanningTree, UltrametricTree
from isthmus.files.atomic_write import atomic_file
from isthmus.files.json_values import DTYPES
from isthmus.files.model_file import VERSION, read_file, write_file

plain = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | st.sampled_from(sorted(DTYPES)).flatmap(
        lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=2, min_side=0))
    )
)
values = st.recursive(
    plain,
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.lists(inside, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3), inside, max_size=3)
    ),
    max_leaves=6,
)


@pytest.fixture
def tree_file(tmp_path):
    tree = SpanningTree.from_edges([[0, 1], [1, 2], [2, 3]], [1.0, 2.0, 5.0])
    tree.save(tmp_path / "tree")
    return tmp_path / "tree"


def assert_same(found, expected):
    assert type(found) is type(expected)
    if isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    elif isinstance(expected, dict):
        assert list(found) == list(expected)
        for name, value in expected.items():
            assert_same(found[name], value)
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    else:
        assert found == expected


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    path = tmp_path / "no" / "model.isthmus"
    with pytest.raises(FileNotFoundError, match=r"the folder .*no does not exist") as error:
        write_file(path, "Kind", {})
    assert ".tmp" not in str(error.value)


@settings(max_examples=80, deadline=None)
@given(content=st.dictionaries(st.text(max_size=4), values, max_size=4))
def test_what_is_written_is_read(content, tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "file"
    write_file(path, "Anything", content)
    assert_same(read_file(path, "Anything", dict), content)


def test_other_values(tmp_path):
    path = tmp_path / "file"
    generator = np.random.RandomState(7)
    generator.normal()
    rows = csr_matrix([[0.0, 2.0], [1.0, 0.0]], dtype=np.float32)
    content = {
        "numbers": [np.int64(3), np.float32(0.5), np.bool_(True), np.str_("x")],
        "not finite": [np.inf, -np.inf],
        "names": np.array(["a", "ß"], dtype=object),
        "big-endian": np.arange(3, dtype=">i4"),
        "strided": np.arange(12.0).reshape(3, 4)[:, ::2],
        "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "path": path,
        "generator": generator,
        "rows": [rows, csr_array(rows)],
        "nan": np.nan,
    }
    write_file(path, "Anything", content)
    found = read_file(path, "Anything", dict)
    assert found["numbers"] == [3, 0.5, True, "x"]
    assert found["not finite"] == [np.inf, -np.inf]
    assert np.isnan(found["nan"])
    assert found["names"].tolist() == ["a", "ß"]
    assert found["path"] == str(path)
    for name in ("big-endian", "strided", "fortran"):
        np.testing.assert_array_equal(found[name], content[name])
    np.testing.assert_array_equal(found["generator"].normal(size=5), generator.normal(size=5))
    for given_rows, found_rows in zip(content["rows"], found["rows"], strict=True):
        assert type(given_rows) is type(found_rows)
        assert found_rows.dtype == np.float32
        np.testing.assert_array_equal(found_rows.toarray(), given_rows.toarray())


def test_an_array_is_written_once(tmp_path):
    array = np.zeros(1000)
    write_file(tmp_path / "once", "Anything", {"a": array})
    write_file(tmp_path / "twice", "Anything", {"a": array, "b": [array]})
    once, twice = ((tmp_path / name).stat().st_size for name in ("once", "twice"))
    assert twice - once <= 64
    assert once < 8000 + 64 * 8


@pytest.mark.parametrize(
    "value",
    [
        len,
        object(),
        {1: 2},
        {"inside": [object()]},
        np.array([object()]),
        np.array([1j]),
        np.zeros((2, 2, 2)),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        csr_matrix((2, 2)).tocsc(),
        {1, 2},
        b"bytes",
        np.random.RandomState(np.random.PCG64(0)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_held_is_refused_before_a_file_is_touched(value, tmp_path):
    path = tmp_path / "file"
    path.write_text("before")
    with pytest.raises(TypeError, match="cannot"):
        write_file(path, "Anything", {"value": value})
    assert path.read_text() == "before"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_file(path, "Anything", {"x": 1})
    with pytest.raises(ZeroDivisionError), atomic_file(path) as stream:
        stream.write(bytes(1 // 0))
    assert [each.name for each in tmp_path.iterdir()] == ["file"]

    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(KeyboardInterrupt):
        write_file(path, "Anything", {"x": 2})
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
    assert read_file(path, "Anything", dict) == {"x": 1}


def test_links_stay_links_and_permissions_stay(tmp_path):
    write_file(tmp_path / "file", "Anything", {"x": 1})
    (tmp_path / "file").chmod(0o600)
    (tmp_path / "link").symlink_to("file")
    write_file(tmp_path / "link", "Anything", {"x": 2})
    assert (tmp_path / "link").is_symlink()
    assert read_file(tmp_path / "file", "Anything", dict) == {"x": 2}
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600


def test_every_bit(tree_file):
    """No flipped bit goes unnoticed, wherever it is."""
    whole = tree_file.read_bytes()
    assert len(whole) < 1000
    with tree_file.open("r+b", buffering=0) as stream:
        for place, byte in enumerate(whole):
            for bit in range(8):
                os.pwrite(stream.fileno(), bytes([byte ^ 1 << bit]), place)
                with pytest.raises(ValueError, match=r"tree: (the|this|its) "):
                    SpanningTree.load(tree_file)
            os.pwrite(stream.fileno(), bytes([byte]), place)
    SpanningTree.load(tree_file)


def test_every_length(tree_file):
    whole = tree_file.read_bytes()
    for length in reversed(range(len(whole))):
        os.truncate(tree_file, length)
        with pytest.raises(ValueError, match=r"cut short|not a file"):
            SpanningTree.load(tree_file)
    for more in (b"\0", whole):
        tree_file.write_bytes(whole + more)
        with pytest.raises(ValueError, match="longer than it says"):
            SpanningTree.load(tree_file)


def alien_files(folder):
    np.savez(folder / "numbers.npz", np.zeros(3))
    np.save(folder / "objects.npy", np.array([{}], dtype=object))
    (folder / "pickle").write_bytes(pickle.dumps({"a": 1}))
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(200))
    (folder / "text").write_text("isthmus\n" * 20)
    (folder / "empty").write_bytes(b"")
    (folder / "zeros").write_bytes(bytes(1000))
    return sorted(folder.iterdir())


def test_alien_files(tmp_path):
    for path in alien_files(tmp_path):
        for kind in (SpanningTree, UltrametricTree):
            with pytest.raises(ValueError, match=f"{path.name}: .*not a file that isthmus"):
                kind.load(path)
    with pytest.raises(FileNotFoundError):
        SpanningTree.load(tmp_path / "missing")
    with pytest.raises((IsADirectoryError, PermissionError)):
        SpanningTree.load(tmp_path)


def test_files_of_an_older_version_are_refused():
    with pytest.raises(ValueError, match=r"isthmus: its format has version 1, .*again and save it"):
        SpanningTree.load(Path(__file__).parent / "tree_version_1.isthmus")


def test_another_kind(tree_file):
    with pytest.raises(ValueError, match=r"holds a SpanningTree.*read it with SpanningTree\.load"):
        UltrametricTree.load(tree_file)


def test_a_newer_version(tree_file):
    newer = VERSION + 1
    forged.write(tree_file, *forged.parts_of(tree_file), version=newer)
    with pytest.raises(ValueError, match=rf"version {newer}.*newer isthmus"):
        SpanningTree.load(tree_file)
    forged.write(tree_file, *forged.parts_of(tree_file), version=0)
    with pytest.raises(ValueError, match="make no sense"):
        SpanningTree.load(tree_file)


def changed(**entries):
    return lambda header: {**header, **entries}


def with_array(**entries):
    def change(header):
        header["arrays"][1].update(entries)
        return header

    return change


def with_content(**entries):
    def change(header):
        header["content"].update(entries)
        return header

    return change


FORGED = [
    (lambda header: [header], "entries that it should have"),
    (changed(more=1), "entries that it should have"),
    (changed(content=[]), "where a dict should be"),
    (changed(kind=["SpanningTree"]), "where a str should be"),
    (changed(kind="os.system"), "holds a os.system"),
    (changed(arrays={}), "where a list should be"),
    (changed(arrays=[]), "bytes"),
    (changed(arrays=[7]), "table of arrays"),
    (with_array(dtype="|O"), "type"),
    (with_array(dtype="|V8"), "type"),
    (with_array(dtype="<M8[s]"), "type"),
    (with_array(dtype=["<f8"]), "type"),
    (with_array(dtype="<f4"), "checksum|accept"),
    (with_array(offset=0), "table of arrays"),
    (with_array(shape=[1 << 40]), "bytes"),
    (with_array(shape=[1 << 60]), "shape"),
    (with_array(shape=[10**40]), "shape"),
    (with_array(shape=[-3]), "shape"),
    (with_array(shape=[True]), "shape"),
    (with_array(shape=[3.0]), "shape"),
    (with_array(shape=[3, 1, 1]), "shape"),
    (with_array(shape=[0, 1 << 47]), "bytes"),
    (with_array(shape="3"), "where a list should be"),
    (with_array(sha256=None), "where a str should be"),
    (with_content(edges={"array": 2}), "missing"),
    (with_content(edges={"array": -1}), "missing"),
    (with_content(edges={"array": True}), "missing"),
    (with_content(edges={"array": 1}), "edges"),
    (with_content(edges={"list": []}), "arrays"),
    (with_content(edges={"object": "os.system"}), "unknown"),
    (with_content(edges={"array": 0, "list": []}), "one entry"),
    (with_content(edges=[1, 2]), "one entry"),
    (with_content(edges={"list": 3}), "list"),
    (with_content(edges={"dict": 3}), "dictionary"),
    (with_content(edges={"names": [3]}), "names"),
    (with_content(edges={"float": "1.5"}), "number"),
    (with_content(edges={"random state": {"dict": {}}}), "missing|plain|one entry"),
    (with_content(edges={"csr": {}}), "missing"),
]


@pytest.mark.parametrize(("change", "words"), FORGED)
def test_forged_headers(tree_file, change, words):
    header, rest = forged.parts_of(tree_file)
    forged.write(tree_file, change(header), rest)
    with pytest.raises(ValueError, match=f"tree: .*({words})"):
        SpanningTree.load(tree_file)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "Expecting|entries"),
        (b"\xff\xfe", "decode"),
        (b"{" * 100_000, "recursion|Expecting"),
        (b"[" * 100_000, "recursion|Expecting"),
        (b'{"kind": 1, "kind": 2}', "twice"),
        (b'{"kind": NaN}', "not JSON"),
        (b"9" * 10_000, "digits|entries"),
        (b"null", "entries"),
    ],
)
def test_forged_text(tree_file, text, words):
    _, rest = forged.parts_of(tree_file)
    forged.write(tree_file, text, rest)
    with pytest.raises(ValueError, match=words):
        SpanningTree.load(tree_file)


def test_a_header_that_is_too_long(tree_file):
    raw = bytearray(tree_file.read_bytes())
    struct.pack_into("<Q", raw, 16, 1 << 62)
    tree_file.write_bytes(raw)
    with pytest.raises(ValueError, match="make no sense"):
        SpanningTree.load(tree_file)


@pytest.mark.parametrize(
    ("number", "array", "words"),
    [
        (0, np.array([[0, 1], [0, 1], [2, 3]]), "cycle"),
        (0, np.array([[0, 1], [1, 2], [2, 9]]), "indices go from 0 to 3"),
        (0, np.array([[0, 1], [1, 2], [-2, 3]]), "indices go from 0 to 3"),
        (0, np.array([[0.0, 1], [1, 2], [2, 3]]), "integers"),
        (0, np.array([[0, 1]]), "shape"),
        (1, np.array([1.0, np.nan, 5.0]), "NaN"),
        (1, np.array([1.0, 2.0, -5.0]), "not negative"),
        (1, np.array([5.0, 2.0, 1.0]), "ordered by weight"),
        (1, np.array([1, 2, 3]), "float64"),
        (1, np.array([2, 2, 2], dtype=np.uint8).view(bool), "neither true nor false"),
    ],
)
def test_arrays_that_make_no_tree(tmp_path, number, array, words):
    path = tmp_path / "tree"
    edges = SpanningTree.from_edges([[0, 1], [1, 2], [2, 3]], [1.0, 2.0, 5.0])
    UltrametricTree.from_spanning_tree(edges).save(path)
    forged.write(path, *forged.replace_array(*forged.parts_of(path), number, array))
    with pytest.raises(ValueError, match=words):
        UltrametricTree.load(path)


@pytest.mark.parametrize(
    ("tag", "part", "words"),
    [
        ("csr", {"indptr": np.array([0, 9, 2])}, "in order"),
        ("csr", {"indptr": np.array([0, 1, 7])}, "more or fewer"),
        ("csr", {"indptr": np.array([1, 1, 2])}, "in order"),
        ("csr", {"indices": np.array([0, 2])}, "outside"),
        ("csr", {"indices": np.array([-1, 0])}, "outside"),
        ("csr", {"indices": np.array([0.0, 1.0])}, "integers"),
        ("csr", {"data": np.zeros(5)}, "more or fewer"),
        ("csr", {"data": np.zeros((2, 1))}, "one dimension"),
        ("csr", {"shape": [2, -2]}, "shape"),
        ("csr", {"shape": [2]}, "shape"),
        ("random state", {"position": 10**9}, "makes no sense"),
        ("random state", {"position": -1}, "makes no sense"),
        ("random state", {"key": np.ones(3, dtype=np.uint32)}, "makes no sense"),
        ("random state", {"cached_gaussian": "x"}, "x"),
    ],
)
def test_parts_that_do_not_fit_together(tmp_path, tag, part, words):
    generator = np.random.RandomState(0).get_state(legacy=False)
    parts = {
        "csr": {
            "is_array": True,
            "shape": [2, 2],
            "data": np.array([1.0, 2.0]),
            "indices": np.array([1, 0]),
            "indptr": np.array([0, 1, 2]),
        },
        "random state": {
            "key": generator["state"]["key"].astype(np.uint32),
            "position": 5,
            "has_gauss": 0,
            "cached_gaussian": 0.0,
        },
    }[tag]
    path = tmp_path / "file"
    for changes, refused in (({}, False), (part, True)):
        write_file(path, "Anything", {"value": {**parts, **changes}})
        header, rest = forged.parts_of(path)
        header["content"]["value"] = {tag: header["content"]["value"]["dict"]}
        forged.write(path, header, rest)
        if refused:
            with pytest.raises(ValueError, match=words):
                read_file(path, "Anything", dict)
        else:
            read_file(path, "Anything", dict)


def test_a_tree_with_a_cycle_is_refused(tmp_path):
    edges, weights = np.array([[0, 1], [1, 2], [0, 2]]), np.array([1.0, 2.0, 3.0])
    SpanningTree(edges, weights).save(tmp_path / "tree")
    with pytest.raises(ValueError, match="cycle"):
        SpanningTree.load(tmp_path / "tree")
