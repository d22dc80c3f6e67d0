"""The campaign itself: it runs, and it finds what is wrong, with code that shows it."""

import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import isthmus
from campaign import estimators, files, forgery, new_points, processes, reader, trees, worker
from campaign.script import Finding, Script, literal
from isthmus import SpanningTree, TransitiveCut, minimum_spanning_tree
from isthmus.estimators import persistence

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="the campaign forks"),
    pytest.mark.filterwarnings("ignore:n_clusters='auto' finds no clear structure"),
]


@pytest.fixture(autouse=True)
def _alarm():
    before = signal.signal(signal.SIGALRM, worker._hang)
    yield
    signal.signal(signal.SIGALRM, before)


def first_finding(module, part, n_cases, name=None, seed=0):
    """Return the first finding among some cases, with as few points as possible."""
    for number in range(n_cases):
        finding = worker.run_case(module, part, seed, number, Counter())
        if finding is not None and (name is None or name in finding.what):
            return finding
    return None


@pytest.mark.parametrize(
    ("module", "n_cases"),
    [(trees, 25), (estimators, 8), (files, 40), (processes, 4), (new_points, 40)],
)
def test_cases_of_each_part(module, n_cases):
    part = module.__name__.split(".")[-1]
    assert first_finding(module, part, n_cases) is None


def test_a_wrong_weight_is_found(monkeypatch):
    def heavier(X, **options):
        tree = minimum_spanning_tree(X, **options)
        return SpanningTree(tree.edges, tree.weights * (1 + 1e-9), tree.engine)

    monkeypatch.setattr(isthmus, "minimum_spanning_tree", heavier)
    finding = first_finding(trees, "trees", 50, "lightest")
    assert len(finding.source.splitlines()) < 12
    with pytest.raises(AssertionError):
        exec(finding.source, {})


def test_threads_that_change_a_tree_are_found(monkeypatch):
    def other(X, n_jobs=1, **options):
        tree = minimum_spanning_tree(X, n_jobs=n_jobs, **options)
        if n_jobs > 1 and len(tree.edges) > 1 and tree.weights[0] == tree.weights[1]:
            edges = tree.edges.copy()
            edges[[0, 1]] = edges[[1, 0]]
            return SpanningTree(edges, tree.weights, tree.engine)
        return tree

    monkeypatch.setattr(isthmus, "minimum_spanning_tree", other)
    finding = first_finding(trees, "trees", 100)
    assert finding.what in ("threads change the tree", "edges are not in their total order")


@pytest.mark.parametrize("name", ["labels_", "predict", "transform"])
def test_a_wrong_answer_is_found(name, monkeypatch):
    right = vars(isthmus.estimators.base.TransitiveClusterer)[name]
    if name == "labels_":

        def wrong(self):
            labels = self._record.public_labels.copy()
            labels[-1] = (labels[-1] + 1) % self.n_clusters_
            return labels

        monkeypatch.setattr(TransitiveCut, name, property(wrong), raising=False)
    elif name == "predict":
        monkeypatch.setattr(TransitiveCut, name, lambda self, X: right(self, X) * 0, raising=False)
    else:
        monkeypatch.setattr(TransitiveCut, name, lambda self, X: right(self, X) + 1e-3)
    finding = first_finding(estimators, "estimators", 100)
    with pytest.raises(AssertionError):
        exec(finding.source, {})


def test_a_field_that_is_not_checked_is_found(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def ask(case):
        Path(case.name).write_bytes(case.raw)
        return reader.run(case.lines)

    monkeypatch.setattr(files.READER, "ask", ask)
    monkeypatch.setattr(files.READER, "folder", str(tmp_path))
    # The suggestion is only shown, so that nothing falls when it is wrong.
    monkeypatch.setattr(
        persistence,
        "_unpacked_suggestion",
        lambda saved, n_rows: saved and isthmus.model_selection.suggestion.Suggestion(**saved),
    )
    rng = np.random.default_rng(0)
    sources = files.base_files.models()
    raw = next(raw for kind, raw in sources if kind == "TransitiveCut" and b"ranking" in raw)
    for _ in range(2000):
        case = replace(files.draw(rng), is_table=False, is_forged=True)
        if case.name != "forged" or "TransitiveCut" not in case.lines[0]:
            continue
        case = replace(case, raw=forgery.forge(rng, raw))
        try:
            files.check(case, Counter())
        except Finding as finding:
            found = finding
            break
    else:
        pytest.fail("not found")
    with pytest.raises(Exception, match=re.escape(found.detail)) as raised:
        exec(found.source, {})
    assert found.what == f"{raised.typename} from a forged file"


def test_a_leftover_is_found(monkeypatch):
    case = processes.Case("disk full while saving", None, 0.0, 1)
    scenario = processes.SCENARIOS[case.name]
    # A library that removes nothing: in the child alone.
    leaving = "Path.unlink = os.unlink = os.remove = lambda *_, **__: None\n" + scenario.job
    monkeypatch.setitem(processes.SCENARIOS, case.name, replace(scenario, job=leaving))
    with pytest.raises(Finding, match="a leftover") as raised:
        processes.check(case, Counter())
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    result = subprocess.run(
        [sys.executable, "-c", raised.value.source],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert result.returncode == 1
    assert "AssertionError: a leftover" in result.stderr


def test_a_hang_is_found(monkeypatch):
    monkeypatch.setattr(worker, "HANG_AFTER", 0.5)

    def check(case, counts):
        script = Script("import time")
        script.run("while True: time.sleep(0.01)")

    monkeypatch.setattr(trees, "check", check)
    begun = time.monotonic()
    finding = worker._checked(trees, None, Counter())
    assert finding.what == "a hang"
    assert finding.source.endswith("while True: time.sleep(0.01)")
    assert time.monotonic() - begun < 30


def test_forged_files_are_read_back():
    for _, raw in files.base_files.models():
        assert forgery.take_apart(forgery.put_together(*forgery.take_apart(raw)))[0]["kind"]


@pytest.mark.parametrize(
    "value",
    [
        np.array([[0.1, -0.0], [np.inf, np.nan]]),
        np.arange(6, dtype=np.int16).reshape(3, 2),
        np.random.default_rng(0).normal(size=(300, 2)).astype(np.float32),
        np.empty((0, 2)),
        b"x" * 1000,
        {"p": 1.5},
    ],
)
def test_literals_are_what_they_stand_for(value):
    found = eval(literal(value), {"np": np, "inf": np.inf, "nan": np.nan})
    if isinstance(value, np.ndarray):
        np.testing.assert_array_equal(found, value)
        assert found.dtype == value.dtype
    else:
        assert found == value
