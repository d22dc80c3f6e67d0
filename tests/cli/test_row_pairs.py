"""--must-link and --cannot-link: files of pairs of rows."""

import pytest

COLUMNS = ["--columns", "x,y"]


def test_pairs_are_honoured(isthmus, table_csv, tmp_path):
    (tmp_path / "together.txt").write_text("1,2\n\n2 5\n")
    (tmp_path / "apart.txt").write_text("1 3\n")
    command = ["cluster", table_csv, "-k", 2, *COLUMNS, "--labels-only"]
    known = ["--must-link", "together.txt", "--cannot-link", "apart.txt"]
    result = isthmus(*command, *known)
    assert result.status == 0
    labels = result.out.split()[1:]
    assert labels[0] == labels[1] == labels[4]
    assert labels[0] != labels[2]
    assert labels != isthmus(*command).out.split()[1:]


def test_kmeans_takes_must_links_alone(isthmus, table_csv, tmp_path):
    (tmp_path / "pairs.txt").write_text("1,2\n")
    command = ["cluster", table_csv, "-k", 2, *COLUMNS, "--method", "kmeans", "--labels-only"]
    labels = isthmus(*command, "--must-link", "pairs.txt").out.split()[1:]
    assert labels[0] == labels[1]
    result = isthmus(*command, "--cannot-link", "pairs.txt")
    assert result.status == 2
    assert "--cannot-link belongs to --method cut" in result.err


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("1,2\n3\n", "pairs.txt, line 2: expected two row numbers, such as 3,17; got '3'"),
        ("1,two\n", "line 1: expected two row numbers"),
        ("0,2\n", "line 1: rows are numbered from 1 to 5, got '0,2'"),
        ("1,6\n", "rows are numbered from 1 to 5, got '1,6'"),
        ("2,2\n", "cannot_link puts row 1 apart from itself"),
        (None, "--cannot-link pairs.txt: No such file or directory."),
        (b"\xff\xfe1", "it is not text in UTF-8"),
    ],
)
def test_what_is_wrong_is_named(isthmus, table_csv, tmp_path, text, error):
    if text is not None:
        (tmp_path / "pairs.txt").write_bytes(text if isinstance(text, bytes) else text.encode())
    result = isthmus("cluster", table_csv, "-k", 2, *COLUMNS, "--cannot-link", "pairs.txt")
    assert (result.status, result.out) == (2, "")
    assert error in result.err
