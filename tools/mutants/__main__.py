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

from assigned import (
    EQUIVALENT,
    ROOT,
    assigned_tests,
    changed_lines,
    modules,
    parse_equivalents,
    table_errors,
)
from drawing import apply_mutant, draw_mutants, fingerprint
from jobs import BUILD, start_jobs

COSTS = BUILD / "mutants-costs.jsonl"  # times and lines of the tests without a mutant


def measure(job, test, options, deselect_failing):
    """Run a test file without a mutant; return its cost and the lines that it runs."""
    result = job.run(options=[*options, test], measure=True)
    result |= {"test": test, "options": options}
    if result["outcome"] != "survived":
        print(f"failing without a mutant: {' '.join(result['by'] or [test])}", flush=True)
        if not deselect_failing or not result["by"]:
            return result
        # Tests of another revision may contradict the current package: leave those out.
        return measure(job, test, [*options, *(f"--deselect={x}" for x in result["by"])], False)
    print(f"{result['cpu']:7.1f} s of CPU time without a mutant: {test}", flush=True)
    return result


def fingerprint_test_file(test, root):
    """Return a fingerprint of a test file, the shared modules of the tests, and the package."""
    paths = [*root.glob("svmbook/**/*.py"), *root.glob("tests/**/*.py"), root / test]
    shared = sorted(path for path in paths if path == root / test or path.name[:5] != "test_")
    return fingerprint("".join(path.read_text(encoding="utf-8") for path in shared))


def relevant_tests(mutant, costs, root):
    """Return the test files that run a mutant's line: those named like its module, then by cost."""

    def runs(test):
        cost, lines = costs[test], mutant["statement"]
        lines_run = cost["lines"].get(mutant["file"], ())
        # Lines run in other processes are not measured. Lines run on import are run by every test.
        return cost["tests"] and (
            cost["processes"] or lines is None or any(lines[0] <= n <= lines[1] for n in lines_run)
        )

    stem = Path(mutant["file"]).stem
    found = filter(runs, assigned_tests(mutant["file"], root))
    return sorted(found, key=lambda test: (stem not in Path(test).stem, costs[test]["cpu"]))


def run_tests_on_mutant(job, mutant, costs):
    """Test one mutant and restore its file."""
    path = job.root / mutant["file"]
    before = path.read_text(encoding="utf-8")
    after, diff = apply_mutant(mutant, before)
    result = mutant | {"diff": diff, "outcome": "survived", "by": [], "cpu": 0, "seconds": 0}
    if after is None:
        return result | {"outcome": "incompetent"}
    try:
        path.write_text(after, encoding="utf-8")
        result["tests"] = relevant_tests(mutant, costs, job.root)
        for test in result["tests"]:
            # Time limits: a multiple of the times without a mutant.
            cpu, wall = round(10 + 2 * costs[test]["cpu"]), 60 + 5 * costs[test]["seconds"]
            options = ["-x", *costs[test]["options"], test]
            run = job.run(options=options, cpu=cpu, wall=wall)
            for name in ("cpu", "seconds"):
                result[name] = round(result[name] + run[name], 1)
            if run["outcome"] != "survived":
                return result | {"outcome": run["outcome"], "by": run["by"] or [test]}
        return result
    finally:
        path.write_text(before, encoding="utf-8")


def report(results, known):
    """Print the outcomes for each folder, then the survivors not known to be equivalent."""
    counts, survivors = {}, []
    for result in results:
        outcome = result["outcome"]
        if outcome == "survived":
            if changed_lines(result) in known:
                outcome = "equivalent"
            else:
                survivors.append(result)
        for row in (str(Path(result["file"]).parent), "total"):
            counts.setdefault(row, Counter())[outcome] += 1
    for row, count in sorted(counts.items(), key=lambda item: item[0] == "total"):
        tested = count.total() - count["incompetent"]
        survived, equivalents = count["survived"], count["equivalent"]
        print(f"{row:<32}{1 - (survived + equivalents) / max(1, tested):>6.1%} killed, ", end="")
        print(f"{1 - survived / max(1, tested - equivalents):>6.1%} without equivalents:", end=" ")
        print(*(f"{number} {outcome}" for outcome, number in count.most_common()), sep=", ")
    for result in survivors:
        untested = "" if result["tests"] else ", which no test runs"
        print(f"\n# {result['operator']} at line {result['line']}{untested}")
        print(changed_lines(result))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=600, help="how many mutants to draw")
    parser.add_argument("--seed", type=int, default=0, help="a larger --count extends the sample")
    parser.add_argument("--only", nargs="+", default=["*"], help="patterns such as svmbook/gram/*")
    parser.add_argument("--changed", metavar="REV", help="only modules that differ from a revision")
    parser.add_argument("--among", metavar="FILE", type=Path, help="test its survivors again")
    parser.add_argument("--tests", metavar="REV", help="use the tests of a revision")
    parser.add_argument("--all-tests", action="store_true", help="run the nightly tests as well")
    parser.add_argument("--jobs", type=int, default=2, help="how many to test at a time")
    return parser.parse_args()


