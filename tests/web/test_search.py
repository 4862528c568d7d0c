"""The search finds the right section first, glossary entries aside, and shows an excerpt."""

import re

import pytest

EXPECTED = {
    "kernel trick": "notebooks/kernels_and_model_selection.html#",
    "Platt scaling": "notebooks/kernel_logistic_regression.html#",
    "support vector": "notebooks/dual_svm.html#",
    "duality gap": "notebooks/dual_svm.html#",
    "KKT conditions": "notebooks/dual_svm.html#",
    "\N{GREEK SMALL LETTER NU}-SVM.": "notebooks/left_out.html#the-svm",
    "width of a one-class SVM": "notebooks/left_out.html#ex-hull",
}


def results(visit, query):
    opened = visit(f"search.html?q={query}")
    found = opened.page.locator("ol.found > li").evaluate_all(
        "items => items.map(item => [item.querySelector('a').getAttribute('href'), item.innerText])"
    )
    opened.page.close()
    return found


@pytest.mark.parametrize("query", EXPECTED)
def test_term_is_found_in_its_chapter(visit, query):
    found = results(visit, query)
    addresses = [address for address, _ in found if not address.startswith("book/glossary")]
    assert addresses[0].startswith(EXPECTED[query])
    for _, text in found:
        assert not re.search(r"\\[a-zA-Z(]|\bimport \w+ as\b|np\.", text), text


def test_results_link_to_existing_targets(visit):
    solution = next(
        address for address, _ in results(visit, "width one-class") if "solution" in address
    )
    for address in (results(visit, "duality gap")[0][0], solution):
        opened = visit(address)
        assert opened.page.evaluate("document.getElementById(location.hash.slice(1))?.tagName")
        opened.page.close()
