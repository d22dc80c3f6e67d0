import inspect
import io
import json
import re
import sys
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from isthmus.cli.cluster_options import INITS, KMEANS_OPTIONS, METHODS, METRICS, SPACES
from isthmus.cli.main import build_parser
from isthmus.datasets import load_iris, make_two_moons
from isthmus.estimators import TransitiveCut, TransitiveKMeans
from isthmus.estimators.base import TransitiveClusterer
from isthmus.kmeans import settings
from isthmus.metrics.rowwise import ROW_METRIC_NAMES

COLUMNS = ["--columns", "x,y"]
POINTS = np.array([[0, 0], [9, 9], [1, 0], [0, 1.5], [9, 8]])


def labelled(table, labels, name="cluster"):
    head, *rows = table.splitlines()
    lines = [f"{head},{name}", *(f"{row},{label}" for row, label in zip(rows, labels, strict=True))]
    return "\n".join(lines) + "\n"


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def spy_on_fit(monkeypatch):
    """Record the parameters of every fit."""
    seen = []
    fit = TransitiveClusterer.fit
    monkeypatch.setattr(
        TransitiveClusterer,
        "fit",
        lambda self, X: seen.append({"estimator": type(self), **vars(self)}) or fit(self, X),
    )
    return seen


class TestCsv:
    def test_to_standard_output(self, isthmus, table_csv, table, labels):
        result = isthmus("cluster", table_csv, "-k", 2, *COLUMNS)
        assert result.status == 0
        assert result.out == labelled(table, labels)

    def test_to_file(self, isthmus, table_csv, table, labels, tmp_path):
        result = isthmus("cluster", table_csv, "-k", 2, "--exclude", "name", "-o", "out.csv")
        assert (result.status, result.out) == (0, "")
        assert (tmp_path / "out.csv").read_text() == labelled(table, labels)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "table.csv"]

    @pytest.mark.parametrize("name", [["-"], []])
    def test_from_standard_input(self, isthmus, table, labels, name):
        result = isthmus("cluster", *name, "-k", 2, *COLUMNS, "-o", "-", stdin=table.encode())
        assert (result.status, result.out) == (0, labelled(table, labels))

    def test_without_header(self, isthmus, table, labels):
        rows = table.split("\n", 1)[1]
        result = isthmus("cluster", "-k", 2, "--columns", "2-3", stdin=rows.encode())
        expected = labelled(table, labels).split("\n", 1)[1]
        assert (result.status, result.out) == (0, expected)

    def test_labels_only(self, isthmus, table, table_csv):
        result = isthmus("cluster", table_csv, "-k", 2, *COLUMNS, "--labels-only")
        assert result.out == "cluster\n0\n1\n0\n0\n1\n"
        rows = table.split("\n", 1)[1].encode()
        result = isthmus("cluster", "-k", 2, "--columns", "2,3", "--labels-only", stdin=rows)
        assert result.out == "0\n1\n0\n0\n1\n"

    def test_label_column(self, isthmus, table_csv, table, labels):
        result = isthmus("cluster", table_csv, "-k", 2, *COLUMNS, "--label-column", "group")
        assert result.out == labelled(table, labels, "group")

    def test_delimiter_stays(self, isthmus, table, labels, tmp_path):
        data = table.replace(",", ";").encode()
        result = isthmus("cluster", "-k", 2, "--delimiter", ";", *COLUMNS, stdin=data)
        assert result.out == labelled(table, labels).replace(",", ";")
        isthmus("cluster", "-k", 2, "--delimiter", ";", *COLUMNS, "-o", "out.csv", stdin=data)
        assert (tmp_path / "out.csv").read_text() == result.out

    def test_delimiter_tells_that_a_file_is_text(self, isthmus, tmp_path):
        (tmp_path / "points.txt").write_text("0 0\n9 9\n1 0\n")
        result = isthmus("cluster", "points.txt", "-k", 2, "--delimiter", "space")
        assert (result.status, result.out) == (0, "0 0 0\n9 9 1\n1 0 0\n")

    @pytest.mark.parametrize("ending", ["tsv", "tab", "TSV"])
    def test_tsv_and_back(self, isthmus, table_csv, table, labels, tmp_path, ending):
        assert isthmus("cluster", table_csv, "-k", 2, *COLUMNS, "-o", f"out.{ending}").status == 0
        expected = labelled(table, labels)
        assert (tmp_path / f"out.{ending}").read_text() == expected.replace(",", "\t")
        result = isthmus(
            "cluster", f"out.{ending}", "-k", 2, *COLUMNS, "--label-column", "c", "-o", "again.csv"
        )
        assert result.status == 0
        assert (tmp_path / "again.csv").read_text() == labelled(expected, labels, "c")

    def test_tsv_to_standard_output_stays_tsv(self, isthmus, table, labels):
        data = table.replace(",", "\t").encode()
        result = isthmus("cluster", "--format", "tsv", "-k", 2, *COLUMNS, stdin=data)
        assert result.out == labelled(table, labels).replace(",", "\t")

    def test_output_is_utf8(self, isthmus, tmp_path):
        data = "naïve,x\né,0\nπ,9\n".encode()
        isthmus("cluster", "-k", 2, "--columns", "x", "-o", "out.csv", stdin=data)
        assert (tmp_path / "out.csv").read_bytes() == "naïve,x,cluster\né,0,0\nπ,9,1\n".encode()


