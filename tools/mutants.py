"""Change one small thing in svmbook at a time and list the changes that no test notices.

Usage: make mutants ARGS="--count 60 --only 'svmbook/solvers/*' --jobs 1"

The changes come from cosmic-ray. Each is tried in a private copy of the repository with the
tests that belong to its file; _build/mutants.jsonl gets one line for each. A run that was
stopped goes on where it was; what was tried before a file changed is tried again. New tests do
not alter old lines: remove the file after writing some.
"""

import argparse
import compileall
import contextlib
import difflib
import fnmatch
import functools
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import SimpleQueue, get_context
from pathlib import Path
from py_compile import PycInvalidationMode

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "_build" / "mutants.jsonl"
# What is mutated and by which tests, in their order; the first pattern that fits counts.
TESTS = {
    "svmbook/gram/*": "gram solvers",
    "svmbook/solvers/dual/*": "solvers/dual solvers/test_checks.py svm",
    "svmbook/solvers/logistic/*": "solvers/logistic logistic",
    "svmbook/solvers/*": "solvers",
    "svmbook/base.py": "test_base.py svm logistic",
    "svmbook/svm/*": "svm test_base.py",
    "svmbook/logistic/*": "logistic test_base.py",
    "svmbook/datasets/generators/*": "datasets/generators",
    "svmbook/datasets/*": "datasets",
    "svmbook/experiments/methods/*": "experiments/methods",
    "svmbook/experiments/running/*": "experiments",
    "svmbook/experiments/suites/*": "experiments/suites",
    "svmbook/experiments/*": "experiments/test_cli.py experiments/test_reproduce.py",
    "svmbook/kernels/*": "kernels svm logistic test_base.py",
    "svmbook/labels.py": "test_labels.py svm logistic test_base.py",
    "svmbook/weights.py": "test_weights.py svm logistic test_base.py",
    "svmbook/losses.py": "test_losses.py",
    "svmbook/calibration.py": "test_calibration.py svm",
}
# Loaded once a job, which then forks: imports would take longer than most tests.
LOADED = "pytest hypothesis.extra.numpy sklearn.svm sklearn.model_selection cvxopt.solvers pandas"
OPTIONS = ["-x", "-q", "--tb=no", "--assert=plain", "-p", "no:cacheprovider"]
# Any test would notice `<<` or `&` in place of `+`, or `is` in place of `<`.
SILLY = re.compile("Shift|Operator_(Bit.*_(?!Bit)|(?!Bit).*_Bit|Is.*_(?!Is)|(?!Is).*_Is)")


def no_program(node):
    """Say whether a place is in an annotation or in the text of an exception."""
    field = node.search_ancestor("annassign")
    return (
        node.search_ancestor("raise_stmt", "tfpdef") is not None
        or (field is not None and node.start_pos < field.children[1].end_pos)
        or (node.type == "operator" and node.parent.type == "parameters")
    )


