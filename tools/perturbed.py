"""Kernels that run notebooks on data moved by a relative 1e-15 (tests/perturbation.py)."""

from pathlib import Path

PERTURBATION = Path(__file__).resolve().parent.parent / "tests" / "perturbation.py"
# IPython goes on after an error in a start-up file: the kernel must end, or it moves nothing.
STARTUP = """\
import os as _os, runpy as _runpy, traceback as _traceback
try:
    _runpy.run_path({path!r})["perturb_sources"]({draw})
except BaseException:
    _traceback.print_exc()
    _os._exit(1)
"""


def kernel_environment(folder, draw):
    """Return the environment of kernels that perturb their data, by a profile in a folder."""
    startup = Path(folder, "profile_default", "startup")
    startup.mkdir(parents=True, exist_ok=True)
    text = STARTUP.format(path=str(PERTURBATION), draw=draw)
    Path(startup, "00-perturb.py").write_text(text, encoding="utf-8")
    return {"IPYTHONDIR": str(folder)}
