"""Mutation testing: make one small change in svmbook at a time and list those that no test detects.

Usage: make mutants ARGS="--count 60 --only 'svmbook/solvers/*' --jobs 1"

The mutants come from cosmic-ray. Each is tested in a private copy of the repository, with those
tests assigned to its module that run its line. _build/mutants.jsonl gets one line per mutant. An
interrupted run resumes when started again; mutants of modules that have changed since are tested
again. After writing tests, `--among _build/mutants.jsonl` repeats the mutants that survived.

To find mutants that the tests of an older revision killed and the current tests do not, repeat the
survivors with `--among _build/mutants.jsonl --tests REVISION`.
"""

import argparse
import fnmatch
import json
import random
import subprocess
from collections import Counter
from pathlib import Path

from assigned_tests import (
    EQUIVALENTS_PATH,
    ROOT,
    assigned_tests,
    assignment_errors,
    identifying_lines,
    module_paths,
    parse_equivalents,
)
from mutation import apply_mutant, fingerprint, sample_mutants_of_file
from runners import BUILD, start_runners

BASELINES_PATH = BUILD / "mutants-baselines.jsonl"  # times and lines of the tests without a mutant


def run_baseline(runner, test, pytest_options, deselect_failing):
    """Run a test file without a mutant; return its times and the lines that it runs."""
    result = runner.run(options=[*pytest_options, test], measure=True)
    result |= {"test": test, "options": pytest_options}
    if result["outcome"] != "survived":
        failed_tests = result["failed_tests"]
        print(f"failing without a mutant: {' '.join(failed_tests or [test])}", flush=True)
        if not deselect_failing or not failed_tests:
            return result
        # Tests of another revision may contradict the current package, so omit those that fail.
        return run_baseline(
            runner, test, [*pytest_options, *(f"--deselect={x}" for x in failed_tests)], False
        )
    print(f"{result['cpu_seconds']:7.1f} s of CPU time without a mutant: {test}", flush=True)
    return result


def fingerprint_test_file(test, root):
    """Return a fingerprint of a test file, the shared modules of the tests, and the package."""
    paths = [*root.glob("svmbook/**/*.py"), *root.glob("tests/**/*.py"), root / test]
    used = sorted(path for path in paths if path == root / test or path.name[:5] != "test_")
    return fingerprint("".join(path.read_text(encoding="utf-8") for path in used))


def relevant_tests(mutant, baselines, root):
    """Return the test files that run a mutant's line: first those named like its module."""

    def may_run_statement(test):
        baseline, statement = baselines[test], mutant["statement"]
        if not baseline["has_tests"]:
            return False
        # Lines run in other processes are not measured, and every test runs the lines that an
        # import runs.
        if baseline["starts_processes"] or statement is None:
            return True
        first, last = statement
        return any(first <= line <= last for line in baseline["lines"].get(mutant["file"], ()))

    def sort_key(test):
        return stem not in Path(test).stem, baselines[test]["cpu_seconds"]

    stem = Path(mutant["file"]).stem
    return sorted(filter(may_run_statement, assigned_tests(mutant["file"], root)), key=sort_key)


def run_tests_on_mutant(runner, mutant, baselines):
    """Test one mutant and restore its file."""
    path = runner.root / mutant["file"]
    original = path.read_text(encoding="utf-8")
    mutated, diff = apply_mutant(mutant, original)
    result = mutant | {"diff": diff, "outcome": "survived", "failed_tests": []}
    result |= {"cpu_seconds": 0, "seconds": 0}
    if mutated is None:
        return result | {"outcome": "incompetent"}
    try:
        path.write_text(mutated, encoding="utf-8")
        result["tests"] = relevant_tests(mutant, baselines, runner.root)
        for test in result["tests"]:
            baseline = baselines[test]
            # The time limits are multiples of the times without a mutant.
            run = runner.run(
                options=["-x", *baseline["options"], test],
                cpu_limit=round(10 + 2 * baseline["cpu_seconds"]),
                wall_limit=60 + 5 * baseline["seconds"],
            )
            for name in ("cpu_seconds", "seconds"):
                result[name] = round(result[name] + run[name], 1)
            if run["outcome"] != "survived":
                failed_tests = run["failed_tests"] or [test]
                return result | {"outcome": run["outcome"], "failed_tests": failed_tests}
        return result
    finally:
        path.write_text(original, encoding="utf-8")


