"""Explorables: their numbers are svmbook's (by node's own runner), and they answer in a browser."""

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
from svmbook.losses import hinge, logistic, unbiased
from svmbook.solvers import solve_irwls, svm_path, unbiased_cost
from svmbook.solvers.irwls.starts import svm_start

from .conftest import AXE, ROOT

HERE = Path(__file__).parent
STATIC = ROOT / "book" / "_static"
NODE = shutil.which("node")
BOX = [[-1.55, -1.5], [1.55, 1.5]]


def dual(seed, C, gamma):
    X, y = stdev(2, n=60, random_state=seed)
    options = {"kernel": "rbf", "gamma": gamma} if gamma else {}
    machine = DualSVC(C=C, tol=1e-8, **options).fit(X, y)
    return {
        "X": X.tolist(), "y": y.tolist(), "C": C, "gamma": gamma, "objective": machine.objective_,
        "outputs": machine.decision_function(X).tolist(),
    }  # fmt: skip


def costs(seed, C):
    X, y = stdev(2, n=30, random_state=seed)
    prices = np.full(len(y), C)
    found = solve_irwls(X, y, prices, unbiased_cost(), start=svm_start(X, y, prices), tol=1e-7)
    street = DualSVC(C=C, tol=1e-8).fit(X, y)
    forecast = KernelLogisticRegression(lam=1 / C, kernel="linear").fit(X, y)
    return {
        "X": X.tolist(), "y": y.tolist(), "C": C, "hinge": street.objective_,
        "logistic": C * forecast.objective_, "unbiased": found.objective,
    }  # fmt: skip


def prototypes():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 2)), np.repeat([1, -1], 20)
    X[y > 0] *= 0.6
    C = 5.0  # at which members reject their exemplar, and none is without a free vector
    machine = PrototypeSVM(
        C, p_negative=0.0, n_shifts=3, validation_fraction=0.05, random_state=0
    ).fit(X, y)
    kept = machine.history_[0].exemplars  # the others choose the round
    X, y = X[kept], y[kept]
    number = {old: new for new, old in enumerate(kept)}
    rounds = [
        {
            "exemplars": [number[k] for k in one.exemplars],
            "coef": one.coef.tolist(),
            "intercept": one.intercept.tolist(),
        }
        for one in machine.history_[: machine.n_shifts_ + 1]
    ]
    places = rng.normal(size=(50, 2))
    answers = {"places": places.tolist(), "answers": machine.predict(places).tolist()}
    assert any(len(one.joined) for one in machine.history_)
    return {"X": X.tolist(), "y": y.tolist(), "C": C, "rounds": rounds, "votes": answers}


def numbers():
    """Return what the explorables have to agree with."""
    X, y = stdev(2, n=30, random_state=0)
    grid = np.linspace(-3, 2, 21)
    along = svm_path(X @ X.T, y, 10.0**grid)
    margins = np.linspace(-4, 2, 25)
    rng = np.random.default_rng(0)
    inside = rng.uniform(-1.4, 1.4, size=(30, 2))
    ring = np.where(np.hypot(*inside.T) < 0.9, 1, -1)
    K = stump(inside, box=BOX)
    return {
        "duals": [
            dual(seed, C, gamma)
            for seed, (C, gamma) in enumerate(
                [(c, g) for c in (0.01, 1.0, 1000.0) for g in (0, 0.05, 1.0, 20.0)]
            )
        ],
        "path": {
            "X": X.tolist(),
            "y": y.tolist(),
            "logCs": grid.tolist(),
            "alphas": [one.alpha.tolist() for one in along],
        },
        "costs": {
            "margins": margins.tolist(),
            "hinge": hinge(margins).tolist(),
            "logistic": logistic(margins).tolist(),
            "unbiased": unbiased(margins).tolist(),
            "problems": [costs(seed, C) for seed, C in enumerate((0.1, 1.0, 10.0, 100.0))],
        },
        "stumps": {
            "X": inside.tolist(),
            "y": ring.tolist(),
            "K": K.tolist(),
            "objective": DualSVC(kernel="stump").fit(inside, ring).objective_,
        },
        "prototypes": prototypes(),
    }


