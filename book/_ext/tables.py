"""Tables: captions and numbers for those that cells show, numbers set as numbers.

A cell names its table as it would name a figure, in its metadata: ``mystnb.figure`` with `name`
and `caption`. What holds a table is then counted as a table, and the style sheet puts its caption
above it.
"""

import re
from itertools import zip_longest

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.writers.html5 import HTML5Translator

NUMBER = re.compile(r"(?=.*\d)(?!.*\d \d)(?:[-+\N{MINUS SIGN}±\d.,\s%()/|^{}e]|to|of)+")
DENSE = 7  # columns, from which on the letters are smaller
BRIEF = 28  # letters of an entry that goes on one line where the table scrolls anyway
COMMAND = re.compile(r"\\[a-zA-Z]*|[{}^_]")  # of a formula: no letter of what is seen
UNBROKEN = re.compile(r"([-+]?\d[\d.,]*(?:e[-+]\d+|\s*±\s*\d[\d.]*))")


class table_figure(nodes.figure):
    """A table of a cell with its caption."""


class NameTables(SphinxTransform):
    """Count as tables the figures that hold a table."""

    default_priority = 400

    def apply(self):
        for figure in list(self.document.findall(nodes.figure)):
            if next(figure.findall(nodes.table), None) is None:
                continue
            named = table_figure("", *figure.children, **figure.attributes)
            named["classes"].append("of-table")
            figure.replace_self(named)
            for name in named["ids"]:
                self.document.ids[name] = named


def is_number(entry):
    """Say whether an entry is a number; one that leads elsewhere is a name."""
    links = (*entry.findall(nodes.reference), *entry.findall(addnodes.pending_xref))
    return not links and NUMBER.fullmatch(entry.astext()) is not None


class SetNumbers(SphinxTransform):
    """Align columns of numbers at the right, keep each number on one line, mark brief columns."""

    default_priority = 410

    def apply(self):
        for body in self.document.findall(nodes.tbody):
            if len(body.children[0]) >= DENSE:
                body.parent.parent["classes"].append("dense")
            for position, column in enumerate(zip_longest(*body.children)):
                entries = [entry for entry in column if entry is not None]
                texts = [entry.astext() for entry in entries]
                numbers = [one for one in entries if is_number(one)]
                for entry in numbers:
                    entry["classes"].append("number")
                if 2 * len(numbers) > sum(bool(text.strip()) for text in texts):
                    self.mark(body.parent, position, "text-right")
                if all(len(COMMAND.sub("", text)) <= BRIEF for text in texts):
                    self.mark(body.parent, position, "brief")
            for text in list(body.findall(nodes.Text)):
                parts = UNBROKEN.split(text)
                if len(parts) > 1:
                    whole = [
                        nodes.inline("", part, classes=["number"]) if odd else nodes.Text(part)
                        for part, odd in zip(parts, [False, True] * len(parts), strict=False)
                    ]
                    text.parent.replace(text, whole)

    def mark(self, group, position, name):
        """Give one column a class, its heading included."""
        for row in group.findall(nodes.row):
            if position < len(row):
                row[position]["classes"].append(name)


def setup(app):
    """Register the node and the two transforms."""
    show = HTML5Translator.visit_figure, HTML5Translator.depart_figure
    app.add_enumerable_node(table_figure, "table", html=show)
    app.add_transform(NameTables)
    app.add_transform(SetNumbers)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
