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

MAX_RUNS = 1_000_000  # of each line


class Runs(click.ParamType):
    """How many runs, or which: ``10`` or ``37-40``."""

    name = "N|A-B"

    def convert(self, value, param, ctx):
        """Return the range of numbers."""
        first, dash, last = value.partition("-")
        try:
            first, end = (int(first), int(last) + 1) if dash else (0, int(first))
        except ValueError:
            first = end = 0
        if not 0 < end - first <= MAX_RUNS:
            self.fail(f"{value!r} is no number of runs, such as 10, nor some, such as 37-40.")
        return range(first, end)


class OneLine(click.Group):
    """A group whose errors are one line each: what was found, and what to do."""

    def make_context(self, info_name, args, parent=None, **extra):
        """Read the options of the group itself."""
        with _one_line_errors(info_name):
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx):
        """Run a command."""
        _require_stderr()
        with _one_line_errors(ctx.command_path), _plain_warnings():
            return super().invoke(ctx)


def _require_stderr():
    """Replace a stderr that the caller has closed, or a store would become file 2 of workers."""
    if sys.stderr is None:
        while (nowhere := os.open(os.devnull, os.O_RDWR)) < 2:
            continue
        os.set_inheritable(nowhere, True)
        sys.stderr = os.fdopen(nowhere, "w")


@contextmanager
def _one_line_errors(command):
    """Leave exit code 2 to a call that is wrong, 1 to whatever else goes wrong."""
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:
        raise  # which shows the help
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else command
        message = f"{_one_line(error.format_message())} See {command} --help."
        raise click.UsageError(message) from error  # without a context, and so without usage
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        raise  # the reader closed the pipe; click ends quietly
    except (OSError, ValueError, ImportError, RunError) as error:
        raise click.ClickException(_one_line(error)) from error


@click.group(cls=OneLine, context_settings={"help_option_names": ["-h", "--help"]})
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
    """List the suites: what each runs, and how many of its runs are stored.

    \b
    Example:
      svmbook list
    """
    for suite in map(find_suite, SUITES):
        click.echo(f"{suite.name}\n  {suite.title}")
        click.echo(f"  data:    {', '.join(map(repr, suite.data_sets))}")
        click.echo(f"  methods: {', '.join(map(repr, suite.methods))}")
        if suite.more:
            click.echo(f"  tables:  its own, {', '.join(suite.more)}")
        try:
            jobs, store = suite.jobs(), Store(_default_store(suite.name))
            stored = f"{sum(job in store for job in jobs)} of {len(jobs)} in {_shown(store.path)}"
        except (OSError, ValueError) as error:
            stored = f"not usable: {_one_line(error)}"
        click.echo(f"  runs:    {suite.runs} of each; stored: {stored}")


@main.command("reproduce")
@click.argument("suite", type=click.Choice(SUITES), metavar="SUITE")
@click.option("--datasets", metavar="NAME,...", help="Only these data sets.")
@click.option("--methods", metavar="NAME,...", help="Only these methods.")
@click.option("--runs", type=Runs(), help="How many of each, or which [default: the suite's].")
@click.option(
    "--jobs",
    type=click.IntRange(-1, 4096),
    help="Processes; -1 for one a core [default: 1, or with --dask local one a core].",
)
@click.option("--dask", metavar="ADDRESS|local", help="Work on a Dask cluster instead.")
@click.option("--store", type=click.Path(dir_okay=False, path_type=Path), help="File of records.")
def reproduce_suite(suite, datasets, methods, runs, jobs, dask, store):
    """Do the runs of SUITE that its store lacks.

    Each finished run is appended to the store at once. Whatever ends the program, the next call
    goes on where it was. In a list of names a comma before a space belongs to a name. The default
    store is the suite's among the book's results; give another one to begin from nothing. Two calls
    may share a store; give them different --runs, or both do the same work.

    \b
    Examples:
      svmbook reproduce exploring-parameters --runs 5 --store mine.jsonl
      svmbook reproduce lin2005-kernels --datasets sonar,heart --jobs 2
      svmbook reproduce shen2013 --datasets "glass, 10 % noise" --methods CART,linear
      svmbook reproduce lin2005-kernels --datasets twonorm --runs 37-37 --store mine.jsonl
      svmbook reproduce lin2005-kernels --dask tcp://10.0.0.1:8786
    """
    if jobs == 0:
        raise click.UsageError("--jobs 0 does nothing; give 1 or more, or -1.")
    if dask not in (None, "local") and jobs is not None:
        raise click.UsageError("a cluster has the workers it has; leave --jobs out.")
    try:
        wanted = find_suite(suite).jobs(_names(datasets), _names(methods), runs)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    records = Store(store or _default_store(suite))
    missing = [job for job in wanted if job not in records]
    there = len(wanted) - len(missing)
    click.echo(f"{_shown(records.path)}: {there} of {len(wanted)} runs are there", err=True)
    if not missing:
        return
    reason, code = "stopped", 0
    with _sigterm_as_interrupt():
        try:
            from .reproduce import check_tables, cluster, reproduce  # seconds

            if dask is not None:
                with cluster(dask, None if jobs == -1 else jobs) as client:
                    client.run(check_tables, missing)  # where the work is done
                    _show_progress(reproduce(wanted, records, client=client), there, len(wanted))
            else:
                check_tables(missing)
                _show_progress(reproduce(wanted, records, n_jobs=jobs or 1), there, len(wanted))
        except KeyboardInterrupt as error:
            code = 128 + (error.args[0] if error.args else signal.SIGINT)
        except (OSError, RunError) as error:
            reason, code = _one_line(f"Error: {error}"), 1
    records = Store(records.path)  # read again: it may have been stopped between two statements
    done = sum(job in records for job in wanted)
    if done < len(wanted):
        where = f"{done} of {len(wanted)} runs are in {_shown(records.path)}"
        how = "once that is mended, the same command" if code == 1 else "the same command"
        click.echo(f"{reason}: {where}; {how} goes on from there", err=True)
        sys.exit(code or 1)


