"""The store: its records survive killed writers, full disks and concurrent writers."""

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


def filled_store(path, n_records):
    store = Store(path)
    for run in range(len(store), n_records):
        assert store.append(record(run))
    return store


def test_appended_records_are_stored(path):
    filled_store(path, 3)
    store = Store(path)
    assert store.records() == [record(run) for run in range(3)]
    assert store.records("s") == store.records() and store.records("t") == []
    assert Job("s", "d", "m", 2) in store and Job("s", "d", "m", 3) not in store
    assert len(path.read_bytes().splitlines()) == len(store) == 3


def test_first_record_of_a_run_is_kept(path):
    store = filled_store(path, 2)
    assert not store.append(record(1) | {"error": 0.5})
    assert Store(path).records() == [record(0), record(1)]


def test_incomplete_last_line_is_moved_to_another_file(path):
    filled_store(path, 3)
    content = path.read_bytes()
    last_line_start = content.rfind(b"\n", 0, -1) + 1
    for length in range(last_line_start + 1, len(content), 9):
        path.write_bytes(content[:length])
        store = Store(path)
        assert store.records() == [record(0), record(1)]
        assert path.read_bytes() == content[:length]  # reading changes nothing
        with pytest.warns(RuntimeWarning, match=r"incomplete record.*moved to runs\.jsonl\.torn"):
            store.repair()
        assert path.read_bytes() == content[:last_line_start]
        torn_path = path.with_name("runs.jsonl.torn")
        assert torn_path.read_bytes() == content[last_line_start:length] + b"\n"
        torn_path.unlink()
        assert store.append(record(2))
        assert path.read_bytes() == content


def test_repair_does_not_change_a_complete_store(path):
    store = filled_store(path, 2)
    old_content = path.read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.repair()
    assert path.read_bytes() == old_content
    assert not path.with_name("runs.jsonl.torn").exists()


def test_append_repairs_the_incomplete_record_of_a_killed_process(path):
    store = filled_store(path, 2)
    with path.open("ab") as file:
        file.write(b'{"suite": "s", "dat')
    with pytest.warns(RuntimeWarning, match="incomplete record"):
        assert store.append(record(2))
    assert Store(path).records() == [record(run) for run in range(3)]


def test_records_appended_through_another_store_are_read(path):
    store, other_store = Store(path), Store(path)
    other_store.append(record(0))
    assert not store.append(record(0))
    other_store.append(record(1))
    assert len(store) == 1
    assert store.refresh() == b"" and len(store) == 2


def test_repeated_run_appended_later_is_reported_with_its_line(path):
    store = filled_store(path, 2)
    store.append(record(2) | {"error": 1.0})
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record(1)) + "\n")
    with pytest.raises(ValueError, match=r"line 4 repeats the run of an earlier line \(s: d, m, r"):
        store.refresh()


def test_shortened_deleted_or_replaced_file_is_read_again(path):
    store = filled_store(path, 3)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:1]))
    store.refresh()
    assert store.records() == [record(0)]
    path.unlink()
    store.refresh()
    assert len(store) == 0
    other_path = path.with_name("other.jsonl")
    filled_store(other_path, 1)
    store.append(record(7))
    filled_store(other_path, 5)
    other_path.replace(path)  # longer than the file that was read, and complete
    store.refresh()
    assert [r["run"] for r in store.records()] == list(range(5))


def test_repair_creates_a_missing_file_or_raises_if_it_cannot_be_written(path):
    store = Store(path)
    store.repair()
    assert path.read_bytes() == b""
    path.unlink()
    path.symlink_to(path.with_name("no") / "folder.jsonl")
    with pytest.raises(OSError, match="No such file"):
        store.repair()


def test_lock_that_is_not_released_raises_after_the_timeout(path, monkeypatch):
    store = filled_store(path, 1)
    monkeypatch.setattr("svmbook.experiments.running.store.LOCK_TIMEOUT", 0.1)
    waiting_store = Store(path)
    with store._lock, pytest.raises(OSError, match=r"another process has held .*lock for 0\.1 s"):
        waiting_store.append(record(1))


