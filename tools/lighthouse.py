"""Measure every built page with Lighthouse, and write `book/results/lighthouse.json`.

Usage: python tools/lighthouse.py

Needs the built book, Chromium, node and npm. Lighthouse measures each page as on a desktop computer
and as on a phone, with its own settings for both. Performance depends on the load of this computer:
if a page is below its goal, it is measured twice more, and the median counts. A run takes an
hour. After an interruption, the next run continues with the pages that are missing in the file;
delete the file to measure all pages again.
"""

import datetime
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

from serve import CHROMIUM, serving

ROOT = Path(__file__).resolve().parents[1]
HTML, RECORD_PATH = ROOT / "_build" / "html", ROOT / "book" / "results" / "lighthouse.json"
LIGHTHOUSE_VERSION = "12.8"
OPTIONS = {"desktop": ["--preset=desktop"], "phone": []}
PERFORMANCE_GOALS = {"desktop": 95, "phone": 80}
N_FURTHER_RUNS = 2
CHROME_FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
)


def page_names():
    """Return the names of all pages, without the interactive figures within them."""
    paths = (path.relative_to(HTML) for path in HTML.rglob("*.html"))
    return sorted(path.as_posix() for path in paths if path.parts[0] != "_static")


def run_lighthouse(program, address, options):
    """Run Lighthouse once; return the scores of a page from 0 to 100, by category."""
    command = [
        program,
        address,
        "--quiet",
        "--output=json",
        f"--chrome-flags={CHROME_FLAGS}",
        *options,
    ]
    report = subprocess.check_output(command, env={**os.environ, "CHROME_PATH": CHROMIUM})
    categories = json.loads(report)["categories"].values()
    return {category["title"]: round(100 * category["score"]) for category in categories}


def measure_page(program, address, device):
    """Return the scores of a page; if its performance is low, the median of several runs."""
    scores = run_lighthouse(program, address, OPTIONS[device])
    if scores["Performance"] < PERFORMANCE_GOALS[device]:
        further_scores = [
            run_lighthouse(program, address, OPTIONS[device]) for _ in range(N_FURTHER_RUNS)
        ]
        performances = [result["Performance"] for result in (scores, *further_scores)]
        scores["Performance"] = round(statistics.median(performances))
    return scores


def read_record():
    """Return the record to be completed, or a new one."""
    if RECORD_PATH.exists():
        return json.loads(RECORD_PATH.read_text(encoding="utf-8"))
    chromium = subprocess.check_output([CHROMIUM, "--version"], text=True).split()[1]
    return {
        "date": datetime.date.today().isoformat(),
        "environment": {
            "Lighthouse": LIGHTHOUSE_VERSION,
            "Chromium": chromium,
            "cores": os.cpu_count(),
        },
        "scores": {device: {} for device in OPTIONS},
    }


def main():
    record = read_record()
    with serving(HTML) as site, tempfile.TemporaryDirectory() as folder:
        command = [
            "npm",
            "install",
            "--silent",
            "--prefix",
            folder,
            f"lighthouse@{LIGHTHOUSE_VERSION}",
        ]
        subprocess.run(command, check=True)
        program = Path(folder, "node_modules", ".bin", "lighthouse")
        for name in page_names():
            for device, scores_by_page in record["scores"].items():
                if name not in scores_by_page:
                    scores_by_page[name] = measure_page(program, site + name, device)
                    print(device, name, *scores_by_page[name].values(), flush=True)
            RECORD_PATH.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
