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
    modules,
    parse_equivalents,
)
from jobs import BUILD, start_jobs
from mutation import apply_mutant, fingerprint, sample_mutants_of_file

COSTS_PATH = BUILD / "mutants-test-costs.jsonl"  # times and lines of the tests without a mutant


def measure_cost(job, test, options, deselect_failing):
    """Run a test file without a mutant; return its cost and the lines that it runs."""
    result = job.run(options=[*options, test], measure=True)
    result |= {"test": test, "options": options}
    if result["outcome"] != "survived":
        failed_tests = result["failed_tests"]
        print(f"failing without a mutant: {' '.join(failed_tests or [test])}", flush=True)
        if not deselect_failing or not failed_tests:
            return result
        # Tests of another revision may contradict the current package, so omit those that fail.
        return measure_cost(
            job, test, [*options, *(f"--deselect={x}" for x in failed_tests)], False
        )
    print(f"{result['cpu_seconds']:7.1f} s of CPU time without a mutant: {test}", flush=True)
    return result


def fingerprint_test_file(test, root):
    """Return a fingerprint of a test file, the shared modules of the tests, and the package."""
    paths = [*root.glob("svmbook/**/*.py"), *root.glob("tests/**/*.py"), root / test]
    used = sorted(path for path in paths if path == root / test or path.name[:5] != "test_")
    return fingerprint("".join(path.read_text(encoding="utf-8") for path in used))


def relevant_tests(mutant, costs, root):
    """Return the test files that run a mutant's line: those named like its module, then by cost."""

    def may_run_statement(test):
        cost, statement = costs[test], mutant["statement"]
        if not cost["has_tests"]:
            return False
        # Lines run in other processes are not measured, and every test runs the lines that an
        # import runs.
        if cost["starts_processes"] or statement is None:
            return True
        first, last = statement
        return any(first <= line <= last for line in cost["lines"].get(mutant["file"], ()))

    def sort_key(test):
        return stem not in Path(test).stem, costs[test]["cpu_seconds"]

    stem = Path(mutant["file"]).stem
    return sorted(filter(may_run_statement, assigned_tests(mutant["file"], root)), key=sort_key)


def run_tests_on_mutant(job, mutant, costs):
    """Test one mutant and restore its file."""
    path = job.root / mutant["file"]
    original = path.read_text(encoding="utf-8")
    mutated, diff = apply_mutant(mutant, original)
    result = mutant | {"diff": diff, "outcome": "survived", "failed_tests": []}
    result |= {"cpu_seconds": 0, "seconds": 0}
    if mutated is None:
        return result | {"outcome": "incompetent"}
    try:
        path.write_text(mutated, encoding="utf-8")
        result["tests"] = relevant_tests(mutant, costs, job.root)
        for test in result["tests"]:
            cost = costs[test]
            # The time limits are multiples of the times without a mutant.
            run = job.run(
                options=["-x", *cost["options"], test],
                cpu_limit=round(10 + 2 * cost["cpu_seconds"]),
                wall_limit=60 + 5 * cost["seconds"],
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
        fraction_without_equivalents = 1 - n_survived / max(1, n_tested - n_equivalent)
        print(f"{folder:<32}{killed_fraction:>6.1%} killed, ", end="")
        print(f"{fraction_without_equivalents:>6.1%} without equivalents:", end=" ")
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


def sample_mutants(options):
    """Return the mutants to test, in random order."""
    files = [f for f in modules() if any(fnmatch.fnmatch(f, pattern) for pattern in options.only)]
    if options.changed:
        command = ["git", "diff", "--name-only", options.changed, "--", "svmbook"]
        process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if process.returncode:
            raise SystemExit(f"cannot list the changes since {options.changed}: {process.stderr}")
        files = [file for file in files if file in process.stdout.split("\n")]
    if options.among:
        mutants = [m for m in read_results(options.among).values() if m["outcome"] == "survived"]
        digests = {file: fingerprint((ROOT / file).read_text(encoding="utf-8")) for file in files}
        return [m for m in mutants if m["file"] in digests and digests[m["file"]] in m["key"]]
    mutants = [mutant for file in files for mutant in sample_mutants_of_file(file, options.seed)]
    random.Random(options.seed).shuffle(mutants)  # large files have a larger share of the sample
    return mutants[: options.count]


def read_results(path):
    """Return the results in a file by key; later lines replace earlier ones."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {result["key"]: result for result in map(json.loads, lines)}


def run_all(untested, options):
    """Test mutants in several private copies in parallel; yield the results as they finish."""
    with start_jobs(min(options.jobs, len(untested)), options.tests) as (root, map_unordered):
        tests = {test for mutant in untested for test in assigned_tests(mutant["file"], root)}
        pytest_options = [] if options.all_tests else ["-m", "not nightly"]
        fingerprints = {test: fingerprint_test_file(test, root) for test in sorted(tests)}
        keys = {test: f"{test} {fingerprints[test]} {pytest_options}" for test in fingerprints}
        known_costs = read_results(COSTS_PATH)
        unmeasured = [test for test, key in keys.items() if key not in known_costs]

        def measure_test(job, test):
            return measure_cost(job, test, pytest_options, options.tests)

        with COSTS_PATH.open("a", encoding="utf-8") as file:
            for cost in map_unordered(measure_test, unmeasured):
                cost["key"] = keys[cost["test"]]
                known_costs[cost["key"]] = cost
                if cost["outcome"] == "survived":
                    print(json.dumps(cost), file=file, flush=True)
        costs = {test: known_costs[key] for test, key in keys.items()}
        if any(cost["outcome"] != "survived" for cost in costs.values()):
            raise SystemExit("tests fail without a mutant")

        def run_tests(job, mutant):
            return run_tests_on_mutant(job, mutant, costs)

        yield from map_unordered(run_tests, untested)


def main():
    options = parse_arguments()
    if messages := assignment_errors():
        raise SystemExit("\n".join(messages))
    name = "-".join(["mutants", *filter(None, [options.tests, "all" * options.all_tests])])
    results_path = BUILD / f"{name.replace('/', '_')}.jsonl"
    mutants, known_results = sample_mutants(options), read_results(results_path)
    must_repeat = options.among is not None and options.among.resolve() == results_path
    untested = [m for m in mutants if must_repeat or m["key"] not in known_results]
    print(f"{len(mutants)} mutants in the sample, {len(untested)} still to be tested", flush=True)
    if untested:
        with results_path.open("a", encoding="utf-8") as file:
            for result in run_all(untested, options):
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