FULL_DISK_SCRIPT = """
import resource, sys
sys.path.insert(0, sys.argv[1])
from test_store import Store, record
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
store = Store(sys.argv[2])
try:
    store.append(record(2))
except OSError as error:
    print("failed", len(store), len(open(sys.argv[2], "rb").read()))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(store.append(record(2)), len(store))
"""


def test_append_to_a_full_disk_leaves_the_store_unchanged_and_can_be_repeated(path, request):
    filled_store(path, 2)
    old_content = path.read_bytes()
    max_file_size = len(old_content) + 40  # in bytes; allows only a part of the next record
    command = [
        sys.executable,
        "-c",
        FULL_DISK_SCRIPT,
        str(request.path.parent),
        str(path),
        str(max_file_size),
    ]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.stdout == f"failed 2 {len(old_content)}\nTrue 3\n", result.stderr
    assert not path.with_name("runs.jsonl.torn").exists()
    assert path.read_bytes().startswith(old_content)
    assert Store(path).records() == [record(run) for run in range(3)]


WRITER_SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
from test_store import Store, record
store = Store(sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
print(sum(store.append(record(run)) for run in range(150)))
"""


def test_runs_appended_by_two_processes_are_stored_once(path, request):
    command = [sys.executable, "-c", WRITER_SCRIPT, str(request.path.parent), str(path)]
    popen_options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    writers = [subprocess.Popen(command, **popen_options) for _ in range(2)]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    n_appended = [int(writer.communicate(timeout=120)[0]) for writer in writers]
    assert sum(n_appended) == 150
    assert sorted(r["run"] for r in Store(path).records()) == list(range(150))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"suite": "s"', "line 2 is damaged"),
        ('{"suite": "s"}', "line 2 is not the record of a run: it lacks data_set"),
        (json.dumps(record("1")), "line 2 is not the record of a run: run must be a non-negative"),
        (json.dumps(record(-1)), "run must be a non-negative integer; found -1"),
        (json.dumps(record(True)), "run must be a non-negative integer; found True"),
        (json.dumps(record(1, data_set=["d"])), r"data_set must be text; found \['d'\]"),
        (json.dumps(record(1) | {"error": 7}), "error must be between 0 and 1; found 7"),
        (json.dumps(record(1) | {"error": float("nan")}), "error must be .* found nan"),
        (json.dumps(record(1) | {"seconds": None}), "seconds must be a finite non-neg.* None"),
        (json.dumps(record(1) | {"parameters": [1]}), r"parameters must be a dict .* found \[1\]"),
        (json.dumps(record(1) | {"parameters": {"C": "x"}}), "must be a dict of finite numbers"),
        (json.dumps(record(1) | {"parameters": {"C": float("nan")}}), "a dict of finite numbers"),
        ("[" * 100_000, "line 2 is damaged"),
        (json.dumps(record(0)), r"line 2 repeats the run of an earlier line \(s: d, m, run 0\)"),
    ],
)
def test_invalid_line_is_reported(path, line, message):
    filled_store(path, 1)
    with path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(ValueError, match=message):
        Store(path)


@pytest.mark.parametrize("content", [b"my notes, without a last newline", b"\0" * 1000])
def test_file_that_is_not_a_store_is_not_changed(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match="does not end in a record"):
        Store(path)
    assert path.read_bytes() == content


def test_paths_that_are_not_regular_files_raise(path):
    os.mkfifo(path)
    for invalid_path in (path, path.parent, "/dev/null"):
        with pytest.raises(ValueError, match="is not a regular file"):
            Store(invalid_path)


def test_invalid_record_or_missing_folder_raises(path, tmp_path):
    store = filled_store(path, 1)
    old_content = path.read_bytes()
    for value in (float("nan"), np.int64(3), {1, 2}):
        with pytest.raises(ValueError, match="the record of s: d, m, run 1 cannot be written as J"):
            store.append(record(1) | {"confusion": value})
    with pytest.raises(ValueError, match="it lacks seconds, versions"):
        store.append({k: v for k, v in record(1).items() if k not in ("seconds", "versions")})
    assert path.read_bytes() == old_content
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        Store(tmp_path / "no" / "runs.jsonl")
