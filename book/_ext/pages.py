"""Tidy each page as it is written: scripts, formulas, solutions, contents, bibliography."""

import re
from html import escape
from textwrap import shorten

from docutils import nodes
from sphinx_exercise.nodes import solution_node


def tidy_scripts(app, pagename, templatename, context, doctree):
    """Drop repeated scripts, sphinx-thebe's (the live server brings its own), idle MathJax.

    Themes and extensions register inline scripts twice, and a second `let` or `const` of the
    same name is an error in the browser's console.
    """
    formulas = re.search(r'class="[^"]*\bmath\b', context.get("body", ""))
    kept = {}
    for script in context["script_files"]:
        body = script.attributes.get("body", "")
        if "thebe" in f"{script.filename} {body}":
            continue
        if re.search("(?i)mathjax|tippy|typeset", f"{script.filename} {body}") and not formulas:
            continue
        kept.setdefault((script.filename, body), script)
    context["script_files"] = list(kept.values())


REPEATED = re.compile(
    r'(<section[^>]*|<div class="proof[^>]*) id="(?:exercise|solution|proof)(?:-content)?"'
)
NAMELESS = re.compile(r"<th\b([^>]*)>\s*(?:<p>\s*</p>)?</th>")  # a header of nothing is none
SPAN = r'<span class="math [^<]*</span>'
FORMULA = re.compile(rf"([(\[“]{SPAN}[,.;:!?)\]”]*|{SPAN}[,.;:!?)\]”]+)")

NAME = re.compile(r'(?<=<span class="pre">)[^<]{25,}(?=</span>)')
PREFIX = re.compile(r'(<span class="sig-prename[^>]*><span class="pre">)([^<]+)')


def breakable(name):
    """Let a browser break a name after its dots and underscores, and nowhere else."""
    return re.sub(r"([._(,/]+)(?=\w)", r"\1<wbr>", name)


def tidy_body(app, pagename, templatename, context, doctree):
    """Use roles and names that screen readers can work with, and an id only once.

    A browser may break a line between a formula and the comma after it, if nothing keeps them
    together.
    """
    if "body" in context:
        body = context["body"].replace('role="doc-biblioentry"', 'role="listitem"')
        body = body.replace('<summary aria-label="Toggle hidden content">', "<summary>")
        body = REPEATED.sub(r"\1", body)
        body = NAMELESS.sub(r"<td\1></td>", body)
        body = PREFIX.sub(lambda found: found[1] + breakable(found[2]) + "<wbr>", body)
        body = NAME.sub(lambda found: breakable(found[0]), body)
        context["body"] = FORMULA.sub(r'<span class="together">\1</span>', body)


def tidy_contents(app, pagename, templatename, context, doctree):
    """Give the arrow that unfolds a page's own pages a name."""
    if "generate_toctree_html" in context:
        generate = context["generate_toctree_html"]

        def named(*args, **options):
            entries = str(generate(*args, **options))
            return entries.replace("<summary>", '<summary aria-label="its pages">')

        context["generate_toctree_html"] = named


def describe(app, pagename, templatename, context, doctree):
    """Give search engines the first words of a page."""
    first = next(doctree.findall(nodes.paragraph), None) if doctree else None
    # The pages that Sphinx makes by itself, the index and the search, have no words of their own.
    words = first.astext() if first else f"{app.config.html_title}: {pagename}"
    words = escape(shorten(words, 160, placeholder=" ..."))
    context["metatags"] = (
        f'{context.get("metatags", "")}<meta name="description" content="{words}" />'
    )


def unwrap_lists(app, doctree, docname):
    """Take lists out of paragraphs, where what a function returns has several names."""
    for listed in list(doctree.findall(nodes.bullet_list)):
        if isinstance(listed.parent, nodes.paragraph):
            listed.parent.replace_self(listed.parent.children)


def keep_units(app, doctree, docname):
    """Break no line between a number and its per cent."""
    for text in list(doctree.findall(nodes.Text)):
        kept = re.sub(r"(?<=\d) (?=%)", "\N{NO-BREAK SPACE}", text.astext())
        fixed = (nodes.literal, nodes.math, nodes.FixedTextElement)  # the last is raw HTML, too
        if kept != text.astext() and not isinstance(text.parent, fixed):
            text.parent.replace(text, nodes.Text(kept))


def visit_solution(writer, node):
    """Open a solution as what a browser opens and closes by itself, with its title to click."""
    title = node.pop(0)
    for link in list(title.findall(nodes.reference)):  # it would lead away instead of opening
        link.replace_self(link.children)
    node["classes"] = [name for name in node["classes"] if name != "dropdown"]
    writer.body.append(writer.starttag(node, "details") + "<summary>")
    for child in title.children:
        child.walkabout(writer)
    writer.body.append("</summary>\n")


def depart_solution(writer, node):
    writer.body.append("</details>\n")


def setup(app):
    """Register after every other listener, so that no script is added later."""
    app.add_node(solution_node, override=True, html=(visit_solution, depart_solution))
    app.connect("doctree-resolved", unwrap_lists)
    app.connect("doctree-resolved", keep_units)
    app.connect("html-page-context", tidy_scripts, priority=999)
    app.connect("html-page-context", tidy_body, priority=999)
    app.connect("html-page-context", tidy_contents, priority=999)
    app.connect("html-page-context", describe, priority=999)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