@contextmanager
def _sigterm_as_interrupt():
    """Let a batch system's SIGTERM end the work as Ctrl-C does."""

    def stop(number, frame):
        raise KeyboardInterrupt(number)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@main.command("table")
@click.argument("suite", type=click.Choice(SUITES), metavar="SUITE")
@click.option("--table", metavar="NAME", help="A further table of the suite.")
@click.option("--store", type=click.Path(dir_okay=False, path_type=Path), help="File of records.")
@click.option("--csv", is_flag=True, help="The numbers behind it, unrounded, as CSV.")
def show_table(suite, table, store, csv):
    """Show the table of SUITE, reported beside reproduced, as Markdown.

    \b
    Examples:
      svmbook table lin2005-kernels
      svmbook table shen2013 --table sizes
      svmbook table exploring-parameters --store mine.jsonl --csv
    """
    records = Store(store or _default_store(suite))
    if records.refresh():
        click.echo("warning: the store ends in a torn record, which is left out", err=True)
    made = report(suite, records, table=table)
    click.echo(made.to_frame().to_csv(index=False) if csv else made, nl=not csv)


@main.command("data")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--fetch", is_flag=True, help="Download what is absent into the cache.")
def show_data(names, fetch):
    """Tell which tables are on this machine, and whether they are what they should be.

    Exit code 1 if a table is damaged, or one that was named is absent.

    \b
    Examples:
      svmbook data
      svmbook data sonar heart --fetch
    """
    from ..datasets.tables.loaders import BUNDLED, find, load_table, manifest  # seconds

    known = list(dict.fromkeys([*manifest(), *BUNDLED]))
    for name in names:
        if name not in known:
            raise click.UsageError(f"there is no table {name!r}; there are {', '.join(known)}.")
    failed = False
    for name in names or known:
        try:
            state = "verified  scikit-learn's own copy"
            if name not in BUNDLED:
                path = find(name)
                if path or fetch:
                    load_table(name)
                    path = path or find(name)
                state = f"verified  {path}" if path else "absent"
                failed |= bool(names) and path is None
        except (OSError, ValueError) as error:
            state, failed = f"not usable: {_one_line(error)}", True
        click.echo(f"{name:14} {state}")
    if failed:
        click.echo("--fetch downloads what is absent; SVMBOOK_DATA may name a folder", err=True)
        sys.exit(1)


@main.command("version")
def show_version():
    """Tell the versions that a result may depend on.

    \b
    Example:
      svmbook version
    """
    click.echo(versions())


def _show_progress(progress, there, total):
    """Show how far the runs are: a bar on a terminal, a line for each run elsewhere."""
    if sys.stderr.isatty():
        with click.progressbar(length=total, label="runs", file=sys.stderr, show_pos=True) as bar:
            bar.update(there)
            for _ in progress:
                bar.update(1)
        return
    for record, done, _ in progress:
        run = f"{record['data_set']}, {record['method']}, run {record['run']}"
        error, seconds = 100 * record["error"], record["seconds"]
        click.echo(f"{done}/{total} {run}: error {error:.2f} %, {seconds:.1f} s", err=True)


def _default_store(suite):
    """Return the suite's file among the book's results, or here where there is no book."""
    try:
        folder = results_folder()
    except FileNotFoundError:
        if os.environ.get("SVMBOOK_RESULTS"):
            raise
        folder = Path.cwd()
    return folder / f"{suite}.jsonl"


def _shown(path):
    """Return a path as short as it can be said from here."""
    path = path.absolute()
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _one_line(message):
    return " ".join(str(message).split())


def _names(text):
    """Return the names of a list; a comma before a space belongs to a name."""
    return None if text is None else [name.strip() for name in re.split(r",(?!\s)", text) if name]


@contextmanager
def _plain_warnings():
    """Print a warning as one line, without the place in the code."""

    def show(message, category, filename, lineno, file=None, line=None):
        click.echo(f"warning: {_one_line(message)}", err=True)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield
