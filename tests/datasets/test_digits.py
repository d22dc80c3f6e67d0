import os
import urllib.error
from io import BytesIO
from pathlib import Path
from threading import Event

import numpy as np
import pytest
import sklearn.datasets

from isthmus.datasets import digit_subset, digits, load_digits_stand_in, load_usps
from isthmus.datasets.digits import usps_available

FOLDER = os.environ.get("ISTHMUS_DATA")
COUNTS = [1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821]
DIGITS = np.random.default_rng(0).permutation(np.repeat(np.arange(10), COUNTS))
GREY = np.random.default_rng(0).integers(-1000, 1001, size=(9298, 256), dtype=np.int16)


@pytest.fixture(autouse=True)
def openml(monkeypatch):
    """Keep tests off the network: fetch_openml records its calls, and answers what it is given."""

    class OpenML:
        calls = ()
        answer = AssertionError("nobody should have asked OpenML")

        def __call__(self, name, **options):
            self.calls = (*self.calls, (name, options))
            if isinstance(self.answer, Exception):
                raise self.answer
            return self.answer

    replacement = OpenML()
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", replacement)
    monkeypatch.delenv("ISTHMUS_DATA", raising=False)
    return replacement


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ISTHMUS_DATA", str(tmp_path))
    return tmp_path


def test_usps_from_a_file(folder, openml):
    np.savez(folder / "usps_int16.npz", K=GREY, y=DIGITS.astype(np.uint8))
    bunch = load_usps()
    assert bunch.data.dtype == np.float64
    assert np.array_equal(bunch.data, GREY / 1000.0)
    assert bunch.target.dtype == np.int64
    assert np.array_equal(bunch.target, DIGITS)
    assert bunch.target_names.tolist() == list(range(10))
    assert "9,298 handwritten digits" in bunch.DESCR
    X, y = load_usps(return_X_y=True)
    assert np.array_equal(X, bunch.data)
    assert np.array_equal(y, bunch.target)
    assert openml.calls == ()


@pytest.mark.skipif(
    FOLDER is None or not Path(FOLDER, "usps_int16.npz").is_file(),
    reason="ISTHMUS_DATA is not set, or without usps_int16.npz",
)
def test_the_usps_images_themselves(monkeypatch):
    monkeypatch.setenv("ISTHMUS_DATA", FOLDER)
    X, y = load_usps(return_X_y=True)
    assert (X.min(), X.max()) == (-1.0, 1.0)
    assert np.bincount(y).tolist() == COUNTS
    # A zero has paper in its middle, a one has ink there.
    middle = X.reshape(-1, 16, 16)[:, 7:9, 7:9].mean(axis=(1, 2))
    assert middle[y == 0].mean() < 0 < middle[y == 1].mean()


@pytest.mark.parametrize("first", [0, 1])
def test_usps_from_openml_whose_labels_are_strings(openml, tmp_path, first):
    openml.answer = GREY / 1000.0, (DIGITS + first).astype(str).astype(object)
    X, y = load_usps(return_X_y=True, data_home=tmp_path)
    assert np.array_equal(X, GREY / 1000.0)
    assert np.array_equal(y, DIGITS)
    ((name, options),) = openml.calls
    assert name == "USPS"
    assert options["data_home"] == tmp_path
    assert options["as_frame"] is False


def test_usps_is_fetched_where_the_folder_does_not_have_it(folder, openml):
    openml.answer = GREY / 1000.0, (DIGITS + 1).astype(str)
    assert np.array_equal(load_usps().target, DIGITS)
    assert len(openml.calls) == 1


@pytest.mark.parametrize(
    "error", [urllib.error.URLError("no network"), ValueError("no such data set")]
)
def test_without_file_and_network_the_ways_out_are_named(openml, error):
    openml.answer = error
    with pytest.raises(OSError, match="are not on this machine, and OpenML does not") as caught:
        load_usps()
    for way in ("usps_int16.npz", "ISTHMUS_DATA", "network", "load_digits_stand_in", str(error)):
        assert way in str(caught.value)


def test_other_digits_are_not_taken_for_usps(folder, openml):
    swapped = np.where(DIGITS == 0, 1, np.where(DIGITS == 1, 0, DIGITS))
    for wrong in (swapped, DIGITS + 1):
        np.savez(folder / "usps_int16.npz", K=GREY, y=wrong)
        with pytest.raises(ValueError, match=r"usps_int16\.npz does not hold the USPS digits"):
            load_usps()
    (folder / "usps_int16.npz").unlink()
    openml.answer = GREY[:, :255] / 1000.0, DIGITS.astype(str)
    with pytest.raises(ValueError, match=r"OpenML does not hold .* got shape \(9298, 255\)"):
        load_usps()


