"""Post-process each page: scripts, formulas, solutions, contents and bibliography."""

import re
from html import escape
from textwrap import shorten

from docutils import nodes
from sphinx_exercise.nodes import solution_node


def remove_needless_scripts(app, pagename, templatename, context, doctree):
    """Remove repeated scripts, MathJax, and sphinx-thebe's scripts.

    `typeset.js`, which loads MathJax, and the previews of links, which wait for it, remain only on
    pages with formulas. Themes and extensions register inline scripts twice, and a repeated `let`
    or `const` is an error in the browser. The live server has its own version of Thebe.
    """
    has_formulas = re.search(r'class="[^"]*\bmath\b', context.get("body", ""))
    scripts = {}
    for script in context["script_files"]:
        inline_code = script.attributes.get("body", "")
        if "thebe" in f"{script.filename} {inline_code}" or "mathjax/" in str(script.filename):
            continue
        needs_typeset = re.search("(?i)mathjax|tippy|typeset", f"{script.filename} {inline_code}")
        if needs_typeset and not has_formulas:
            continue
        scripts.setdefault((script.filename, inline_code), script)
    context["script_files"] = list(scripts.values())


REPEATED_ID = re.compile(
    r'(<section[^>]*|<div class="proof[^>]*) id="(?:exercise|solution|proof)(?:-content)?"'
)
EMPTY_HEADER_CELL = re.compile(r"<th\b([^>]*)>\s*(?:<p>\s*</p>)?</th>")
FORMULA_SPAN = r'<span class="math [^<]*</span>'
PUNCTUATED_FORMULA = re.compile(rf"([(\[“]{FORMULA_SPAN}[,.;:!?)\]”]*|{FORMULA_SPAN}[,.;:!?)\]”]+)")

# Spans of code that the style sheet shows in the default colour: names, punctuation, whitespace.
PLAIN_CODE = re.compile(r'<span class="(?:n|p|w)">([^<]*)</span>')

LONG_NAME = re.compile(r'(?<=<span class="pre">)[^<]{25,}(?=</span>)')
NAME_PREFIX = re.compile(r'(<span class="sig-prename[^>]*><span class="pre">)([^<]+)')


def add_break_points(name):
    """Allow line breaks in a name only after dots, underscores and other punctuation."""
    return re.sub(r"([._(,/]+)(?=\w)", r"\1<wbr>", name)


def tidy_body(app, pagename, templatename, context, doctree):
    """Correct roles and accessible names for screen readers, and remove repeated ids.

    Also prevent line breaks between a formula and adjacent punctuation, allow them in long names,
    and remove elements that change nothing.
    """
    if "body" in context:
        body = context["body"].replace('role="doc-biblioentry"', 'role="listitem"')
        body = body.replace('<summary aria-label="Toggle hidden content">', "<summary>")
        body = REPEATED_ID.sub(r"\1", body)
        body = EMPTY_HEADER_CELL.sub(r"<td\1></td>", body)
        body = NAME_PREFIX.sub(lambda match: match[1] + add_break_points(match[2]) + "<wbr>", body)
        body = PLAIN_CODE.sub(r"\1", body)
        body = LONG_NAME.sub(lambda match: add_break_points(match[0]), body)
        context["body"] = PUNCTUATED_FORMULA.sub(r'<span class="together">\1</span>', body)


def label_contents_arrows(app, pagename, templatename, context, doctree):
    """Give an accessible name to the arrows that expand the contents."""
    if "generate_toctree_html" in context:
        generate = context["generate_toctree_html"]

        def generate_labelled_contents(*args, **options):
            entries = str(generate(*args, **options))
            return entries.replace("<summary>", '<summary aria-label="its pages">')

        context["generate_toctree_html"] = generate_labelled_contents


def add_description(app, pagename, templatename, context, doctree):
    """Use the first words of a page as its description for search engines."""
    first_paragraph = next(doctree.findall(nodes.paragraph), None) if doctree else None
    # The pages that Sphinx generates, such as the index, have no doctree.
    description = (
        first_paragraph.astext() if first_paragraph else f"{app.config.html_title}: {pagename}"
    )
    description = escape(shorten(description, 160, placeholder=" ..."))
    context["metatags"] = (
        f'{context.get("metatags", "")}<meta name="description" content="{description}" />'
    )


def unwrap_lists(app, doctree, docname):
    """Move lists out of paragraphs, as in a Returns section with several named values."""
    for bullet_list in list(doctree.findall(nodes.bullet_list)):
        if isinstance(bullet_list.parent, nodes.paragraph):
            bullet_list.parent.replace_self(bullet_list.parent.children)


def add_no_break_spaces(app, doctree, docname):
    """Put a no-break space between a number and a per cent sign."""
    for text in list(doctree.findall(nodes.Text)):
        new_text = re.sub(r"(?<=\d) (?=%)", "\N{NO-BREAK SPACE}", text.astext())
        # The last type includes raw HTML.
        verbatim_nodes = (nodes.literal, nodes.math, nodes.FixedTextElement)
        if new_text != text.astext() and not isinstance(text.parent, verbatim_nodes):
            text.parent.replace(text, nodes.Text(new_text))


def visit_solution(writer, node):
    """Write a solution as a `details` element with its title as the summary."""
    title = node.pop(0)
    for link in list(title.findall(nodes.reference)):  # a click must open the solution instead
        link.replace_self(link.children)
    node["classes"] = [name for name in node["classes"] if name != "dropdown"]
    writer.body.append(writer.starttag(node, "details") + "<summary>")
    for child in title.children:
        child.walkabout(writer)
    writer.body.append("</summary>\n")


def depart_solution(writer, node):
    writer.body.append("</details>\n")


def setup(app):
    """Register after all other listeners, so that no script is added later."""
    app.add_node(solution_node, override=True, html=(visit_solution, depart_solution))
    app.connect("doctree-resolved", unwrap_lists)
    app.connect("doctree-resolved", add_no_break_spaces)
    app.connect("html-page-context", remove_needless_scripts, priority=999)
    app.connect("html-page-context", tidy_body, priority=999)
    app.connect("html-page-context", label_contents_arrows, priority=999)
    app.connect("html-page-context", add_description, priority=999)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
