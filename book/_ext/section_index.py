"""A search index of sections, theorems, exercises and other parts of pages.

An entry has the title and the words of a part, without long formulas and code.

Sphinx's own search indexes whole pages and takes its excerpts from their HTML. This index is
written to `sections.js`, which the search page loads as a script, so that it needs no server.
"""

import json
import re
import unicodedata
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx_exercise.nodes import exercise_enumerable_node, exercise_node, solution_node
from sphinx_proof.nodes import NODE_TYPES

# Nodes that are not prose, and nodes that have entries of their own.
NOT_PROSE = (nodes.math_block, nodes.literal_block, nodes.raw, nodes.image, nodes.doctest_block)
EXERCISES = (exercise_node, exercise_enumerable_node, solution_node)
SEPARATE_ENTRIES = (nodes.section, nodes.citation, addnodes.desc, addnodes.desc_signature,
            addnodes.glossary, *EXERCISES)  # fmt: skip

# The relevance of a page's entries compared with those of a chapter: text that explains a topic
# counts more than measurements, summaries, questions, exercises and solutions about it.
PAGE_WEIGHTS = {
    "notebooks/notes/": 0.8, "notebooks/": 1,
    "book/bibliography": 0.6, "book/coverage": 0.6, "book/errata": 0.6, "book/exercises": 0.6,
    "book/further_experiments": 0.6, "book/reproductions": 0.6, "book/teaching": 0.6, "book/": 0.8,
}  # fmt: skip
REVIEW_TITLES = ("Summary", "Check yourself", "Exercises")
REVIEW_WEIGHT = EXERCISE_WEIGHT = 0.6
LETTER = re.compile(r"[^\W\d_]")
SYMBOL = re.compile(r"\\?([A-Za-z]+)")


def formula_text(formula):
    """Return a formula of one letter as text, and an ellipsis for any other formula."""
    match = SYMBOL.fullmatch(formula.strip())
    if match and len(match[1]) == 1:
        return match[1]
    try:
        return unicodedata.lookup(f"GREEK SMALL LETTER {match[1]}") if match else "…"
    except KeyError:
        return "…"


def prose(content):
    """Return the text of some nodes, with an ellipsis for each long formula."""
    has_blocks = any(not isinstance(node, (nodes.Inline, nodes.Text)) for node in content)
    texts = [
        node_prose(node)
        for node in content
        if not isinstance(node, (*NOT_PROSE, *SEPARATE_ENTRIES))
    ]
    return (" " if has_blocks else "").join(texts)


def node_prose(node):
    """Return the text of one node."""
    if isinstance(node, nodes.Text):
        return node.astext()
    if isinstance(node, nodes.entry) and not LETTER.search(node.astext()):
        return ""  # a number in a table
    return formula_text(node.astext()) if isinstance(node, nodes.math) else prose(node.children)


def text_entries(doctree):
    """Yield anchor, title and content of each section, theorem, term, object and citation."""
    for section in doctree.findall(nodes.section):
        if section.children and isinstance(section[0], nodes.title):
            yield section["ids"][0], prose(section[0].children), section[1:]
    for theorem in doctree.findall(lambda node: isinstance(node, tuple(NODE_TYPES.values()))):
        title_node, content_node = theorem.children
        yield theorem["ids"][0], prose(title_node.children).strip(" ()"), content_node.children
    for item in doctree.findall(nodes.definition_list_item):
        term = item.next_node(nodes.term)
        if term["ids"]:
            yield term["ids"][0], term.astext(), item[1:]
    for signature in doctree.findall(addnodes.desc_signature):
        if signature["ids"]:
            yield signature["ids"][0], signature["ids"][0], signature.parent[1:]
    for citation in doctree.findall(nodes.citation):
        yield citation["ids"][0], citation[0].astext(), citation[1:]


def exercise_entries(doctree):
    """Yield anchor, title and content of each exercise and each solution."""
    for exercise in doctree.findall(lambda node: isinstance(node, EXERCISES)):
        title_node, content_node = exercise.children
        title = prose(title_node.children).strip()
        if not isinstance(exercise, solution_node):  # its title is complete
            title = f"Exercise: {title.strip(' ()')}"
        yield exercise["ids"][0], title, content_node.children


def collect_entries(app, doctree, docname):
    """Collect the entries of a page."""
    weight = next(value for prefix, value in PAGE_WEIGHTS.items() if docname.startswith(prefix))
    page_title = prose(app.env.titles[docname].children)
    app.search_entries[docname] = []
    for entries, factor in ((text_entries, 1), (exercise_entries, EXERCISE_WEIGHT)):
        for anchor, title, content in entries(doctree):
            entry_weight = round(weight * (REVIEW_WEIGHT if title in REVIEW_TITLES else factor), 2)
            text = " ".join(prose(content).split())
            app.search_entries[docname].append(
                [docname, anchor, page_title, title, entry_weight, text]
            )


def load_entries(app):
    """Load the entries of the last build, for pages that are not written again."""
    app.search_entries = {}
    if index_path(app).exists():
        script = index_path(app).read_text(encoding="utf-8")
        for entry in json.loads(script[script.index("[") : script.rindex("]") + 1]):
            if entry[0] in app.env.all_docs:
                app.search_entries.setdefault(entry[0], []).append(entry)


def index_path(app):
    """Return the path of the index, which the search page loads."""
    return Path(app.outdir, "sections.js")


def write_index(app, error):
    """Write the index."""
    if not error and app.builder.format == "html":
        entries = [
            entry for docname in sorted(app.search_entries) for entry in app.search_entries[docname]
        ]
        text = json.dumps(entries, ensure_ascii=False, separators=(",", ":"))
        # Replaced atomically, so that an interrupted build leaves the old file.
        temporary_path = index_path(app).with_suffix(".new")
        temporary_path.write_text(f"searchIn({text});", encoding="utf-8")
        temporary_path.replace(index_path(app))


def setup(app):
    """Register the listeners."""
    app.connect("builder-inited", load_entries)
    app.connect("doctree-resolved", collect_entries)
    app.connect("build-finished", write_index)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": False}
