"""The search finds the section of the chapter, after a definition at most, and shows its words."""

import re

import pytest

WANTED = {
    "kernel trick": "notebooks/kernels_and_model_selection.html#",
    "Platt scaling": "notebooks/kernel_logistic_regression.html#",
    "support vector": "notebooks/dual_svm.html#",
    "duality gap": "notebooks/dual_svm.html#",
    "KKT conditions": "notebooks/dual_svm.html#",
    "\N{GREEK SMALL LETTER NU}-SVM.": "notebooks/left_out.html#a-share",
    "how tight is the hull": "notebooks/left_out.html#ex-hull",
}


def results(visit, query):
    opened = visit(f"search.html?q={query}")
    found = opened.page.locator("ol.found > li").evaluate_all(
        "all => all.map(one => [one.querySelector('a').getAttribute('href'), one.innerText])"
    )
    opened.page.close()
    return found


@pytest.mark.parametrize("query", WANTED)
def test_a_term_is_found_in_its_chapter(visit, query):
    found = results(visit, query)
    places = [place for place, _ in found if not place.startswith("book/glossary")]
    assert places[0].startswith(WANTED[query])
    for _, text in found:
        assert not re.search(r"\\[a-zA-Z(]|\bimport \w+ as\b|np\.", text), text


def test_a_place_that_is_found_is_there(visit):
    solution = next(p for p, _ in results(visit, "tight hull") if "solution" in p)
    for place in (results(visit, "duality gap")[0][0], solution):
        opened = visit(place)
        assert opened.page.evaluate("document.getElementById(location.hash.slice(1))?.tagName")
        opened.page.close()
