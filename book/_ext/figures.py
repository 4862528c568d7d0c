"""Show a drawing whole where it fits, and its panels one below the other where it does not."""

import posixpath
import re
from html import escape
from pathlib import Path
from urllib.parse import quote

from docutils import nodes
from sphinx.writers.html5 import HTML5Translator

PIXELS = 96 / 72  # of a point
SIZE = re.compile(r'width="([\d.]+)pt" height="([\d.]+)pt"')
PANELS = re.compile(r'data-panels="([^"]*)"')


def panel(image, size, place):
    """Return one panel: a window on the whole drawing, which lies behind it."""
    left, top, width, height = place
    across, down = width * size[0], height * size[1]
    behind = f"width: {100 / width:.2f}%; left: {-100 * left / width:.2f}%"
    behind += f"; top: {-100 * top / height:.2f}%"
    return (
        f'<span class="panel" style="aspect-ratio: {across:.0f} / {down:.0f}; '
        f'width: min(100%, {across:.0f}px)">{image.format(style=behind)}</span>'
    )


def visit_image(writer, node):
    """Write an SVG that a notebook has stored; other pictures as ever."""
    path = Path(writer.builder.srcdir, node["uri"])
    stored = path.suffix == ".svg" and node["uri"] in writer.builder.images
    head = path.read_bytes()[:2000].decode("utf-8", errors="replace") if stored else ""
    found = SIZE.search(head)
    if found is None or "alt" not in node:
        HTML5Translator.visit_image(writer, node)
        return
    name = writer.builder.images[node["uri"]]
    source = posixpath.join(writer.builder.imgpath, quote(name))
    size = [float(length) * PIXELS for length in found.groups()]
    alt, kept = escape(node["alt"]), " ".join(node["classes"])
    whole = f'<img class="whole" src="{source}" alt="{alt}" loading="lazy" '
    whole += f'width="{size[0]:.0f}" height="{size[1]:.0f}">'
    places = PANELS.search(head)
    if places:
        image = f'<img src="{source}" alt="" loading="lazy" style="{{style}}">'
        numbers = [[float(part) for part in place.split()] for place in places[1].split(",")]
        windows = "".join(panel(image, size, place) for place in numbers)
        whole += f'<span class="panels" role="img" aria-label="{alt}">{windows}</span>'
    writer.body.append(f'<span class="drawing {kept}">{whole}</span>\n')


def depart_image(writer, node):
    """Nothing is open."""


def setup(app):
    app.add_node(nodes.image, override=True, html=(visit_image, depart_image))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
