"""Link a term of the glossary where a chapter uses it first in its running text."""

import re
from functools import lru_cache

from docutils import nodes
from sphinx import addnodes

# A term in one of these is not in running text, or is a link already.
ELSEWHERE = (
    nodes.title, nodes.reference, addnodes.pending_xref, nodes.literal, nodes.literal_block,
    nodes.math, nodes.math_block, nodes.caption, nodes.legend, nodes.table, nodes.raw,
    nodes.comment,
)  # fmt: skip

# Words with another everyday or technical meaning: a chapter links them by hand, with {term}.
AMBIGUOUS = frozenset({"edge", "face", "ridge", "rule", "shift"})


@lru_cache
def pattern(terms):
    """Return what finds the terms, the longest first, as one or several of a kind."""
    longest = sorted(terms, key=len, reverse=True)
    # A term with a capital is a name or an abbreviation; others may begin a sentence.
    ways = [
        re.escape(term)
        if term != term.lower()
        else f"(?i:{re.escape(term[0])}){re.escape(term[1:])}"
        for term in longest
    ]
    return re.compile(rf"(?<![\w-])({'|'.join(ways)})s?(?![\w-])")


def split(text, terms):
    """Cut a text at the first uses of terms, which leave the set: yield text and term or None."""
    while terms and (found := pattern(frozenset(terms)).search(text)):
        term = next(one for one in terms if one.lower() == found[1].lower())
        terms.discard(term)
        if found.start():
            yield text[: found.start()], None
        yield found[0], term
        text = text[found.end() :]
    if text:
        yield text, None


def runs(text):
    """Tell whether a text stands in the running text of a page."""
    node = text.parent
    while node is not None:
        if isinstance(node, ELSEWHERE) or "start" in node.get("classes", []):
            return False
        node = node.parent
    return True


def link(app, doctree, docname):
    """Link the terms of one chapter."""
    if not docname.startswith("notebooks/") or app.builder.format != "html":
        return
    objects = app.env.get_domain("std").objects
    places = {name: place for (kind, name), place in objects.items() if kind == "term"}
    by_hand = {
        one["refuri"].partition("#")[2]
        for one in doctree.findall(nodes.reference)
        if "refuri" in one
    }
    unused = {
        name
        for name, (_, anchor) in places.items()
        if anchor not in by_hand and name not in AMBIGUOUS
    }
    for text in [text for text in doctree.findall(nodes.Text) if runs(text)]:
        cut = []
        for words, term in split(text.astext(), unused):
            piece = nodes.Text(words)
            if term:
                page, anchor = places[term]
                address = f"{app.builder.get_relative_uri(docname, page)}#{anchor}"
                piece = nodes.reference(
                    "", "", piece, internal=True, refuri=address, classes=["glossed"]
                )
            cut.append(piece)
        if any(isinstance(piece, nodes.reference) for piece in cut):
            text.parent.replace(text, cut)


def setup(app):
    """Register."""
    app.connect("doctree-resolved", link)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
