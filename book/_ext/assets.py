"""Make pages load faster: a single style sheet without unused rules, and deferred scripts.

The theme (light or dark) is set before the first layout, which would otherwise be repeated.
"""

import hashlib
import re
from pathlib import Path

import tinycss2

STYLE_SHEET_LINKS = re.compile(r'(?:<link\b[^>]*\brel="stylesheet"[^>]*>\s*)+')
STYLE_SHEET_ADDRESS = re.compile(r'href="([^"?]*_static/)([^"?]+)')
IMPORT = re.compile(r'@import\s+"([^"]+)";')
CLASS_ATTRIBUTE = re.compile(r"""\bclass=["']([^"']*)""")
WORD = re.compile(r"[\w-]+")

# The theme's script replaces "auto" only after the first layout, which would have to be repeated.
SET_THEME = """{
  const { dataset } = document.documentElement;
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  if (dataset.theme === "auto") dataset.theme = isDark ? "dark" : "light";
}"""
# An inline script changes the object that this script defines, and must run after it.
UNDEFERRED_SCRIPT = "documentation_options.js"


def defer_scripts(app, pagename, templatename, context, doctree):
    """Defer scripts that are files, except one, until the page is parsed."""
    for script in context["script_files"]:
        if script.filename and UNDEFERRED_SCRIPT not in script.filename:
            script.attributes["defer"] = "defer"


def read_style_sheet(path):
    """Return the text of a style sheet, with the style sheets that it imports inserted."""
    text = path.read_text(encoding="utf-8")
    return IMPORT.sub(lambda match: read_style_sheet(path.parent / match[1]), text)


def find_classes(pages, folder):
    """Return all classes of the pages, and all words of the scripts, which may set classes."""
    classes = set()
    for html in pages:
        for value in CLASS_ATTRIBUTE.findall(html):
            classes.update(value.split())
    for script in folder.rglob("*.js"):
        if "mathjax" not in script.parts:  # MathJax adds the rules of its classes itself
            classes.update(WORD.findall(script.read_text(encoding="utf-8")))
    return classes


def split_selectors(prelude):
    """Yield each selector of a rule with the classes that it needs, except those inside functions.

    In ``p.a:not(.b)`` it needs only the class ``a``.
    """
    selector, classes = [], set()
    for token in [*prelude, None]:
        if token is None or (token.type == "literal" and token.value == ","):
            yield tinycss2.serialize(selector).strip(), classes
            selector, classes = [], set()
        else:
            if token.type == "ident" and selector and selector[-1] == ".":
                classes.add(token.value)
            selector.append(token)


def serialise_used_rules(rules, classes):
    """Yield rules as text, without selectors that need a class not in ``classes``."""
    for rule in rules:
        if rule.type == "at-rule" and rule.lower_at_keyword in {"media", "supports"}:
            inner_rules = tinycss2.parse_rule_list(
                rule.content, skip_comments=True, skip_whitespace=True
            )
            if text := "".join(serialise_used_rules(inner_rules, classes)):
                yield f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{{text}}}\n"
        elif rule.type == "qualified-rule":
            selectors = [
                selector for selector, needed in split_selectors(rule.prelude) if needed <= classes
            ]
            if selectors:
                yield f"{','.join(selectors)}{{{tinycss2.serialize(rule.content).strip()}}}\n"
        elif rule.type != "comment" or rule.value.startswith("!"):  # a licence
            yield f"{rule.serialize()}\n"


def write_joined_style_sheet(folder, names, classes):
    """Write the used rules of style sheets in a folder into one file there; return its name."""
    joined = "\n".join(read_style_sheet(folder / name) for name in names)
    rules = tinycss2.parse_stylesheet(joined, skip_whitespace=True)
    text = "".join(serialise_used_rules(rules, classes))
    name = f"all-{hashlib.sha256(text.encode()).hexdigest()[:8]}.css"
    (folder / name).write_text(text, encoding="utf-8")
    return name


def join_style_sheets(app, error):
    """Replace the links to style sheets on each page by one link.

    The joined style sheet is in `_static`, as are all style sheets with relative addresses.
    """
    if error or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    joined_names = {}  # one per list of style sheets: most pages link to the same ones
    html_by_page = {page: page.read_text(encoding="utf-8") for page in folder.rglob("*.html")}
    classes = find_classes(html_by_page.values(), folder)
    for page, html in html_by_page.items():
        links = STYLE_SHEET_LINKS.search(html)
        if not links or page.is_relative_to(folder / "_static"):
            continue
        prefixes, names = zip(*STYLE_SHEET_ADDRESS.findall(links[0]), strict=True)
        if names not in joined_names:
            joined_names[names] = write_joined_style_sheet(folder / "_static", names, classes)
        link = f'<link rel="stylesheet" href="{prefixes[0]}{joined_names[names]}">\n'
        page.write_text(html.replace(links[0], link), encoding="utf-8")


def setup(app):
    """Register the listeners to run after those that add scripts or write pages or styles."""
    app.add_js_file(None, body=SET_THEME, priority=100)
    app.connect("html-page-context", defer_scripts, priority=1000)
    app.connect("build-finished", join_style_sheets, priority=999)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