class TestNpy:
    def test_labels(self, isthmus, table_csv, labels, tmp_path):
        assert isthmus("cluster", table_csv, "-k", 2, *COLUMNS, "-o", "out.npy").status == 0
        written = np.load(tmp_path / "out.npy")
        assert written.dtype == np.int64
        assert written.tolist() == labels

    def test_existing_label_column_is_no_matter(self, isthmus, tmp_path):
        data = b"x,cluster\n0,5\n9,5\n"
        result = isthmus("cluster", "-k", 2, "--columns", "x", "-o", "out.npy", stdin=data)
        assert result.status == 0
        assert np.load(tmp_path / "out.npy").tolist() == [0, 1]

    def test_to_csv(self, isthmus, labels, tmp_path):
        np.save(tmp_path / "in.npy", POINTS)
        result = isthmus("cluster", "in.npy", "-k", 2)
        assert (result.status, result.out) == (
            0,
            "0.0,0.0,0\n9.0,9.0,1\n1.0,0.0,0\n0.0,1.5,0\n9.0,8.0,1\n",
        )

    def test_from_standard_input(self, isthmus):
        result = isthmus("cluster", "--format", "npy", "-k", 2, stdin=npy(np.array([[1], [7]])))
        assert (result.status, result.out) == (0, "1,0\n7,1\n")

    def test_digits_of_float32(self, isthmus):
        data = npy(np.array([[0.1], [7]], dtype=np.float32))
        assert isthmus("cluster", "--format", "npy", "-k", 2, stdin=data).out == "0.1,0\n7.0,1\n"

    @pytest.mark.parametrize("dtype", ["<f4", ">f4", ">f8", "<f2", "<i2", ">i8", "u1"])
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_types(self, isthmus, labels, dtype, order, tmp_path):
        np.save(tmp_path / "in.npy", np.asarray(POINTS, dtype=dtype, order=order))
        assert isthmus("cluster", "in.npy", "-k", 2, "-o", "out.npy").status == 0
        assert np.load(tmp_path / "out.npy").tolist() == labels
        assert isthmus("cluster", "in.npy", "-k", 2, "-o", "out.parquet").status == 0
        written = pq.read_table(tmp_path / "out.parquet")
        assert written.column_names == ["column_1", "column_2", "cluster"]
        for j, name in enumerate(written.column_names[:2]):
            assert written[name].to_numpy().dtype == np.dtype(dtype).newbyteorder("=")
            assert written[name].to_pylist() == POINTS.astype(dtype)[:, j].tolist()

    def test_float32_is_not_doubled(self, isthmus, monkeypatch, tmp_path):
        seen = []
        fit = TransitiveCut.fit
        monkeypatch.setattr(
            TransitiveCut, "fit", lambda self, X: seen.append(X.dtype) or fit(self, X)
        )
        np.save(tmp_path / "in.npy", POINTS.astype(np.float32))
        isthmus("cluster", "in.npy", "-k", 2)
        assert seen == [np.float32]

    def test_columns(self, isthmus, labels, tmp_path):
        np.save(tmp_path / "in.npy", np.column_stack([[5, 70, 20, 3, 99], POINTS]))
        isthmus("cluster", "in.npy", "-k", 2, "--columns", "2-3", "-o", "out.npy")
        assert np.load(tmp_path / "out.npy").tolist() == labels


