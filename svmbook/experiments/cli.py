"""The command ``svmbook``."""

import re
import sys

try:
    import os
    import signal
    import warnings
    from contextlib import contextmanager
    from pathlib import Path

    import click

    from .running.records import results_folder
    from .running.store import Store
    from .running.suite import RunError, versions
    from .suites import SUITES, find_suite, report
except KeyboardInterrupt:
    sys.exit(130)

__all__ = ["main"]

MAX_RUNS = 1_000_000  # per data set and method
STORE_OPTION = click.option(
    "--store",
    "store_path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File of records.",
)


class RunRange(click.ParamType):
    """A number of runs such as ``10``, or a range of run numbers such as ``37-40``."""

    name = "N|A-B"

    def convert(self, value, param, ctx):
        """Return the range of run numbers."""
        first, dash, last = value.partition("-")
        try:
            first, end = (int(first), int(last) + 1) if dash else (0, int(first))
        except ValueError:
            first = end = 0
        if not 0 < end - first <= MAX_RUNS:
            self.fail(
                f"{value!r} is neither a number of runs, such as 10, nor a range, such as 37-40."
            )
        return range(first, end)


class OneLineErrorGroup(click.Group):
    """A command group that reports each error in one line."""

    def make_context(self, info_name, args, parent=None, **extra):
        """Parse the options of the group itself."""
        with _one_line_errors(info_name):
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx):
        """Run a command."""
        _ensure_stderr()
        with _one_line_errors(ctx.command_path), _one_line_warnings():
            return super().invoke(ctx)


def _ensure_stderr():
    """Open the null device as stderr if the caller has closed stderr.

    Otherwise the store could get file descriptor 2, to which worker processes write.
    """
    if sys.stderr is None:
        while (devnull := os.open(os.devnull, os.O_RDWR)) < 2:
            continue
        os.set_inheritable(devnull, True)
        sys.stderr = os.fdopen(devnull, "w")


@contextmanager
def _one_line_errors(command):
    """Report errors in one line; the exit code is 2 for usage errors and 1 for all others."""
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:
        raise  # click shows the help
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else command
        message = f"{_one_line(error.format_message())} See {command} --help."
        raise click.UsageError(message) from error  # no context, so no lines about the usage
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        raise  # the reader closed the pipe; click exits without a message
    except (OSError, ValueError, ImportError, RunError) as error:
        raise click.ClickException(_one_line(error)) from error


@click.group(cls=OneLineErrorGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="svmbook", message="svmbook %(version)s")
def main():
    """Reproduce the tables of "Support Vector Machines, from the dual up".

    \b
    Examples:
      svmbook list
      svmbook reproduce exploring-parameters --runs 5 --store mine.jsonl
      svmbook table exploring-parameters --store mine.jsonl
      svmbook data sonar heart --fetch
    """


@main.command("list")
def list_suites():
    """List the suites: data sets, methods, and how many of the runs are stored.

    \b
    Example:
      svmbook list
    """
    for suite in map(find_suite, SUITES):
        click.echo(f"{suite.name}\n  {suite.title}")
        click.echo(f"  data:    {', '.join(map(repr, suite.data_sets))}")
        click.echo(f"  methods: {', '.join(map(repr, suite.methods))}")
        if suite.extra_tables:
            click.echo(f"  tables:  main table, {', '.join(suite.extra_tables)}")
        try:
            jobs, store = suite.jobs(), Store(_default_store_path(suite.name))
            n_stored = sum(job in store for job in jobs)
            stored = f"{n_stored} of {len(jobs)} in {_display_path(store.path)}"
        except (OSError, ValueError) as error:
            stored = f"not usable: {_one_line(error)}"
        click.echo(f"  runs:    {suite.n_runs} per data set and method; stored: {stored}")


