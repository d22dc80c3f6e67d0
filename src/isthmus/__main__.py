"""``python -m isthmus`` is the command ``isthmus``."""

import sys

from isthmus.cli.main import run

if __name__ == "__main__":
    sys.exit(run())
