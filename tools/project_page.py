"""The readme and the links of the package's metadata, with absolute addresses.

Hatchling runs this hook where it builds the package. Links and pictures of README.md are relative,
so that they work in a clone; a package index shows the readme alone, so there they are made
absolute. The address of the project is one line of pyproject.toml:
``[tool.hatch.metadata.hooks.custom] address``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

# What stands between the brackets and the end of a link or a picture: a relative path.
_LINK = re.compile(r"(!?)(\[(?:[^\[\]]|\[[^\]]*\])*\])\((?![a-z]+:|#)([^)\s]+)\)")


def absolute_links(text: str, address: str, version: str) -> str:
    """Return Markdown with all relative links made absolute, as they are in a version."""

    def absolute(match: re.Match[str]) -> str:
        picture, words, path = match.groups()
        return f"{picture}{words}({address}/{'raw' if picture else 'blob'}/v{version}/{path})"

    return _LINK.sub(absolute, text)


class ProjectPage(MetadataHookInterface):
    """Fill in ``readme`` and ``urls``, which pyproject.toml declares as dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set both, from the address that pyproject.toml names."""
        address = self.config["address"].rstrip("/")
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": absolute_links(text, address, metadata["version"]),
        }
        metadata["urls"] = {
            "Homepage": address,
            "Documentation": f"{address}/tree/v{metadata['version']}/docs",
            "Changelog": f"{address}/blob/v{metadata['version']}/CHANGELOG.md",
            "Source": address,
            "Issues": f"{address}/issues",
        }
