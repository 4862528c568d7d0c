"""Inside the sandbox: run the cells that come in, and tell what each has put out.

Started as a program by `sandbox`. The cells come on stdin, and what they put out leaves by a file
of its own, a line of JSON a cell, so that what was finished before a limit struck is not lost. No
file holds the notebook: hidden tests are not in the kernel before they run.
"""

from __future__ import annotations

import ast
import builtins
import ctypes
import errno
import json
import os
import platform
import random
import resource
import struct
import sys
from contextlib import suppress

from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat.v4 import new_code_cell, new_notebook

__all__ = ["main"]

PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP = 4, 38, 22
SHOWN = 200_000  # characters of one output that are kept
# System calls that give memory which no process is charged for, or the rights of a new namespace:
# memfd_create, memfd_secret, shmget, shmat, semget, msgget, mq_open, io_uring_setup, bpf, keyctl,
# add_key, request_key, unshare, setns; and the numbers of clone, which is forbidden with
# CLONE_NEWUSER, and of socket, which is for families that have no network here.
FORBIDDEN = {
    "x86_64": (
        0xC000003E,
        (319, 447, 29, 30, 64, 68, 240, 425, 321, 250, 248, 249, 272, 308),
        (56, 41),
    ),
    "aarch64": (
        0xC00000B7,
        (279, 447, 194, 196, 190, 186, 180, 425, 280, 219, 217, 218, 97, 268),
        (220, 198),
    ),
}
CLONE3, CLONE_NEWUSER = 435, 0x10000000
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
# Of what is displayed: nothing that a browser would run. The rest is dropped, and not counted.
KEPT = ("text/plain", "image/png", "image/jpeg")
# Of an answer in a test: arrays are copied before it sees them, so that it cannot change what the
# test goes on with; or, in its place, what is certainly wrong.
APART = """(lambda f: lambda *a, **k: f(
    *[x.copy() if type(x).__name__ == "ndarray" else x for x in a],
    **{n: x.copy() if type(x).__name__ == "ndarray" else x for n, x in k.items()}
) if type(f).__name__ == "function" else f)"""
WRONG = "(lambda f: lambda *a, **k: {number})"
# A test (plain Python) runs in names of its own: what is built in is what it is, whatever a
# submission calls so. What the test defines stands afterwards where it would stand without us.
TEST = """
_test = {{k: v for k, v in globals().items() if k not in {builtin!r}}}
_answers = [k for k in {answers!r} if callable(_test.get(k))]
for _name in _answers:
    _test[_name] = {answer}(_test[_name])
_before = dict(_test)
try:
    exec(compile({source!r}, "<test>", "exec"), _test)
    assert {real} or _answers
finally:
    if {real}:
        globals().update(
            {{k: v for k, v in _test.items() if k[:1] != "_" and _before.get(k) is not v}}
        )
"""
# What must fail if errors are told at all, with numbers that nobody foresees: a submission may
# have taken assertions out of cells, silenced tracebacks, or replaced what tests are made of.
CANARIES = (
    "assert [{x}] == [{y}], '{word}'",
    """
def _canary(x, y):
    import numpy
    from svmbook.course.checks import check_array, check_close
    for work, *given in (
        (check_close, "canary", x, y),
        (check_array, "canary", [x], (3,)),
        (numpy.testing.assert_allclose, [x], [y]),
    ):
        try:
            work(*given)
        except AssertionError:
            continue
        return
    equal = float(str(x)) == float(str(y)) or abs(-x) == abs(-y) or numpy.allclose([x], [y])
    assert equal, "{word}"
_canary({x}, {y})
""",
)


