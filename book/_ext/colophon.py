"""The directive ``{colophon}``: what was measured of the pages, and what the book was built with.

Measurements are those of `tools/measure_web.py`, in `book/results/web.json`; versions are those of
the environment that builds the page.
"""

import json
from importlib.metadata import version
from pathlib import Path

from listings import table
from sphinx.util.docutils import SphinxDirective

BUILT_WITH = {
    "writing": ("jupyter-book", "sphinx", "myst-nb", "sphinx-book-theme", "jupyterlab"),
    "computing": ("numpy", "scipy", "scikit-learn", "cvxopt", "matplotlib"),
    "checking": ("pytest", "nbval", "ruff", "playwright", "axe-playwright-python"),
}


def measured(found):
    """Return the measurements as a table in Markdown."""
    rows = [(what, f"{value:,}") for what, value in found["measured"].items()]
    return table(["what", "measured"], rows)


def versions():
    """Return what the book is built with as a table in Markdown."""
    rows = [
        (purpose, ", ".join(f"{name} {version(name)}" for name in names))
        for purpose, names in BUILT_WITH.items()
    ]
    return table(["for", "built with"], rows)


class Colophon(SphinxDirective):
    """Show both tables, and where the measurements were made."""

    def run(self):
        path = Path(self.env.srcdir, "book", "results", "web.json")
        self.env.note_dependency(str(path))
        found = json.loads(path.read_text(encoding="utf-8"))
        where = ", ".join(f"{name} {value}" for name, value in found["versions"].items())
        note = f"Measured on {found['date']} by `python tools/measure_web.py` ({where})."
        return self.parse_text_to_nodes(f"{measured(found)}\n\n{note}\n\n{versions()}")


def setup(app):
    """Register the directive."""
    app.add_directive("colophon", Colophon)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
