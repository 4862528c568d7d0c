"""Change one small thing in svmbook at a time and list the changes that no test notices.

Usage: make mutants ARGS="--count 60 --only 'svmbook/solvers/*' --jobs 1"

The changes come from cosmic-ray. Each is tried in a private copy of the repository with the tests
that belong to its module and run its line; _build/mutants.jsonl gets one line for each. A run that
was stopped goes on where it was; what was tried before a module changed is tried again. After
writing tests, `--among _build/mutants.jsonl` tries those again that survived.

How much the tests of an older revision noticed that today's do not: run the draw, then
`--among _build/mutants.jsonl --tests REVISION`. What is noticed then was lost.
"""

import argparse
import fnmatch
import json
import random
import subprocess
from collections import Counter
from pathlib import Path

from assigned import EQUIVALENT, ROOT, change, equivalent, modules, problems, tests_of
from drawing import fingerprint, mutants_of, mutated
from jobs import BUILD, copies

COSTS = BUILD / "mutants-costs.jsonl"  # of tests without a mutant; a stopped run keeps them


def measure(job, test, options, repair):
    """Run a test file without a mutant; return its cost and the lines that it runs."""
    result = job.run(options=[*options, test], measure=True)
    result |= {"test": test, "options": options}
    if result["outcome"] != "survived":
        print(f"failing without a mutant: {' '.join(result['by'] or [test])}", flush=True)
        if not repair or not result["by"]:
            return result
        # Tests of another revision may contradict today's package; the others count.
        return measure(job, test, [*options, *(f"--deselect={x}" for x in result["by"])], False)
    print(f"{result['cpu']:7.1f} s of processor without a mutant: {test}", flush=True)
    return result


def state(test, root):
    """Return a few letters that change with a test file, what tests share, and the package."""
    paths = [*root.glob("svmbook/**/*.py"), *root.glob("tests/**/*.py"), root / test]
    shared = sorted(path for path in paths if path == root / test or path.name[:5] != "test_")
    return fingerprint("".join(path.read_text(encoding="utf-8") for path in shared))


def chosen(mutant, costs, root):
    """Return the test files that run a mutant's line, closest and cheapest first."""

    def runs(test):
        about, lines = costs[test], mutant["statement"]
        here = about["lines"].get(mutant["file"], ())
        # What runs in other processes is not measured, and an import runs for every test.
        return about["tests"] and (
            about["processes"] or lines is None or any(lines[0] <= n <= lines[1] for n in here)
        )

    stem = Path(mutant["file"]).stem
    found = filter(runs, tests_of(mutant["file"], root))
    return sorted(found, key=lambda test: (stem not in Path(test).stem, costs[test]["cpu"]))


def attempt(job, mutant, costs):
    """Try one mutant and put its file back."""
    path = job.root / mutant["file"]
    before = path.read_text(encoding="utf-8")
    after, diff = mutated(mutant, before)
    result = mutant | {"diff": diff, "outcome": "survived", "by": [], "cpu": 0, "seconds": 0}
    if after is None:
        return result | {"outcome": "incompetent"}
    try:
        path.write_text(after, encoding="utf-8")
        result["tests"] = chosen(mutant, costs, job.root)
        for test in result["tests"]:
            # A few times what the test takes without a mutant.
            cpu, wall = round(10 + 2 * costs[test]["cpu"]), 60 + 5 * costs[test]["seconds"]
            options = ["-x", *costs[test]["options"], test]
            told = job.run(options=options, cpu=cpu, wall=wall)
            for name in ("cpu", "seconds"):
                result[name] = round(result[name] + told[name], 1)
            if told["outcome"] != "survived":
                return result | {"outcome": told["outcome"], "by": told["by"] or [test]}
        return result
    finally:
        path.write_text(before, encoding="utf-8")


def report(results, known):
    """Print what became of the mutants of each folder, then those that survived."""
    counts, survivors = {}, [result for result in results if result["outcome"] == "survived"]
    for result in results:
        outcome = "equivalent" if change_of(result) in known else result["outcome"]
        for row in (str(Path(result["file"]).parent), "together"):
            counts.setdefault(row, Counter())[outcome] += 1
    for row, count in sorted(counts.items(), key=lambda item: item[0] == "together"):
        tried = count.total() - count["incompetent"]
        left, same = count["survived"], count["equivalent"]
        print(f"{row:<32}{1 - (left + same) / max(1, tried):>6.1%} noticed, ", end="")
        print(f"{1 - left / max(1, tried - same):>6.1%} without equivalent ones:", end=" ")
        print(*(f"{number} {outcome}" for outcome, number in count.most_common()), sep=", ")
    for result in survivors:
        if change_of(result) not in known:
            idle = "" if result["tests"] else ", which no test runs"
            print(f"\n# {result['operator']} at line {result['line']}{idle}\n{change(result)}")


