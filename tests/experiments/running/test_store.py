"""The store: whole after whatever ends the program that writes it."""

import json
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

from svmbook.experiments.running.store import FIELDS, Job, Store


def record(run, data_set="d"):
    values = dict.fromkeys(FIELDS, 0) | {"parameters": {"C": 1.0}, "versions": "none"}
    return values | {"suite": "s", "data_set": data_set, "method": "m", "run": run, "error": 0.25}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.jsonl"


def filled(path, n):
    store = Store(path)
    for run in range(len(store), n):
        assert store.append(record(run))
    return store


def test_what_was_appended_is_there(path):
    filled(path, 3)
    store = Store(path)
    assert store.records() == [record(run) for run in range(3)]
    assert store.records("s") == store.records() and store.records("t") == []
    assert Job("s", "d", "m", 2) in store and Job("s", "d", "m", 3) not in store
    assert len(path.read_bytes().splitlines()) == len(store) == 3


def test_a_run_is_kept_once(path):
    store = filled(path, 2)
    assert not store.append(record(1) | {"error": 0.5})
    assert Store(path).records() == [record(0), record(1)]


def test_every_torn_line_is_set_aside(path):
    filled(path, 3)
    whole = path.read_bytes()
    last = whole.rfind(b"\n", 0, -1) + 1
    for cut in range(last + 1, len(whole), 9):
        path.write_bytes(whole[:cut])
        store = Store(path)
        assert store.records() == [record(0), record(1)]
        assert path.read_bytes() == whole[:cut]  # reading changes nothing
        with pytest.warns(RuntimeWarning, match=r"torn record.*set aside in runs\.jsonl\.torn"):
            store.repair()
        assert path.read_bytes() == whole[:last]
        aside = path.with_name("runs.jsonl.torn")
        assert aside.read_bytes() == whole[last:cut] + b"\n"
        aside.unlink()
        assert store.append(record(2))
        assert path.read_bytes() == whole


def test_a_whole_store_is_not_mended(path):
    store = filled(path, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.repair()
    assert not path.with_name("runs.jsonl.torn").exists()


def test_a_program_killed_beside_us_is_cleaned_up_after(path):
    store = filled(path, 2)
    with path.open("ab") as file:
        file.write(b'{"suite": "s", "dat')
    with pytest.warns(RuntimeWarning, match="torn record"):
        assert store.append(record(2))
    assert Store(path).records() == [record(run) for run in range(3)]


def test_another_process_is_heard(path):
    ours, theirs = Store(path), Store(path)
    theirs.append(record(0))
    assert not ours.append(record(0))
    theirs.append(record(1))
    assert len(ours) == 1
    assert ours.refresh() == b"" and len(ours) == 2


def test_a_repeated_run_that_comes_later_is_named_by_its_line(path):
    store = filled(path, 2)
    store.append(record(2) | {"error": 1.0})
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record(1)) + "\n")
    with pytest.raises(ValueError, match=r"line 4 repeats the run of an earlier line \(s: d, m, r"):
        store.refresh()


def test_a_store_that_was_taken_back_is_read_again(path):
    store = filled(path, 3)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:1]))
    store.refresh()
    assert store.records() == [record(0)]
    path.unlink()
    store.refresh()
    assert len(store) == 0
    other = path.with_name("other.jsonl")
    filled(other, 1)
    store.append(record(7))
    filled(other, 5)
    other.replace(path)  # longer than the one that was read, and nothing in it is torn
    store.refresh()
    assert [r["run"] for r in store.records()] == list(range(5))


def test_a_store_that_cannot_be_written_is_refused_before_the_first_run(path):
    store = Store(path)
    store.repair()
    assert path.read_bytes() == b""
    path.unlink()
    path.symlink_to(path.with_name("no") / "folder.jsonl")
    with pytest.raises(OSError, match="No such file"):
        store.repair()


def test_a_lock_that_is_never_given_back(path, monkeypatch):
    store = filled(path, 1)
    monkeypatch.setattr("svmbook.experiments.running.store.LOCK_SECONDS", 0.1)
    impatient = Store(path)
    with store._lock, pytest.raises(OSError, match=r"another process has held .*lock for 0\.1 s"):
        impatient.append(record(1))


