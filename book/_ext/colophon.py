"""The directive ``{colophon}``: measurements of the pages, and the software that built the book.

The measurements come from `book/results/web.json`, written by `tools/measure_web.py`, and from
`book/results/lighthouse.json`, written by `tools/lighthouse.py`; the versions are those of the
environment that builds the page.
"""

import json
from importlib.metadata import version
from pathlib import Path
from statistics import median

from overview_tables import markdown_table
from sphinx.util.docutils import SphinxDirective

SOFTWARE = {
    "writing": ("jupyter-book", "sphinx", "myst-nb", "sphinx-book-theme", "jupyterlab"),
    "computing": ("numpy", "scipy", "scikit-learn", "cvxopt", "matplotlib"),
    "checking": ("pytest", "nbval", "ruff", "playwright", "axe-playwright-python"),
}


def measurement_table(record):
    """Return the measurements as a table in Markdown."""
    rows = [(name, f"{value:,}") for name, value in record["measured"].items()]
    return markdown_table(["measurement", "value"], rows)


def score_table(record):
    """Return lowest and median score of the pages, per category of Lighthouse, in Markdown."""
    scores_by_device = record["scores"]
    n_pages = min(map(len, scores_by_device.values()))
    program = f"Lighthouse {record['environment']['Lighthouse']}"
    head = [f"{program}, lowest score (median) of {n_pages} pages", *scores_by_device]
    rows = []
    for category in next(iter(scores_by_device["desktop"].values())):
        scores = [
            [page_scores[category] for page_scores in pages.values()]
            for pages in scores_by_device.values()
        ]
        rows.append((category, *(f"{min(values)} ({median(values):g})" for values in scores)))
    return markdown_table(head, rows)


def version_table():
    """Return the versions of the software as a table in Markdown."""
    rows = [
        (purpose, ", ".join(f"{name} {version(name)}" for name in names))
        for purpose, names in SOFTWARE.items()
    ]
    return markdown_table(["purpose", "software"], rows)


class Colophon(SphinxDirective):
    """Show the tables, and the date and the environment of the measurements."""

    def run(self):
        blocks = []
        table_makers = {
            "measure_web": ("web", measurement_table),
            "lighthouse": ("lighthouse", score_table),
        }
        for tool, (name, make_table) in table_makers.items():
            path = Path(self.env.srcdir, "book", "results", f"{name}.json")
            self.env.note_dependency(str(path))
            record = json.loads(path.read_text(encoding="utf-8"))
            environment = ", ".join(
                f"{key} {value}" for key, value in record["environment"].items()
            )
            note = f"Measured on {record['date']} by `python tools/{tool}.py` ({environment})."
            blocks += [make_table(record), note]
        return self.parse_text_to_nodes("\n\n".join([*blocks, version_table()]))


def setup(app):
    """Register the directive."""
    app.add_directive("colophon", Colophon)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