def test_explorables_have_the_numbers_of_the_package(tmp_path):
    if NODE is None:
        pytest.skip("no node: apt-get install nodejs")
    kept = tmp_path / "numbers.json"
    kept.write_text(json.dumps(numbers()), encoding="utf-8")
    run = subprocess.run(
        [NODE, "--test", HERE / "explorables.test.mjs"],
        env={**os.environ, "SVMBOOK_NUMBERS": str(kept)},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr


PAGES = {
    "margin": "book/intro.html",
    "costs": "notebooks/unbiased_svc.html",
    "path": "notebooks/active_sets.html",
    "stumps": "notebooks/ensembles_as_kernels.html",
    "prototypes": "notebooks/prototype_svms.html",
}
HEAVIEST = 150_000  # bytes that an explorable may add to its page


@pytest.fixture(scope="module")
def gallery(book, visit):
    """All explorables on the first page, which has one and loads in a tenth of the time."""
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


TOGETHER = [pytest.param((name, None), id=name) for name in PAGES]
ALONE = [
    pytest.param((name, page), id=page, marks=pytest.mark.nightly) for name, page in PAGES.items()
]


# What an explorable does hangs on its module and on the style sheets, which are the same on the
# first page as on its own.
@pytest.fixture(scope="module", params=TOGETHER + ALONE)
def explorable(request, visit):
    """Each explorable in turn, alive: beside the others, and each night on its own page."""
    name, page = request.param
    visited = visit(page) if page else request.getfixturevalue("gallery")
    figure = visited.page.locator(f'[data-explorable="{name}"]')
    figure.scroll_into_view_if_needed()
    figure.locator(".controls").wait_for(state="visible")
    yield visited, figure
    if page:
        visited.page.close()


def shown(figure):
    return figure.locator("svg").first.inner_html()


def after(figure, action):
    """Return the drawing before something is done, and after the frame that follows."""
    before = shown(figure)
    action()
    figure.page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    return before, shown(figure)


def test_an_explorable_answers_to_keys_and_mouse(explorable):
    visited, figure = explorable
    mark = figure.locator('.mark[tabindex="0"]')
    assert mark.count() == 1
    mark.focus()
    before, moved = after(figure, lambda: mark.press("Shift+ArrowRight"))
    assert moved != before
    before, told = mark.get_attribute("aria-label"), mark
    mark.press("n")
    now = figure.locator(".mark:focus")
    assert now.get_attribute("aria-label") != before and told.count() == 1
    box = now.locator(".finger").bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    mouse = visited.page.mouse

    def drag():
        mouse.move(*middle)
        mouse.down()
        mouse.move(middle[0] + 40, middle[1] + 25, steps=3)
        mouse.up()

    place = now.get_attribute("aria-valuetext")
    before, moved = after(figure, drag)
    assert moved != before
    assert now.get_attribute("aria-valuetext") != place
    assert now.evaluate("mark => getComputedStyle(mark).touchAction") == "none"
    assert visited.complaints == []


def test_each_control_of_an_explorable_works_by_keys(explorable):
    _, figure = explorable
    for slider in figure.locator('input[type="range"]:visible').all():
        slider.focus()
        after(figure, lambda slider=slider: slider.press("Home"))
        before, moved = after(figure, lambda slider=slider: slider.press("End"))
        assert moved != before
        assert slider.get_attribute("aria-valuetext")
    for choice in figure.locator("select").all():
        options = choice.locator("option").all_text_contents()
        before, moved = after(figure, lambda c=choice, last=options[-1]: c.select_option(last))
        assert moved != before
    again = figure.get_by_role("button", name="Begin again")
    _, first = after(figure, again.click)
    _, moved = after(figure, lambda: figure.locator(".mark").first.press("Shift+ArrowDown"))
    _, second = after(figure, again.click)
    assert first == second != moved


def test_an_explorable_is_light_and_accessible(explorable):
    visited, figure = explorable
    name = figure.get_attribute("data-explorable")
    own = [r for r in visited.requests if r.url.split("?")[0].endswith("/explorables.js")]
    weight = sum(len(r.response().body()) for r in own) + len(figure.inner_html())
    assert own and weight < HEAVIEST
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    for width, theme in ((1280, "light"), (390, "dark")):
        visited.show(width, theme)
        box = {"include": [f'[data-explorable="{name}"]']}
        result = axe.run(visited.page, context=box, options=AXE)
        assert not result.violations_count, result.generate_report()


FIRST_OFTEN = [
    pytest.param(name, marks=() if name == "margin" else pytest.mark.nightly) for name in PAGES
]


@pytest.mark.parametrize("name", FIRST_OFTEN)
def test_an_explorable_can_be_read_without_scripts(name, site, browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site + PAGES[name])
    figure = page.locator(f'[data-explorable="{name}"]')
    assert figure.locator(".mark").count() > 10
    assert len(figure.locator(".told").inner_text()) > 40
    assert not figure.locator(".controls").is_visible()
    context.close()


@pytest.mark.parametrize("name", FIRST_OFTEN)
def test_an_explorable_lives_on_a_disk_as_well(name, book, browser):
    page = browser.new_page()
    page.goto((book / PAGES[name]).as_uri())
    figure = page.locator(f'[data-explorable="{name}"]')
    figure.scroll_into_view_if_needed()
    figure.get_by_role("button", name="Begin again").wait_for()
    page.close()
