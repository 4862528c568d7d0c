"""The environment in which Jupyter runs notebooks on data with relative perturbations of 1e-15."""

from pathlib import Path

PERTURBATION_SCRIPT = Path(__file__).resolve().parent.parent / "tests" / "perturbation.py"
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


def perturbation_environment(folder, seed):
    """Write an IPython profile whose start-up file perturbs the data, into ``folder``.

    Return the environment variables with which a Jupyter kernel uses it.
    """
    startup = Path(folder, "profile_default", "startup")
    startup.mkdir(parents=True, exist_ok=True)
    text = STARTUP_TEMPLATE.format(path=str(PERTURBATION_SCRIPT), seed=seed)
    Path(startup, "00-perturb.py").write_text(text, encoding="utf-8")
    return {"IPYTHONDIR": str(folder)}
