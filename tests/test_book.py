"""Checks of the sources and of the built pages of the book; only the README's example is run.

nbval runs the cells of the notebooks, and the build of the book checks its internal links.
"""

import json
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml
from prose import read_cells, read_markdown

from svmbook import datasets
from svmbook.experiments.suites import SUITES

ROOT = Path(__file__).resolve().parent.parent
CHAPTERS = sorted((ROOT / "notebooks").glob("*.ipynb"))
NOTEBOOKS = [*CHAPTERS, *sorted((ROOT / "notebooks" / "notes").glob("*.ipynb"))]
HTML_FOLDER = ROOT / "_build" / "html"
# Each name is split in two, so that this file does not contain what it searches for.
REGISTRY_HOSTS = [
    "pypi" + ".org",
    "pythonhosted" + ".org",
    "registry.npmjs" + ".org",
    "registry.yarnpkg" + ".com",
    "anaconda" + ".org",
]
LOCAL_PATH = re.compile(r"/(?:home|Users|root|tmp|work|opt|private)/\w|\b[A-Z]:\\\\?Users")
EXERCISE = re.compile(r"^[`:]{3,}\{exercise(?:-start)?\}[^\n]*\n((?::[^\n]*\n)*)", re.M)
SOLUTION = re.compile(r"^[`:]{3,}\{solution(?:-start)?\} *(\S+)[^\n]*\n((?::[^\n]*\n)*)", re.M)

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
every_chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)


def tags(cell):
    return set(cell["metadata"].get("tags", []))


def output_data(cell, mime_type):
    data_of_outputs = [output.get("data", {}) for output in cell["outputs"]]
    return [data[mime_type] for data in data_of_outputs if mime_type in data]


def toc_pages(node):
    """Return the pages of a table of contents in reading order."""
    if isinstance(node, list):
        return [page for item in node for page in toc_pages(item)]
    pages = [node[key] for key in ("root", "file") if key in node]
    for key in ("parts", "chapters", "sections"):
        pages += toc_pages(node.get(key, []))
    return pages


def tracked_files():
    process = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if process.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in process.stdout.split("\0") if name]


# --- the table of contents ---------------------------------------------------------------