def report(results, equivalents):
    """Print the outcomes for each folder, then the survivors not known to be equivalent."""
    outcomes, survivors = {}, []
    for result in results:
        outcome = result["outcome"]
        if outcome == "survived":
            if identifying_lines(result) in equivalents:
                outcome = "equivalent"
            else:
                survivors.append(result)
        for folder in (str(Path(result["file"]).parent), "total"):
            outcomes.setdefault(folder, Counter())[outcome] += 1
    for folder, counts in sorted(outcomes.items(), key=lambda item: item[0] == "total"):
        n_tested = counts.total() - counts["incompetent"]
        n_survived, n_equivalent = counts["survived"], counts["equivalent"]
        killed_fraction = 1 - (n_survived + n_equivalent) / max(1, n_tested)
        killed_fraction_without_equivalents = 1 - n_survived / max(1, n_tested - n_equivalent)
        print(f"{folder:<32}{killed_fraction:>6.1%} killed, ", end="")
        print(f"{killed_fraction_without_equivalents:>6.1%} without equivalents:", end=" ")
        print(*(f"{number} {outcome}" for outcome, number in counts.most_common()), sep=", ")
    for result in survivors:
        remark = "" if result["tests"] else ", which no test runs"
        print(f"\n# {result['operator']} at line {result['line']}{remark}")
        print(identifying_lines(result))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=600, help="number of mutants in the sample")
    parser.add_argument("--seed", type=int, default=0, help="a larger --count extends the sample")
    parser.add_argument("--only", nargs="+", default=["*"], help="patterns such as svmbook/gram/*")
    parser.add_argument("--changed", metavar="REV", help="only modules that differ from a revision")
    parser.add_argument(
        "--among", metavar="FILE", type=Path, help="test the survivors in a file of results again"
    )
    parser.add_argument("--tests", metavar="REV", help="use the tests of a revision")
    parser.add_argument("--all-tests", action="store_true", help="run the nightly tests as well")
    parser.add_argument("--jobs", type=int, default=2, help="number of mutants tested at a time")
    return parser.parse_args()


def select_mutants(options):
    """Return a random sample of mutants, or with `--among` the survivors in a file of results."""
    files = [
        f for f in module_paths() if any(fnmatch.fnmatch(f, pattern) for pattern in options.only)
    ]
    if options.changed:
        command = ["git", "diff", "--name-only", options.changed, "--", "svmbook"]
        process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if process.returncode:
            raise SystemExit(f"cannot list the changes since {options.changed}: {process.stderr}")
        files = [file for file in files if file in process.stdout.split("\n")]
    if options.among:
        mutants = [m for m in read_results(options.among).values() if m["outcome"] == "survived"]
        fingerprints = {f: fingerprint((ROOT / f).read_text(encoding="utf-8")) for f in files}
        return [
            m for m in mutants if m["file"] in fingerprints and fingerprints[m["file"]] in m["key"]
        ]
    mutants = [mutant for file in files for mutant in sample_mutants_of_file(file, options.seed)]
    random.Random(options.seed).shuffle(mutants)  # large files have a larger share of the sample
    return mutants[: options.count]


def read_results(path):
    """Return the results in a file by key; later lines replace earlier ones."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {result["key"]: result for result in map(json.loads, lines)}


def run_tests_on_mutants(mutants, options):
    """Test mutants in several private copies in parallel; yield the results as they finish."""
    with start_runners(min(options.jobs, len(mutants)), options.tests) as (root, map_unordered):
        tests = {test for mutant in mutants for test in assigned_tests(mutant["file"], root)}
        pytest_options = [] if options.all_tests else ["-m", "not nightly"]
        fingerprints = {test: fingerprint_test_file(test, root) for test in sorted(tests)}
        keys = {test: f"{test} {fingerprints[test]} {pytest_options}" for test in fingerprints}
        known_baselines = read_results(BASELINES_PATH)
        unmeasured = [test for test, key in keys.items() if key not in known_baselines]

        def run_test_baseline(runner, test):
            return run_baseline(runner, test, pytest_options, options.tests)

        with BASELINES_PATH.open("a", encoding="utf-8") as file:
            for baseline in map_unordered(run_test_baseline, unmeasured):
                baseline["key"] = keys[baseline["test"]]
                known_baselines[baseline["key"]] = baseline
                if baseline["outcome"] == "survived":
                    print(json.dumps(baseline), file=file, flush=True)
        baselines = {test: known_baselines[key] for test, key in keys.items()}
        if any(baseline["outcome"] != "survived" for baseline in baselines.values()):
            raise SystemExit("tests fail without a mutant")

        def run_tests(runner, mutant):
            return run_tests_on_mutant(runner, mutant, baselines)

        yield from map_unordered(run_tests, mutants)


def main():
    options = parse_arguments()
    if errors := assignment_errors():
        raise SystemExit("\n".join(errors))
    name = "-".join(["mutants", *filter(None, [options.tests, "all" * options.all_tests])])
    results_path = BUILD / f"{name.replace('/', '_')}.jsonl"
    mutants, known_results = select_mutants(options), read_results(results_path)
    must_repeat = options.among is not None and options.among.resolve() == results_path
    mutants_to_test = [m for m in mutants if must_repeat or m["key"] not in known_results]
    print(f"{len(mutants)} mutants selected, {len(mutants_to_test)} to be tested", flush=True)
    if mutants_to_test:
        with results_path.open("a", encoding="utf-8") as file:
            for result in run_tests_on_mutants(mutants_to_test, options):
                known_results[result["key"]] = result
                print(json.dumps(result), file=file, flush=True)
                message = "{cpu_seconds:7} s of CPU time, {outcome}: {file}:{line}".format(**result)
                print(message, *result["failed_tests"][:1], flush=True)
    equivalents_path = ROOT / EQUIVALENTS_PATH
    text = equivalents_path.read_text(encoding="utf-8") if equivalents_path.exists() else ""
    results = sorted((known_results[m["key"]] for m in mutants), key=lambda r: r["key"])
    report(results, parse_equivalents(text))


if __name__ == "__main__":
    main()