class TestParquet:
    def test_from_csv(self, isthmus, table_csv, labels, tmp_path):
        assert isthmus("cluster", table_csv, "-k", 2, *COLUMNS, "-o", "out.parquet").status == 0
        written = pq.read_table(tmp_path / "out.parquet")
        assert written.to_pydict() == {
            "name": ["ann", "bob", "cy", "dee", "eve"],
            "x": POINTS[:, 0].tolist(),
            "y": POINTS[:, 1].tolist(),
            "cluster": labels,
        }
        assert [str(kind) for kind in written.schema.types] == [
            "string",
            "double",
            "double",
            "int64",
        ]

    def test_text_stays_text(self, isthmus, tmp_path):
        data = b"007,1\n010,9\n"
        isthmus("cluster", "-k", 2, "--columns", "2", "-o", "out.parquet", stdin=data)
        written = pq.read_table(tmp_path / "out.parquet").to_pydict()
        assert written == {"column_1": ["007", "010"], "column_2": [1.0, 9.0], "cluster": [0, 1]}

    def test_round_trip_keeps_types(self, isthmus, labels, tmp_path):
        table = pa.table(
            {
                "when": pa.array(range(5), pa.timestamp("s")),
                "x": pa.array(POINTS[:, 0], pa.int16(), safe=False),
                "y": pa.array(POINTS[:, 1], pa.float32()),
                "gone": pa.nulls(5),
                "parts": [[1], [], None, [2, 3], [4]],
            }
        )
        pq.write_table(table, tmp_path / "in.parquet")
        assert isthmus("cluster", "in.parquet", "-k", 2, *COLUMNS, "-o", "out.parquet").status == 0
        written = pq.read_table(tmp_path / "out.parquet")
        assert written.drop_columns("cluster").equals(pq.read_table(tmp_path / "in.parquet"))
        assert written["cluster"].to_pylist() == labels

    def test_to_csv(self, isthmus, tmp_path):
        table = pa.table(
            {
                "n,m": ["a,b", None],
                "x": pa.array([0.1, 7], pa.float32()),
                "y": [0.1, 7],
                "z": [1, 2],
            }
        )
        pq.write_table(table, tmp_path / "in.parquet")
        result = isthmus("cluster", "in.parquet", "-k", 2, "--columns", "2-4")
        assert (result.status, result.out) == (
            0,
            '"n,m",x,y,z,cluster\n"a,b",0.1,0.1,1,0\n,7,7.0,2,1\n',
        )

    def test_labels_only(self, isthmus, table_csv, labels, tmp_path):
        isthmus("cluster", table_csv, "-k", 2, *COLUMNS, "--labels-only", "-o", "out.parquet")
        assert pq.read_table(tmp_path / "out.parquet").to_pydict() == {"cluster": labels}

    def test_from_standard_input(self, isthmus):
        stream = io.BytesIO()
        pq.write_table(pa.table({"x": [0, 9]}), stream)
        result = isthmus("cluster", "-", "--format", "parquet", "-k", 2, stdin=stream.getvalue())
        assert (result.status, result.out) == (0, "x,cluster\n0,0\n9,1\n")

    def test_decimals_are_numbers(self, isthmus, tmp_path):
        column = pa.array([0, 9]).cast(pa.decimal128(21, 2))
        pq.write_table(pa.table({"x": column}), tmp_path / "in.parquet")
        assert isthmus("cluster", "in.parquet", "-k", 2).out == "x,cluster\n0.00,0\n9.00,1\n"


