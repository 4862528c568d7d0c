"""Figures: the moving ones move by keyboard and are light, all can be read on a phone."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PHONE = 390  # pixels across
TICKS = 9.5 * 96 / 72  # of a drawing as it is stored, in pixels
READABLE = 9

# Each figure's slider, its title and the number of the one picture that shows.
STATE = """box => ({
  value: box.querySelector("input").value,
  title: box.querySelector("output").value,
  shown: [...box.querySelectorAll("img")].flatMap((image, k) => image.offsetWidth ? [k] : []),
})"""


def test_a_moving_figure_moves_by_keyboard(visited):
    visited.show(1280, "light")
    for figure in visited.page.locator(".moving").all():
        titles = figure.locator("img").evaluate_all("all => all.map(image => image.title)")
        slider = figure.get_by_role("slider")
        slider.focus()
        slider.press("Home")
        for number, title in enumerate(titles):
            state = {"value": str(number), "title": title, "shown": [number]}
            assert figure.evaluate(STATE) == state
            slider.press("ArrowRight")
        assert len(set(titles)) == len(titles) > 1


def test_a_moving_figure_is_light(built):
    """Count the letters of the page that are one figure's."""
    page = built.read_text(encoding="utf-8")
    figures = re.findall(r'<div class="moving">.*?</div>', page, re.S)
    assert len(figures) == page.count('class="moving"')
    assert [len(figure) for figure in figures if len(figure) >= 400_000] == []


def test_a_moving_figure_is_what_its_notebook_stores(built):
    notebook = ROOT / "notebooks" / f"{built.stem}.ipynb"
    stored = []
    if notebook.exists():
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        outputs = [out for cell in cells for out in cell.get("outputs", [])]
        htmls = ["".join(out.get("data", {}).get("text/html", "")) for out in outputs]
        stored = [html for html in htmls if 'class="moving"' in html]
    page = built.read_text(encoding="utf-8")
    assert len(stored) == page.count('class="moving"')
    for figure in stored:
        assert all(picture in page for picture in re.findall(r'src="[^"]*"', figure))


# Shown as a share of the stored width, of each picture that shows. What is not loaded stays so: its
# width is written beside it.
SCALES = """() => {
  const images = [...document.querySelectorAll(".drawing img, .moving img")];
  return images.filter(image => image.offsetWidth).map(image => {
    const drawing = image.closest(".drawing");
    const whole = drawing?.querySelector(".whole");
    const stored = whole ? whole.getAttribute("width") : image.naturalWidth;
    return [image.closest("figure")?.id, image.offsetWidth / stored];
  });
}"""


def test_a_figure_can_be_read_on_a_phone(visited):
    visited.show(PHONE, "light")
    shares = visited.page.evaluate(SCALES)
    small = {name: share * TICKS for name, share in shares if share * TICKS < READABLE}
    assert not small
