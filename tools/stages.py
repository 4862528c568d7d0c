"""The jobs of each stage of the checks."""

import sys
from dataclasses import replace
from pathlib import Path

import yaml
from perturbation_environment import perturbation_environment
from processors import emulation_environments
from scheduling import LOGS, ONE_THREAD_ENV, ROOT, Job, log_path

PYTHON = sys.executable
# The tests of a group share a process, so that they start one browser or import the package once.
# Tests in no group, and the docstring examples, form the group "others".
GROUPS = {
    "solvers": ("solvers",),
    "core": ("gram", "kernels", "svm", "logistic", "unbiased", "test_annotations.py",
             "test_base.py", "test_calibration.py", "test_labels.py", "test_losses.py",
             "test_tables.py", "test_weights.py"),
    "ensembles": ("ensembles", "prototypes"),
    "experiments": ("experiments",),
    "course": ("course",),
    "web": ("web", "test_book.py", "test_glossary.py"),
    "live_and_print": ("web/test_live.py", "web/test_live_class.py", "web/test_pdf.py",
                       "web/test_epub.py"),
}  # fmt: skip
QUICK_GROUPS = ("solvers", "core")
NUMERICAL_GROUPS = (*QUICK_GROUPS, "ensembles")
GROUPS_THAT_NEED_HTML = ("web", "live_and_print")
PERTURBATION_SEEDS = (0, 1)
NO_TESTS_CODE = 5  # exit code of pytest if no test is selected


def lint():
    """Return the jobs that lint the code and check its format."""
    ruff = (PYTHON, "-m", "ruff")
    return [
        Job("ruff check", "lint", (*ruff, "check", "--quiet", ".")),
        Job("ruff format", "lint", (*ruff, "format", "--check", "--quiet", ".")),
    ]


def html():
    """Return the job that builds the book; warnings and unresolved references are errors."""
    jupyter_book = Path(PYTHON).with_name("jupyter-book")
    command = (jupyter_book, "build", ".", "-W", "-n", "--keep-going", "-q")
    return [Job("html", "html", command, required_stages=("lint",))]


def paths_by_group():
    """Return the paths of each group; a folder that groups share is replaced by its files."""
    tests = ROOT / "tests"
    named = [name for names in GROUPS.values() for name in names]
    test_files = {path.relative_to(tests).as_posix() for path in tests.rglob("test_*.py")}
    others = sorted({file.split("/")[0] for file in test_files}.difference(named))
    paths = {}
    for group, names in (GROUPS | {"others": others}).items():
        paths[group] = []
        for name in names:
            inside = sorted(file for file in test_files if file.startswith(f"{name}/"))
            is_split = any(file in named for file in inside)
            files = [file for file in inside if file not in named] if is_split else [name]
            paths[group] += [f"tests/{file}" for file in files]
    paths["others"].append("svmbook")
    return paths


def pytest(marker_expression="not nightly", selected_groups=(), suffix="", **env):
    """Return the jobs that run pytest, one per group of tests or per group in `selected_groups`."""
    passing_codes = (0, NO_TESTS_CODE) if marker_expression == "nightly" else (0,)
    jobs = []
    for group, paths in paths_by_group().items():
        name = f"pytest {group}{suffix}"
        junit = f"--junitxml={log_path(name, 'xml')}"
        command = (PYTHON, "-m", "pytest", "-q", "-m", marker_expression, junit, *paths)
        required_stages = (
            ("lint", "html", "slides") if group in GROUPS_THAT_NEED_HTML else ("lint",)
        )
        if group in (selected_groups or (group,)):
            jobs.append(Job(name, "pytest", command, required_stages, env, passing_codes))
    return jobs


def notebook_groups():
    """Return the notebooks by job: the chapters of each part, other notebooks, and questions.

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
    """Return the jobs that run nbval, which compares fresh outputs with the stored outputs."""
    command = (
        PYTHON, "-m", "pytest", "-q", "-c", "tests/nbval.ini", "--rootdir", ROOT, "--nbval",
        "--nbval-current-env", "--nbval-cell-timeout=120",
        "--nbval-sanitize-with", "tests/nbval_sanitize.cfg",
    )  # fmt: skip
    env = {"IPYTHONDIR": str(LOGS / "ipython"), **env}  # not the user's own profile
    return [
        Job(f"notebooks {name}{suffix}", "notebooks", (*command, *files), ("lint", "fonts"), env)
        for name, files in notebook_groups().items()
    ]


def fonts():
    """Return the job that builds Matplotlib's font cache.

    Otherwise its message would enter a notebook's output.
    """
    command = (PYTHON, "-c", "import matplotlib.font_manager")
    return [Job("fonts", "fonts", command, required_stages=("lint",))]


def wheel():
    """Return the job that builds the wheel and imports it outside the repository."""
    return [Job("wheel", "wheel", (PYTHON, "tools/check_wheel.py"), required_stages=("lint",))]


def slides():
    """Return the job that writes the slide decks."""
    return [Job("slides", "slides", (PYTHON, "tools/slides.py"), required_stages=("lint",))]


STAGES = {stage.__name__: stage for stage in (lint, fonts, html, slides, pytest, notebooks, wheel)}


def quick():
    """Return the jobs for use during development: lint, and the tests of the numerical core."""
    return [*lint(), *pytest(selected_groups=QUICK_GROUPS)]


def nightly():
    """Return the jobs that run tests too slow for every change, and the jobs that these need."""
    jobs = [*lint(), *html(), *slides(), *pytest("nightly")]
    # The tests run even if lint fails.
    return [replace(job, required_stages=tuple({*job.required_stages} - {"lint"})) for job in jobs]


def portability(names):
    """Return the jobs that run notebooks and numerical tests with different rounding errors.

    They run with the OpenBLAS kernels of other processors, and with two BLAS threads. The notebooks
    also run on data perturbed by a relative 1e-15; this shows, on any processor, which outputs
    depend on the last bits.

    Emulated processors use one thread. Two threads change only how a product is divided, so one run
    with this processor's own kernels suffices for them.
    """
    environments = {f" ({name})": env for name, env in emulation_environments(names).items()}
    environments[" (two threads)"] = dict.fromkeys(ONE_THREAD_ENV, "2")
    perturbed = {
        f" (perturbed data {seed})": perturbation_environment(LOGS / f"perturbed-{seed}", seed)
        for seed in PERTURBATION_SEEDS
    }
    jobs = []
    for suffix, env in (environments | perturbed).items():
        jobs += notebooks(suffix, **env)
    for suffix, env in environments.items():
        jobs += pytest(selected_groups=NUMERICAL_GROUPS, suffix=suffix, **env)
    # Two threads need two cores: sharing one, they would mostly wait for each other.
    return [replace(job, n_cores=int(job.env.get("OMP_NUM_THREADS", 1))) for job in jobs]