class TestSummary:
    def test_table(self, isthmus, table_csv):
        err = isthmus("cluster", table_csv, "-k", 2, *COLUMNS).err
        figures = dict(line.split(maxsplit=1) for line in err.split("\n\n")[0].splitlines())
        seconds = re.fullmatch(
            r"[0-9.]+ \(reading [0-9.]+, import [0-9.]+, writing [0-9.]+\)", figures.pop("seconds")
        )
        assert seconds
        assert figures == {
            "points": "5",
            "features": "2 (x, y)",
            "clusters": "2",
            "method": "cut (euclidean)",
        }
        sizes = [line.split() for line in err.split("\n\n")[1].splitlines()]
        assert sizes == [
            ["cluster", "points", "share"],
            ["0", "3", "60.0%"],
            ["1", "2", "40.0%"],
        ]

    def test_table_of_kmeans(self, isthmus, table_csv):
        err = isthmus("cluster", table_csv, "-k", 2, *COLUMNS, "--method", "kmeans").err
        figures = dict(line.split(maxsplit=1) for line in err.split("\n\n")[0].splitlines())
        assert figures["method"] == "kmeans (rows, euclidean)"
        assert float(figures["inertia"]) == pytest.approx(TransitiveKMeans(2).fit(POINTS).inertia_)
        assert int(figures["iterations"]) >= 1

    def test_many_clusters_are_summed_up(self, isthmus):
        data = "".join(f"{i}\n" for i in range(30)).encode()
        err = isthmus("cluster", "-k", 30, stdin=data).err
        assert err.splitlines()[-1].split() == ["others", "10", "33.3%"]

    def test_json(self, isthmus, table_csv, table, labels):
        result = isthmus("cluster", table_csv, "-k", 2, *COLUMNS, "--json")
        assert result.out == labelled(table, labels)
        assert result.err.count("\n") == 1
        summary = json.loads(result.err)
        seconds = summary.pop("seconds")
        assert list(seconds) == ["fit", "reading", "import", "writing"]
        assert min(seconds.values()) >= 0
        assert summary == {
            "n_points": 5,
            "n_features": 2,
            "n_clusters": 2,
            "sizes": [3, 2],
            "method": "cut",
            "metric": "euclidean",
            "columns": ["x", "y"],
            "n_dropped": 0,
            "missing": "error",
            "scale": "none",
            "hints": [],
            "warnings": [],
            "read": None,
        }

    @pytest.mark.parametrize("space", SPACES)
    def test_json_of_kmeans(self, isthmus, table_csv, space):
        options = ["--method", "kmeans", "--space", space, "--json"]
        summary = json.loads(isthmus("cluster", table_csv, "-k", 2, *COLUMNS, *options).err)
        model = TransitiveKMeans(2, space=space).fit(POINTS)
        assert summary["inertia"] == pytest.approx(model.inertia_)
        assert (summary["method"], summary["space"]) == ("kmeans", space)
        assert summary["n_iter"] == model.n_iter_

    def test_json_names_positions_without_header(self, isthmus):
        result = isthmus("cluster", "-k", 2, "--columns", "2,3", "--json", stdin=b"a,1,2\nb,3,4\n")
        assert json.loads(result.err)["columns"] == ["2", "3"]

    def test_quiet(self, isthmus, table_csv, table, labels):
        result = isthmus("cluster", table_csv, "-k", 2, *COLUMNS, "--quiet")
        assert (result.out, result.err) == (labelled(table, labels), "")

    @pytest.mark.parametrize("value", [float("nan"), float("inf")])
    def test_json_without_an_inertia(self, isthmus, table_csv, monkeypatch, value):
        monkeypatch.setattr(TransitiveKMeans, "inertia_", value)
        options = ["--method", "kmeans", "--json"]
        result = isthmus("cluster", table_csv, "-k", 2, *COLUMNS, *options)
        assert json.loads(result.err)["inertia"] is None
        assert json.loads(result.err)["sizes"] == [3, 2]

    @pytest.mark.parametrize("option", ["--json", "--quiet", None])
    def test_warnings_of_the_method(self, isthmus, table_csv, monkeypatch, option):
        fit = TransitiveCut.fit

        def warn(self, X):
            warnings.simplefilter("always")
            warnings.warn("not\nconverged", UserWarning, stacklevel=2)
            return fit(self, X)

        monkeypatch.setattr(TransitiveCut, "fit", warn)
        options = [] if option is None else [option]
        err = isthmus("cluster", table_csv, "-k", 2, *COLUMNS, *options).err
        if option == "--json":
            assert json.loads(err)["warnings"] == ["not converged"]
        elif option == "--quiet":
            assert err == ""
        else:
            assert err.splitlines()[-1] == "isthmus: warning: not converged"


