"""The directive ``{explorable}``: an interactive figure from ``book/_static/explorables``.

The argument names a module there. The page contains the initial state of the drawing, written by
`tools/stills.mjs`, so that it can be read without scripts and on paper; the module then replaces
it. The first paragraph of the content is the caption, and the rest is the legend. Without
content, the figure has neither caption nor number.

Browsers load no modules from local files, but the book must work there too. The modules are
therefore concatenated into one plain script, each in a function of its own.
"""

import re
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

MODULE_FOLDER = Path(__file__).resolve().parents[1] / "_static" / "explorables"
IMPORT = re.compile(r'^import (\w+|\{[^}]+\}) from "\./(\w+)\.js";$', re.M)
EXPORT = re.compile(r"^export (?=(?:const|function) (\w+))", re.M)


def bundle_modules(entry_module):
    """Return a module and all modules that it imports as one plain script."""
    wrapped_modules = {}

    def add_module(name):
        if name in wrapped_modules:
            return
        code = (MODULE_FOLDER / f"{name}.js").read_text(encoding="utf-8")
        for _, imported in IMPORT.findall(code):
            add_module(imported)
        exported = EXPORT.findall(code)
        code = IMPORT.sub(lambda match: import_as_const(*match.groups()), code)
        code = EXPORT.sub("", code)
        if "export default " in code:
            code = code.replace("export default ", "const defaultExport = ")
            exported.append("default: defaultExport")
        wrapped_modules[name] = (
            f"const {name}Module = (() => {{\n{code}\nreturn {{ {', '.join(exported)} }};\n}})();"
        )

    add_module(entry_module)
    return "(() => {\n" + "\n".join(wrapped_modules.values()) + "\n})();\n"


def import_as_const(names, module):
    """Return a `const` statement that replaces an import and reads the wrapped module."""
    return f"const {names if names[0] == '{' else f'{{ default: {names} }}'} = {module}Module;"


def write_script(app):
    """Write the script into a folder of static files, from which Sphinx copies it."""
    if app.builder.format == "html":
        folder = Path(app.doctreedir, "static")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "explorables.js").write_text(bundle_modules("start"), encoding="utf-8")
        app.config.html_static_path.append(str(folder))


class Explorable(SphinxDirective):
    """Show the initial state of an explorable in an element that the script finds."""

    required_arguments = 1
    has_content = True
    option_spec = {"name": directives.unchanged}

    def run(self):
        module = self.arguments[0]
        still = MODULE_FOLDER / f"{module}.html"
        if not still.is_file():
            raise self.error(f"{still.name} does not exist; create it with: node tools/stills.mjs")
        self.env.note_dependency(str(still))
        initial_drawing = still.read_text(encoding="utf-8")
        html = f'<div class="explorable" data-explorable="{module}">\n{initial_drawing}</div>'
        drawing = nodes.raw("", html, format="html")
        if not self.content:
            return [drawing]
        figure = nodes.figure("", drawing, classes=["explored"])
        caption_and_legend = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, caption_and_legend)
        first, *rest = caption_and_legend.children
        figure += nodes.caption(first.rawsource, "", *first.children)
        if rest:
            figure += nodes.legend("", *rest)
        self.set_source_info(figure)
        self.add_name(figure)
        return [figure]


def add_script(app, pagename, templatename, context, doctree):
    """Add the script to pages with an explorable."""
    if "data-explorable" in context.get("body", ""):
        app.add_js_file("explorables.js")


def setup(app):
    """Register the directive and the script."""
    app.add_directive("explorable", Explorable)
    app.connect("builder-inited", write_script)
    app.connect("html-page-context", add_script)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
