"""Write the built book into one EPUB 3 file: a title page, contents, all pages, the solutions.

Usage: python tools/epub.py [_build/svmbook.epub [page ...]]

As in the PDF (`tools/pdf.py`), the pages come in the order of the contents, solutions come last,
and interactive figures are shown in their first state. Folded code, which draws the figures and
tables that follow it, is left out as in print. Two runs write the same bytes: the file carries the
date of the last commit and no other time.

The EPUB builder of Sphinx would need a second build of the book, with separate extensions for
formulas, figures and solutions. The built pages already contain all of these.
"""

import os
import posixpath
import subprocess
import sys
import uuid
import zipfile
from html import escape
from itertools import groupby
from pathlib import Path

from built_pages import (
    COVER_STYLE,
    COVER_TEMPLATE,
    HTML,
    ROOT,
    browser_tab,
    parse_link,
    read_configuration,
    read_contents,
)
from lxml import etree
from pygments.formatters import HtmlFormatter
from xhtml import MATHML, SVG, XHTML, read_pages, read_picture

DEFAULT_OUTPUT = ROOT / "_build" / "svmbook.epub"
FONT = ROOT / "tools" / "vendor" / "stix-two-math.woff"
FONT_LICENCE = FONT.with_name("stix-two-math-LICENSE")
LICENCE = "CC BY 4.0 (text and figures), BSD 3-Clause (code)"
MEDIA_TYPES = {".xhtml": "application/xhtml+xml", ".svg": "image/svg+xml", ".png": "image/png"}
MEDIA_TYPES |= {".css": "text/css", ".woff": "font/woff"}
COVER_SIZE = {"width": 1200, "height": 1600}
CONTAINER = """<?xml version="1.0" encoding="utf-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="book.opf" media-type="application/oebps-package+xml"/>
</rootfiles></container>
"""
PAGE_TEMPLATE = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" \
lang="en" xml:lang="en">
<head><title>{title}</title><link rel="stylesheet" type="text/css" href="{style}"/></head>
<body>{body}</body></html>
"""
PACKAGE_TEMPLATE = """<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="en">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">urn:uuid:{identifier}</dc:identifier>
<dc:title>{title}</dc:title><dc:creator>{author}</dc:creator><dc:language>en</dc:language>
<dc:date>{modified}</dc:date><dc:rights>{licence}</dc:rights>
<meta property="dcterms:modified">{modified}</meta>
{accessibility}
</metadata>
<manifest>{manifest}</manifest>
<spine>{spine}</spine>
</package>
"""
ACCESSIBILITY = {
    "accessMode": ("textual", "visual"),
    "accessModeSufficient": ("textual",),
    "accessibilityFeature": (
        "alternativeText",
        "MathML",
        "structuralNavigation",
        "tableOfContents",
    ),
    "accessibilityHazard": ("none",),
    "accessibilitySummary": ("All figures have descriptions and all formulas are MathML.",),
}
LANDMARKS = {
    "title.xhtml": "titlepage",
    "nav.xhtml": "toc",
    "book/what_is_an_svm.xhtml": "bodymatter",
    "book/glossary.xhtml": "glossary",
    "book/bibliography.xhtml": "bibliography",
}


def last_commit_date():
    """Return the date of the last commit in the form that EPUB requires."""
    command = ["git", "log", "-1", "--format=%cd", "--date=format-local:%Y-%m-%dT%H:%M:%SZ"]
    environment = os.environ | {"TZ": "UTC"}
    process = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
    return process.stdout.decode().strip()


def relink_and_read_pictures(documents, site):
    """Make all links relative to their files and return the pictures by name.

    A link to something that the EPUB lacks, such as the archive of the notebooks, becomes text.
    """
    pictures, files = {}, {document.file for document in documents}
    file_of_anchor = {
        (document.file.removeprefix("solutions/"), anchor): document.file
        for document in documents
        for anchor in document.ids()
    }
    for document in documents:
        folder = posixpath.dirname(document.file)
        for element in document.body.iter(f"{XHTML}a", f"{SVG}a", f"{XHTML}img"):
            if element.get("src"):
                name, content = read_picture(element.get("src"), site)
                pictures[name] = content
                element.set("src", posixpath.relpath(name, folder))
            elif link := parse_link(element.get("href", ""), site):
                page, anchor = f"{link[0]}.xhtml", link[1]
                target_file = file_of_anchor.get((page, anchor))
                if target_file is None and page not in files:
                    element.tag = XHTML + "span" if element.tag.startswith(XHTML) else SVG + "g"
                    del element.attrib["href"]
                    continue
                address = posixpath.relpath(target_file or page, folder)
                element.set("href", f"{address}#{anchor}" if target_file else address)
    return pictures


def render_page(title, body, file):
    style = posixpath.relpath("epub.css", posixpath.dirname(file))
    return PAGE_TEMPLATE.format(title=escape(title), body=body, style=style)


def navigation_document(documents):
    """Return the page of the contents, with the parts as headings, and the landmarks."""

    def entry(document, title, anchor, inner=""):
        address = f"{document.file}#{anchor}" if anchor else document.file
        return f'<li><a href="{address}">{escape(title)}</a>{inner}</li>'

    def entry_with_sections(document):
        (title, _, _), *sections = document.headings
        inner = "".join(entry(document, *heading[:2]) for heading in sections)
        return entry(document, title, None, f"<ol>{inner}</ol>" if inner else "")

    entries = ""
    for part, part_documents in groupby(documents, key=lambda document: document.part):
        inner = "".join(map(entry_with_sections, part_documents))
        entries += f"<li><span>{escape(part)}</span><ol>{inner}</ol></li>" if part else inner
    files = {"title.xhtml", "nav.xhtml", *(document.file for document in documents)}
    landmarks = "".join(
        f'<li><a epub:type="{kind}" href="{file}">{kind}</a></li>'
        for file, kind in LANDMARKS.items()
        if file in files
    )
    return render_page(
        "Contents",
        f'<nav epub:type="toc" id="toc" role="doc-toc"><h1>Contents</h1><ol>{entries}</ol></nav>'
        f'<nav epub:type="landmarks" hidden="hidden"><h2>Landmarks</h2><ol>{landmarks}</ol></nav>',
        "nav.xhtml",
    )


def properties_attribute(name, content):
    """Return the attribute `properties` of a file in the manifest."""
    values = {"nav.xhtml": ["nav"], "cover.png": ["cover-image"]}.get(name, [])
    if name.endswith(".xhtml"):
        kinds = {"mathml": MATHML, "svg": SVG}
        values += [kind for kind, namespace in kinds.items() if f'"{namespace[1:-1]}"' in content]
    return f' properties="{" ".join(values)}"' if values else ""


def package_document(files, spine, config, date):
    """Return the package document, which lists all files."""
    ids = {name: f"f{number}" for number, name in enumerate(files)}
    return PACKAGE_TEMPLATE.format(
        identifier=uuid.uuid5(uuid.NAMESPACE_OID, config["title"]),
        title=escape(config["title"]),
        author=escape(config["author"]),
        licence=LICENCE,
        modified=date,
        accessibility="\n".join(
            f'<meta property="schema:{name}">{value}</meta>'
            for name, values in ACCESSIBILITY.items()
            for value in values
        ),
        manifest="\n".join(
            f'<item id="{ids[name]}" href="{name}" media-type="{MEDIA_TYPES[Path(name).suffix]}"'
            f"{properties_attribute(name, content)}/>"
            for name, content in files.items()
        ),
        spine="".join(f'<itemref idref="{ids[name]}"/>' for name in spine),
    )


def cover_picture(tab, cover):
    """Return a picture of the title page, which e-readers show in their libraries."""
    tab.set_viewport_size(COVER_SIZE)
    style = f"{COVER_STYLE} body {{ zoom: 2; padding: 0 15mm; }}"
    tab.set_content(f"<style>{style}</style>{cover}", wait_until="networkidle")
    return tab.screenshot()


def write_archive(path, files):
    """Write the archive with fixed times; the file `mimetype` comes first, uncompressed."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)
            compression = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(entry, content, compression, compresslevel=9)


