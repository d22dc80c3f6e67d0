import io
import sys
from dataclasses import dataclass

import pytest

from isthmus.cli.main import run

# Three points near (0, 0), two near (9, 9): clusters 0 and 1 whatever the method.
TABLE = "name,x,y\nann,0,0\nbob,9.0,9\ncy,1,0\ndee,0,1.50\neve,9,8\n"
LABELS = [0, 1, 0, 0, 1]


@dataclass
class Result:
    status: int
    out: str
    err: str


@pytest.fixture
def isthmus(capsys, monkeypatch, tmp_path):
    """Runs the command in this process, in an empty directory; ``stdin`` is what it can read."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = run([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Result(status, out, err)

    return call


@pytest.fixture
def table():
    return TABLE


@pytest.fixture
def labels():
    return list(LABELS)


@pytest.fixture
def table_csv(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return path
