"""Settings of the documentation site; `make docs` builds it. Nothing is fetched, at build time or when it is read."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "src")]

from lengthwise.figures import design  # noqa: E402
from lengthwise.version import __version__  # noqa: E402

# Names of furo's variables → those of the design sheet, which the site shares with reports and other pages.
_SHARED = {
    "color-brand-primary": "link",
    "color-brand-content": "link",
    "color-brand-visited": "link",
    "color-background-primary": "paper",
    "color-background-secondary": "raised",
    "color-background-border": "line",
    "color-foreground-primary": "ink",
    "color-foreground-secondary": "soft",
    "font-stack": "font",
    "font-stack--monospace": "mono",
    "font-size--small": "type-small",
    "font-size--small--2": "type-tiny",
    "sidebar-item-spacing-vertical": "space-3",
    "sidebar-item-spacing-horizontal": "space-4",
    "toc-spacing-vertical": "space-5",
    "toc-spacing-horizontal": "space-5",
}

project = "lengthwise"
author = "The lengthwise developers"
copyright = author
version = release = __version__

extensions = ["myst_parser", "sphinxcontrib.bibtex", "site_pages"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "_ext", "data", "pictures"]

myst_heading_anchors = 4  # links such as positions.md#p-rope lead to headings
smartquotes = False  # quotes in descriptions are often those of code, which is copied
python_maximum_signature_line_length = 80
add_module_names = False
bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "keyed"

html_theme = "furo"
html_title = f"lengthwise {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # summaries are fetched, which a page opened as a file may not do
html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": {name: design.values("light")[own] for name, own in _SHARED.items()},
    "dark_css_variables": {name: design.values("dark")[own] for name, own in _SHARED.items()},
}
pygments_style = "friendly"
