"""Tables that a page would otherwise repeat by hand.

``{map}`` lists the chapters of `_toc.yml`, each with the question under its title;
``{classical} sizes`` and ``{classical} origins`` list the tables of the manifest.
"""

import re
from pathlib import Path

from chapters import chapters, first_cell
from sphinx.util.docutils import SphinxDirective

from svmbook.datasets import SOURCES, manifest


def table(head, rows):
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def questions(root):
    """Yield part, page and question of each chapter: the line in italics under its title."""
    said = ""
    for part, name, path in chapters(root):
        question = re.search(r"^# .*\n\n\*(.*\?)\*$", first_cell(path), re.M)[1]
        yield part if part != said else "", f"{{doc}}`/notebooks/{name}`", question
        said = part


def sizes():
    """Return what there is to know of each table."""
    for entry in manifest().values():
        counts = ", ".join(f"{label}: {n:,}" for label, n in entry.class_counts.items())
        used = [f"`{name}`" for name, source in SOURCES.items() if entry.name in source.tables]
        known = f"OpenML {entry.openml_id}" if entry.openml_id else "a file of your own"
        fetched = {"iris": "scikit-learn", "covtype": "`fetch_covtype`"}.get(entry.name, known)
        size = f"{entry.rows:,} x {entry.features}"
        positive = ", ".join(entry.positive)
        yield f"`{entry.name}`", size, counts, ", ".join(used), positive, fetched


def origins():
    """Return where each table comes from."""
    return ((f"`{entry.name}`", entry.origin, entry.licence) for entry in manifest().values())


class Map(SphinxDirective):
    """Show the chapters and their questions."""

    def run(self):
        root = Path(self.env.srcdir)
        for path in (root / "_toc.yml", *root.glob("notebooks/*.ipynb")):
            self.env.note_dependency(str(path))
        return self.parse_text_to_nodes(table(["part", "chapter", "question"], questions(root)))


class Classical(SphinxDirective):
    """Show what the manifest says of the classical tables."""

    required_arguments = 1

    def run(self):
        head, rows = {
            "sizes": ("name|rows x features|classes|treated by|+1 is|fetched from", sizes),
            "origins": ("name|origin|licence", origins),
        }[self.arguments[0]]
        return self.parse_text_to_nodes(table(head.split("|"), rows()))


def setup(app):
    """Register the directives."""
    app.add_directive("map", Map)
    app.add_directive("classical", Classical)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