def test_table_of_contents_lists_every_notebook_and_page_once():
    pages = toc_pages(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8")))
    sources = [*NOTEBOOKS, *(ROOT / "book").glob("*.md"), *(ROOT / "book/api").glob("*.md")]
    assert len(pages) == len(set(pages))
    assert set(pages) == {path.relative_to(ROOT).with_suffix("").as_posix() for path in sources}


# --- the notebooks -----------------------------------------------------------------------


@every_notebook
def test_cells_were_run_in_order_and_without_error(path):
    code_cells = [cell for cell in read_cells(path, "code") if cell["source"].strip()]
    assert [cell["execution_count"] for cell in code_cells] == list(range(1, len(code_cells) + 1))
    for cell in code_cells:
        for output in cell["outputs"]:
            assert output["output_type"] != "error", cell["source"]
            assert output.get("name") != "stderr", cell["source"]


@every_notebook
def test_every_output_is_compared_or_tagged_as_volatile(path):
    for cell in read_cells(path, "code"):
        assert not {"nbval-skip", "raises-exception", "nbval-raises-exception"} & tags(cell)
        # Comments with the same effect as these tags.
        assert not re.search("NBVAL_|PYTEST_VALIDATE", cell["source"])
        if "nbval-ignore-output" not in tags(cell):
            # nbval keeps no history, so a final `;` does not suppress the value there.
            assert not cell["source"].rstrip().endswith(";"), cell["source"]
            # nbval cannot compare widgets, and they do not work on a static page.
            assert not output_data(cell, "application/vnd.jupyter.widget-view+json"), cell["source"]


@every_notebook
def test_metadata_is_as_written_by_make_notebooks(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    assert "version" not in notebook["metadata"]["language_info"]
    for number, cell in enumerate(notebook["cells"], start=1):
        assert cell["id"] == f"cell-{number:03d}"
        assert "execution" not in cell["metadata"]


@every_notebook
def test_jupyterlab_collapses_exactly_the_code_of_solutions(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    last_directive = ""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            source = "".join(cell["source"])
            directives = re.findall(r"{solution-(start|end)}", source)
            last_directive = (directives or [last_directive])[-1]
        else:
            is_collapsed = cell["metadata"].get("jupyter", {}).get("source_hidden", False)
            assert is_collapsed == (last_directive == "start"), cell["id"]


@every_notebook
def test_figures_are_svg_with_alt_text(path):
    for cell in read_cells(path, "code"):
        assert not output_data(cell, "image/png"), "draw as SVG: call use_book_style first"
        if output_data(cell, "image/svg+xml"):
            metadata = cell["metadata"].get("mystnb", {})
            alt = metadata.get("image", {}).get("alt", "")
            assert len(alt) > 20, f"alt text is missing:\n{cell['source']}"
            if "figure" in metadata:
                assert {"caption", "name"} <= set(metadata["figure"]), cell["source"]


@every_chapter
def test_chapter_has_a_figure_with_a_slider_and_a_description(path):
    code_cells = read_cells(path, "code")
    html_outputs = ["".join(html) for c in code_cells for html in output_data(c, "text/html")]
    slider_figures = [html for html in html_outputs if 'class="slider-figure"' in html]
    assert slider_figures
    for alt in re.findall('alt="([^"]*)"', "".join(slider_figures)):
        title, description = alt.split(". ", 1)
        assert title and len(description) > 40


@every_notebook
def test_tables_outside_solutions_are_named_as_tables(path):
    for cell in read_cells(path, "code"):
        name = cell["metadata"].get("mystnb", {}).get("figure", {}).get("name", "")
        is_table = bool(output_data(cell, "text/markdown"))
        in_solution = cell["metadata"].get("jupyter", {}).get("source_hidden", False)
        needs_name = is_table and bool(name or not in_solution)
        assert name.startswith("tab-") == needs_name, cell["source"]


@every_notebook
def test_long_plotting_code_is_folded(path):
    for cell in read_cells(path, "code"):
        if output_data(cell, "image/svg+xml") and len(cell["source"].splitlines()) > 14:
            assert "hide-input" in tags(cell), f"draw in a cell of its own:\n{cell['source']}"


@every_chapter
def test_exercises_are_labelled_and_solved(path):
    text = read_markdown(path)
    exercises, solutions = EXERCISE.findall(text), SOLUTION.findall(text)
    labels = [label for options in exercises for label in re.findall(r":label: *(\S+)", options)]
    assert len(labels) == len(exercises), "an exercise has no label"
    assert len(labels) >= 6
    assert sorted(label for label, _ in solutions) == sorted(labels)
    assert all("dropdown" in options for _, options in solutions), "a solution is not hidden"
    for kind in ("exercise", "solution"):
        assert text.count(f"{{{kind}-start}}") == text.count(f"{{{kind}-end}}")


@every_chapter
def test_chapter_begins_with_label_title_question_and_prerequisites(path):
    first_source = read_cells(path, "markdown")[0]["source"]
    label = path.stem.replace("_", "-")
    assert re.match(rf"\({label}\)=\n# .+\n\n\*.+\?\*\n\n\S", first_source)
    assert "\n\n:::{admonition} Before you start\n:class: start\n" in first_source


@every_notebook
def test_notebook_contains_no_local_path(path):
    for cell in read_cells(path, "markdown") + read_cells(path, "code"):
        texts = [cell["source"]]
        for output in cell.get("outputs", []):
            texts += ["".join(output.get("text", ""))]
            texts += ["".join(text) for text in output_data(cell, "text/plain")]
        for text in texts:
            assert not LOCAL_PATH.search(text), text


# --- the pages ---------------------------------------------------------------------------


def test_every_generator_is_on_the_page_of_data_sets():
    page = (ROOT / "book" / "datasets.md").read_text(encoding="utf-8")
    listed_names = re.findall(r"^\| \{func\}`~svmbook\.datasets\.(\w+)`", page, re.M)
    docstrings = {name: getattr(datasets, name).__doc__ for name in datasets.__all__}
    random = [name for name, docstring in docstrings.items() if docstring.startswith("Draw ")]
    assert sorted(listed_names) == sorted([*random, "spirals"])


def test_every_suite_has_its_table_in_the_book():
    pages = [ROOT / "book" / f"{name}.md" for name in ("reproductions", "further_experiments")]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    assert set(SUITES) == set(re.findall(r"^```\{reproduction\} (\S+)$", text, re.M))


# --- the repository ----------------------------------------------------------------------


def test_no_tracked_file_contains_a_registry_host():
    for path in tracked_files():
        if path.is_file() and "_vendor" not in path.parts:
            text = path.read_text(encoding="utf-8", errors="ignore")
            for host in REGISTRY_HOSTS:
                assert host not in text, f"{host} in {path.relative_to(ROOT)}"


PACKAGE = ROOT / "svmbook"


def test_api_pages_show_the_public_modules():
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "book/api").glob("*.md"))
    documented = set(re.findall(r"^```{api} (\S+)$", pages, re.M))
    internal_modules = {
        *("arguments", "base", "dask_input", "files", "kernel_machine", "memory", "moments"),
        *("dask_labels", "multiclass", "progress", "rows", "shared_passes", "threads", "ties"),
        "weights",
        *("ensembles", "logistic", "prototypes", "svm", "unbiased"),
    }  # the classes of the last five are public in svmbook itself
    modules = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or path.is_dir()}
    public = {f"svmbook.{name}" for name in modules - internal_modules if not name.startswith("_")}
    method_modules = {
        f"svmbook.experiments.methods.{name}"
        for name in ("grid_search", "multiple_comparisons", "protocols", "statistics")
    }
    # The commands have no page; of the course, students import only two modules.
    public -= {"svmbook.cli", "svmbook.course"}
    public |= {"svmbook.course.checks", "svmbook.course.personal", "svmbook.ensembles.bands"}
    assert sorted(documented) == sorted({"svmbook"} | public | method_modules)


