"""The environment: Python versions, the lock file, licences, workflows and make targets."""

import os
import re
import shutil
import subprocess
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import stages
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent


def pins():
    """Yield each pin of the lock file as a requirement, and the number of its hashes."""
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8").replace("\\\n", "")
    for line in text.splitlines():
        if line[:1].isalnum():
            pin, *hashes = line.split("--hash=sha256:")
            yield Requirement(pin), len(hashes)


def locked_versions():
    """Return a list of locked versions for each name; they may depend on the Python version."""
    versions = {}
    for pin, _ in pins():
        versions.setdefault(pin.name.lower(), []).append(str(pin.specifier).removeprefix("=="))
    return versions


def project_table():
    """Return the table [project] of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_every_pin_has_hashes():
    assert not [pin for pin, n_hashes in pins() if not n_hashes]


def test_lock_supports_the_first_release_of_each_python_version():
    installed = {dist.name.lower(): dist.metadata for dist in metadata.distributions()}
    for python in ("3.11.0", "3.12.0", "3.13.0"):
        environment = {"python_full_version": python, "python_version": python[:4]}
        required = [pin for pin, _ in pins() if not pin.marker or pin.marker.evaluate(environment)]
        for pin in required:
            installed_metadata = installed.get(pin.name.lower())
            if installed_metadata and installed_metadata["Version"] in pin.specifier:
                assert python in SpecifierSet(installed_metadata.get("Requires-Python") or ""), pin


def test_all_files_list_the_same_python_versions():
    version_list_pattern = re.compile(r"Python\s(3\.\d+(?:, 3\.\d+)*\sor\s3\.\d+)")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    pages = [
        (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "book/how_to_use.md")
    ]
    listed_versions = [
        re.findall(r"3\.\d+", version_list_pattern.search(text)[1]) for text in (*pages, makefile)
    ]
    pythons = listed_versions[0]
    assert listed_versions == [pythons] * 3
    assert project_table()["requires-python"] == f">={pythons[0]}"
    classifiers = "\n".join(project_table()["classifiers"])
    assert re.findall(r"Python :: (3\.\d+)$", classifiers, re.M) == pythons
    supported = re.search(r"^SUPPORTED = .*\(not (.*)\)$", makefile, re.M)[1]
    assert supported == "(3, {}) <= sys.version_info[:2] <= (3, {})".format(
        *(python.split(".")[1] for python in (pythons[0], pythons[-1]))
    )
    candidates = re.search(r"^PYTHONS = (.*)\)$", makefile, re.M)[1]
    assert re.findall(r"python(3\.\d+)", candidates) == pythons
    assert re.findall(r"--python(?:-version)? (3\S*)", makefile) == [pythons[0]] * 2
    assert workflow_jobs("test")["test"]["strategy"]["matrix"]["python"] == pythons


def workflow_jobs(name):
    """Return the jobs of a workflow."""
    text = (ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8")
    return yaml.safe_load(text)["jobs"]


def test_workflows_run_the_same_commands_as_contributors():
    ci_script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert ci_script.splitlines()[-1] == 'exec make "${1:-test}"'
    jobs = workflow_jobs("test")
    assert set(jobs["platforms"]["strategy"]["matrix"]["os"]) == {
        "ubuntu-24.04-arm",
        "macos-latest",
    }
    for job in ("test", "platforms"):
        assert ".ci/run" in [step.get("run") for step in jobs[job]["steps"]]
    (nightly,) = workflow_jobs("nightly").values()
    assert ".ci/run nightly" in [step.get("run") for step in nightly["steps"]]


def test_windows_runs_the_commands_of_the_book_and_the_quick_tests():
    commands = [step["run"] for step in workflow_jobs("test")["windows"]["steps"] if "run" in step]
    install_commands = [command.partition("python -m ")[2] for command in commands[:3]]
    text = (ROOT / "book" / "how_to_use.md").read_text(encoding="utf-8")
    linux, windows = re.findall(r"^```console\n((?:[$>] .*\n){5,})```", text, re.M)
    for commands_on_page in (linux, windows):
        assert all(f"-m {command}\n" in commands_on_page for command in install_commands)
        assert commands_on_page.endswith("jupyter lab notebooks\n")
    paths = [path for group in stages.QUICK_GROUPS for path in stages.paths_by_group()[group]]
    assert [part for part in commands[-1].split() if part.startswith("tests/")] == paths


@pytest.mark.skipif(not shutil.which("make"), reason="needs make")
def test_make_setup_recreates_only_an_incomplete_environment(tmp_path):
    for name in ("requirements.txt", "pyproject.toml", "Makefile"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").touch()
    env = {name: value for name, value in os.environ.items() if name != "MAKEFLAGS"}

    def dry_run_setup():
        command = ["make", "-n", "setup"]
        return subprocess.check_output(command, cwd=tmp_path, env=env, text=True)

    commands = dry_run_setup()
    assert "-m venv --clear .venv" in commands
    lock_installs = re.findall(r"pip install [^;&|\n]*-r \S+", commands)
    assert len(lock_installs) == 3  # pip installs uv, and uv the rest; or pip installs everything
    assert all("--require-hashes" in command for command in lock_installs)
    for stamp in (".lock-installed", ".package-installed"):
        (tmp_path / ".venv" / stamp).touch()
    assert "venv" not in dry_run_setup()


def test_lock_satisfies_requirements_in():
    locked = locked_versions()
    lines = (ROOT / "requirements.in").read_text(encoding="utf-8").splitlines()
    requirements = [Requirement(line.split("#")[0]) for line in lines if line.split("#")[0].strip()]
    assert requirements
    for requirement in requirements:
        for version in locked[requirement.name.lower()]:
            assert Version(version) in requirement.specifier, requirement
    # The configuration files are for Jupyter Book 1.
    assert locked["jupyter-book"][0].startswith("1.")


def test_dependencies_are_ranges_that_contain_the_locked_versions():
    locked = locked_versions()
    for requirement in map(Requirement, project_table()["dependencies"]):
        assert requirement.specifier, f"{requirement} has no lower bound"
        for bound in requirement.specifier:
            assert bound.operator in (">=", "<", "!="), f"{requirement} is a pin"
        for version in locked[requirement.name]:
            assert Version(version) in requirement.specifier, requirement


# The names of families of licences in the README, and in the metadata of packages.
LICENCE_FAMILIES = {
    "BSD": "BSD",
    "GPL": "GNU General Public License",
    "MIT": "MIT",
    "PSF": "Python Software Foundation",
}


def dependencies():
    """Return the names of the dependencies of the package, including those of its extras."""
    groups = [project_table()["dependencies"], *project_table()["optional-dependencies"].values()]
    return sorted({Requirement(line).name for group in groups for line in group})


@pytest.mark.parametrize("name", dependencies())
def test_readme_states_the_licence_of_each_dependency(name):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    licence = re.search(rf"^\| `{name}`[^|]*\| ([^|]+) \|", readme, re.M)[1]
    package_metadata = metadata.metadata(name)
    if package_metadata["Version"] not in locked_versions()[name]:
        pytest.skip(f"{name} is not in its locked version")
    classifiers = [
        text for text in package_metadata.get_all("Classifier", []) if text.startswith("License")
    ]
    declared_licence = (
        package_metadata.get("License-Expression")
        or " ".join(classifiers)
        or package_metadata.get("License")
    )
    stated_families = {family for family in LICENCE_FAMILIES if family in licence}
    assert stated_families == {
        family
        for family, words in LICENCE_FAMILIES.items()
        if re.search(rf"\b{words}\b", declared_licence)
    }


def test_readme_of_vendored_libraries_has_the_versions_of_the_script():
    script = (ROOT / "tools" / "vendor.sh").read_text(encoding="utf-8")
    readme = (ROOT / "book" / "_vendor" / "README.md").read_text(encoding="utf-8")
    packages = {"mathjax": "mathjax", "tippy": "tippy.js", "popper": "@popperjs/core"}
    packages["reveal"] = "reveal.js"
    for name, package in packages.items():
        version = re.search(rf"^{name}=(\S+)$", script, re.M)[1]
        assert f"{package} {version}" in readme


def test_vendored_libraries_have_their_licences():
    folder = ROOT / "book" / "_vendor"
    readme = (folder / "README.md").read_text("utf-8")
    assert set(re.findall(r"`([a-z]+/\S*(?:LICENSE|OFL)\S*)`", readme)) == {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if re.search("LICENSE|OFL", path.name)
    }


def test_make_help_lists_every_target():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.search(r"^\.PHONY: (.*)$", makefile, re.M)[1].split())
    assert targets == set(re.findall(r"^([a-z]+):[^#\n]*## \S", makefile, re.M))