def main(path=DEFAULT_OUTPUT, *names):
    config, date = read_configuration(), last_commit_date()
    with browser_tab() as (tab, site):
        documents = read_pages(tab, site, read_contents(names))
        files = relink_and_read_pictures(documents, site)
        files["cover.png"] = cover_picture(tab, COVER_TEMPLATE.format(site=site, **config))
    files["_static/logo.svg"] = (HTML / "_static" / "logo.svg").read_bytes()
    files["stix-two-math.woff"] = FONT.read_bytes()
    style = (ROOT / "tools" / "epub.css").read_text(encoding="utf-8")
    files["epub.css"] = style + HtmlFormatter(style="bw").get_style_defs(".highlight")
    cover = COVER_TEMPLATE.format(site="", **config)
    rights = f"<p>© {config['copyright']} {config['author']}. {LICENCE}.</p><p>{date[:10]}</p>"
    pages = {"title.xhtml": render_page(config["title"], cover + rights, "title.xhtml")}
    pages["nav.xhtml"] = navigation_document(documents)
    for document in documents:
        body = etree.tostring(document.body, encoding="unicode")
        pages[document.file] = render_page(document.headings[0][0], body, document.file)
    files = dict(sorted(files.items())) | pages
    first_files = {"mimetype": "application/epub+zip", "META-INF/container.xml": CONTAINER}
    first_files["META-INF/stix-two-math-LICENSE"] = FONT_LICENCE.read_bytes()
    write_archive(
        path, first_files | {"book.opf": package_document(files, pages, config, date)} | files
    )
    print(f"{path}: {len(documents)} pages, {Path(path).stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(*sys.argv[1:])
