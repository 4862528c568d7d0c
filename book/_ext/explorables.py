"""The directive ``{explorable}``: a figure that answers, from ``book/_static/explorables``.

Its argument names a module there. What stands in the page is the first state of the drawing, which
`tools/stills.mjs` wrote beside the module, so that it can be read without scripts and on paper; the
module takes it over. The content is the caption; without any there is neither caption nor number.
"""

from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

MODULES = Path(__file__).resolve().parents[1] / "_static" / "explorables"


class Explorable(SphinxDirective):
    """Show a still of an explorable in a frame that its module finds."""

    required_arguments = 1
    has_content = True
    option_spec = {"name": directives.unchanged}

    def run(self):
        name = self.arguments[0]
        still = MODULES / f"{name}.html"
        if not still.is_file():
            raise self.error(f"there is no {still.name}; write it by: node tools/stills.mjs")
        self.env.note_dependency(str(still))
        html = f'<div class="explorable" data-explorable="{name}">\n{still.read_text()}</div>'
        drawing = nodes.raw("", html, format="html")
        if not self.content:
            return [drawing]
        figure = nodes.figure("", drawing, classes=["explored"])
        words = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, words)
        first, *rest = words.children
        figure += nodes.caption(first.rawsource, "", *first.children)
        if rest:
            figure += nodes.legend("", *rest)
        self.set_source_info(figure)
        self.add_name(figure)
        return [figure]


def add_module(app, pagename, templatename, context, doctree):
    """Let pages that have an explorable fetch what brings it to life."""
    if "data-explorable" in context.get("body", ""):
        app.add_js_file("explorables/start.js", type="module")


def setup(app):
    """Register the directive and the script."""
    app.add_directive("explorable", Explorable)
    app.connect("html-page-context", add_module)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
