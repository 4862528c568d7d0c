"""Figures with a slider work by keyboard and are small, and all figures are legible on a phone."""

import json
import re
from urllib.parse import unquote

from .conftest import HTML, ROOT

PHONE_WIDTH = 390  # pixels
TICK_LABEL_SIZE = 9.5 * 96 / 72  # font size in a stored drawing, in pixels
MIN_LEGIBLE_SIZE = 9  # smallest font size, in pixels

# The slider value of a figure, its title, and the indices of the visible pictures.
SLIDER_STATE = """box => ({
  value: box.querySelector("input").value,
  title: box.querySelector("output").value,
  shown: [...box.querySelectorAll("img")].flatMap((image, k) => image.offsetWidth ? [k] : []),
})"""


def test_figure_with_a_slider_works_by_keyboard(visited):
    visited.show(1280, "light")
    for figure in visited.page.locator(".slider-figure").all():
        titles = figure.locator("img").evaluate_all("images => images.map(image => image.title)")
        slider = figure.get_by_role("slider")
        slider.focus()
        slider.press("Home")
        for number, title in enumerate(titles):
            state = {"value": str(number), "title": title, "shown": [number]}
            assert figure.evaluate(SLIDER_STATE) == state
            slider.press("ArrowRight")
        assert len(set(titles)) == len(titles) > 1


def slider_pictures(page_file):
    """Return the SVG pictures of each figure with a slider on a built page."""
    figures = re.findall(
        r'<div class="slider-figure">.*?</div>', page_file.read_text(encoding="utf-8"), re.S
    )
    sources = [re.findall(r'<img src="([^"]*)"', figure) for figure in figures]
    return [
        [(page_file.parent / source).read_text("utf-8") for source in figure_sources]
        for figure_sources in sources
    ]


def test_figure_with_a_slider_is_small(page_file):
    """The pictures of each figure have fewer than 400,000 characters in total."""
    assert all(sum(map(len, pictures)) < 400_000 for pictures in slider_pictures(page_file))


def test_figure_with_a_slider_is_the_stored_output_of_its_notebook(page_file):
    notebook = ROOT / page_file.relative_to(HTML).with_suffix(".ipynb")
    stored_figures = []
    if notebook.exists():
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        outputs = [output for cell in cells for output in cell.get("outputs", [])]
        html_outputs = ["".join(output.get("data", {}).get("text/html", "")) for output in outputs]
        stored_figures = [html for html in html_outputs if 'class="slider-figure"' in html]
    sources = [re.findall(r'src="data:image/svg\+xml,([^"]*)"', html) for html in stored_figures]
    stored_pictures = [[unquote(source) for source in figure_sources] for figure_sources in sources]
    assert slider_pictures(page_file) == stored_pictures


# The ratio of displayed to stored width of each visible picture. Lazy pictures need not be loaded,
# since their stored width is an attribute.
SCALES = """() => {
  const images = [...document.querySelectorAll(".drawing img, .slider-figure img")];
  return images.filter(image => image.offsetWidth).map(image => {
    const drawing = image.closest(".drawing");
    const whole = drawing?.querySelector(".whole");
    const stored = whole ? whole.getAttribute("width") : image.naturalWidth;
    return [image.closest("figure")?.id, image.offsetWidth / stored];
  });
}"""


def test_figure_is_legible_on_a_phone(visited):
    visited.show(PHONE_WIDTH, "light")
    sizes = {name: scale * TICK_LABEL_SIZE for name, scale in visited.page.evaluate(SCALES)}
    assert not {name: size for name, size in sizes.items() if size < MIN_LEGIBLE_SIZE}