def test_the_stand_in_is_the_one_of_scikit_learn():
    X, y = load_digits_stand_in(return_X_y=True)
    theirs = sklearn.datasets.load_digits()
    assert X.shape == (1797, 64)
    assert np.array_equal(X, theirs.data)
    assert np.array_equal(y, theirs.target)
    assert load_digits_stand_in().target_names.tolist() == list(range(10))


@pytest.mark.parametrize("digits", [[3], (0, 8), np.array([1, 4, 7]), [9, 2, 5, 0]])
def test_a_subset_has_rows_of_the_whole_each_once(digits):
    X = np.arange(9298.0)[:, np.newaxis]  # each row is its own number
    images, labels = digit_subset(X, DIGITS, digits, 600, random_state=0)
    assert images.shape == (600, 1)
    rows = images[:, 0].astype(int)
    assert len(set(rows)) == 600
    assert np.array_equal(labels, DIGITS[rows])
    assert set(labels) == set(digits)


def test_a_subset_has_a_thousand_images_in_the_proportions_of_the_whole():
    X = np.zeros((9298, 1))
    _, labels = digit_subset(X, DIGITS, [0, 8], random_state=0)
    assert len(labels) == 1000
    assert np.mean(labels == 0) == pytest.approx(1553 / (1553 + 708), abs=0.04)
    _, everything = digit_subset(X, DIGITS, [0, 8], 1553 + 708, random_state=0)
    assert np.bincount(everything)[[0, 8]].tolist() == [1553, 708]


def test_a_seed_gives_the_same_subset_and_another_seed_another():
    X = np.arange(9298.0)[:, np.newaxis]

    def rows(random_state):
        return digit_subset(X, DIGITS, [1, 2], 50, random_state)[0].ravel().tolist()

    assert rows(0) == rows(np.random.RandomState(0))
    assert rows(0) != rows(1)
    assert rows(np.random.default_rng(0)) == rows(np.random.default_rng(0))


@pytest.mark.parametrize(
    ("digits", "n_samples", "message"),
    [
        ([1, 1], 10, "one or more different digits"),
        ([], 10, "one or more different digits"),
        ([[1, 2]], 10, "one or more different digits"),
        ([1, 12], 10, r"y has no image of \[12\]"),
        ([8], 709, r"n_samples=709 is too many: there are 708 images of \[8\]"),
        ([1, 2, 3], 2, "n_samples must be at least 3"),
    ],
)
def test_a_subset_that_cannot_be_drawn_is_refused(digits, n_samples, message):
    with pytest.raises(ValueError, match=message):
        digit_subset(np.zeros((9298, 1)), DIGITS, digits, n_samples)


@pytest.mark.parametrize("X", [np.zeros(9298), np.zeros((9297, 1))])
def test_images_without_a_label_each_are_refused(X):
    with pytest.raises(ValueError, match="a row and y a label for each image"):
        digit_subset(X, DIGITS, [1, 2], 10)


@pytest.fixture
def network(monkeypatch, tmp_path):
    """Replace urlopen, and give scikit-learn an empty folder; returns how to set the answer."""

    def answer_by(function):
        monkeypatch.setattr(digits, "urlopen", lambda url, timeout: function())

    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "sklearn"))
    answer_by(lambda: pytest.fail("nobody should have asked OpenML"))
    return answer_by


def test_a_file_is_available_without_asking(network, folder):
    (folder / "usps_int16.npz").touch()
    assert usps_available()


def test_what_scikit_learn_has_kept_is_available_without_asking(network, tmp_path):
    question = "api/v1/json/data/list/data_name/usps/limit/2/data_version/2.gz"
    for home in (tmp_path / "sklearn", tmp_path / "elsewhere"):
        kept = home / "openml" / "openml.org" / question
        kept.parent.mkdir(parents=True)
        kept.touch()
    assert usps_available()
    assert usps_available(data_home=tmp_path / "elsewhere")


def test_openml_is_available_where_it_answers(network):
    def refuse():
        raise urllib.error.URLError("no network")

    network(lambda: BytesIO(b"{}"))
    assert usps_available()
    network(refuse)
    assert not usps_available()


def test_nobody_waits_for_a_network_that_does_not_answer(network):
    released = Event()
    network(lambda: released.wait(30) and BytesIO(b""))
    assert not usps_available(seconds=0.05)
    released.set()
