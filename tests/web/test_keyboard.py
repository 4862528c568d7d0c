"""Pages can be used by keyboard: solutions and previews of links."""

import pytest


@pytest.fixture(scope="module")
def chapter(visit):
    """Open a chapter with few formulas and all kinds of links; tests restore its state."""
    opened = visit("notebooks/perceptrons_and_trees.html")
    yield opened
    opened.page.close()


def test_solution_opens_and_closes_by_keyboard(chapter):
    solution = chapter.page.locator("details.solution").first
    assert solution.get_attribute("open") is None
    title = solution.locator("summary")
    title.focus()
    chapter.page.keyboard.press("Enter")
    assert solution.get_attribute("open") is not None
    assert solution.locator("p").last.is_visible()
    chapter.page.keyboard.press("Space")
    assert solution.get_attribute("open") is None
    # The title of a solution is not a link.
    assert chapter.page.url.endswith("perceptrons_and_trees.html")


@pytest.mark.parametrize(
    "target_prefix, content_selector", [("#equation-", "mjx-math"), ("#thm-", "p"), ("#id", "p")]
)
def test_focused_link_shows_a_preview(chapter, target_prefix, content_selector):
    page, preview = chapter.page, chapter.page.locator(f".tippy-content {content_selector}").first
    page.locator(f'article p a.reference[href*="{target_prefix}"]').first.focus()
    preview.wait_for()
    assert chapter.errors == []
    page.evaluate("() => document.activeElement.blur()")
    preview.wait_for(state="detached")  # otherwise the next test could find this preview