def change_of(result):
    """Return what names a survivor; nothing else can be equivalent."""
    return change(result) if result["outcome"] == "survived" else None


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=600, help="how many mutants to draw")
    parser.add_argument("--seed", type=int, default=0, help="a longer draw holds the shorter one")
    parser.add_argument("--only", nargs="+", default=["*"], help="patterns, as svmbook/gram/*")
    parser.add_argument("--changed", metavar="REV", help="only modules that differ from a revision")
    parser.add_argument("--among", metavar="FILE", type=Path, help="try its survivors again")
    parser.add_argument("--tests", metavar="REV", help="use the tests of a revision")
    parser.add_argument("--all-tests", action="store_true", help="run the nightly tests as well")
    parser.add_argument("--jobs", type=int, default=2, help="how many to try at a time")
    return parser.parse_args()


def drawn(options):
    """Return the mutants to try, in the order of the draw."""
    files = [f for f in modules() if any(fnmatch.fnmatch(f, glob) for glob in options.only)]
    if options.changed:
        call = ["git", "diff", "--name-only", options.changed, "--", "svmbook"]
        done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"no changes since {options.changed} can be found: {done.stderr}")
        files = [file for file in files if file in done.stdout.split("\n")]
    if options.among:
        mutants = [m for m in read(options.among).values() if m["outcome"] == "survived"]
        marks = {file: fingerprint((ROOT / file).read_text(encoding="utf-8")) for file in files}
        return [m for m in mutants if m["file"] in marks and marks[m["file"]] in m["key"]]
    mutants = [mutant for file in files for mutant in mutants_of(file, options.seed)]
    random.Random(options.seed).shuffle(mutants)  # so each file has a share as large as it is
    return mutants[: options.count]


def read(path):
    """Return the results in a file by their keys, the last of each."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {result["key"]: result for result in map(json.loads, lines)}


def try_all(due, options):
    """Try mutants, each in one of some private copies; yield the results as they come."""
    with copies(min(options.jobs, len(due)), options.tests) as (root, each):
        tests = {test for mutant in due for test in tests_of(mutant["file"], root)}
        marked = [] if options.all_tests else ["-m", "not nightly"]
        keys = {test: f"{test} {state(test, root)} {marked}" for test in sorted(tests)}
        known = read(COSTS)
        new = [test for test, key in keys.items() if key not in known]
        with COSTS.open("a", encoding="utf-8") as file:
            for cost in each(lambda job, test: measure(job, test, marked, options.tests), new):
                cost["key"] = keys[cost["test"]]
                known[cost["key"]] = cost
                if cost["outcome"] == "survived":
                    print(json.dumps(cost), file=file, flush=True)
        costs = {test: known[key] for test, key in keys.items()}
        if any(cost["outcome"] != "survived" for cost in costs.values()):
            raise SystemExit("tests fail without a mutant")
        yield from each(lambda job, mutant: attempt(job, mutant, costs), due)


def main():
    options = parsed()
    wrong = problems()
    if wrong:
        raise SystemExit("\n".join(wrong))
    name = "-".join(["mutants", *filter(None, [options.tests, "all" * options.all_tests])])
    path = BUILD / f"{name.replace('/', '_')}.jsonl"
    mutants, known = drawn(options), read(path)
    again = options.among is not None and options.among.resolve() == path
    due = [mutant for mutant in mutants if again or mutant["key"] not in known]
    print(f"{len(mutants)} mutants are drawn, {len(due)} of them are to be tried", flush=True)
    if due:
        with path.open("a", encoding="utf-8") as file:
            for result in try_all(due, options):
                known[result["key"]] = result
                print(json.dumps(result), file=file, flush=True)
                said = "{cpu:7} s of processor, {outcome}: {file}:{line}".format(**result)
                print(said, *result["by"][:1], flush=True)
    text = (ROOT / EQUIVALENT).read_text(encoding="utf-8") if (ROOT / EQUIVALENT).exists() else ""
    report(sorted((known[m["key"]] for m in mutants), key=lambda r: r["key"]), equivalent(text))


if __name__ == "__main__":
    main()