class Client(NotebookClient):
    """A client that does not take more from a kernel than it was told to.

    Parameters
    ----------
    nb : NotebookNode
        What to run.
    most : int
        Bytes of output.
    **options
        Of `nbclient.NotebookClient`.
    """

    def __init__(self, nb, most, **options):
        super().__init__(nb, **options)
        self.left, self.flooded = most, False

    def process_message(self, msg, cell, cell_index):
        """Keep an output while there is room; end the kernel when there is none."""
        if isinstance(data := msg["content"].get("data"), dict):
            msg["content"]["data"] = {kind: data[kind] for kind in KEPT if kind in data}
        size = len(json.dumps(msg["content"], default=str))
        self.left -= size
        if self.left < 0:
            if not self.flooded:
                self.flooded = True
                os.kill(self.km.provisioner.pid, 9)
            return None
        return super().process_message(msg, cell, cell_index)

    def output(self, outs, msg, display_id, cell_index):
        """Keep the beginning of a long text."""
        content = msg["content"]
        if isinstance(content.get("text"), str) and len(content["text"]) > SHOWN:
            content["text"] = content["text"][:SHOWN] + "\n... (cut)\n"
        return super().output(outs, msg, display_id, cell_index)


def main():
    """Read what to run from stdin, run it, and tell what came out."""
    work = json.load(sys.stdin)
    if work["bounded"]:
        _limit(work["limits"], work["user"])
    tell = _teller(int(sys.argv[1]))
    with suppress(DeadKernelError):  # told where it happened
        _run(work, tell)


def _teller(file):
    """Return a function that writes a line of JSON where the kernel cannot write."""
    # Not dumpable: other processes of the sandbox can neither trace this one nor open its files.
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    os.set_inheritable(file, False)
    out = os.fdopen(file, "w", encoding="utf-8")

    def tell(**line):
        out.write(json.dumps(line) + "\n")
        out.flush()

    return tell


def _limit(limits, user):
    """Take limits upon this process and its children, and, as root, another user's name."""
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")  # where memory ends all the same, the kernel ends us and nobody else
    for kind, most in (
        (resource.RLIMIT_AS, limits["memory"]),
        (resource.RLIMIT_FSIZE, limits["disk"]),
        (resource.RLIMIT_CPU, limits["seconds"]),
        (resource.RLIMIT_NPROC, limits["processes"]),
        (resource.RLIMIT_NOFILE, 256),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))
    if user is not None:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)  # from root to another: all capabilities go with it
    _forbid()


