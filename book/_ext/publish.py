"""Files and buttons of a published book, besides its pages.

If the address of the repository is set (``repository: url`` in `_config.yml`), the book has buttons
that open a chapter on Binder or Colab, cards for links to its pages, a site map and a feed of
changes. The pages are published at ``html: baseurl``, or else at the GitHub Pages of the
repository. Every book has a page for missing addresses (404), the dates of the last changes, and
one file with all notebooks.
"""

import subprocess
import zipfile
from pathlib import Path
from urllib.parse import urlparse
from xml.etree import ElementTree

NOTEBOOKS_ZIP = "svmbook-notebooks.zip"
README = """The chapters of "Support Vector Machines, from the dual up" as notebooks.

    python -m pip install "svmbook[cluster,cvxopt,tables]" jupyterlab
    jupyter lab

If you received the package as a file, write ./ and the name of the file instead of svmbook. The
measured results that chapters read are part of the package. The extras cvxopt and tables install
CVXOPT and pandas, which some chapters need.
"""
FEED_LENGTH = 30  # the number of changes in the feed
ATOM_NAMESPACE = "http://www.w3.org/2005/Atom"
NOT_FOUND_BODY = """<h1>This page is not in the book</h1>
<p>It may have been renamed. The search finds words, theorems and functions; the
<a href="{prefix}book/intro.html">first page</a> has the map of the chapters.</p>"""


def github_pages_url(repository):
    """Return the address of a repository's GitHub Pages."""
    owner, name = urlparse(repository).path.strip("/").split("/")[:2]
    host, name = f"{owner.lower()}.github.io", name.removesuffix(".git")
    return f"https://{host}/" if name.lower() == host else f"https://{host}/{name}/"


def configure(app, config):
    """Set the options that depend on the addresses of the repository and the site."""
    options = dict(config.html_theme_options)
    repository = options.get("repository_url", "")
    if repository:
        site_url = config.html_baseurl or github_pages_url(repository)
        config.html_baseurl = site_url if site_url.endswith("/") else f"{site_url}/"
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
    config.git_untracked_show_sourcelink = True  # required by the theme's launch buttons
    prefix = urlparse(config.html_baseurl or "/").path
    config.notfound_urls_prefix = prefix
    config.notfound_context = {"title": "Not found", "body": NOT_FOUND_BODY.format(prefix=prefix)}


def write_notebooks_and_feed(app, error):
    """Write the zip file of the notebooks and, if there is a repository, the feed."""
    if error or app.builder.format != "html":
        return
    output_folder, source_folder = Path(app.outdir), Path(app.srcdir)
    write_notebooks_zip(output_folder / NOTEBOOKS_ZIP, source_folder)
    if app.config.html_theme_options.get("repository_url"):
        (output_folder / "changes.xml").write_bytes(
            make_feed(app.config.html_title, app.config.html_baseurl, source_folder)
        )


def write_notebooks_zip(zip_path, source_folder):
    """Pack all chapters and their notes into one reproducible zip file."""
    folder = source_folder / "notebooks"
    paths = sorted([*folder.glob("*.ipynb"), *folder.glob("notes/*.ipynb")])
    with zipfile.ZipFile(zip_path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in [
            ("README.txt", README.encode()),
            *((path.relative_to(folder).as_posix(), path.read_bytes()) for path in paths),
        ]:
            archive.writestr(
                zipfile.ZipInfo(f"svmbook-notebooks/{name}"), content, zipfile.ZIP_DEFLATED
            )


def make_feed(title, site_url, source_folder):
    """Return the latest changes of pages as an Atom feed."""
    log_format = "--format=%x1e%H%x1f%cI%x1f%s"
    command = ["git", "log", f"-{FEED_LENGTH}", log_format, "--name-only", "--"]
    completed = subprocess.run(
        [*command, "notebooks/*.ipynb", "book/*.md"],
        cwd=source_folder,
        capture_output=True,
        text=True,
    )
    commits = [entry.strip().split("\n") for entry in completed.stdout.split("\x1e")[1:]]
    root = ElementTree.Element("feed", xmlns=ATOM_NAMESPACE)
    for name, value in (("title", title), ("id", site_url)):
        ElementTree.SubElement(root, name).text = value
    ElementTree.SubElement(root, "link", href=f"{site_url}changes.xml", rel="self")
    author = ElementTree.SubElement(root, "author")
    ElementTree.SubElement(author, "name").text = title
    latest_date = commits[0][0].split("\x1f")[1] if commits else "1970-01-01T00:00:00Z"
    ElementTree.SubElement(root, "updated").text = latest_date
    for header, *files in commits:
        commit, date, subject = header.split("\x1f")
        pages = [Path(file).with_suffix(".html").as_posix() for file in files if file]
        entry = ElementTree.SubElement(root, "entry")
        ElementTree.SubElement(entry, "title").text = subject
        ElementTree.SubElement(entry, "id").text = f"{site_url}#{commit}"
        ElementTree.SubElement(entry, "updated").text = date
        ElementTree.SubElement(entry, "link", href=site_url + (pages or ["index.html"])[0])
        ElementTree.SubElement(entry, "summary").text = ", ".join(pages)
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)


def link_feed(app, pagename, templatename, context, doctree):
    """Add a link to the feed to each page of a published book."""
    if app.config.html_theme_options.get("repository_url"):
        attributes = f'type="application/atom+xml" href="{app.config.html_baseurl}changes.xml"'
        context["metatags"] = context.get("metatags", "") + f'<link rel="alternate" {attributes}>'


def setup(app):
    """Register the listeners, and the extensions that only a published book needs."""
    app.setup_extension("notfound.extension")
    app.setup_extension("sphinx_last_updated_by_git")
    if app.config.html_theme_options.get("repository_url"):
        app.setup_extension("sphinx_sitemap")
        app.setup_extension("sphinxext.opengraph")
    app.connect("config-inited", configure, priority=100)
    app.connect("html-page-context", link_feed)
    app.connect("build-finished", write_notebooks_and_feed)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
