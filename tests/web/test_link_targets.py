"""Links lead to their targets on a phone, even while formulas are being typeset."""

import pytest

PHONE_VIEWPORT = {"width": 390, "height": 844}
MIN_TOP, MAX_TOP = 0, 200  # accepted distances of a target from the top of the window, in pixels
PAGES_WITH_INNER_LINKS = ("notebooks/dual_svm.html", "notebooks/kernel_logistic_regression.html")
N_LINKS = 13  # links tested per page
TARGET_PREFIXES = ("fig-", "tab-", "equation-", "ex-", "thm-")
TARGET_ADDRESSES = (
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
INNER_HREFS = """() => {
  const links = [...document.querySelectorAll(".bd-article a.reference[href^='#']")];
  const hrefs = new Set(links.map(link => link.getAttribute("href")));
  return [...hrefs].filter(href => href.length > 1);
}"""
CLICK_LINK = """href => {
  const link = document.querySelector(`.bd-article a.reference[href="${href}"]`);
  for (let box = link.closest("details"); box; box = box.parentElement.closest("details")) {
    box.open = true;
  }
  link.click();
}"""
# The distance of the target from the top of the window in pixels, after everything is typeset and
# nothing moves any more; 0 if the page cannot be scrolled further.
TARGET_TOP = """async () => {
  await window.MathJax?.startup?.promise;
  await document.fonts.ready;
  for (let last = -1, n = 0; n < 12; n += scrollY === last ? 1 : -n) { // n frames without motion
    last = scrollY;
    await new Promise(requestAnimationFrame);
  }
  const root = document.documentElement, isAtEnd = scrollY + innerHeight > root.scrollHeight - 2;
  const { top } = document.getElementById(decodeURIComponent(location.hash.slice(1)))
    .getBoundingClientRect();
  return isAtEnd && top > 0 ? 0 : top;
}"""


@pytest.fixture(scope="module")
def phone_context(browser):
    context = browser.new_context(viewport=PHONE_VIEWPORT, reduced_motion="no-preference")
    yield context
    context.close()


def select_hrefs(hrefs):
    """Return `N_LINKS` links, taken in turn from each kind of target and from sections."""
    groups = [
        [href for href in hrefs if href.startswith(f"#{prefix}")] for prefix in TARGET_PREFIXES
    ]
    groups.append([href for href in hrefs if not href[1:].startswith(TARGET_PREFIXES)])
    alternating = (group[turn] for turn in range(N_LINKS) for group in groups if turn < len(group))
    return list(alternating)[:N_LINKS]


@pytest.mark.parametrize("name", PAGES_WITH_INNER_LINKS)
def test_links_within_a_page_lead_to_their_targets(phone_context, site, name):
    page = phone_context.new_page()
    # The first click comes before formulas are typeset.
    page.goto(site + name, wait_until="domcontentloaded")
    hrefs = select_hrefs(page.evaluate(INNER_HREFS))
    assert len(hrefs) == N_LINKS
    tops = {}
    for href in hrefs:
        page.evaluate(CLICK_LINK, href)
        tops[href] = page.evaluate(TARGET_TOP)
    assert {href: top for href, top in tops.items() if not MIN_TOP <= top <= MAX_TOP} == {}
    page.close()


@pytest.mark.parametrize("address", TARGET_ADDRESSES)
def test_addresses_with_a_target_lead_to_it(phone_context, site, address):
    page = phone_context.new_page()
    page.goto(site + address)
    assert MIN_TOP <= page.evaluate(TARGET_TOP) <= MAX_TOP
    page.close()


def test_page_stops_following_the_target_when_the_reader_scrolls(phone_context, site):
    page = phone_context.new_page()
    page.goto(f"{site}{TARGET_ADDRESSES[1]}", wait_until="domcontentloaded")
    page.mouse.move(200, 400)
    page.mouse.wheel(0, 600)
    page.wait_for_timeout(1000)  # longer than the page follows a target
    assert page.evaluate(TARGET_TOP) < -300
    page.close()
