"""Tables generated from the contents of the book and the manifest of data sets.

``{chapter-map}`` lists the chapters of `_toc.yml`, each with the question below its title.
``{data-sets} sizes`` and ``{data-sets} origins`` list the data sets of the manifest.
"""

import re
from pathlib import Path

from chapters import read_chapters, read_first_cell
from sphinx.util.docutils import SphinxDirective

from svmbook.datasets import PREPARATIONS, manifest


def markdown_table(head, rows):
    """Return a table in Markdown."""
    all_rows = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in all_rows)


def chapter_rows(root):
    """Yield part, page and question of each chapter; a part is named at its first chapter only."""
    previous_part = ""
    for part, name, path in read_chapters(root):
        question = re.search(r"^# .*\n\n\*(.*\?)\*$", read_first_cell(path), re.M)[1]
        yield part if part != previous_part else "", f"{{doc}}`/notebooks/{name}`", question
        previous_part = part


def size_rows():
    """Yield one row per data set, with the columns of ``{data-sets} sizes``."""
    for entry in manifest().values():
        counts = ", ".join(f"{label}: {n:,}" for label, n in entry.class_counts.items())
        sources = [
            f"`{source}`"
            for source, preparation in PREPARATIONS.items()
            if entry.name in preparation.table_names
        ]
        default = f"OpenML {entry.openml_id}" if entry.openml_id else "a file of your own"
        fetched_from = {"iris": "scikit-learn", "covtype": "`fetch_covtype`"}.get(
            entry.name, default
        )
        size = f"{entry.n_rows:,} x {entry.n_features}"
        positive_labels = ", ".join(entry.positive_labels)
        yield f"`{entry.name}`", size, counts, ", ".join(sources), positive_labels, fetched_from


def origin_rows():
    """Return name, origin and licence of each data set."""
    return ((f"`{entry.name}`", entry.origin, entry.licence) for entry in manifest().values())


class ChapterMap(SphinxDirective):
    """Show the chapters and their questions."""

    def run(self):
        root = Path(self.env.srcdir)
        for path in (root / "_toc.yml", *root.glob("notebooks/*.ipynb")):
            self.env.note_dependency(str(path))
        text = markdown_table(["part", "chapter", "question"], chapter_rows(root))
        return self.parse_text_to_nodes(text)


class DataSetTable(SphinxDirective):
    """Show one of the two tables of data sets: ``sizes`` or ``origins``."""

    required_arguments = 1

    def run(self):
        head, rows = {
            "sizes": ("name|rows x features|classes|treated by|+1 is|fetched from", size_rows),
            "origins": ("name|origin|licence", origin_rows),
        }[self.arguments[0]]
        return self.parse_text_to_nodes(markdown_table(head.split("|"), rows()))


def setup(app):
    """Register the directives."""
    app.add_directive("chapter-map", ChapterMap)
    app.add_directive("data-sets", DataSetTable)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
