"""Links arrive at their targets on a phone, also while formulas are typeset."""

import pytest

PHONE = {"width": 390, "height": 844}
BELOW_HEADER, LOWEST = 0, 200  # pixels from the top of the window to the target
IN_PAGE = ("notebooks/dual_svm.html", "notebooks/kernel_logistic_regression.html")
LINKS = 13  # per page
KINDS = ("fig-", "tab-", "equation-", "ex-", "thm-")
TARGETS = (
    "book/glossary.html#term-multiplier",
    "book/api/kernels.html#svmbook.losses.usvc",
    "book/further_experiments.html#reproduced-exemplar-votes",
    "notebooks/exemplar_svms.html#exercises",
    "notebooks/glass_boxes.html#summary",
    "notebooks/kernel_logistic_regression.html#platt-scaling",
    "notebooks/kernels_and_model_selection.html#fig-role-of-c",
    "notebooks/kernels_and_model_selection.html#tab-parameters-reported",
    "notebooks/notes/logistic.html#times-of-estimators",
    "notebooks/prototype_svms.html#ex-inner-sigmoids",
)
HREFS = """() => [...new Set([...document.querySelectorAll(".bd-article a.reference[href^='#']")]
  .map(link => link.getAttribute("href")))].filter(href => href.length > 1)"""
CLICK = """href => {
  const link = document.querySelector(`.bd-article a.reference[href="${href}"]`);
  for (let box = link.closest("details"); box; box = box.parentElement.closest("details")) {
    box.open = true;
  }
  link.click();
}"""
# The distance of the target from the top, after everything is typeset and nothing moves any more.
ARRIVED = """async () => {
  if (window.MathJax) await window.MathJax.startup.promise;
  await document.fonts.ready;
  for (let last = -1, still = 0; still < 12; still += scrollY === last ? 1 : -still) {
    last = scrollY;
    await new Promise(requestAnimationFrame);
  }
  const root = document.documentElement, isAtEnd = scrollY + innerHeight > root.scrollHeight - 2;
  const { top } = document.getElementById(decodeURIComponent(location.hash.slice(1)))
    .getBoundingClientRect();
  return isAtEnd && top > 0 ? 0 : top;
}"""


@pytest.fixture(scope="module")
def phone(browser):
    context = browser.new_context(viewport=PHONE, reduced_motion="no-preference")
    yield context
    context.close()


def sample(hrefs):
    """Return links of all kinds, as many of each as possible, and links to sections."""
    groups = [[href for href in hrefs if href.startswith(f"#{kind}")] for kind in KINDS]
    groups.append([href for href in hrefs if not href[1:].startswith(KINDS)])
    in_turn = (group[turn] for turn in range(LINKS) for group in groups if turn < len(group))
    return list(in_turn)[:LINKS]


@pytest.mark.parametrize("name", IN_PAGE)
def test_links_inside_a_page_arrive(phone, site, name):
    page = phone.new_page()
    page.goto(site + name, wait_until="domcontentloaded")  # the first click comes early
    hrefs = sample(page.evaluate(HREFS))
    assert len(hrefs) == LINKS
    tops = {}
    for href in hrefs:
        page.evaluate(CLICK, href)
        tops[href] = page.evaluate(ARRIVED)
    assert {href: top for href, top in tops.items() if not BELOW_HEADER <= top <= LOWEST} == {}
    page.close()


@pytest.mark.parametrize("target", TARGETS)
def test_links_to_other_pages_arrive(phone, site, target):
    page = phone.new_page()
    page.goto(site + target)
    assert BELOW_HEADER <= page.evaluate(ARRIVED) <= LOWEST
    page.close()


def test_place_is_released_when_the_reader_scrolls(phone, site):
    page = phone.new_page()
    page.goto(f"{site}{TARGETS[1]}", wait_until="domcontentloaded")
    page.mouse.move(200, 400)
    page.mouse.wheel(0, 600)
    page.wait_for_timeout(1000)  # longer than a place is held
    assert page.evaluate(ARRIVED) < -300
    page.close()