def _forbid():
    """Let the system calls of `FORBIDDEN` fail, here and in all children.

    The program of the filter (man 2 seccomp) is a list of instructions: a code, how many lines to
    jump over if it is true and if not, and a number. It can read the number of the call, at 0, the
    architecture, at 4, and the first argument, at 16. clone3 hides its flags behind a pointer: it
    is said not to exist, and libraries take clone.
    """
    if platform.machine() not in FORBIDDEN:
        return
    machine, calls, (clone, socket) = FORBIDDEN[platform.machine()]
    read, equal, at_least, has, answer = 0x20, 0x15, 0x35, 0x45, 0x06
    refused, missing, allowed = (
        (answer, 0, 0, value)
        for value in (0x50000 + errno.EPERM, 0x50000 + errno.ENOSYS, 0x7FFF0000)
    )
    program = [
        *((read, 0, 0, 4), (equal, 1, 0, machine), (answer, 0, 0, 0x80000000)),  # be killed
        *((read, 0, 0, 0), (at_least, 0, 1, 0x40000000), refused),  # of another convention
        *(line for call in calls for line in ((equal, 0, 1, call), refused)),
        *((equal, 0, 1, CLONE3), missing),
        *((equal, 0, 4, clone), (read, 0, 0, 16), (has, 0, 1, CLONE_NEWUSER), refused, allowed),
        *((equal, 0, 6, socket), (read, 0, 0, 16), (equal, 4, 0, AF_UNIX), (equal, 3, 0, AF_INET)),
        *((equal, 2, 0, AF_INET6), (equal, 1, 0, AF_NETLINK), refused, allowed),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    whole = struct.pack("HP", len(program), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(PR_SET_SECCOMP, 2, ctypes.c_char_p(whole), 0, 0):
        raise OSError(ctypes.get_errno(), "no filter of system calls can be set here")


def _run(work, tell):
    nb = new_notebook(cells=[new_code_cell(cell["source"]) for cell in work["cells"]])
    timed_out = {
        "ename": "CellTimeoutError",
        "evalue": f"not finished after {work['limits']['cell_seconds']} seconds",
        "traceback": [],
    }
    client = Client(
        nb,
        work["limits"]["output"],
        timeout=work["limits"]["cell_seconds"],
        iopub_timeout=10,
        interrupt_on_timeout=True,
        error_on_timeout=timed_out,
        allow_errors=True,
        kernel_name="python3",
        kernel_manager_class=AsyncKernelManager,
        extra_arguments=["--HistoryManager.hist_file=:memory:"],
        resources={"metadata": {"path": os.getcwd()}},
    )
    with client.setup_kernel():
        tell(started=True)
        known = {}
        for number, (cell, about) in enumerate(zip(nb.cells, work["cells"], strict=True)):
            if about["given"]:
                known |= _definitions(cell.source)
            if about["graded"]:
                test = _needed(cell.source, known) + cell.source
                answers = _names(_parsed(test)) - known.keys() - _definitions(test).keys()
                cell.source = _as_test(test, answers)
            passed = _execute(client, cell, number, timed_out, tell, not about["graded"])
            if about["graded"]:
                verdict = _verdict(client, number, test, answers, tell) if passed else "checked"
                tell(**{verdict: number})
        tell(done=True)


def _as_test(source, answers=(), answer=APART):
    """Return a cell that runs a test, with something made of each answer in its place.

    What a test uses and does not define itself, nor the notebook as handed out, is an answer.
    """
    about = {"answers": sorted(answers), "answer": answer, "real": answer == APART}
    return TEST.format(source=source, builtin=dir(builtins), **about)


def _verdict(client, number, test, answers, tell):
    """Return whether what must fail does: made comparisons, and the test with wrong answers.

    One that fails otherwise than it should, as where memory has ended, says nothing of the test.
    """
    word, x, y = f"{random.random()}", random.random(), 1 + random.random()
    for code in CANARIES:
        reply = _quietly(client, _as_test(code.format(word=word, x=x, y=y)), number, tell)
        if reply["status"] == "ok":
            return "tampered"
        if (reply.get("ename"), word in reply.get("evalue", "")) != ("AssertionError", True):
            return "unknown"
    wrong = _as_test(test, answers, WRONG.format(number=random.random()))
    return "tampered" if _quietly(client, wrong, number, tell)["status"] == "ok" else "checked"


def _definitions(source):
    """Return the imports, functions and classes of a cell, by name."""
    found = {}
    for node in _parsed(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(name.asname or name.name).split(".")[0]: node for name in node.names}
    return found


def _names(tree):
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _parsed(source):
    try:
        return ast.parse(source)
    except SyntaxError:  # commands of IPython, or a mistake that will show when the cell is run
        return ast.Module([], [])


def _needed(source, known):
    """Return the definitions handed out that a test uses, and those that they use.

    What a submission has put under their names does not reach the test.
    """
    nodes, left = [], [_parsed(source)]
    while left:
        names = _names(left.pop())
        new = [known[name] for name in sorted(names & known.keys()) if known[name] not in nodes]
        nodes += new
        left += new
    return "".join(f"{ast.unparse(node)}\n" for node in reversed(nodes))


def _execute(client, cell, number, timed_out, tell, remembered):
    """Run one cell, tell its outputs, return whether it passed; an error that is hidden is one."""
    try:
        reply = _reply(client, cell, number, remembered)
    except DeadKernelError:
        tell(cell=number, outputs=cell.outputs, died=True, flooded=client.flooded)
        raise
    told = any(output.output_type == "error" for output in cell.outputs)
    if reply["status"] != "ok" and not told:
        error = {name: reply.get(name) or timed_out[name] for name in timed_out}
        cell.outputs.append({"output_type": "error", **error})
    tell(cell=number, outputs=cell.outputs)
    return reply["status"] == "ok"


def _reply(client, cell, number, remembered=False):
    """Run one cell, and return what the kernel replies; its text may stay out of `In`."""
    replies = [{"status": "ok"}]  # an empty cell is not sent
    client.on_cell_executed = lambda cell, cell_index, execute_reply: replies.append(
        execute_reply["content"]
    )
    client.execute_cell(cell, number, store_history=remembered)
    return replies[-1]


def _quietly(client, code, number, tell):
    """Run what is ours; return what the kernel replies."""
    try:
        return _reply(client, new_code_cell(code), number)
    except DeadKernelError:
        tell(died=True, flooded=client.flooded)
        raise
