"""What the checks are: the jobs of each stage."""

import sys
from dataclasses import replace
from pathlib import Path

import yaml
from perturbed import kernel_environment
from processors import playable
from scheduling import LOGS, ROOT, SHARED, Job, log_of

PYTHON = sys.executable
# Tests that one process runs, so that it starts one browser, or reads the package once. Those that
# are named nowhere, and the examples in docstrings, are "others".
GROUPS = {
    "solvers": ("solvers",),
    "core": ("gram", "kernels", "svm", "logistic", "unbiased", "test_annotations.py",
             "test_base.py", "test_calibration.py", "test_labels.py", "test_losses.py",
             "test_tables.py", "test_weights.py"),
    "ensembles": ("ensembles", "prototypes"),
    "experiments": ("experiments",),
    "course": ("course",),
    "web": ("web", "test_book.py", "test_glossary.py"),
    "live": ("web/test_live.py", "web/test_live_class.py", "web/test_pdf.py"),
}  # fmt: skip
QUICK = ("solvers", "core")
NUMERICAL = (*QUICK, "ensembles")
LOOK_AT_PAGES = ("web", "live")
MOVED = (0, 1)  # draws of data that differ from the book's in the last bits
NO_TESTS = 5  # pytest's exit code where a selection is empty


def lint():
    """Return the checks of the code as text."""
    ruff = (PYTHON, "-m", "ruff")
    return [
        Job("ruff check", "lint", (*ruff, "check", "--quiet", ".")),
        Job("ruff format", "lint", (*ruff, "format", "--check", "--quiet", ".")),
    ]


def html():
    """Return the build of the book: a warning, or a reference that leads nowhere, is an error."""
    jupyter_book = Path(PYTHON).with_name("jupyter-book")
    command = (jupyter_book, "build", ".", "-W", "-n", "--keep-going", "-q")
    return [Job("html", "html", command, after=("lint",))]


def test_paths():
    """Return the files and folders of each group; of a divided folder, the files."""
    tests = ROOT / "tests"
    named = [name for members in GROUPS.values() for name in members]
    found = {path.relative_to(tests).as_posix() for path in tests.rglob("test_*.py")}
    others = sorted({file.split("/")[0] for file in found}.difference(named))
    paths = {}
    for group, members in (GROUPS | {"others": others}).items():
        paths[group] = []
        for name in members:
            inside = sorted(file for file in found if file.startswith(f"{name}/"))
            divided = any(file in named for file in inside)
            parts = [file for file in inside if file not in named] if divided else [name]
            paths[group] += [f"tests/{part}" for part in parts]
    paths["others"].append("svmbook")
    return paths


def pytest(select="not nightly", only=(), suffix="", **env):
    """Return a run of pytest for each group of tests, or for those named in `only`."""
    passed = (0, NO_TESTS) if select == "nightly" else (0,)
    found = []
    for group, paths in test_paths().items():
        name = f"pytest {group}{suffix}"
        junit = f"--junitxml={log_of(name, 'xml')}"
        command = (PYTHON, "-m", "pytest", "-q", "-m", select, junit, *paths)
        after = ("lint", "html") if group in LOOK_AT_PAGES else ("lint",)
        if group in (only or (group,)):
            found.append(Job(name, "pytest", command, after, env, passed))
    return found


def notebook_groups():
    """Return the notebooks that share a process: the chapters of a part of the book, or the rest.

    Their kernels are forks of one process that has loaded the libraries (tests/nbval_kernels.py).
    """
    groups, others = {}, sorted((ROOT / "notebooks").glob("assignments/*/*.ipynb"))
    for part in yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))["parts"]:
        files = [ROOT / f"{chapter['file']}.ipynb" for chapter in part["chapters"]]
        files = [file for file in files if file.exists()]
        if len(files) > 1:
            groups[part["caption"]] = files
        else:
            others += files
    questions = sorted((ROOT / "notebooks").glob("questions/*.ipynb"))
    return groups | {"others": others, "questions": questions}


def notebooks(suffix="", **env):
    """Return the runs that compare the output of fresh kernels with the stored one (nbval)."""
    command = (
        PYTHON, "-m", "pytest", "-q", "-c", "tests/nbval.ini", "--rootdir", ROOT, "--nbval",
        "--nbval-current-env", "--nbval-cell-timeout=120",
        "--nbval-sanitize-with", "tests/nbval_sanitize.cfg",
    )  # fmt: skip
    env = {"IPYTHONDIR": str(LOGS / "ipython"), **env}  # not the profile of who runs the checks
    return [
        Job(f"notebooks {name}{suffix}", "notebooks", (*command, *files), ("lint", "fonts"), env)
        for name, files in notebook_groups().items()
    ]


def fonts():
    """Return the search for fonts, which Matplotlib would announce in the first notebook."""
    command = (PYTHON, "-c", "import matplotlib.font_manager")
    return [Job("fonts", "fonts", command, after=("lint",))]


def wheel():
    """Return the build of the wheel, imported outside the repository."""
    return [Job("wheel", "wheel", (PYTHON, "tools/wheel.py"), after=("lint",))]


STAGES = {stage.__name__: stage for stage in (lint, fonts, html, pytest, notebooks, wheel)}


def quick():
    """Return the inner loop: lint, and the tests of the numerical core."""
    return [*lint(), *pytest(only=QUICK)]


def nightly():
    """Return the tests that are too slow for each change, and what they need."""
    found = [*lint(), *html(), *pytest("nightly")]
    # A failure in one part does not keep the others from being run.
    return [replace(job, after=tuple({*job.after} - {"lint"})) for job in found]


def elsewhere(names):
    """Return notebooks and numerical tests as other processors, and two BLAS threads, run them.

    And the notebooks on data that are moved by a relative 1e-15, which shows on any processor what
    hangs on the last bits.

    One thread shows what a kernel does. How a product is divided among two threads hangs on the
    kernel as well, but the division is new to the results only once, so the processor's own kernel
    shows it.
    """
    played = {f" ({name})": env for name, env in playable(names).items()}
    played[" (two threads)"] = {name: "2" for name in SHARED}
    moved = {
        f" (moved data {draw})": kernel_environment(LOGS / f"moved-{draw}", draw) for draw in MOVED
    }
    found = [job for suffix, env in (played | moved).items() for job in notebooks(suffix, **env)]
    for suffix, env in played.items():
        found += pytest(only=NUMERICAL, suffix=suffix, **env)
    # Threads that share a core wait for each other longer than they count.
    return [replace(job, cores=int(job.env.get("OMP_NUM_THREADS", 1))) for job in found]
