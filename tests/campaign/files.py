"""Part (c): model files and tables that are not what isthmus wrote, with right checksums or wrong.

They are read in another process (reader.py), so that a crash is a finding and not the end.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from campaign import base_files, forgery, tables
from campaign.script import Finding, literal

# Seconds after which a file that is still being read counts as a hang.
_PATIENCE = 60.0
# … while kernels are compiled, at the beginning.
_FIRST_PATIENCE = 600.0
# With this variable set, kernels check their indices: a wrong one is an IndexError, not luck.
_CHECKED = "NUMBA_BOUNDSCHECK"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

_ON_TREES = (
    "tree.matrix(), tree.linkage, tree.row(0), tree.leaf_order, tree.gaps",
    "tree.path(0, len(tree) - 1)",
    "tree.transitive_edge(0, len(tree) - 1)",
    "tree @ np.ones(len(tree))",
    "tree.embedding()",
    "from isthmus import outlier_scores, suggest_n_clusters",
    "from isthmus.cut import cut_hierarchy",
    "outlier_scores(tree)",
    "cut_hierarchy(tree).linkage",
    "str(suggest_n_clusters(tree, 4))",
)
_ON_MODELS = (
    "found, tree = [], model.tree_",
    "repr(model), str(model.get_params())",
    "found += [model.labels_, model.n_clusters_, model.inertia_, model.outlier_scores_]",
    "found.append(str(model.summary_))",
    "for k in range(1, min(len(tree), 6) + 1): found.append(model.labels_for(k))",
    "path = model.path(1, min(len(tree), 4))",
    "if 'path' in vars(): found += [path.labels, path.inertia, path.margin, path.silhouette]",
    "new = np.ones((3, min(getattr(model, 'n_features_in_', 2), 64))) * [[1], [0.5], [9e9]]",
    "found.append(model.predict(new))",
    "found += [model.transform(new), model.score(new)]",
    "getattr(model, 'suggestion_', None), str(getattr(model, 'suggestion_', ''))",
    # Starts of K-means without a seed are other ones each time.
    "has_seed = getattr(model._fitted.settings, 'random_state', 0) is not None",
    "if has_seed: digest = repr([np.asarray(part).tolist() for part in found])",
    "copy = pickle.loads(pickle.dumps(model))",
    "model.save('copy'); type(model).load('copy')",
)


@dataclass(frozen=True)
class Case:
    """A file, and the statements that read it."""

    name: str
    raw: bytes
    lines: tuple[str, ...]
    is_forged: bool
    is_table: bool


def draw(rng: np.random.Generator) -> Case:
    """Draw a file."""
    if rng.random() < 0.45:
        name, raw, lines = tables.draw(rng)
        return Case(name, raw, lines, is_forged=False, is_table=True)
    sources = base_files.models()
    kind, raw = sources[int(rng.integers(len(sources)))]
    is_forged = rng.random() < 0.8
    changed = forgery.forge(rng, raw) if is_forged else forgery.mutate(rng, raw)
    return Case("forged", changed, statements(kind), is_forged=is_forged, is_table=False)


def prepare() -> Iterator[None]:
    """Read files that are right: they are accepted, and all kernels are compiled then."""
    for kind, raw in base_files.models():
        case = Case("forged", raw, statements(kind), is_forged=True, is_table=False)
        answer = READER.ask(case, _FIRST_PATIENCE)
        if "error" in answer:
            _fail(case, answer["line"], "a file of isthmus is refused", answer["words"])
        yield


def statements(kind: str) -> tuple[str, ...]:
    """Return what is done with a file of a kind."""
    imports = f"import pickle; import numpy as np; from isthmus import {kind}"
    name = "tree" if base_files.tree_of_file(kind) else "model"
    lines = [imports, f"{name} = {kind}.load('forged')"]
    if kind == "SpanningTree":
        lines += [
            "from isthmus import UltrametricTree",
            "repr(tree), hash(tree), tree.total_weight",
            "tree = UltrametricTree.from_spanning_tree(tree)",
        ]
    lines += _ON_TREES if name == "tree" else (*_ON_MODELS, *_ON_TREES)
    return tuple(lines)


def check(case: Case, counts: Counter[str]) -> None:
    """Let the reader read the file, and judge what it says."""
    counts["tables" if case.is_table else "files"] += 1
    answer = READER.ask(case)
    if case.is_table:
        _judge_table(case, answer, counts)
    else:
        _judge_model(case, answer, counts)


def _judge_model(case: Case, answer: dict, counts: Counter[str]) -> None:
    line = answer["line"]
    error = answer.get("error")
    if line == 1 and error == "ValueError":
        counts["files refused"] += 1
        if not answer["words"].startswith("forged: "):
            _fail(case, line, "a refusal without the name of the file", answer["words"])
        return
    counts["files accepted"] += 1
    # Parameters are the caller's, and checked where they are used.
    is_refused = error == "TypeError" and re.match(r"\w+ must be ", answer["words"])
    if error is not None and not (is_refused and line > 1):
        _fail(case, line, f"{error} from a forged file", answer["words"], answer["refused"])
    if error is None and not case.is_forged:
        _fail(case, 1, "a damaged file was accepted", "")
    if error is None and "digest" in answer:
        again = READER.ask(case)
        if again.get("digest") != answer["digest"]:
            what = "reading a file twice gives two results"
            _fail(case, line - 1, what, "", answer["refused"])


def _judge_table(case: Case, answer: dict, counts: Counter[str]) -> None:
    error, said = answer.get("error"), answer.get("stderr", "")
    line = min(answer["line"], len(case.lines) - 1)
    if error is not None:
        _fail(case, line, f"{error} from a table", answer["words"])
    if answer["status"] not in (0, 2):
        _fail(case, line, f"exit status {answer['status']} from a table", said)
    counts["tables refused" if answer["status"] else "tables clustered"] += 1
    if _CONTROL.search(said):
        _fail(case, line, "control characters reach the terminal", repr(said))
    # what was taken of the text may be said before
    said_first = r"(isthmus: [^\n]+ say otherwise\)\n)?"
    if answer["status"] == 2 and not re.fullmatch(said_first + r"isthmus: error: [^\n]+\n", said):
        _fail(case, line, "an error of more than one line", repr(said))
    left = {path.name for path in Path(READER.folder).iterdir()} - {
        case.name,
        "out.csv",
        "out.npy",
        "copy",
    }
    if left or (answer["status"] == 2 and Path(READER.folder, "out.csv").exists()):
        _fail(case, line, "a file is left behind", str(left))


def _fail(case: Case, line: int, what: str, detail: str, refused: Sequence[int] = ()) -> None:
    """Raise the finding that a line shows; lines before it that were refused are left out."""
    source = [
        *["import os; os.environ['NUMBA_BOUNDSCHECK'] = '1'"] * (_CHECKED in os.environ),
        "from pathlib import Path",
        f"Path({case.name!r}).write_bytes({literal(case.raw)})",
        *(each for i, each in enumerate(case.lines[: line + 1]) if i not in refused),
    ]
    raise Finding(what, detail, "\n".join(source))


class Reader:
    """The process that reads, started anew when it has fallen."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="isthmus-campaign-")
        self._process: subprocess.Popen[str] | None = None
        atexit.register(self.close)

    def ask(self, case: Case, patience: float = _PATIENCE) -> dict:
        """Let the process read a file; return its answer."""
        for path in Path(self.folder).iterdir():
            path.unlink()
        Path(self.folder, case.name).write_bytes(case.raw)
        if self._process is None:
            self._start()
        self._process.stdin.write(
            json.dumps({"lines": case.lines, "may_refuse": not case.is_table}) + "\n"
        )
        self._process.stdin.flush()
        ready, _, _ = select.select([self._process.stdout], [], [], patience)
        answer = self._process.stdout.readline() if ready else ""
        if answer:
            return json.loads(answer)
        status = self._stop()
        what = "a hang while reading a file" if not ready else f"a crash (exit status {status})"
        _fail(case, len(case.lines), what, "")
        return {}

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "campaign.reader"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        )

    def _stop(self) -> int:
        process, self._process = self._process, None
        try:
            return process.wait(timeout=2.0)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()

    def close(self) -> None:
        """End the process, and remove its folder."""
        if self._process is not None:
            self._process.stdin.close()
            self._stop()
        shutil.rmtree(self.folder, ignore_errors=True)


READER = Reader()
close = READER.close