FULL_DISK = """
import resource, sys
sys.path.insert(0, sys.argv[1])
from test_store import Store, record
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
store = Store(sys.argv[2])
try:
    store.append(record(2))
except OSError as error:
    print("refused", len(store), len(open(sys.argv[2], "rb").read()))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(store.append(record(2)), len(store))
"""


def test_a_full_disk_leaves_the_store_as_it_was(path, request):
    filled(path, 2)
    before = path.read_bytes()
    room = len(before) + 40  # a part of the next record fits: the write is torn, not refused
    call = [sys.executable, "-c", FULL_DISK, str(request.path.parent), str(path), str(room)]
    done = subprocess.run(call, capture_output=True, text=True, timeout=120)
    assert done.stdout == f"refused 2 {len(before)}\nTrue 3\n", done.stderr
    assert not path.with_name("runs.jsonl.torn").exists()
    assert path.read_bytes().startswith(before)
    assert Store(path).records() == [record(run) for run in range(3)]


TWO_WRITERS = """
import sys
sys.path.insert(0, sys.argv[1])
from test_store import Store, record
store = Store(sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
print(sum(store.append(record(run)) for run in range(150)))
"""


def test_two_processes_share_a_store(path, request):
    call = [sys.executable, "-c", TWO_WRITERS, str(request.path.parent), str(path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    writers = [subprocess.Popen(call, **pipes) for _ in range(2)]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    added = [int(writer.communicate(timeout=120)[0]) for writer in writers]
    assert sum(added) == 150
    assert sorted(r["run"] for r in Store(path).records()) == list(range(150))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"suite": "s"', "line 2 is damaged"),
        ('{"suite": "s"}', "line 2 is no record of a run: it lacks data_set"),
        (json.dumps(record("1")), "line 2 is no record of a run: run is '1'; it has to be a whole"),
        (json.dumps(record(-1)), "run is -1; it has to be a whole number from 0"),
        (json.dumps(record(True)), "run is True; it has to be a whole number from 0"),
        (json.dumps(record(1, data_set=["d"])), r"data_set is \['d'\]; it has to be text"),
        (json.dumps(record(1) | {"error": 7}), "error is 7; it has to be between 0 and 1"),
        (json.dumps(record(1) | {"error": float("nan")}), "error is nan; it has to be between"),
        (json.dumps(record(1) | {"seconds": None}), "seconds is None; it has to be a finite"),
        (json.dumps(record(1) | {"parameters": [1]}), r"parameters is \[1\]; it has to be names"),
        (json.dumps(record(1) | {"parameters": {"C": "x"}}), "it has to be names with finite num"),
        (json.dumps(record(1) | {"parameters": {"C": float("nan")}}), "names with finite numbers"),
        ("[" * 100_000, "line 2 is damaged"),
        (json.dumps(record(0)), r"line 2 repeats the run of an earlier line \(s: d, m, run 0\)"),
    ],
)
def test_a_file_that_is_no_store_is_named(path, line, message):
    filled(path, 1)
    with path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(ValueError, match=message):
        Store(path)


@pytest.mark.parametrize("written", [b"my notes, without a last newline", b"\0" * 1000])
def test_a_file_of_something_else_is_left_alone(path, written):
    path.write_bytes(written)
    with pytest.raises(ValueError, match="ends in something else than a record"):
        Store(path)
    assert path.read_bytes() == written


def test_what_is_no_file_is_refused(path):
    os.mkfifo(path)
    for other in (path, path.parent, "/dev/null"):
        with pytest.raises(ValueError, match="is no file that could hold records"):
            Store(other)


def test_what_cannot_be_stored(path, tmp_path):
    store = filled(path, 1)
    before = path.read_bytes()
    for value in (float("nan"), np.int64(3), {1, 2}):
        with pytest.raises(ValueError, match="the record of s: d, m, run 1 cannot be written as J"):
            store.append(record(1) | {"confusion": value})
    with pytest.raises(ValueError, match="it lacks seconds, versions"):
        store.append({k: v for k, v in record(1).items() if k not in ("seconds", "versions")})
    assert path.read_bytes() == before
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        Store(tmp_path / "no" / "runs.jsonl")
