"""Show drawings: whole on wide screens, with their panels one below another on narrow ones.

The pictures of figures with a slider are stored as files, which load only when they are shown.
"""

import hashlib
import posixpath
import re
from html import escape
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes

from docutils import nodes
from sphinx.writers.html5 import HTML5Translator

SIZE = re.compile(r'width="([\d.]+)pt" height="([\d.]+)pt"')
PANELS = re.compile(r'data-panels="([^"]*)"')
EMBEDDED_PICTURE = re.compile(r'(?<=<img )src="data:image/svg\+xml,([^"]*)"')


def points_to_pixels(length):
    """Convert a length in points, given as text, to CSS pixels."""
    return float(length) * 96 / 72


def panel_html(image_template, size, box):
    """Return the HTML of one panel: the whole drawing, clipped to a box in relative units.

    The template is the HTML of the drawing, with a field ``style``.
    """
    left, top, width, height = box
    pixel_width, pixel_height = width * size[0], height * size[1]
    style = f"width: {100 / width:.2f}%; left: {-100 * left / width:.2f}%"
    style += f"; top: {-100 * top / height:.2f}%"
    return (
        f'<span class="panel" style="aspect-ratio: {pixel_width:.0f} / {pixel_height:.0f}; '
        f'width: min(100%, {pixel_width:.0f}px)">{image_template.format(style=style)}</span>'
    )


def visit_image(writer, node):
    """Write an SVG drawing of a notebook; leave other pictures to Sphinx."""
    path = Path(writer.builder.srcdir, node["uri"])
    is_drawing = path.suffix == ".svg" and node["uri"] in writer.builder.images
    head = path.read_bytes()[:2000].decode("utf-8", errors="replace") if is_drawing else ""
    size_match = SIZE.search(head)
    if size_match is None or "alt" not in node:
        HTML5Translator.visit_image(writer, node)
        return
    name = writer.builder.images[node["uri"]]
    source = posixpath.join(writer.builder.imgpath, quote(name))
    size = [points_to_pixels(length) for length in size_match.groups()]
    alt, classes = escape(node["alt"]), " ".join(node["classes"])
    html = f'<img class="whole" src="{source}" alt="{alt}" loading="lazy" '
    html += f'width="{size[0]:.0f}" height="{size[1]:.0f}">'
    if panels := PANELS.search(head):
        image_template = f'<img src="{source}" alt="" loading="lazy" style="{{style}}">'
        boxes = [[float(number) for number in box.split()] for box in panels[1].split(",")]
        panel_spans = "".join(panel_html(image_template, size, box) for box in boxes)
        html += f'<span class="panels" role="img" aria-label="{alt}">{panel_spans}</span>'
    writer.body.append(f'<span class="drawing {classes}">{html}</span>\n')


def depart_image(writer, node):
    """Do nothing: `visit_image` has closed all its elements."""


def store_embedded_pictures(app, pagename, templatename, context, doctree):
    """Store each picture of a figure with a slider as a file.

    A notebook has these pictures in its HTML outputs. Embedded in the page, they would delay the
    text.
    """

    def store_picture(match):
        content = unquote_to_bytes(match[1])
        name = f"_images/{hashlib.sha256(content).hexdigest()}.svg"
        Path(app.outdir, name).parent.mkdir(exist_ok=True)
        Path(app.outdir, name).write_bytes(content)
        width, height = map(points_to_pixels, SIZE.search(content.decode()).groups())
        size_attributes = f'width="{width:.0f}" height="{height:.0f}"'
        return f'src="{context["pathto"](name, resource=True)}" loading="lazy" {size_attributes}'

    if "body" in context:
        context["body"] = EMBEDDED_PICTURE.sub(store_picture, context["body"])


def setup(app):
    """Register the functions that write images, and the listener."""
    app.add_node(nodes.image, override=True, html=(visit_image, depart_image))
    app.connect("html-page-context", store_embedded_pictures, priority=999)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