@main.command("reproduce")
@click.argument("suite_name", type=click.Choice(SUITES), metavar="SUITE")
@click.option("--datasets", metavar="NAME,...", help="Only these data sets.")
@click.option("--methods", metavar="NAME,...", help="Only these methods.")
@click.option("--runs", type=RunRange(), help="Number or range of runs [default: the suite's].")
@click.option(
    "--jobs",
    "n_jobs",
    type=click.IntRange(-1, 4096),
    help="Processes; -1 for one per core [default: 1, or with --dask local one per core].",
)
@click.option(
    "--dask", "dask_address", metavar="ADDRESS|local", help="Run on a Dask cluster instead."
)
@STORE_OPTION
def reproduce_suite(suite_name, datasets, methods, runs, n_jobs, dask_address, store_path):
    """Carry out the runs of SUITE that are missing from the store.

    Each run is appended to the store as soon as it is finished. If the program is stopped, run the
    same command again to resume. In a list of names, a comma before a space is part of a name. The
    default store is the suite's file in the book's results; name a new file to start afresh. Two
    calls may share a store; give them different --runs, or both do the same work.

    \b
    Examples:
      svmbook reproduce exploring-parameters --runs 5 --store mine.jsonl
      svmbook reproduce lin2005-kernels --datasets sonar,heart --jobs 2
      svmbook reproduce shen2013 --datasets "glass, 10 % noise" --methods CART,linear
      svmbook reproduce lin2005-kernels --datasets twonorm --runs 37-37 --store mine.jsonl
      svmbook reproduce lin2005-kernels --dask tcp://10.0.0.1:8786
    """
    if n_jobs == 0:
        raise click.UsageError("--jobs must be 1 or more, or -1; found 0.")
    if dask_address not in (None, "local") and n_jobs is not None:
        raise click.UsageError("--jobs does not apply to a running cluster; leave --jobs out.")
    try:
        requested_jobs = find_suite(suite_name).jobs(
            _split_names(datasets), _split_names(methods), runs
        )
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    store = Store(store_path or _default_store_path(suite_name))
    missing_jobs = [job for job in requested_jobs if job not in store]
    n_stored, n_runs = len(requested_jobs) - len(missing_jobs), len(requested_jobs)
    click.echo(f"{_display_path(store.path)}: {n_stored} of {n_runs} runs are stored", err=True)
    if not missing_jobs:
        return
    status, exit_code = "stopped", 0
    with _sigterm_as_interrupt():
        try:
            from .reproduce import dask_client, load_tables, reproduce  # importing takes seconds

            if dask_address is not None:
                n_workers = None if n_jobs == -1 else n_jobs
                with dask_client(dask_address, n_workers) as client:
                    client.run(load_tables, missing_jobs)  # on the workers
                    _show_progress(
                        reproduce(requested_jobs, store, client=client), n_stored, n_runs
                    )
            else:
                load_tables(missing_jobs)
                _show_progress(
                    reproduce(requested_jobs, store, n_jobs=n_jobs or 1), n_stored, n_runs
                )
        except KeyboardInterrupt as error:
            exit_code = 128 + (error.args[0] if error.args else signal.SIGINT)
        except (OSError, RunError) as error:
            status, exit_code = _one_line(f"Error: {error}"), 1
    store = Store(store.path)  # read again: a signal may have interrupted a refresh
    n_stored = sum(job in store for job in requested_jobs)
    if n_stored < n_runs:
        counts = f"{n_stored} of {n_runs} runs are in {_display_path(store.path)}"
        condition = "once that is fixed, " if exit_code == 1 else ""
        click.echo(f"{status}: {counts}; {condition}run the same command again to resume", err=True)
        sys.exit(exit_code or 1)


@contextmanager
def _sigterm_as_interrupt():
    """Handle SIGTERM, which batch systems send, like Ctrl-C."""

    def interrupt(signum, frame):
        raise KeyboardInterrupt(signum)

    previous = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


