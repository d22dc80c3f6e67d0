"""The configuration of the documentation's site: ``make docs``.

The build needs no network. Pictures of "How it works" are drawn, and the scripts of the gallery
run, while it builds, so what the pages show is what the code does.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path.insert(0, str(DOCS / "_build_steps"))

import command_help
import external_names
import how_it_works_pictures
import page_texts

from isthmus import __version__

_HATCH = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]
ADDRESS = _HATCH["metadata"]["hooks"]["custom"]["address"]
HAS_ADDRESS = "/OWNER/" not in ADDRESS  # else it is a placeholder, and nothing links there

project = "isthmus"
author = "The isthmus developers"
copyright = "the isthmus developers"  # noqa: A001
version = release = __version__
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
root_doc = "index"
exclude_patterns = ["_build_steps", "_generated", "_templates", "gallery/**/*.ipynb"]
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]  # functions in the gallery's configuration

# Markdown
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 3

# The API reference, from docstrings
autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections have the types
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False  # the template of classes lists them
numpydoc_xref_param_type = False

# Names of other libraries lead to their documentation, without a network: external_names.py
intersphinx_mapping = external_names.write_inventories(DOCS / "_generated")

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": ".",  # all of them run
    "ignore_pattern": "__init__",
    "subsection_order": "gallery_order.section_key",
    "within_subsection_order": "gallery_order.ScriptOrder",
    "abort_on_example_error": True,
    "backreferences_dir": "_generated/used_in",
    "doc_module": ("isthmus",),
    "reference_url": {"isthmus": None},
    "min_reported_time": 1e9,
    "write_computation_times": False,  # pages that load scripts from elsewhere
    "capture_repr": ("_repr_html_",),  # tables and models, not what a call happens to return
    "show_memory": False,
    "remove_config_comments": True,
    "copyfile_regex": r".*\.csv",
}

# The site
html_theme = "pydata_sphinx_theme"
html_title = "isthmus"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["local_files.js"]
html_favicon = "_static/favicon.svg"
html_copy_source = False
html_show_sourcelink = False
html_search_scorer = str(DOCS / "_build_steps" / "search_order.js")
html_theme_options: dict[str, Any] = {
    "logo": {"text": "isthmus"},
    "header_links_before_dropdown": 7,
    "show_prev_next": True,
    "navigation_with_keys": True,
    "show_toc_level": 2,
    "navbar_persistent": ["search-button"],  # an icon: a field would not fit beside the menu
    "icon_links": [{"name": "Source", "url": ADDRESS, "icon": "fa-solid fa-code-branch"}]
    if HAS_ADDRESS
    else [],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars: dict[str, list[str]] = {"index": [], "start": [], "comparison": []}  # no pages below


def setup(app: Any) -> None:
    """Draw the pictures and ask the command for its help before any page is read."""
    app.connect("builder-inited", lambda _: how_it_works_pictures.draw(DOCS / "_generated"))
    app.connect("builder-inited", lambda _: command_help.write(DOCS / "_generated"))
    app.connect("source-read", page_texts.mend_gallery)
    app.connect("html-page-context", page_texts.describe_page)
