"""Measure the built pages and the live book, and write `book/results/web.json`.

Usage: python tools/measure_web.py

Requires the built book, Chromium and Node.js. Times depend on the computer; the other measurements
do not. The colophon displays all measurements.
"""

import datetime
import importlib
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

from playwright.sync_api import sync_playwright
from serve import CHROMIUM, serving

ROOT = Path(__file__).resolve().parents[1]
HTML, RECORD_PATH = ROOT / "_build" / "html", ROOT / "book" / "results" / "web.json"
N_READERS, N_KERNELS, N_FURTHER_RESULTS = 50, 8, 20
TIMEOUT = 900  # seconds for all readers together
READERS_PER_CRASH = 5  # every fifth reader crashes a kernel
KERNEL_DIED = "() => /died/.test(document.querySelector('.live-head [role=status]').textContent)"
CHAPTER = "dual_svm"
TIME_FITS_SCRIPT = """
import { fit, gaussian, dot } from "%s/book/_static/explorables/dual.js";
import { random } from "%s/book/_static/explorables/stumps.js";
const next = random(1), cosine = () => Math.cos(2 * Math.PI * next());
const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * cosine();
const fits = [];
for (let run = 0; run < 300; run++) {
  const y = Array.from({ length: 60 }, (_, i) => (i %% 2 ? 1 : -1));
  const X = y.map((label) => [0.8 * label + normal(), normal()]);
  const options = { C: 10 ** (run %% 6 - 2), kernel: run %% 2 ? dot : gaussian(1) };
  const start = performance.now(), svm = fit(X, y, options);
  fits.push([performance.now() - start, svm.gap]);
}
fits.splice(0, 50); // warm-up
const largest = (k) => Math.max(...fits.map((row) => row[k]));
console.log(JSON.stringify({ slowest: largest(0), gap: largest(1) }));
"""


def import_live_helpers():
    """Import the tests' module that starts the server of the live book and operates its pages."""
    sys.path.insert(0, str(ROOT))
    return importlib.import_module("tests.web.live")


def measure_response_times(browser, live_helpers):
    """Return the seconds from the click to the first result, and to further results."""
    with live_helpers.run_server("--kernels", str(N_KERNELS)) as (address, token, _):
        first_times, further_times = [], []
        context = browser.new_context()
        live_helpers.LivePage(context, address, CHAPTER, token).page.close()
        for _ in range(5):
            live_page = live_helpers.LivePage(context, address, CHAPTER)
            start = time.perf_counter()
            live_page.start_kernel()
            assert "42" in live_page.run("print(6 * 7)").inner_text()
            first_times.append(time.perf_counter() - start)
            for k in range(N_FURTHER_RESULTS // 5):
                start = time.perf_counter()
                assert str(k) in live_page.run(f"print('result', {k})").inner_text()
                further_times.append(time.perf_counter() - start)
            live_page.page.close()
        context.close()
    return {
        "slowest of 5 first results after the click (s)": max(first_times),
        "further results, median of 20 (s)": statistics.median(further_times),
    }


def measure_many_readers(browser, live_helpers):
    """Let many readers request kernels at once; every fifth reader crashes a kernel.

    Returns the number of readers who had to wait, the number who were informed that their kernel
    had crashed, and the number of other readers who kept their variables and saw no error. Each of
    these other readers defines a variable and prints it after other kernels have crashed.
    """
    with live_helpers.run_server("--kernels", str(N_KERNELS)) as (address, token, _):
        context = browser.new_context()
        context.set_default_timeout(120_000)
        live_helpers.LivePage(context, address, CHAPTER, token).page.close()
        remaining = [live_helpers.LivePage(context, address, CHAPTER) for _ in range(N_READERS)]
        crashing = {*remaining[::READERS_PER_CRASH]}
        for reader in remaining:
            reader.start_kernel(wait=False)
        had_to_wait, defined_variable, n_informed, n_uninterrupted = set(), set(), 0, 0
        deadline = time.monotonic() + TIMEOUT
        while remaining and time.monotonic() < deadline:
            time.sleep(1)
            had_to_wait |= {reader for reader in remaining if "You are waiting" in reader.status}
            for reader in sorted(remaining, key=crashing.__contains__):
                if not reader.page.locator("html[data-live=ready]").count():
                    continue
                if reader in crashing:
                    reader.run("import os\nos._exit(1)")
                    reader.page.wait_for_function(KERNEL_DIED)
                    n_informed += 1
                elif reader not in defined_variable:
                    defined_variable.add(reader)
                    reader.run(f"x = {id(reader)}")
                    continue
                else:
                    output = reader.run("print(x)").inner_text()
                    n_uninterrupted += str(id(reader)) in output and not reader.errors
                remaining.remove(reader)
                reader.page.close()
        context.close()
    return {
        f"readers asked to wait, of {N_READERS} on {N_KERNELS} kernels": len(had_to_wait),
        "readers informed that their kernel had crashed": n_informed,
        "other readers, served without interruption": n_uninterrupted,
    }


def measure_page_sizes(browser):
    """Return the number of pages and the sizes of the largest page and the largest figure."""
    largest_page_size = 0
    with serving(HTML) as site:
        pages = [*HTML.glob("book/*.html"), *HTML.glob("notebooks/*.html")]
        for path in pages:
            page, requests = browser.new_page(), []
            page.on("requestfinished", lambda request, requests=requests: requests.append(request))
            page.goto(site + path.relative_to(HTML).as_posix())
            page_size = sum(len(request.response().body()) for request in requests)
            largest_page_size = max(largest_page_size, page_size)
            page.close()
    stills = (ROOT / "book" / "_static" / "explorables").glob("*.html")
    script_size = (HTML / "_static" / "explorables.js").stat().st_size
    return {
        "pages without the API reference": len(pages),
        "largest page with all its files, uncompressed (kB)": round(largest_page_size / 1000),
        "largest interactive figure with its script (kB)": round(
            (script_size + max(still.stat().st_size for still in stills)) / 1000
        ),
    }


def time_solver():
    """Return the time of the slowest of 250 SVM fits in Node.js, and the largest duality gap."""
    script = TIME_FITS_SCRIPT % ((ROOT.as_uri(),) * 2)
    command = ["node", "--input-type=module"]
    result = json.loads(subprocess.check_output(command, input=script, text=True))
    return {
        "slowest of 250 SVM fits with 60 points in Node.js (ms)": result["slowest"],
        "largest relative duality gap of these fits": result["gap"],
    }


def main():
    live_helpers = import_live_helpers()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        measured = time_solver() | measure_page_sizes(browser)
        measured |= measure_response_times(browser, live_helpers) | measure_many_readers(
            browser, live_helpers
        )
        chromium = browser.version
        browser.close()
    environment = {
        "Python": platform.python_version(),
        "Chromium": chromium,
        "Node.js": subprocess.check_output(["node", "--version"], text=True).strip(),
        "cores": os.cpu_count(),
    }
    rounded = {k: v if isinstance(v, int) else float(f"{v:.2g}") for k, v in measured.items()}
    date = datetime.date.today().isoformat()
    record = {"date": date, "environment": environment, "measured": rounded}
    RECORD_PATH.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(RECORD_PATH.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
