"""The directive ``{explorable}``: a figure that answers, from ``book/_static/explorables``.

Its argument names a module there. What stands in the page is the first state of the drawing, which
`tools/stills.mjs` wrote beside the module, so that it can be read without scripts and on paper; the
module takes it over. The content is the caption; without any there is neither caption nor number.

A browser loads no modules from a disk, and a book is read from disks as well. So the modules are
put one after the other into one plain script, each in a function of its own.
"""

import re
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

MODULES = Path(__file__).resolve().parents[1] / "_static" / "explorables"
IMPORT = re.compile(r'^import (\w+|\{[^}]+\}) from "\./(\w+)\.js";$', re.M)
EXPORT = re.compile(r"^export (?=(?:const|function) (\w+))", re.M)


def plain_script(first):
    """Return a module and all that it imports as one script without modules."""
    done = {}

    def add(name):
        if name in done:
            return
        code = (MODULES / f"{name}.js").read_text(encoding="utf-8")
        for _, other in IMPORT.findall(code):
            add(other)
        exported = EXPORT.findall(code)
        code = IMPORT.sub(lambda found: imported(*found.groups()), code)
        code = EXPORT.sub("", code)
        if "export default " in code:
            code = code.replace("export default ", "const whole = ")
            exported.append("default: whole")
        done[name] = (
            f"const {name}Module = (() => {{\n{code}\nreturn {{ {', '.join(exported)} }};\n}})();"
        )

    add(first)
    return "(() => {\n" + "\n".join(done.values()) + "\n})();\n"


def imported(names, module):
    """Return what stands for an import: names out of the value of another function."""
    return f"const {names if names[0] == '{' else f'{{ default: {names} }}'} = {module}Module;"


def write_script(app):
    """Write the script where Sphinx looks for files to copy."""
    if app.builder.format == "html":
        folder = Path(app.doctreedir, "static")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "explorables.js").write_text(plain_script("start"), encoding="utf-8")
        app.config.html_static_path.append(str(folder))


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
        inside = still.read_text(encoding="utf-8")
        html = f'<div class="explorable" data-explorable="{name}">\n{inside}</div>'
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


def add_script(app, pagename, templatename, context, doctree):
    """Let pages that have an explorable fetch the script."""
    if "data-explorable" in context.get("body", ""):
        app.add_js_file("explorables.js", defer="defer")


def setup(app):
    """Register the directive and the script."""
    app.add_directive("explorable", Explorable)
    app.connect("builder-inited", write_script)
    app.connect("html-page-context", add_script)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
