"""Let pages appear faster: one style sheet, scripts that wait, and the colours from the start."""

import hashlib
import re
from pathlib import Path

LINKS = re.compile(r'(?:<link\b[^>]*\brel="stylesheet"[^>]*>\s*)+')
ADDRESS = re.compile(r'href="([^"?]*_static/)([^"?]+)')
IMPORT = re.compile(r'@import\s+"([^"]+)";')

# The theme's script replaces "auto" only after the first layout, which would have to be repeated.
CHOOSE_THEME = """{
  const { dataset } = document.documentElement;
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  if (dataset.theme === "auto") dataset.theme = isDark ? "dark" : "light";
}"""
NEEDED_AT_ONCE = "documentation_options.js"  # an inline script changes its object


def defer_scripts(app, pagename, templatename, context, doctree):
    """Let scripts wait until the page is parsed."""
    for script in context["script_files"]:
        if script.filename and NEEDED_AT_ONCE not in script.filename:
            script.attributes["defer"] = "defer"


def read_style_sheet(path):
    """Return a style sheet with the ones that it imports."""
    text = path.read_text(encoding="utf-8")
    return IMPORT.sub(lambda found: read_style_sheet(path.parent / found[1]), text)


def write_joined(folder, names):
    """Write the style sheets of a folder into one file there, and return its name."""
    joined = "\n".join(read_style_sheet(folder / name) for name in names)
    name = f"all-{hashlib.sha256(joined.encode()).hexdigest()[:8]}.css"
    (folder / name).write_text(joined, encoding="utf-8")
    return name


def join_style_sheets(app, error):
    """Replace the links to style sheets on each page by one link.

    The joined style sheet is in `_static`, as are all style sheets with relative addresses.
    """
    if error or app.builder.format != "html":
        return
    folder, joined_names = Path(app.outdir), {}  # the pages have the same style sheets
    for page in folder.rglob("*.html"):
        html = page.read_text(encoding="utf-8")
        links = LINKS.search(html)
        if not links or page.is_relative_to(folder / "_static"):
            continue
        prefixes, names = zip(*ADDRESS.findall(links[0]), strict=True)
        if names not in joined_names:
            joined_names[names] = write_joined(folder / "_static", names)
        link = f'<link rel="stylesheet" href="{prefixes[0]}{joined_names[names]}">\n'
        page.write_text(html.replace(links[0], link), encoding="utf-8")


def setup(app):
    """Register after the listeners that add scripts or write pages and style sheets."""
    app.add_js_file(None, body=CHOOSE_THEME, priority=100)
    app.connect("html-page-context", defer_scripts, priority=1000)
    app.connect("build-finished", join_style_sheets, priority=999)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
