"""Explorables: their numbers agree with svmbook's, and readers can operate them in Chromium."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from svmbook import DualSVC, KernelLogisticRegression, PrototypeSVM
from svmbook.datasets import stdev
from svmbook.kernels import stump
from svmbook.losses import hinge, logistic, usvc
from svmbook.solvers import solve_irwls, svm_path, usvc_cost
from svmbook.solvers.irwls.starts import svm_start

from .conftest import AXE_OPTIONS, ROOT, mark_nightly

HERE = Path(__file__).parent
STATIC = ROOT / "book" / "_static"
NODE = shutil.which("node")
STUMP_BOX = [[-1.55, -1.5], [1.55, 1.5]]


def dual_results(seed, C, gamma):
    X, y = stdev(2, n=60, random_state=seed)
    options = {"kernel": "rbf", "gamma": gamma} if gamma else {}
    model = DualSVC(C=C, tol=1e-8, **options).fit(X, y)
    return {
        "X": X.tolist(), "y": y.tolist(), "C": C, "gamma": gamma, "objective": model.objective_,
        "outputs": model.decision_function(X).tolist(),
    }  # fmt: skip


def cost_results(seed, C):
    X, y = stdev(2, n=30, random_state=seed)
    weights = np.full(len(y), C)
    usvc_result = solve_irwls(X, y, weights, usvc_cost(), start=svm_start(X, y, weights), tol=1e-7)
    svm = DualSVC(C=C, tol=1e-8).fit(X, y)
    regression = KernelLogisticRegression(lam=1 / C, kernel="linear").fit(X, y)
    return {
        "X": X.tolist(), "y": y.tolist(), "C": C, "hinge": svm.objective_,
        "logistic": C * regression.objective_, "unbiased": usvc_result.objective,
    }  # fmt: skip


def prototype_results():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 2)), np.repeat([1, -1], 20)
    X[y > 0] *= 0.6
    C = 5.0  # some members reject their exemplar, and every member has a free support vector
    model = PrototypeSVM(
        C, p_negative=0.0, n_shifts=3, validation_fraction=0.05, random_state=0
    ).fit(X, y)
    training_indices = model.history_[0].exemplar_indices  # the rest is the validation set
    X, y = X[training_indices], y[training_indices]
    new_index = {old: new for new, old in enumerate(training_indices)}
    iterations = [
        {
            "exemplars": [new_index[k] for k in members.exemplar_indices],
            "coef": members.coef.tolist(),
            "intercept": members.intercept.tolist(),
        }
        for members in model.history_[: model.n_shifts_ + 1]
    ]
    queries = rng.normal(size=(50, 2))
    assert any(len(members.new_positives) for members in model.history_)
    return {
        "X": X.tolist(), "y": y.tolist(), "C": C, "iterations": iterations,
        "queries": queries.tolist(), "predictions": model.predict(queries).tolist(),
    }  # fmt: skip


def expected_results():
    """Return the results of svmbook with which the explorables must agree."""
    X, y = stdev(2, n=30, random_state=0)
    log_C = np.linspace(-3, 2, 21)
    path = svm_path(X @ X.T, y, 10.0**log_C)
    margins = np.linspace(-4, 2, 25)
    rng = np.random.default_rng(0)
    points = rng.uniform(-1.4, 1.4, size=(30, 2))
    disc_labels = np.where(np.hypot(*points.T) < 0.9, 1, -1)
    K = stump(points, box=STUMP_BOX)
    return {
        "duals": [
            dual_results(seed, C, gamma)
            for seed, (C, gamma) in enumerate(
                [(c, g) for c in (0.01, 1.0, 1000.0) for g in (0, 0.05, 1.0, 20.0)]
            )
        ],
        "path": {
            "X": X.tolist(),
            "y": y.tolist(),
            "logCs": log_C.tolist(),
            "alphas": [solution.alpha.tolist() for solution in path],
        },
        "costs": {
            "margins": margins.tolist(),
            "hinge": hinge(margins).tolist(),
            "logistic": logistic(margins).tolist(),
            "unbiased": usvc(margins).tolist(),
            "problems": [cost_results(seed, C) for seed, C in enumerate((0.1, 1.0, 10.0, 100.0))],
        },
        "stumps": {
            "X": points.tolist(),
            "y": disc_labels.tolist(),
            "K": K.tolist(),
            "objective": DualSVC(kernel="stump").fit(points, disc_labels).objective_,
        },
        "prototypes": prototype_results(),
    }


def test_explorables_agree_with_the_package(tmp_path):
    if NODE is None:
        pytest.skip("no Node.js: apt-get install nodejs")
    file = tmp_path / "expected_results.json"
    file.write_text(json.dumps(expected_results()), encoding="utf-8")
    process = subprocess.run(
        [NODE, "--test", HERE / "explorables.test.mjs"],
        env={**os.environ, "SVMBOOK_EXPECTED_RESULTS": str(file)},
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stdout + process.stderr


PAGES = {
    "margin": "book/intro.html",
    "costs": "notebooks/unbiased_svc.html",
    "path": "notebooks/active_sets.html",
    "stumps": "notebooks/ensembles_as_kernels.html",
    "prototypes": "notebooks/prototype_svms.html",
}
MAX_BYTES = 150_000  # that an explorable may add to its page


@pytest.fixture(scope="module")
def page_with_all_explorables(book, visit):
    """Open the first page, which loads ten times faster than a chapter, with all explorables."""
    page = book / PAGES["margin"]
    stills = (STATIC / "explorables" / f"{name}.html" for name in PAGES if name != "margin")
    others = "".join(
        f'<div class="explorable" data-explorable="{still.stem}">\n{still.read_text("utf-8")}</div>'
        for still in stills
    )
    html = page.read_text(encoding="utf-8").replace("</article>", f"{others}</article>", 1)
    opened = visit(PAGES["margin"], html)
    yield opened
    opened.page.close()


ON_THE_FIRST_PAGE = [pytest.param((name, None), id=name) for name in PAGES]
ON_ITS_OWN_PAGE = [
    pytest.param((name, page), id=page, marks=pytest.mark.nightly) for name, page in PAGES.items()
]


# The behaviour of an explorable depends only on its module and the style sheets, which are the same
# on the first page and on its own.
@pytest.fixture(scope="module", params=ON_THE_FIRST_PAGE + ON_ITS_OWN_PAGE)
def explorable(request, visit):
    """Start each explorable: on the page with all of them and, each night, on its own page."""
    name, page = request.param
    visited = visit(page) if page else request.getfixturevalue("page_with_all_explorables")
    figure = visited.page.locator(f'[data-explorable="{name}"]')
    figure.scroll_into_view_if_needed()
    figure.locator(".controls").wait_for(state="visible")
    yield visited, figure
    if page:
        visited.page.close()


def drawing(figure):
    return figure.locator("svg").first.inner_html()


def drawings_before_and_after(figure, action):
    """Perform an action; return the drawing before it and after the next animation frame."""
    before = drawing(figure)
    action()
    figure.page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    return before, drawing(figure)


def test_explorable_responds_to_keyboard_and_mouse(explorable):
    visited, figure = explorable
    mark = figure.locator('.mark[tabindex="0"]')
    assert mark.count() == 1
    mark.focus()
    before, after = drawings_before_and_after(figure, lambda: mark.press("Shift+ArrowRight"))
    assert after != before
    label = mark.get_attribute("aria-label")
    mark.press("n")
    focused = figure.locator(".mark:focus")
    assert focused.get_attribute("aria-label") != label and mark.count() == 1
    box = focused.locator(".touch-target").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    mouse = visited.page.mouse

    def drag():
        mouse.move(x, y)
        mouse.down()
        mouse.move(x + 40, y + 25, steps=3)
        mouse.up()

    position = focused.get_attribute("aria-valuetext")
    before, after = drawings_before_and_after(figure, drag)
    assert after != before
    assert focused.get_attribute("aria-valuetext") != position
    assert focused.evaluate("mark => getComputedStyle(mark).touchAction") == "none"
    assert visited.errors == []


def test_controls_change_the_drawing_and_reset_restores_it(explorable):
    _, figure = explorable
    for slider in figure.locator('input[type="range"]:visible').all():
        slider.focus()
        drawings_before_and_after(figure, lambda slider=slider: slider.press("Home"))
        before, after = drawings_before_and_after(figure, lambda slider=slider: slider.press("End"))
        assert after != before
        assert slider.get_attribute("aria-valuetext")
    for select in figure.locator("select").all():
        last = select.locator("option").all_text_contents()[-1]
        before, after = drawings_before_and_after(
            figure, lambda s=select, last=last: s.select_option(last)
        )
        assert after != before
    reset, mark = figure.get_by_role("button", name="Reset"), figure.locator(".mark").first
    _, first = drawings_before_and_after(figure, reset.click)
    _, moved = drawings_before_and_after(figure, lambda: mark.press("Shift+ArrowDown"))
    _, second = drawings_before_and_after(figure, reset.click)
    assert first == second != moved


def test_explorable_is_small_and_accessible(explorable):
    visited, figure = explorable
    name = figure.get_attribute("data-explorable")
    scripts = [r for r in visited.requests if r.url.split("?")[0].endswith("/explorables.js")]
    size = sum(len(r.response().body()) for r in scripts) + len(figure.inner_html())
    assert scripts and size < MAX_BYTES
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    for width, theme in ((1280, "light"), (390, "dark")):
        visited.show(width, theme)
        axe_context = {"include": [f'[data-explorable="{name}"]']}
        result = axe.run(visited.page, context=axe_context, options=AXE_OPTIONS)
        assert not result.violations_count, result.generate_report()


@pytest.mark.parametrize("name", mark_nightly(PAGES, ["margin"]))
def test_explorable_can_be_read_without_scripts(name, site, browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site + PAGES[name])
    figure = page.locator(f'[data-explorable="{name}"]')
    assert figure.locator(".mark").count() > 10
    assert len(figure.locator(".description").inner_text()) > 40
    assert not figure.locator(".controls").is_visible()
    context.close()


@pytest.mark.parametrize("name", mark_nightly(PAGES, ["margin"]))
def test_explorable_works_in_a_local_file(name, book, browser):
    page = browser.new_page()
    page.goto((book / PAGES[name]).as_uri())
    figure = page.locator(f'[data-explorable="{name}"]')
    figure.scroll_into_view_if_needed()
    figure.get_by_role("button", name="Reset").wait_for()
    page.close()
