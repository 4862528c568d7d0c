"""Tables: captions and numbers for the tables of code cells, and layout of entries.

A cell names its table like a figure, in its metadata: ``mystnb.figure`` with `name` and `caption`.
A figure that contains a table is then numbered as a table, and the style sheet puts its caption
above it.
"""

import re
from itertools import zip_longest

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.writers.html5 import HTML5Translator

NUMBER = re.compile(r"(?=.*\d)(?!.*\d \d)(?:[-+\N{MINUS SIGN}±\d.,\s%()/|^{}e]|to|of)+")
MIN_DENSE_COLUMNS = 7  # tables with at least this many columns are set in smaller type
MAX_BRIEF_LENGTH = 28  # characters: columns with only shorter entries are not wrapped
TEX_MARKUP = re.compile(r"\\[a-zA-Z]*|[{}^_]")  # not counted as characters
UNBREAKABLE_NUMBER = re.compile(r"([-+]?\d[\d.,]*(?:e[-+]\d+|\s*±\s*\d[\d.]*))")


class table_figure(nodes.figure):
    """A table of a code cell with its caption."""


class NumberTables(SphinxTransform):
    """Number figures that contain a table as tables."""

    default_priority = 400

    def apply(self):
        for figure in list(self.document.findall(nodes.figure)):
            if next(figure.findall(nodes.table), None) is None:
                continue
            table = table_figure("", *figure.children, **figure.attributes)
            table["classes"].append("of-table")
            figure.replace_self(table)
            for name in table["ids"]:
                self.document.ids[name] = table


def is_number(entry):
    """Return whether an entry is a number without a link."""
    links = (*entry.findall(nodes.reference), *entry.findall(addnodes.pending_xref))
    return not links and NUMBER.fullmatch(entry.astext()) is not None


class FormatTables(SphinxTransform):
    """Align columns of numbers, keep numbers on one line, mark brief columns and dense tables."""

    default_priority = 410

    def apply(self):
        for body in self.document.findall(nodes.tbody):
            if len(body.children[0]) >= MIN_DENSE_COLUMNS:
                body.parent.parent["classes"].append("dense")
            for position, column in enumerate(zip_longest(*body.children)):
                entries = [entry for entry in column if entry is not None]
                texts = [entry.astext() for entry in entries]
                numbers = [entry for entry in entries if is_number(entry)]
                for entry in numbers:
                    entry["classes"].append("number")
                if 2 * len(numbers) > sum(bool(text.strip()) for text in texts):
                    self.add_column_class(body.parent, position, "text-right")
                if all(len(TEX_MARKUP.sub("", text)) <= MAX_BRIEF_LENGTH for text in texts):
                    self.add_column_class(body.parent, position, "brief")
            for entry in body.findall(nodes.entry):
                if "number" not in entry["classes"]:  # such an entry is on one line as a whole
                    self.keep_numbers_on_one_line(entry)

    def keep_numbers_on_one_line(self, entry):
        """Put each unbreakable number in the text of an entry into an element of its own."""
        for text in list(entry.findall(nodes.Text)):
            parts = UNBREAKABLE_NUMBER.split(text)  # numbers at odd positions
            if len(parts) > 1:
                new_nodes = [
                    nodes.inline("", part, classes=["number"]) if k % 2 else nodes.Text(part)
                    for k, part in enumerate(parts)
                ]
                text.parent.replace(text, new_nodes)

    def add_column_class(self, tgroup, position, class_name):
        """Add a class to the cells of a column, including its heading."""
        for row in tgroup.findall(nodes.row):
            if position < len(row):
                row[position]["classes"].append(class_name)


def setup(app):
    """Register the node and the two transforms."""
    visitors = HTML5Translator.visit_figure, HTML5Translator.depart_figure
    app.add_enumerable_node(table_figure, "table", html=visitors)
    app.add_transform(NumberTables)
    app.add_transform(FormatTables)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
