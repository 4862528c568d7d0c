"""Run the checks of the repository: all of them in order, or those named.

Usage: python tools/check.py [lint] [html] [pytest] [notebooks] [wheel] | elsewhere

The first check that fails ends the run with its exit code. A summary with the time each
one took is printed in any case.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable
WORKERS = max(1, min(4, os.cpu_count() or 1))
# Processors to play in `elsewhere`, as OpenBLAS calls them: with AVX2, and with SSE alone.
OLDER = ("Haswell", "Nehalem")
# Workers share the cores: BLAS threads on top of them only get in each other's way.
SHARED = {
    name: str(max(1, (os.cpu_count() or 1) // WORKERS))
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
}


def run(*command, ok=(0,), cwd=ROOT, **env):
    """Run a command, in the repository by default; return 0 where its exit code is one of `ok`."""
    code = subprocess.run(
        [str(part) for part in command], cwd=cwd, env={**os.environ, **env}
    ).returncode
    return 0 if code in ok else code


def lint():
    return run(PYTHON, "-m", "ruff", "check", "--quiet", ".") or run(
        PYTHON, "-m", "ruff", "format", "--check", "--quiet", "."
    )


def pytest():
    return run(PYTHON, "-m", "pytest", "-q", "-m", "not nightly", "-n", WORKERS, **SHARED)


def notebooks(**env):
    """Run each notebook in a fresh kernel and compare with the stored output (nbval)."""
    chapters, assignments = (ROOT / "notebooks").glob("*.ipynb"), ROOT / "notebooks" / "assignments"
    found = sorted([*chapters, *assignments.glob("*/*.ipynb")])
    if not found:
        print("no notebooks yet")
        return 0
    # A notebook's cells must stay in order on one worker: --dist loadfile.
    parallel = ("-n", WORKERS, "--dist", "loadfile") if len(found) > 1 else ()
    return run(
        PYTHON, "-m", "pytest", "-q", "-c", "tests/nbval.ini", "--rootdir", ROOT, *parallel,
        "--nbval", "--nbval-current-env", "--nbval-cell-timeout=120",
        "--nbval-sanitize-with", "tests/nbval_sanitize.cfg", *found,
        **SHARED, **env,
    )  # fmt: skip


def elsewhere():
    """Run the notebooks with the arithmetic of older processors, whose last bits differ."""
    codes = [notebooks(OPENBLAS_CORETYPE=core, NPY_DISABLE_CPU_FEATURES="X86_V4") for core in OLDER]
    return max(codes)


def html():
    """Build the book; any warning, or a reference that leads nowhere, is an error."""
    jupyter_book = Path(PYTHON).with_name("jupyter-book")
    return run(jupyter_book, "build", ".", "-W", "-n", "--keep-going", "-q")


def wheel():
    """Build the sdist and from it the wheel; import every module from an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "site")
        code = run(PYTHON, "-m", "build", "--no-isolation", "--outdir", folder)
        if code:
            return code
        built = next(Path(folder).glob("*.whl"))
        pip = (PYTHON, "-m", "pip", "install", "--quiet", "--no-deps", "--target", target, built)
        return run(*pip) or run(PYTHON, "-I", ROOT / "tools" / "import_all.py", target, cwd=folder)


STAGES = {stage.__name__: stage for stage in (lint, html, pytest, notebooks, wheel)}
ON_DEMAND = {"elsewhere": elsewhere}


def main(names):
    checks = STAGES | ON_DEMAND
    unknown = set(names) - set(checks)
    if unknown:
        raise SystemExit(f"no such check: {', '.join(sorted(unknown))} (there are {[*checks]})")
    summary = []
    code = 0
    for name in names or STAGES:
        print(f"== {name}", flush=True)
        start = time.monotonic()
        code = checks[name]()
        verdict = f"FAILED ({code})" if code else "ok"
        summary.append(f"{name:<10} {verdict:<12} {time.monotonic() - start:6.1f} s")
        if code:
            break
    print("\n" + "\n".join(summary), flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