def test_docstring_examples_fit_on_the_pages():
    for path in PACKAGE.rglob("*.py"):
        for line in re.findall(r"^ *((?:>>>|\.\.\.) .*)", path.read_text(encoding="utf-8"), re.M):
            assert len(line) <= 78, f"{path}: {line}"


def referenced_equations(path):
    return re.findall(r":eq:`([^`]+)`", path.read_text(encoding="utf-8"))


def test_equations_referenced_in_the_code_are_in_the_book():
    text = "".join(path.read_text(encoding="utf-8") for path in NOTEBOOKS)
    labels = set(re.findall(r":label: (eq-[\w-]+)", text))
    referenced = {label for path in PACKAGE.rglob("*.py") for label in referenced_equations(path)}
    assert referenced and referenced <= labels, referenced - labels


SOLVER_FILES = sorted(
    path
    for path in (PACKAGE / "solvers").glob("*/**/*.py")
    if path.stem not in ("__init__", "result")
)


@pytest.mark.parametrize("path", SOLVER_FILES, ids=lambda path: path.stem)
def test_solver_module_references_an_equation_of_the_book(path):
    assert referenced_equations(path)


def test_examples_of_the_readme_run(tmp_path, monkeypatch, tasks_in_this_thread):
    monkeypatch.chdir(tmp_path)
    pandas = pytest.importorskip("pandas")
    (tmp_path / "rows.parquet").mkdir()
    for number in range(2):
        X, y = datasets.non_separable(40, random_state=number)
        rows = pandas.DataFrame(X, columns=["x0", "x1"]).assign(label=y)
        rows.to_parquet(f"rows.parquet/{number}.parquet")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```", readme, re.M | re.S):
        exec(compile(block, "README.md", "exec"), {"__name__": "readme"})


# --- the built pages ---------------------------------------------------------------------


URL_ATTRIBUTES = {"script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data"}
RELATIONS_NOT_LOADED = {"next", "prev", "index", "search", "canonical", "author", "license"}


class AssetParser(HTMLParser):
    """Parser that collects the URLs that a browser loads automatically with a page."""

    def __init__(self):
        super().__init__()
        self.urls = []

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag in URL_ATTRIBUTES:
            self.urls.append(values.get(URL_ATTRIBUTES[tag]))
        if tag == "link" and not RELATIONS_NOT_LOADED & set(values.get("rel", "").split()):
            self.urls.append(values.get("href"))


@pytest.mark.skipif(not HTML_FOLDER.is_dir(), reason="the book is not built")
def test_pages_load_only_existing_local_files():
    pages = [
        *HTML_FOLDER.glob("*.html"),
        *HTML_FOLDER.glob("book/**/*.html"),
        *HTML_FOLDER.glob("notebooks/*.html"),
    ]
    assert pages
    for page in pages:
        parser = AssetParser()
        parser.feed(page.read_text(encoding="utf-8"))
        for url in filter(None, parser.urls):
            message = f"{page.relative_to(HTML_FOLDER)} loads {url}"
            assert not re.match(r"(?:[a-z]+:)?//", url), message
            if not url.startswith("data:"):
                file = url.split("?")[0].split("#")[0]
                # The 404 page uses absolute paths, since it is shown at any URL.
                path = HTML_FOLDER / file[1:] if file.startswith("/") else page.parent / file
                assert path.exists(), message
    for style_sheet in HTML_FOLDER.glob("_static/**/*.css"):
        text = style_sheet.read_text(encoding="utf-8")
        assert not re.search(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", text), style_sheet


@pytest.mark.skipif(not HTML_FOLDER.is_dir(), reason="the book is not built")
def test_every_icon_of_the_pages_is_in_the_style_sheet():
    style_sheet = (ROOT / "book" / "_static" / "icons.css").read_text(encoding="utf-8")
    pages = "".join(path.read_text(encoding="utf-8") for path in HTML_FOLDER.glob("[bn]*/*.html"))
    icons = set(re.findall(r'class="fa-solid (fa-[\w-]+)', pages))
    icons |= set(re.findall(r'class="fas (fa-[\w-]+)', pages))
    assert icons and all(f".{icon}::before" in style_sheet for icon in icons), icons