def sample_mutants(options):
    """Return the mutants to test, in random order."""
    files = [f for f in modules() if any(fnmatch.fnmatch(f, glob) for glob in options.only)]
    if options.changed:
        command = ["git", "diff", "--name-only", options.changed, "--", "svmbook"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"cannot list the changes since {options.changed}: {done.stderr}")
        files = [file for file in files if file in done.stdout.split("\n")]
    if options.among:
        mutants = [m for m in read(options.among).values() if m["outcome"] == "survived"]
        digests = {file: fingerprint((ROOT / file).read_text(encoding="utf-8")) for file in files}
        return [m for m in mutants if m["file"] in digests and digests[m["file"]] in m["key"]]
    mutants = [mutant for file in files for mutant in draw_mutants(file, options.seed)]
    random.Random(options.seed).shuffle(mutants)  # large files get more of the sample
    return mutants[: options.count]


def read(path):
    """Return the results in a file by key; later lines replace earlier ones."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {result["key"]: result for result in map(json.loads, lines)}


def run_all(untested, options):
    """Test mutants in several private copies in parallel; yield the results as they finish."""
    with start_jobs(min(options.jobs, len(untested)), options.tests) as (root, each):
        tests = {test for mutant in untested for test in assigned_tests(mutant["file"], root)}
        selection = [] if options.all_tests else ["-m", "not nightly"]
        fingerprints = {test: fingerprint_test_file(test, root) for test in sorted(tests)}
        keys = {test: f"{test} {fingerprints[test]} {selection}" for test in fingerprints}
        known = read(COSTS)
        new = [test for test, key in keys.items() if key not in known]
        with COSTS.open("a", encoding="utf-8") as file:
            for cost in each(lambda job, test: measure(job, test, selection, options.tests), new):
                cost["key"] = keys[cost["test"]]
                known[cost["key"]] = cost
                if cost["outcome"] == "survived":
                    print(json.dumps(cost), file=file, flush=True)
        costs = {test: known[key] for test, key in keys.items()}
        if any(cost["outcome"] != "survived" for cost in costs.values()):
            raise SystemExit("tests fail without a mutant")
        yield from each(lambda job, mutant: run_tests_on_mutant(job, mutant, costs), untested)


def main():
    options = parse_arguments()
    if messages := table_errors():
        raise SystemExit("\n".join(messages))
    name = "-".join(["mutants", *filter(None, [options.tests, "all" * options.all_tests])])
    path = BUILD / f"{name.replace('/', '_')}.jsonl"
    mutants, known = sample_mutants(options), read(path)
    repeat = options.among is not None and options.among.resolve() == path
    untested = [mutant for mutant in mutants if repeat or mutant["key"] not in known]
    print(f"{len(mutants)} mutants in the sample, {len(untested)} still to be tested", flush=True)
    if untested:
        with path.open("a", encoding="utf-8") as file:
            for result in run_all(untested, options):
                known[result["key"]] = result
                print(json.dumps(result), file=file, flush=True)
                line = "{cpu:7} s of CPU time, {outcome}: {file}:{line}".format(**result)
                print(line, *result["by"][:1], flush=True)
    text = (ROOT / EQUIVALENT).read_text(encoding="utf-8") if (ROOT / EQUIVALENT).exists() else ""
    results = sorted((known[m["key"]] for m in mutants), key=lambda r: r["key"])
    report(results, parse_equivalents(text))


if __name__ == "__main__":
    main()