class TestAuto:
    """``-k auto`` says what it chose and why."""

    @pytest.fixture
    def moons(self, tmp_path):
        np.save(tmp_path / "moons.npy", make_two_moons(random_state=0)[0])
        return "moons.npy"

    def test_table(self, isthmus, moons):
        result = isthmus("cluster", moons, "-k", "auto", "--labels-only")
        assert result.out.split() == [*["1"] * 100, *["0"] * 100]
        figures, explanation, sizes = result.err.split("\n\n")
        assert "clusters  2\n" in figures
        assert explanation.splitlines()[0] == "2 clusters (clear)."
        assert "90th percentile of the edges beside it" in explanation
        assert sizes.splitlines()[1].split() == ["0", "100", "50.0%"]

    def test_json(self, isthmus, moons):
        result = isthmus("cluster", moons, "-k", "auto", "--k-max", 5, "--json", "-o", "out.csv")
        summary = json.loads(result.err)
        assert summary["n_clusters"] == summary["suggestion"]["n_clusters"] == 2
        assert summary["suggestion"]["confidence"] == "clear"
        assert sorted(summary["suggestion"]["ranking"]) == [1, 2, 3, 4, 5]
        assert summary["suggestion"]["explanation"][0] == "2 clusters (clear)."

    def test_no_structure(self, isthmus, table_csv, table):
        result = isthmus("cluster", table_csv, "-k", "auto", *COLUMNS)
        assert result.out == labelled(table, [0] * 5)
        assert "No clear structure: one cluster." in result.err
        assert "Too few different points to tell: there are 5," in result.err
        assert "warning: n_clusters='auto' finds no clear structure and returns one" in result.err

    def test_quiet(self, isthmus, moons):
        result = isthmus("cluster", moons, "-k", "auto", "--quiet", "-o", "out.csv")
        assert (result.status, result.err) == (0, "")

    @pytest.mark.parametrize("options", [["-k", "some"], ["-k", "auto", "--k-max", "1"]])
    def test_what_is_refused(self, isthmus, moons, options):
        result = isthmus("cluster", moons, *options)
        assert result.status == 2
        assert "expected an integer" in result.err or "must be at least 2" in result.err


