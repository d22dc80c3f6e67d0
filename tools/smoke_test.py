"""Check an installed wheel of isthmus that has no extras; run from anywhere but the sources."""

import subprocess
import sys
import tempfile
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import isthmus

CORNERS = [[x + dx, y + dy] for x in (0, 9) for y in (0, 9) for dx in (0, 1) for dy in (0, 1)]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command."""
    command = Path(sys.executable).with_name("isthmus")
    return subprocess.run(
        [command, *arguments], capture_output=True, text=True, timeout=300, check=False
    )


def check_files() -> None:
    """Hold the wheel to the package alone, with its types."""
    paths = [Path(str(path)) for path in metadata.files("isthmus") or ()]
    folders = {path.parts[0] for path in paths} - {".."}  # .. leads to the command
    assert folders == {"isthmus", f"isthmus-{isthmus.__version__}.dist-info"}, folders
    assert Path("isthmus/py.typed") in paths
    assert not [path for path in paths if path.name.startswith(("test_", "conftest"))]
    assert "site-packages" in Path(isthmus.__file__).parts, isthmus.__file__
    assert Path("isthmus/explorer/page/main.js") in paths
    for extra in ("bokeh", "matplotlib", "pandas", "polars", "pyarrow", "pytest"):
        assert find_spec(extra) is None, f"{extra} is installed: this environment is not clean"


def check_estimator() -> None:
    """Find four corners as four clusters."""
    labels = isthmus.TransitiveCut(4).fit_predict(CORNERS).tolist()
    assert [labels.index(label) for label in labels] == [i // 4 * 4 for i in range(16)], labels


def check_command() -> None:
    """Call the command, which names an extra that it misses."""
    assert run("--version").stdout == f"isthmus {isthmus.__version__}\n"
    with tempfile.TemporaryDirectory() as folder:
        points, labelled = Path(folder, "points.csv"), Path(folder, "labelled.csv")
        points.write_text("x,y\n" + "".join(f"{x},{y}\n" for x, y in CORNERS), encoding="utf-8")
        result = run("cluster", str(points), "-k", "4", "-o", str(labelled))
        assert result.returncode == 0, result.stderr
        assert len(labelled.read_text(encoding="utf-8").splitlines()) == 17
        for extra, arguments in (
            ("plot", ("demo", "--output", str(Path(folder, "demo.png")))),
            ("explore", ("explore", str(points), "-o", str(Path(folder, "page.html")))),
            ("parquet", ("cluster", str(points), "-k", "4", "-o", str(Path(folder, "l.parquet")))),
        ):
            result = run(*arguments)
            assert result.returncode == 2, (arguments, result)
            assert f"pip install 'isthmus[{extra}]'" in result.stderr, result.stderr


for check in (check_files, check_estimator, check_command):
    check()
    print(check.__doc__)
