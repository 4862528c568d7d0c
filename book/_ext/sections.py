"""A search that knows sections: their titles and words, without formulas and code.

Sphinx's own search knows the words of pages, and finds its excerpts in their HTML. This one writes
`sections.js`, which the page of the search loads like any script, so that it needs no server.
"""

import json
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx_exercise.nodes import exercise_enumerable_node, exercise_node, solution_node
from sphinx_proof.nodes import NODE_TYPES

# What is no prose, and what is found by itself.
UNREAD = (nodes.math_block, nodes.literal_block, nodes.raw, nodes.image, nodes.doctest_block)
EXERCISES = (exercise_node, exercise_enumerable_node, solution_node)
INNER = (nodes.section, addnodes.desc, addnodes.desc_signature, addnodes.glossary, *EXERCISES)


def prose(content):
    """Return the words of some nodes; a formula is three dots."""
    apart = " " if any(not isinstance(node, (nodes.Inline, nodes.Text)) for node in content) else ""
    return apart.join(words(node) for node in content if not isinstance(node, (*UNREAD, *INNER)))


def words(node):
    """Return those of one node."""
    if isinstance(node, nodes.Text):
        return node.astext()
    return "…" if isinstance(node, nodes.math) else prose(node.children)


def parts(doctree):
    """Yield anchor, title and content of each section, theorem, term and object."""
    for section in doctree.findall(nodes.section):
        if section.children and isinstance(section[0], nodes.title):
            yield section["ids"][0], section[0].astext(), section[1:]
    for theorem in doctree.findall(lambda node: isinstance(node, tuple(NODE_TYPES.values()))):
        title, content = theorem.children
        yield theorem["ids"][0], title.astext().strip(" ()"), content.children
    for item in doctree.findall(nodes.definition_list_item):
        term = item.next_node(nodes.term)
        if term["ids"]:
            yield term["ids"][0], term.astext(), item[1:]
    for signature in doctree.findall(addnodes.desc_signature):
        if signature["ids"]:
            yield signature["ids"][0], signature["ids"][0], signature.parent[1:]


def exercises(doctree):
    """Yield the same of each exercise and each solution."""
    for one in doctree.findall(lambda node: isinstance(node, EXERCISES)):
        title, content = one.children
        name = title.astext().strip()
        if not isinstance(one, solution_node):  # whose parentheses stand after the number
            name = f"Exercise: {name.strip(' ()')}"
        yield one["ids"][0], name, content.children


def collect(app, doctree, docname):
    """Note what there is to find on a page."""
    rank = (docname.startswith("notebooks/")) - docname.endswith("bibliography")
    page = app.env.titles[docname].astext()
    app.sections[docname] = [
        [docname, anchor, page, title, place, " ".join(prose(content).split())]
        for place, found in ((rank, parts), (rank - 1, exercises))
        for anchor, title, content in found(doctree)
    ]


def prepare(app):
    """Take what the last build found on pages that this one does not write again."""
    app.sections = {}
    if target(app).exists():
        text = target(app).read_text(encoding="utf-8").removeprefix("findIn(").removesuffix(");")
        for one in json.loads(text):
            if one[0] in app.env.all_docs:
                app.sections.setdefault(one[0], []).append(one)


def target(app):
    """Return the file that the page of the search loads."""
    return Path(app.outdir, "sections.js")


def write(app, error):
    """Write all of it."""
    if not error and app.builder.format == "html":
        found = [one for name in sorted(app.sections) for one in app.sections[name]]
        text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
        # In one go: a build that is interrupted leaves the file of the one before.
        whole = target(app).with_suffix(".new")
        whole.write_text(f"findIn({text});", encoding="utf-8")
        whole.replace(target(app))


def setup(app):
    """Register."""
    app.connect("builder-inited", prepare)
    app.connect("doctree-resolved", collect)
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": False}