class TestMethod:
    def test_defaults_are_those_of_the_estimators(self, isthmus):
        args = vars(build_parser("cluster").parse_args(["cluster", "-k", "2"]))
        for estimator in (TransitiveCut, TransitiveKMeans):
            parameters = inspect.signature(estimator).parameters
            for name in ("metric", "min_cluster_size", "k_max"):
                assert args[name] == parameters[name].default, name
        assert not args.keys() & set(KMEANS_OPTIONS.values())
        words = isthmus("cluster", "--help").out.split("with --method kmeans only:")[1].split()
        for option, name in KMEANS_OPTIONS.items():
            default = parameters[name].default
            text = " ".join(words[words.index(option) :])
            if default is not None:
                assert text.split("(default: ")[1].split(")")[0] == str(default), option

    def test_choices_are_those_of_kmeans(self):
        assert (SPACES, INITS) == (settings.SPACES, settings.INITS)

    def test_options_reach_the_estimator(self, isthmus, table_csv, monkeypatch):
        seen = spy_on_fit(monkeypatch)
        options = "--metric minkowski --p 3 --jobs 1 --min-cluster-size 2 --k-max 5"
        result = isthmus("cluster", table_csv, "-k", 2, *COLUMNS, *options.split())
        assert result.status == 0
        assert len(seen) == 1
        assert (
            seen[0].items()
            >= {
                "estimator": TransitiveCut,
                "n_clusters": 2,
                "metric": "minkowski",
                "metric_params": {"p": 3.0},
                "min_cluster_size": 2,
                "k_max": 5,
                "n_jobs": 1,
                "verbose": 0,
            }.items()
        )

    def test_options_of_kmeans_reach_the_estimator(self, isthmus, table_csv, monkeypatch):
        seen = spy_on_fit(monkeypatch)
        options = "--method kmeans --metric manhattan --space embedding --power 0.5 --init random"
        more = "--n-init 4 --max-iter 20 --seed 7"
        result = isthmus("cluster", table_csv, "-k", 2, *COLUMNS, *options.split(), *more.split())
        assert result.status == 0
        assert len(seen) == 1
        assert (
            seen[0].items()
            >= {
                "estimator": TransitiveKMeans,
                "metric": "manhattan",
                "space": "embedding",
                "power": 0.5,
                "init": "random",
                "n_init": 4,
                "max_iter": 20,
                "random_state": 7,
            }.items()
        )

    @pytest.mark.parametrize(
        ("options", "terminal", "verbose"),
        [([], True, 1), ([], False, 0), (["--quiet"], True, 0), (["--json"], True, 0)],
    )
    def test_progress_only_for_people(
        self, isthmus, table_csv, monkeypatch, options, terminal, verbose
    ):
        seen = spy_on_fit(monkeypatch)
        monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
        isthmus("cluster", table_csv, "-k", 2, *COLUMNS, *options)
        assert [parameters["verbose"] for parameters in seen] == [verbose]

    @pytest.mark.parametrize("space", SPACES)
    @pytest.mark.parametrize("init", INITS)
    def test_every_choice_of_kmeans_works(self, isthmus, table_csv, labels, space, init, tmp_path):
        options = ["--method", "kmeans", "--space", space, "--init", init, "--seed", 0]
        result = isthmus("cluster", table_csv, "-k", 2, *COLUMNS, *options, "-o", "out.npy")
        assert result.status == 0
        assert np.load(tmp_path / "out.npy").tolist() == labels

    @pytest.mark.parametrize("method", METHODS)
    def test_methods_are_the_two_estimators(self, isthmus, method, tmp_path):
        X, _ = load_iris(return_X_y=True)
        np.save(tmp_path / "iris.npy", X)
        options = ["--method", method, "-o", "out.npy"]
        assert isthmus("cluster", "iris.npy", "-k", 3, *options).status == 0
        estimator = {"cut": TransitiveCut, "kmeans": TransitiveKMeans}[method]
        expected = estimator(3).fit_predict(X)
        assert np.load(tmp_path / "out.npy").tolist() == expected.tolist()

    @pytest.mark.parametrize("metric", [name for name in METRICS if name != "precomputed"])
    def test_every_metric_works(self, isthmus, metric):
        positive = b"1,2,4\n1,2,4.1\n9,1,0\n9,1,0.1\n1,2,4.2\n"
        booleans = b"1,1,1,0,0\n1,1,1,0,1\n0,0,1,1,1\n0,0,0,1,1\n1,1,1,1,0\n"
        data = {
            "haversine": b"0.1,3\n0.1,3.1\n1,-3\n1,-3.1\n0.2,3\n",
            "hellinger": positive,
            "mahalanobis": b"1\n1.1\n9\n9.1\n1.2\n",
            "braycurtis": positive,
            "canberra": positive,
            "jensenshannon": positive,
            "nan_euclidean": positive,
        }.get(metric, booleans if metric in ROW_METRIC_NAMES else positive.replace(b"0", b"-3"))
        result = isthmus("cluster", "-k", 2, "--metric", metric, "--labels-only", stdin=data)
        assert (result.status, result.out) == (0, "0\n0\n1\n1\n0\n")

    def test_names_of_scipy_and_scikit_learn(self, isthmus):
        data = b"1,2,4\n1,2,4.1\n9,1,-3\n9,1,-3.1\n1,2,4.2\n"
        for options in (["--metric", "sqe"], ["--metric", "pnorm", "--p", "3"]):
            result = isthmus("cluster", "-k", 2, *options, "--labels-only", stdin=data)
            assert (result.status, result.out) == (0, "0\n0\n1\n1\n0\n")

    def test_precomputed_distances(self, isthmus):
        data = b"0,1,9\n1,0,9\n9,9,0\n"
        result = isthmus("cluster", "-k", 2, "--metric", "precomputed", "--labels-only", stdin=data)
        assert (result.status, result.out) == (0, "0\n0\n1\n")


