"""What a reader does on a page, by keyboard."""

import pytest


def test_a_solution_opens_and_closes_by_keyboard(visit):
    opened = visit("notebooks/dual_svm.html")
    solution = opened.page.locator("details.solution").first
    assert solution.get_attribute("open") is None
    title = solution.locator("summary")
    title.focus()
    opened.page.keyboard.press("Enter")
    assert solution.get_attribute("open") is not None
    assert solution.locator("p").last.is_visible()
    opened.page.keyboard.press("Space")
    assert solution.get_attribute("open") is None
    assert opened.page.url.endswith("dual_svm.html")  # the title leads nowhere else
    opened.page.close()


@pytest.mark.parametrize("kind, inside", [("#equation-", "mjx-math"), ("#thm-", "p"), ("#id", "p")])
def test_a_link_shows_what_it_leads_to_by_keyboard(visit, kind, inside):
    opened = visit("notebooks/dual_svm.html")
    opened.page.locator(f'article p a.reference[href*="{kind}"]').first.focus()
    opened.page.locator(f".tippy-content {inside}").first.wait_for()
    assert opened.complaints == []
    opened.page.keyboard.press("Escape")
    opened.page.close()
