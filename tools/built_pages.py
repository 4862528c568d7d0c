"""The built pages for the PDF and the EPUB: their order, links, and display in a browser tab.

Both files also have the same title page, from `COVER_TEMPLATE`, and the same configuration.
"""

from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlparse

import yaml
from playwright.sync_api import sync_playwright
from serve import CHROMIUM, serving

ROOT = Path(__file__).resolve().parents[1]
HTML = ROOT / "_build" / "html"
TEXT_WIDTH = 665  # pixels, on a page of A4
COVER_STYLE = """
body { font: 11pt/1.5 "Source Sans 3", "DejaVu Sans", sans-serif; }
.cover { height: 230mm; align-content: center; break-after: page; }
.cover img { width: 55mm; }
.cover h1 { font-size: 30pt; line-height: 1.15; margin: 12mm 0 4mm; }
"""
COVER_TEMPLATE = (
    '<div class="cover"><img src="{site}_static/logo.svg" alt=""/><h1>{title}</h1>{author}</div>'
)


def read_configuration():
    return yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))


def read_contents(names):
    """Return the parts of the book with their pages in order; if `names` are given, only these."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    parts = [("", [toc["root"]])]
    for part in toc["parts"]:
        pages = []
        for chapter in part["chapters"]:
            pages.append(chapter["file"])
            pages += [section["file"] for section in chapter.get("sections", ())]
        parts.append((part["caption"], pages))
    return [(part, [page for page in pages if not names or page in names]) for part, pages in parts]


def parse_link(address, site):
    """Return the page and the anchor of an address within the book at `site`, or else None."""
    if not address.startswith(site):
        return None
    url = urlparse(address)
    return url.path.strip("/").removesuffix(".html"), unquote(url.fragment)


@contextmanager
def browser_tab():
    """Serve the built pages, and yield a tab of Chromium and the address of the pages."""
    if CHROMIUM is None:
        raise SystemExit("Chromium was not found; install your distribution's package `chromium`")
    with serving(HTML) as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        viewport = {"width": TEXT_WIDTH, "height": 900}
        yield browser.new_page(viewport=viewport, reduced_motion="reduce"), site
        browser.close()


def open_page(tab, address):
    """Show a page in the light theme and as in print."""
    tab.goto(address)
    tab.evaluate("() => { document.documentElement.dataset.theme = 'light' }")
    tab.emulate_media(media="print")