class TestNoise:
    @pytest.fixture
    def noisy_csv(self, tmp_path):
        moons, _ = make_two_moons(200, random_state=0)
        outliers = [[-3.0, 3.0], [4.0, 3.0], [4.0, -3.0]]
        X = np.vstack([moons, outliers]).round(6)
        np.savetxt(tmp_path / "noisy.csv", X, delimiter=",", fmt="%.6f")
        return tmp_path / "noisy.csv", X

    @pytest.mark.parametrize(
        ("text", "noise"), [("auto", "auto"), ("0.02", 0.02), ("score:0.8", ("score", 0.8))]
    )
    @pytest.mark.parametrize("method", METHODS)
    def test_labels(self, isthmus, noisy_csv, text, noise, method):
        path, X = noisy_csv
        result = isthmus(
            "cluster", path, "-k", 2, "--noise", text, "--labels-only", "--method", method
        )
        model = {"cut": TransitiveCut, "kmeans": TransitiveKMeans}[method](2, noise=noise).fit(X)
        found = [int(line) for line in result.out.split()]
        assert found == model.labels_.tolist()
        assert found[-3:] == [-1, -1, -1]
        n_noise = found.count(-1)
        above = f"(outlier scores above {model.noise_threshold_:.2f})"
        assert re.search(rf"^noise +{n_noise} {re.escape(above)}$", result.err, re.MULTILINE)
        assert f"  noise  {n_noise:>12}" in result.err

    def test_json(self, isthmus, noisy_csv):
        path, X = noisy_csv
        result = isthmus(
            "cluster", path, "-k", 2, "--noise", "score:0.8", "--json", "--labels-only"
        )
        summary = json.loads(result.err)
        labels = TransitiveCut(2, noise=("score", 0.8)).fit_predict(X)
        assert summary["noise"] == {"n_points": int((labels == -1).sum()), "threshold": 0.8}
        assert sum(summary["sizes"]) + summary["noise"]["n_points"] == len(X)
        without = isthmus("cluster", path, "-k", 2, "--json", "--labels-only")
        assert "noise" not in json.loads(without.err)

    @pytest.mark.parametrize(
        "text", ["much", "0", "1", "1.5", "nan", "score:", "score:1", "share:0.1", "score:x"]
    )
    def test_what_is_refused(self, isthmus, noisy_csv, text):
        result = isthmus("cluster", noisy_csv[0], "-k", 2, "--noise", text)
        assert result.status == 2
        assert "expected 'auto', a share of rows between 0 and 1, or 'score:'" in result.err
        assert repr(text) in result.err

    def test_help(self, isthmus):
        assert "--noise HOW" in isthmus("cluster", "--help").out


class TestExplain:
    TABLE = "name,x,y\na,0,0\nb,1,0\nc,,5\nd,9,9\ne,9,8\nf,0,1\n"

    def test_what_is_said(self, isthmus, tmp_path):
        (tmp_path / "in.csv").write_text(self.TABLE)
        options = ["cluster", "in.csv", "-k", 2, "--exclude", "name", "--missing", "drop"]
        result = isthmus(*options, "--explain")
        assert result.status == 0
        assert result.out == isthmus(*options).out
        X = np.array([[0.0, 0], [1, 0], [9, 9], [9, 8], [0, 1]])
        rows = np.array([1, 2, 4, 5, 6])  # of the table, counted from 1
        expected = TransitiveCut(2).fit(X).explain()
        told = json.loads(isthmus(*options, "--explain", "--json").err)["explanations"]
        for found, each in zip(told, expected, strict=True):
            assert found["typical"] == rows[list(each.typical)].tolist()
            assert found["boundary"] == rows[list(each.boundary)].tolist()
            assert found["bridge"]["rows"] == rows[list(each.bridge.rows)].tolist()
            assert found["rule"]["precision"] == each.rule.precision
            assert found["rule"]["text"] == each.rule.text.replace("x0", "x").replace("x1", "y")
            assert found["rule"]["text"] in result.err
            assert [d["effect"] for d in found["differences"]] == [d[1] for d in each.differences]
        assert "explanations" not in json.loads(isthmus(*options, "--json").err)

    def test_tables_with_texts(self, isthmus, tmp_path):
        (tmp_path / "in.csv").write_text("city,x\nRome,0\nRome,1\nLima,9\nLima,8\n")
        result = isthmus("cluster", "in.csv", "-k", 2, "--metric", "gower", "--explain")
        assert result.status == 0
        assert "rule: x <= 4.5 (precision 1.00, recall 1.00)" in result.err

    def test_help_and_refusal(self, isthmus, table_csv):
        assert "--explain" in isthmus("cluster", "--help").out
        refused = isthmus("cluster", table_csv, "-k", 2, "--out-of-core", "--explain")
        assert (refused.status, refused.out) == (2, "")
        assert "--out-of-core does not serve --explain" in refused.err