def mutants_of(file, seed):
    """Return one mutant for each place of a file; where it has several, one is drawn."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    source = Path(file).read_text(encoding="utf-8")
    mark = hashlib.sha256(source.encode()).hexdigest()[:12]
    nodes = list(ast_nodes(get_ast(source)))
    places = {}
    for name in operator_names():
        operator = get_operator(name)
        # Those with arguments want to be told the names of variables.
        if SILLY.search(name) or operator.arguments():
            continue
        found = ((node, *spot) for node in nodes for spot in operator().mutation_positions(node))
        for number, (node, (line, column), _) in enumerate(found):
            if not no_program(node):
                mutant = {"file": file, "line": line, "operator": name, "occurrence": number}
                mutant["key"] = f"{file} {mark} {line:04} {name} {number}"
                places.setdefault((line, column, name.split("_")[0]), []).append(mutant)
    draw = random.Random(f"{seed} {file}")
    return [draw.choice(choices) for _, choices in sorted(places.items())]


def tests_of(file):
    """Return the tests of a source file, and its examples and the same tests, closest first."""
    names = next((TESTS[glob] for glob in TESTS if fnmatch.fnmatch(file, glob)), "").split()
    names += ["test_interface.py"] * bool(names)
    tests = [Path("tests", name) for name in names]
    # File by file: pytest has its own order for a folder and what is in it.
    paths = [path for test in tests for path in (sorted(test.rglob("test_*.py")) or [test])]
    paths.sort(key=lambda path: Path(file).stem not in path.stem)
    return tuple(map(str, tests)), [file, *map(str, paths)]


def pytest(tests, cpu):
    """Run tests and end the process."""
    os.setsid()
    # On a busy machine only the processor's time tells a loop without end.
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    log = os.open("mutant.log", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os._exit(sys.modules["pytest"].main([*OPTIONS, *tests]))


def run(tests, cpu=3600, wall=3600):
    """Run tests in a fork of this process; return the outcome, the failing test, the times."""
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    child = get_context("fork").Process(target=pytest, args=[tests, cpu])
    child.start()
    child.join(wall)
    with contextlib.suppress(ProcessLookupError):  # nothing is left of it
        os.killpg(child.pid, signal.SIGKILL)
    child.join()
    cpu = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    log = Path("mutant.log").read_text(encoding="utf-8", errors="replace")
    if child.exitcode in (4, 5):
        raise RuntimeError(f"pytest cannot run {tests}:\n{log}")
    ends = {0: "survived", -signal.SIGXCPU: "timeout", -signal.SIGKILL: "timeout"}
    by = re.findall("^(?:FAILED|ERROR) .*", log, re.M)[:1]
    result = {"outcome": ends.get(child.exitcode, "killed"), "by": by, "cpu": round(cpu, 1)}
    return result | {"seconds": round(time.monotonic() - start, 1)}


def begin(copies):
    """Make this process ready to fork: in a copy of its own, with the libraries loaded."""
    os.chdir(copies.get())
    # By time and size alone Python may take a mutant's bytecode for that of the next.
    compileall.compile_dir(".", quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
    sys.path.insert(0, os.getcwd())
    os.environ |= {"PYTHONPATH": os.getcwd(), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    for name in LOADED.split():
        __import__(name)


@functools.cache
def limits(tests):
    """Return how long a mutant may take: a few times what its tests take without it."""
    result = run(tests)
    if result["outcome"] != "survived":
        raise RuntimeError(f"a test fails without a mutant: {result['by']}")
    print(f"{result['seconds']:7.1f} s without a mutant: {' '.join(tests)}", flush=True)
    return round(10 + 2 * result["cpu"]), 60 + 5 * result["seconds"]


def attempt(mutant):
    """Try one mutant and put its file back."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    group, tests = tests_of(mutant["file"])
    allowed = limits(group)
    path = Path(mutant["file"])
    before = path.read_text(encoding="utf-8")
    mutant = mutant | {"diff": "", "outcome": "incompetent", "seconds": 0}
    try:
        after = mutate_code(before, get_operator(mutant["operator"])(), mutant["occurrence"])
    except AttributeError:  # the operator knows no dotted name of an exception
        return mutant
    diff = difflib.unified_diff(before.split("\n"), after.split("\n"), n=1, lineterm="")
    mutant["diff"] = "\n".join(list(diff)[2:])
    try:
        compile(after, path, "exec")
        path.write_text(after, encoding="utf-8")
        return mutant | run(tests, *allowed)
    except SyntaxError:
        return mutant
    finally:
        path.write_text(before, encoding="utf-8")


def report(results):
    """Print what became of the mutants of each folder, then those that survived."""
    counts = {}
    for result in results:
        for row in (str(Path(result["file"]).parent), "together"):
            counts.setdefault(row, Counter())[result["outcome"]] += 1
    for row, count in counts.items():
        share = 1 - count["survived"] / max(1, count.total() - count["incompetent"])
        print(f"{row:<30}{share:>5.0%} noticed:", dict(count.most_common()))
    for result in results:
        if result["outcome"] == "survived":
            print(f"\n{result['file']}:{result['line']} {result['operator']}\n{result['diff']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=600, help="how many mutants to draw")
    parser.add_argument("--seed", type=int, default=0, help="a longer draw holds the shorter one")
    parser.add_argument("--only", default="*", help="pattern of files, such as svmbook/gram/*")
    parser.add_argument("--jobs", type=int, default=2, help="how many to try at a time")
    options = parser.parse_args()

    os.chdir(ROOT)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.touch()
    files = fnmatch.filter(map(str, sorted(Path("svmbook").rglob("*.py"))), options.only)
    files = [file for file in files if tests_of(file)[0]]
    drawn = [mutant for file in files for mutant in mutants_of(file, options.seed)]
    random.Random(options.seed).shuffle(drawn)  # so each file has a share as large as it is
    del drawn[options.count :]
    known = [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]
    known = {result["key"]: result for result in known}
    due = [mutant for mutant in drawn if mutant["key"] not in known]
    print(f"{len(drawn)} mutants are drawn, {len(due)} of them are to be tried", flush=True)

    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, RESULTS.open("a") as file:
        copies = SimpleQueue()
        for job in range(options.jobs):
            leave = shutil.ignore_patterns("_build", ".*", "dist", "__pycache__")
            copies.put(shutil.copytree(ROOT, Path(folder, str(job)), ignore=leave))
        with ProcessPoolExecutor(options.jobs, initializer=begin, initargs=[copies]) as pool:
            try:
                for task in as_completed([pool.submit(attempt, mutant) for mutant in due]):
                    result = task.result()
                    known[result["key"]] = result
                    print(json.dumps(result), file=file, flush=True)
                    print("{seconds:7} s {outcome}: {file}:{line}".format(**result), flush=True)
            finally:
                pool.shutdown(cancel_futures=True)
    report(sorted((known[mutant["key"]] for mutant in drawn), key=lambda result: result["key"]))


if __name__ == "__main__":
    main()