@main.command("table")
@click.argument("suite_name", type=click.Choice(SUITES), metavar="SUITE")
@click.option("--table", "table_name", metavar="NAME", help="A further table of the suite.")
@STORE_OPTION
@click.option("--csv", "as_csv", is_flag=True, help="Print the unrounded numbers as CSV.")
def show_table(suite_name, table_name, store_path, as_csv):
    """Show the table of SUITE as Markdown: reported and reproduced numbers side by side.

    \b
    Examples:
      svmbook table lin2005-kernels
      svmbook table shen2013 --table sizes
      svmbook table exploring-parameters --store mine.jsonl --csv
    """
    store = Store(store_path or _default_store_path(suite_name))
    incomplete_line = store.refresh()
    if incomplete_line:
        click.echo("warning: the store ends in an incomplete record, left out here", err=True)
    result = report(suite_name, store, table=table_name)
    click.echo(result.to_frame().to_csv(index=False) if as_csv else result, nl=not as_csv)


@main.command("data")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--fetch", is_flag=True, help="Download absent tables into the cache.")
def verify_data_tables(names, fetch):
    """List the data tables, and verify the checksums of those on this computer.

    The exit code is 1 if a table is damaged, or if a table that was named is absent.

    \b
    Examples:
      svmbook data
      svmbook data sonar heart --fetch
    """
    # This import takes seconds.
    from ..datasets.tables.loaders import BUNDLED_LOADERS, find_table_file, load_table, manifest

    known_names = list(dict.fromkeys([*manifest(), *BUNDLED_LOADERS]))
    for name in names:
        if name not in known_names:
            raise click.UsageError(f"unknown table {name!r}; choose from {', '.join(known_names)}.")
    has_failed = False
    for name in names or known_names:
        try:
            state = "verified  scikit-learn's own copy"
            if name not in BUNDLED_LOADERS:
                path = find_table_file(name)
                if path or fetch:
                    load_table(name)
                    path = path or find_table_file(name)
                state = f"verified  {path}" if path else "absent"
                has_failed |= bool(names) and path is None
        except (OSError, ValueError) as error:
            state, has_failed = f"not usable: {_one_line(error)}", True
        click.echo(f"{name:14} {state}")
    if has_failed:
        click.echo(
            "--fetch downloads absent tables; SVMBOOK_DATA may name a folder that has them",
            err=True,
        )
        sys.exit(1)


@main.command("version")
def show_version():
    """Show the versions of Python and of the packages that results may depend on.

    \b
    Example:
      svmbook version
    """
    click.echo(versions())


def _show_progress(progress, n_stored, n_runs):
    """Show the progress of the runs: a bar on a terminal, otherwise one line per run."""
    if sys.stderr.isatty():
        with click.progressbar(length=n_runs, label="runs", file=sys.stderr, show_pos=True) as bar:
            bar.update(n_stored)
            for _ in progress:
                bar.update(1)
        return
    for record, n_stored, _ in progress:
        run = f"{record['data_set']}, {record['method']}, run {record['run']}"
        error, seconds = 100 * record["error"], record["seconds"]
        click.echo(f"{n_stored}/{n_runs} {run}: error {error:.2f} %, {seconds:.1f} s", err=True)


def _default_store_path(suite_name):
    """Return the path of a suite's file in the book's results, else in the current folder."""
    try:
        folder = results_folder()
    except FileNotFoundError:
        if os.environ.get("SVMBOOK_RESULTS"):
            raise
        folder = Path.cwd()
    return folder / f"{suite_name}.jsonl"


def _display_path(path):
    """Return a path relative to the current folder if it lies there, and otherwise absolute."""
    path = path.absolute()
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _one_line(message):
    return " ".join(str(message).split())


def _split_names(text):
    """Split a list at its commas; a comma before a space is part of a name."""
    return None if text is None else [name.strip() for name in re.split(r",(?!\s)", text) if name]


@contextmanager
def _one_line_warnings():
    """Print each warning in one line, without the line of code that raised it."""

    def show(message, category, filename, lineno, file=None, line=None):
        click.echo(f"warning: {_one_line(message)}", err=True)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield
