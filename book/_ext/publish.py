"""What a published book has besides its pages.

One address decides, that of the repository (``repository: url`` in `_config.yml`). With it come
the buttons that open a chapter on a hired machine, the cards that a link to a page shows, a map of
the site and a feed of its changes; without it none of them, for they would lead nowhere. Where the
pages are published is told by ``html: baseurl``, or else by what GitHub makes of the repository's
address. Each book has a page for addresses that lead nowhere, dates, and its notebooks as one file.
"""

import subprocess
import zipfile
from pathlib import Path
from urllib.parse import urlparse
from xml.etree import ElementTree

NOTEBOOKS = "svmbook-notebooks.zip"
READ_ME = """The chapters of "Support Vector Machines, from the dual up" as notebooks.

    python -m pip install svmbook jupyterlab
    jupyter lab

What the chapters read of measured results comes with the package. A few compare with other packages
(pandas, interpret-core, ipywidgets); each names them in its first cells.
"""
LATEST = 30  # changes in the feed
ATOM = "http://www.w3.org/2005/Atom"
MISSING = """<h1>This page is not in the book</h1>
<p>It may have been renamed. The search of the book finds words, formulas' names and functions; the
<a href="{prefix}book/intro.html">first page</a> has the map of the chapters.</p>"""


def pages_of(repository):
    """Return where GitHub publishes a repository's pages."""
    owner, name = urlparse(repository).path.strip("/").split("/")[:2]
    host, name = f"{owner.lower()}.github.io", name.removesuffix(".git")
    return f"https://{host}/" if name.lower() == host else f"https://{host}/{name}/"


def configure(app, config):
    """Set what follows from the two addresses."""
    options = dict(config.html_theme_options)
    repository = options.get("repository_url", "")
    if repository:
        site = config.html_baseurl or pages_of(repository)
        config.html_baseurl = site if site.endswith("/") else f"{site}/"
        options["launch_buttons"] = {
            "notebook_interface": "jupyterlab",
            "binderhub_url": "https://mybinder.org",
            "colab_url": "https://colab.research.google.com",
        }
        config.sitemap_url_scheme = "{link}"
        config.ogp_site_url = config.html_baseurl
        config.ogp_site_name = config.html_title
        config.ogp_enable_meta_description = False  # pages.py writes it
        config.html_theme_options = options
    config.git_untracked_show_sourcelink = True  # the theme's launch buttons ask for it
    prefix = urlparse(config.html_baseurl or "/").path
    config.notfound_urls_prefix = prefix
    config.notfound_context = {"title": "Not found", "body": MISSING.format(prefix=prefix)}


def finish(app, error):
    """Write what stands beside the pages."""
    if error or app.builder.format != "html":
        return
    out, source = Path(app.outdir), Path(app.srcdir)
    write_notebooks(out / NOTEBOOKS, source)
    if app.config.html_theme_options.get("repository_url"):
        (out / "changes.xml").write_bytes(
            feed(app.config.html_title, app.config.html_baseurl, source)
        )


def write_notebooks(path, source):
    """Pack all chapters into one file, the same each time."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in [
            ("README.txt", READ_ME.encode()),
            *((one.name, one.read_bytes()) for one in sorted(source.glob("notebooks/*.ipynb"))),
        ]:
            packed.writestr(
                zipfile.ZipInfo(f"svmbook-notebooks/{name}"), content, zipfile.ZIP_DEFLATED
            )


def feed(title, site, source):
    """Return the latest changes of pages as an Atom feed."""
    log = ["git", "log", f"-{LATEST}", "--format=%x1e%H%x1f%cI%x1f%s", "--name-only", "--"]
    told = subprocess.run(
        [*log, "notebooks/*.ipynb", "book/*.md"], cwd=source, capture_output=True, text=True
    )
    entries = [entry.strip().split("\n") for entry in told.stdout.split("\x1e")[1:]]
    root = ElementTree.Element("feed", xmlns=ATOM)
    for name, value in (("title", title), ("id", site)):
        ElementTree.SubElement(root, name).text = value
    ElementTree.SubElement(root, "link", href=f"{site}changes.xml", rel="self")
    author = ElementTree.SubElement(root, "author")
    ElementTree.SubElement(author, "name").text = title
    latest = entries[0][0].split("\x1f")[1] if entries else "1970-01-01T00:00:00Z"
    ElementTree.SubElement(root, "updated").text = latest
    for head, *files in entries:
        commit, date, subject = head.split("\x1f")
        pages = [Path(file).with_suffix(".html").as_posix() for file in files if file]
        entry = ElementTree.SubElement(root, "entry")
        ElementTree.SubElement(entry, "title").text = subject
        ElementTree.SubElement(entry, "id").text = f"{site}#{commit}"
        ElementTree.SubElement(entry, "updated").text = date
        ElementTree.SubElement(entry, "link", href=site + (pages or ["index.html"])[0])
        ElementTree.SubElement(entry, "summary").text = ", ".join(pages)
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)


def link_feed(app, pagename, templatename, context, doctree):
    """Let each page of a published book name its feed."""
    if app.config.html_theme_options.get("repository_url"):
        where = f'type="application/atom+xml" href="{app.config.html_baseurl}changes.xml"'
        context["metatags"] = context.get("metatags", "") + f'<link rel="alternate" {where}>'


def setup(app):
    """Register everything, and those extensions that serve a published book alone."""
    app.setup_extension("notfound.extension")
    app.setup_extension("sphinx_last_updated_by_git")
    if app.config.html_theme_options.get("repository_url"):
        app.setup_extension("sphinx_sitemap")
        app.setup_extension("sphinxext.opengraph")
    app.connect("config-inited", configure, priority=100)
    app.connect("html-page-context", link_feed)
    app.connect("build-finished", finish)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
