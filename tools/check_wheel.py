"""Build the sdist and, from it, the wheel; import the wheel's modules outside the repository."""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main():
    with tempfile.TemporaryDirectory() as folder:
        run_module, target = (sys.executable, "-m"), Path(folder, "site")
        build = (*run_module, "build", "--no-isolation", "--outdir", folder)
        subprocess.run(build, cwd=ROOT, check=True)
        wheel_path = next(Path(folder).glob("*.whl"))
        pip = (
            *run_module,
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--target",
            target,
            wheel_path,
        )
        subprocess.run(pip, check=True)
        check = (sys.executable, "-I", ROOT / "tools" / "check_installed_wheel.py", target)
        subprocess.run(check, cwd=folder, check=True)


if __name__ == "__main__":
    main()
