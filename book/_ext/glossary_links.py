"""Link the first use of each glossary term in the running text of a chapter."""

import re
from functools import lru_cache

from docutils import nodes
from sphinx import addnodes

# A term inside one of these nodes is not in running text, or is already a link.
EXCLUDED_NODES = (
    nodes.title, nodes.reference, addnodes.pending_xref, nodes.literal, nodes.literal_block,
    nodes.math, nodes.math_block, nodes.caption, nodes.legend, nodes.table, nodes.raw,
    nodes.comment,
)  # fmt: skip

# Words that also have another meaning; chapters link them explicitly, with {term}.
AMBIGUOUS_TERMS = frozenset({"edge", "face", "ridge", "rule", "shift"})


@lru_cache
def term_pattern(terms):
    """Return a pattern that matches the terms, in singular or plural, preferring the longest."""
    longest_first = sorted(terms, key=len, reverse=True)
    # Terms with capitals are names or abbreviations; other terms may be capitalised.
    patterns = [
        re.escape(term)
        if term != term.lower()
        else f"(?i:{re.escape(term[0])}){re.escape(term[1:])}"
        for term in longest_first
    ]
    return re.compile(rf"(?<![\w-])({'|'.join(patterns)})s?(?![\w-])")


def split_at_terms(text, terms):
    """Split a text at the first uses of terms; yield pairs of a text and its term or None.

    Terms that are found are removed from the set.
    """
    while terms and (match := term_pattern(frozenset(terms)).search(text)):
        term = next(term for term in terms if term.lower() == match[1].lower())
        terms.discard(term)
        if match.start():
            yield text[: match.start()], None
        yield match[0], term
        text = text[match.end() :]
    if text:
        yield text, None


def is_running_text(text_node):
    """Return whether a text node is part of the running text of a page."""
    node = text_node.parent
    while node is not None:
        if isinstance(node, EXCLUDED_NODES) or "start" in node.get("classes", []):
            return False
        node = node.parent
    return True


def link_terms(app, doctree, docname):
    """Link the first use of each term in one chapter, unless the chapter links it itself."""
    if not docname.startswith("notebooks/") or app.builder.format != "html":
        return
    objects = app.env.get_domain("std").objects
    targets = {name: target for (kind, name), target in objects.items() if kind == "term"}
    linked_anchors = {
        reference["refuri"].partition("#")[2]
        for reference in doctree.findall(nodes.reference)
        if "refuri" in reference
    }
    terms_to_link = {
        name
        for name, (_, anchor) in targets.items()
        if anchor not in linked_anchors and name not in AMBIGUOUS_TERMS
    }
    for text_node in list(filter(is_running_text, doctree.findall(nodes.Text))):
        pieces = []
        for words, term in split_at_terms(text_node.astext(), terms_to_link):
            piece = nodes.Text(words)
            if term:
                page, anchor = targets[term]
                address = f"{app.builder.get_relative_uri(docname, page)}#{anchor}"
                piece = nodes.reference(
                    "", "", piece, internal=True, refuri=address, classes=["glossed"]
                )
            pieces.append(piece)
        if any(isinstance(piece, nodes.reference) for piece in pieces):
            text_node.parent.replace(text_node, pieces)


def setup(app):
    """Register the listener."""
    app.connect("doctree-resolved", link_terms)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
