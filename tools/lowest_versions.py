"""Print the lowest version that pyproject.toml claims for each package, as constraints for pip."""

import sys
import tomllib
from pathlib import Path

configuration = tomllib.loads(
    (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
)
project = configuration["project"]

python = project["requires-python"].removeprefix(">=")
if python != "{}.{}".format(*sys.version_info):
    sys.exit(f"The lowest versions are installed on Python {python}: set OLDEST_PYTHON to one.")

requirements = [*configuration["build-system"]["requires"], *project["dependencies"]]
for extra in project["optional-dependencies"].values():
    requirements += extra
print(*sorted({each.replace(">=", "==") for each in requirements if ">=" in each}), sep="\n")
