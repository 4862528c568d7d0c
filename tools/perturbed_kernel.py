"""Kernels that run notebooks on data perturbed by a relative 1e-15 (tests/perturbation.py)."""

from pathlib import Path

PERTURBATION = Path(__file__).resolve().parent.parent / "tests" / "perturbation.py"
# IPython continues after an error in a start-up file, so an error must end the kernel: it would
# otherwise run the notebook on unperturbed data.
STARTUP_TEMPLATE = """\
import os as _os, runpy as _runpy, traceback as _traceback
try:
    _runpy.run_path({path!r})["perturb_sources"]({seed})
except BaseException:
    _traceback.print_exc()
    _os._exit(1)
"""


def kernel_environment(folder, seed):
    """Write an IPython profile that perturbs data into a folder; return the kernel's variables."""
    startup = Path(folder, "profile_default", "startup")
    startup.mkdir(parents=True, exist_ok=True)
    text = STARTUP_TEMPLATE.format(path=str(PERTURBATION), seed=seed)
    Path(startup, "00-perturb.py").write_text(text, encoding="utf-8")
    return {"IPYTHONDIR": str(folder)}
