"""The prose of pages and notebooks, without code, formulas, tables and headings."""

import itertools
import json
import re
from functools import cache

from markdown_it import MarkdownIt
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.myst_blocks import myst_block_plugin
from mdit_py_plugins.myst_role import myst_role_plugin

#: Directives whose content is prose.
PROSE_DIRECTIVE = re.compile(
    r"\{(prf:\w+|exercise|solution|admonition|dropdown|note|tip|warning|figure)\}"
)
DIRECTIVE_OPTIONS = re.compile(r"^(:[\w-]+:.*\n)+")
WORD = re.compile(r"[A-Za-z][A-Za-z'-]+|\ba\b")
SENTENCE_END = re.compile(r"(?<=[.!?:])[\"”)]*\s+(?=[\"“(]?[A-Z]|\([a-z]\) )|;\s+")


@cache
def markdown_parser():
    """Return a parser of the Markdown that the book uses."""
    markdown_it = MarkdownIt("commonmark", {"html": False}).enable("table")
    markdown_it.use(dollarmath_plugin).use(myst_role_plugin).use(colon_fence_plugin)
    return markdown_it.use(deflist_plugin).use(myst_block_plugin)


def read_cells(path, cell_type):
    """Return a notebook's cells of one type, each with its source as one string."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    selected = [cell for cell in notebook["cells"] if cell["cell_type"] == cell_type]
    for cell in selected:
        cell["source"] = "".join(cell["source"])
    return selected


def read_markdown(path):
    """Return the Markdown of a page or of all text cells of a notebook."""
    if path.suffix == ".md":
        text = path.read_text(encoding="utf-8")
        return re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    return "\n\n".join(cell["source"] for cell in read_cells(path, "markdown"))


def inline_text(inline):
    """Return the text of an inline token, with "X" for each formula, code span and image."""
    parts = []
    for token in inline.children:
        if token.type == "myst_role":
            title, has_target, _ = token.content.partition(" <")
            parts.append(title if has_target or token.meta["name"] == "term" else "X")
        elif token.type in ("code_inline", "math_inline", "math_inline_double", "image"):
            parts.append("X")
        elif token.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        else:
            parts.append(token.content)
    return "".join(parts)


def count_words(sentence):
    """Return the number of words of a sentence; formulas, code and numbers do not count."""
    return len(WORD.findall(sentence))


def sentences(text):
    """Yield the sentences of the paragraphs and list items, without tables and headings."""
    container_type = ""
    for token in markdown_parser().parse(text):
        if token.type in ("fence", "colon_fence") and PROSE_DIRECTIVE.match(token.info):
            yield from sentences(DIRECTIVE_OPTIONS.sub("", token.content))
        elif token.type in ("paragraph_open", "heading_open", "th_open", "td_open", "dt_open"):
            container_type = token.type
        elif token.type == "inline" and container_type == "paragraph_open":
            yield from SENTENCE_END.split(inline_text(token))


def headings(text):
    """Return the headings of a text, except its title."""
    tokens = markdown_parser().parse(text)
    return [
        inline_text(inline)
        for token, inline in itertools.pairwise(tokens)
        if token.type == "heading_open" and token.tag != "h1"
    ]
