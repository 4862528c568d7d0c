"""The directive ``{street}``: the picture of the first page, computed as the page is made."""

import numpy as np
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from svmbook import DualSVC

WIDTH, HEIGHT = 760, 250
POINTS = 46  # of both kinds


def two_clouds(rng):
    """Return points that keep their distance, from each other and from a slanted line."""
    points = np.empty((0, 2))
    while len(points) < POINTS:
        new = rng.uniform([18, 18], [WIDTH - 18, HEIGHT - 18])
        apart = np.linalg.norm(points - new, axis=1).min(initial=np.inf) > 34
        if apart and abs(side(new)) > 34:
            points = np.vstack([points, new])
    return points, np.sign([side(point) for point in points])


def side(point):
    """Return how far a point is from the line that parts the clouds."""
    return (point - [WIDTH / 2, HEIGHT / 2]) @ [0.88, -0.47]


def across(w, b, level):
    """Return the line where the machine's output is `level`, from top to bottom."""
    ends = [((level - b - w[1] * y) / w[0], y) for y in (-10, HEIGHT + 10)]
    return "M" + "L".join(f"{x:.1f} {y}" for x, y in ends)


def street():
    """Return the picture as SVG: two clouds, their widest street, and who holds it."""
    X, y = two_clouds(np.random.default_rng(25))
    centre = X.mean(axis=0)
    machine = DualSVC(C=np.inf).fit((X - centre) / 100, y)
    w = machine.coef_[0] / 100
    b = machine.intercept_[0] - w @ centre
    width = 2 / np.linalg.norm(w)
    parts = [
        f'<path class="road" d="{across(w, b, 0)}" stroke-width="{width:.1f}"/>',
        f'<path class="kerb" d="{across(w, b, -1)}{across(w, b, 1)}"/>',
        f'<path class="middle" d="{across(w, b, 0)}"/>',
    ]
    for number, ((x, z), label) in enumerate(zip(X, y, strict=True)):
        if number in machine.support_:
            parts.append(f'<circle class="ring" cx="{x:.1f}" cy="{z:.1f}" r="14"/>')
        if label < 0:
            parts.append(f'<circle class="minus" cx="{x:.1f}" cy="{z:.1f}" r="7"/>')
        else:
            parts.append(f'<path class="plus" d="M{x:.1f} {z - 9:.1f}l9 9-9 9-9-9z"/>')
    words = "Two clouds of points, and between them the widest empty street; the points that touch"
    words += " its kerbs are ringed."
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="xMidYMid slice"'
    return f'<svg class="street" {size} role="img" aria-label="{words}">{"".join(parts)}</svg>'


class Street(SphinxDirective):
    """Show the street."""

    def run(self):
        return [nodes.raw("", street(), format="html")]


def setup(app):
    """Register the directive."""
    app.add_directive("street", Street)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
