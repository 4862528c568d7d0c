"""What a reader does on a page, by keyboard."""


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
