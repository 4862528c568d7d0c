"""What a reader does on a page, by keyboard."""

import pytest


@pytest.fixture(scope="module")
def chapter(visit):
    """A chapter with few formulas and links of all kinds; each test leaves it as it was."""
    opened = visit("notebooks/perceptrons_and_trees.html")
    yield opened
    opened.page.close()


def test_a_solution_opens_and_closes_by_keyboard(chapter):
    solution = chapter.page.locator("details.solution").first
    assert solution.get_attribute("open") is None
    title = solution.locator("summary")
    title.focus()
    chapter.page.keyboard.press("Enter")
    assert solution.get_attribute("open") is not None
    assert solution.locator("p").last.is_visible()
    chapter.page.keyboard.press("Space")
    assert solution.get_attribute("open") is None
    assert chapter.page.url.endswith("perceptrons_and_trees.html")  # the title leads nowhere else


@pytest.mark.parametrize("kind, inside", [("#equation-", "mjx-math"), ("#thm-", "p"), ("#id", "p")])
def test_a_link_shows_what_it_leads_to_by_keyboard(chapter, kind, inside):
    page, shown = chapter.page, chapter.page.locator(f".tippy-content {inside}").first
    page.locator(f'article p a.reference[href*="{kind}"]').first.focus()
    shown.wait_for()
    assert chapter.complaints == []
    page.evaluate("() => document.activeElement.blur()")
    shown.wait_for(state="detached")  # else the next link would be shown by this one's preview
