"""Files and names that want to do something to a terminal, to memory, or to the digits."""

import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from isthmus.cli import command_table, main
from isthmus.cli.errors import harmless, say
from isthmus.datasets import digits

ESCAPE = "a\x1b]0;pwn\x07"


def test_what_a_terminal_obeys_is_spelled_out():
    assert harmless(ESCAPE) == r"a\x1b]0;pwn\x07"
    assert harmless("tab\tand\u202eright to left\x9b1m") == r"tab\tand\u202eright to left\x9b1m"
    assert harmless("two\nlines, ünïcödé × –") == "two\nlines, ünïcödé × –"
    assert harmless("\udcff") == r"\udcff"


def test_a_line_on_standard_error(capsys):
    say(f"{ESCAPE}\nb")
    assert capsys.readouterr().err == "a\\x1b]0;pwn\\x07\nb\n"


def test_headers_and_names_of_files(isthmus, tmp_path):
    (tmp_path / f"{ESCAPE}.csv").write_text(f"{ESCAPE},b\nx,1\n2,3\n")
    result = isthmus("cluster", f"{ESCAPE}.csv", "-k", 2)
    assert result.status == 2
    assert "\x1b" not in result.err
    assert "\x07" not in result.err
    (tmp_path / "in.csv").write_text(f"{ESCAPE},b\n1,1\n2,3\n")
    result = isthmus("cluster", "in.csv", "-k", 2, "-o", "out.csv")
    assert result.status == 0
    assert "\x1b" not in result.err


def test_parquet_that_unpacks_to_more_than_there_is(isthmus, tmp_path, monkeypatch):
    pq.write_table(pa.table({"x": np.zeros(2_000_000)}), tmp_path / "in.parquet")
    assert (tmp_path / "in.parquet").stat().st_size < 20_000
    monkeypatch.setattr("isthmus._utils.memory.available_memory", lambda: 10_000_000)
    result = isthmus("cluster", "in.parquet", "-k", 2, "-o", "out.csv")
    assert result.status == 2
    assert "2,000,000 rows of 1 columns, needs 15.3 MiB" in result.err
    assert result.err.count("\n") == 1


def test_no_memory_is_one_line(isthmus, monkeypatch, tmp_path):
    (tmp_path / "in.csv").write_text("1\n2\n")
    for error, words in ((MemoryError(), "not enough memory."), (MemoryError("8 GiB"), "8 GiB")):

        def fail(*_, error=error):
            raise error

        monkeypatch.setattr(command_table, "read_table", fail)
        result = isthmus("cluster", "in.csv", "-k", 2)
        assert (result.status, result.out) == (2, "")
        assert result.err.startswith("isthmus: error: ")
        assert words in result.err
        assert result.err.count("\n") == 1


def test_threads_that_cannot_start_are_one_line(isthmus, monkeypatch, tmp_path):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    np.save(tmp_path / "in.npy", np.random.default_rng(0).normal(size=(200_000, 2)))
    monkeypatch.setattr("concurrent.futures.ThreadPoolExecutor.submit", refuse)
    result = isthmus("cluster", "in.npy", "-k", 2, "--jobs", 2)
    assert result.status == 2
    assert "Lower n_jobs" in result.err


@pytest.mark.skipif(sys.platform == "win32", reason="other limits of names")
def test_names_that_are_too_long(isthmus, monkeypatch, tmp_path):
    (tmp_path / "in.csv").write_text("1\n2\n9\n")
    long_name = "a" * 251 + ".csv"
    assert isthmus("cluster", "in.csv", "-k", 2, "-o", long_name).status == 0
    assert (tmp_path / long_name).exists()
    monkeypatch.setattr(command_table, "read_table", None)  # no work before it is refused
    result = isthmus("cluster", "in.csv", "-k", 2, "-o", "a" * 252 + ".csv")
    assert (result.status, result.err.count("\n")) == (2, 1)
    assert "too long" in result.err


@pytest.mark.parametrize("kind", ["csv", "npy", "parquet"])
def test_integers_that_would_be_rounded(isthmus, tmp_path, kind):
    times = 1_700_000_000_000_000_000 + np.arange(4)[:, None]
    name = f"in.{kind}"
    if kind == "npy":
        np.save(tmp_path / name, times)
    elif kind == "parquet":
        pq.write_table(pa.table({"x": times[:, 0]}), tmp_path / name)
    else:
        (tmp_path / name).write_text("x\n" + "\n".join(map(str, times[:, 0])) + "\n")
    result = isthmus("cluster", name, "-k", 2)
    assert (result.status, result.out) == (2, "")
    assert "1700000000000000001" in result.err
    assert "float64 rounds" in result.err


def test_large_numbers_that_are_held_are_served(isthmus, tmp_path):
    numbers = [2**60, 2**61, -(2**62), "1e300", "0.12345678901234567890"]
    (tmp_path / "in.csv").write_text("\n".join(map(str, numbers)) + "\n")
    assert isthmus("cluster", "in.csv", "-k", 2).status == 0


def test_offline(tmp_path, monkeypatch):
    monkeypatch.delenv("ISTHMUS_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    monkeypatch.setenv("ISTHMUS_OFFLINE", "0")
    asked = []
    monkeypatch.setattr(digits, "_openml_answers", lambda seconds: asked.append(1) or True)
    assert digits.usps_available()
    monkeypatch.setattr("isthmus.cli.reproduce.run_experiments", lambda *_, **__: {})
    monkeypatch.setattr("isthmus.cli.reproduce.write_report", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main.run(["reproduce", "--offline", "-o", str(tmp_path / "out")])
    asked.clear()
    assert not digits.usps_available()
    assert asked == []
    with pytest.raises(OSError, match="ISTHMUS_OFFLINE is set"):
        digits.load_usps()


def test_parquet_with_texts_that_are_none(isthmus, tmp_path):
    text = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0"), pa.py_buffer(b"\xe1a")]
    )
    pq.write_table(pa.table({"x": [0.0, 1.0], "name": text}), tmp_path / "in.parquet")
    result = isthmus("cluster", "in.parquet", "-k", 2, "--columns", "x", "-o", "out.csv")
    assert result.status == 2
    assert "not a readable Parquet file" in result.err
    assert "UTF8" in result.err
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("integers", "kind"),
    [(pa.array([0, 10**7], pa.int32()), pa.date32()), (pa.array([0, 2**62]), pa.duration("s"))],
)
def test_parquet_with_times_that_python_does_not_have(isthmus, tmp_path, integers, kind):
    pq.write_table(pa.table({"x": [0.0, 1.0], "t": integers.cast(kind)}), tmp_path / "in.parquet")
    result = isthmus("cluster", "in.parquet", "-k", 2, "--columns", "x", "-o", "out.csv")
    assert result.status == 2
    assert "column 2 ('t')" in result.err
    assert "beyond what Python holds" in result.err
    assert not (tmp_path / "out.csv").exists()
