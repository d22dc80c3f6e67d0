"""The progress bar: where it is shown, how often, and to whom."""

import io

import pytest

from isthmus._utils import progress as _progress
from isthmus._utils.progress import (
    ProgressBar,
    Stages,
    can_rewrite,
    check_verbose,
    seconds_left,
    work_apart,
)
from isthmus.spanning_tree.round_progress import (
    RoundProgress,
    share_after_round,
    share_of_rounds,
)


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Clock:
    """Time that passes when it is told to."""

    def __init__(self, monkeypatch):
        self.now = 100.0
        monkeypatch.setattr(_progress.time, "monotonic", lambda: self.now)


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def on_screen(text):
    """Return what a terminal shows of a line that was rewritten."""
    shown = ""
    for line in text.rstrip("\n").split("\r"):
        shown = line + shown[len(line) :]
    return shown.rstrip()


def test_a_terminal_sees_one_line_rewritten_ten_times_a_second(clock):
    stream = Terminal()
    bar = ProgressBar("work", stream=stream)
    for step in range(1001):
        clock.now = 100.0 + step * 0.01
        bar(step, 1000)
    text = stream.getvalue()
    assert text.count("\n") == 1
    assert on_screen(text) == f"work [{30 * '█'}] 100%, 10 s"
    assert 70 <= text.count("\r") <= 90  # nothing in the first two seconds
    assert "\rwork [███████████████               ]  50%, 5 s left" in text


def test_a_log_gets_a_line_for_every_tenth(clock):
    stream = io.StringIO()
    bar = ProgressBar("work", stream=stream)
    for step in range(1001):
        clock.now = 100.0 + step * 0.01
        bar(step, 1000)
    lines = stream.getvalue().splitlines()
    assert lines[0] == "work 20%, 8 s left"
    assert lines[-1] == "work 100%, 10 s"
    assert len(lines) == 9
    assert "\r" not in stream.getvalue()


def test_nothing_is_shown_for_a_moment_of_work(clock):
    for stream in (Terminal(), io.StringIO()):
        bar = ProgressBar("work", stream=stream)
        clock.now += 1.9
        bar(1, 2)
        bar(2, 2)
        assert stream.getvalue() == ""


def test_a_stage_without_work_and_a_stream_that_is_gone(clock):
    stream = Terminal()
    bar = ProgressBar("work", patience=0.0, stream=stream)
    clock.now += 1.0
    bar(0, 0)
    assert "100%" in stream.getvalue()
    gone = io.StringIO()
    gone.close()
    assert not can_rewrite(gone)
    assert not can_rewrite(None)


def test_notebooks_rewrite_their_line():
    stream = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    assert can_rewrite(stream)
    assert not can_rewrite(io.StringIO())


def test_later_stages_do_not_wait_again(clock, capsys):
    stages = Stages(1)
    first = stages.stage("first")
    clock.now += 3.0
    first(5, 10)
    first(10, 10)
    second = stages.stage("second")
    second(0, 2)
    clock.now += 0.5
    second(1, 2)
    second(2, 2)
    with stages.whole("a moment"):
        pass
    told = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in told] == [
        "first 50%",
        "first 100%",
        "second 50%",
        "second 100%",
    ]


def test_silence_and_functions():
    silent = Stages(0)
    assert silent.stage("work") is None
    with silent.whole("work"):
        pass
    told = []
    stages = Stages(lambda *call: told.append(call))
    stages.stage("work")(1, 2)
    with stages.whole("more"):
        pass
    assert told == [("work", 1, 2), ("more", 0, 1), ("more", 1, 1)]
    for good in (0, 1, True, print):
        check_verbose(good)
    with pytest.raises(TypeError, match="verbose must be"):
        check_verbose(None)


@pytest.mark.parametrize(
    "share_at",
    [
        lambda t: t,
        lambda t: t**2,  # slow at first
        lambda t: 1 - (1 - t) ** 2,  # slow at last
        lambda t: 0.1 * t / 0.6 if t < 0.6 else 0.1 + 0.9 * (t - 0.6) / 0.4,
        lambda t: 0.8 * t / 0.5 if t < 0.5 else 0.8 + 0.2 * (t - 0.5) / 0.5,
    ],
)
def test_estimates_are_as_far_off_as_shares_are(share_at):
    for step in range(100, 1000):
        share = share_at(step / 1000)
        left = seconds_left(step * 0.1, share)
        assert (left is None) == (share < 0.03)
        if left is not None:
            assert (step * 0.1 + left) / 100.0 == pytest.approx(step / 1000 / share)


def test_time_spent_compiling_is_left_out_of_estimates(clock):
    stream = io.StringIO()
    bar = ProgressBar("work", stream=stream)
    with work_apart():
        clock.now += 60.0
    clock.now += 10.0
    bar(1, 2)
    assert stream.getvalue() == "work 50%, 10 s left\n"


def test_a_notice_has_a_line_of_its_own(clock):
    stream = Terminal()
    bar = ProgressBar("work", patience=0.0, stream=stream)
    clock.now += 1.0
    bar(1, 4)
    with work_apart():
        stream.write("isthmus is compiling\n")
    clock.now += 1.0
    bar(2, 4)
    clock.now += 1.0
    bar(4, 4)
    first, notice, last = stream.getvalue().rstrip("\n").split("\n")
    assert "25%" in on_screen(first)
    assert notice == "isthmus is compiling"
    assert "100%" in on_screen(last)
    with work_apart():  # no line is open now
        pass
    assert stream.getvalue().count("\n") == 3


def test_rounds_never_go_back_and_stages_end_where_they_are_said_to():
    seen = []
    rounds = RoundProgress(lambda done, total: seen.append(done / total), 101)
    for end, shares in ((0.2, (0.5, 1.0)), (0.1, (0.5, 1.0)), (0.6, (0.25, 0.1)), (1.0, (2.0,))):
        rounds.begin_stage(end)
        for share in shares:
            rounds.report(share)
    assert seen == [0.1, 0.2, 0.2, 0.2, 0.3, 0.3, 1.0]
    RoundProgress(None, 1).report(1.0)


def test_shares_of_rounds_go_by_logarithms():
    assert share_of_rounds(10_000, 10_000) == 0.0
    assert share_of_rounds(10_000, 100) == pytest.approx(0.5)
    assert share_of_rounds(10_000, 1) == share_of_rounds(1, 1) == 1.0
    assert 0.5 < share_after_round(10_000, 100) < 1.0 == share_after_round(10_000, 2)
