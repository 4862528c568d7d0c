"""Kernels of the live book: so many at a time, each within its limits, in a class in a sandbox."""

import contextlib
import itertools
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil
from jupyter_server.services.kernels.kernelmanager import (
    AsyncMappingKernelManager,
    ServerKernelManager,
)
from tornado import web
from traitlets import Integer, Unicode

from svmbook.course.execution.sandbox import bubble, confined

FOLDERS = ("SVMBOOK_RESULTS", "SVMBOOK_DATA")  # what chapters read
DISK = 2**26  # bytes of a file, and of all in memory, of a kernel in its sandbox
BLOCK = 4096  # bytes that a name takes
PROCESSES, SECONDS = 100, 3600  # threads and processes, and processor time, of a kernel there
# What a kernel without a sandbox does before it is one: it limits its memory.
LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_AS, 2 * (int(sys.argv[1]),))
os.execv(sys.argv[2], sys.argv[2:])
"""
LARGEST_MESSAGE = 2**24  # bytes of a message of a kernel; a larger one ends the connection
LOOKS = 50  # for processes to end
KNOWN = 1000  # kernels that have ended, of which their pages may still ask why
USERS = itertools.cycle(range(61_184, 61_600))  # one for each sandbox, where root makes it


class Kernel(ServerKernelManager):
    """A kernel with a limit on its memory, and in a sandbox where one is given."""

    memory = Integer(0, config=True)
    sandbox = Unicode("", config=True)
    room = Unicode("", config=True)
    folder = user = None

    async def _async_pre_start_kernel(self, **options):
        if self.sandbox:  # which has no network: the two speak through files of one folder
            if self.folder is None:
                self.folder = Path(tempfile.mkdtemp(dir=self.room))
                self.user = next(USERS) if os.geteuid() == 0 else None
            for old in self.folder.iterdir():
                remove(old)
            self.transport, self.ip = "ipc", f"{self.folder}/socket"
            self.connection_file = f"{self.folder}/kernel.json"
        return await super()._async_pre_start_kernel(**options)

    def format_kernel_cmd(self, extra_arguments=None):
        """Return the command that starts a kernel."""
        command = super().format_kernel_cmd(extra_arguments)
        if not self.sandbox:
            return [sys.executable, "-c", LIMITED, str(self.memory), *command]
        command = confined(
            command,
            **{"memory": self.memory, "disk": DISK, "user": self.user},
            **{"processes": PROCESSES, "seconds": SECONDS},
        )
        # A signal would meet the sandbox's first process.
        self.kernel_spec.interrupt_mode = "message"
        if self.user:
            for path in (self.folder, *self.folder.iterdir()):
                os.chown(path, self.user, self.user)
        also = {name: os.environ[name] for name in FOLDERS if os.environ.get(name)}
        around = bubble(self.sandbox, disk=DISK, also=also.values())
        for name, path in also.items():
            around += ["--setenv", name, path]
        around += ["--perms", "0755", "--dir", self.room]
        return [*around, "--bind", str(self.folder), str(self.folder), *command]

    async def _async_cleanup_resources(self, restart=False):
        """End what is left of a sandbox, whose first process may have died before the others."""
        await super()._async_cleanup_resources(restart=restart)
        if self.folder is not None:
            end_all(self.folder)
            if not restart:
                remove(self.folder)

    def stored(self):
        """Return the bytes of the files in its folder, which is on the disk of this machine.

        A file or folder without content counts as well: it takes a block for its name.
        """
        if self.folder is None:
            return 0
        total = 0
        for folder, folders, files in os.walk(self.folder):
            for name in (*folders, *files):
                with contextlib.suppress(OSError):
                    total += BLOCK + os.lstat(os.path.join(folder, name)).st_blocks * 512
        return total

    def resident(self):
        """Return the bytes of memory of all its processes."""
        process, total = getattr(self.provisioner, "process", None), 0
        if process is not None:
            with contextlib.suppress(psutil.Error):
                first = psutil.Process(process.pid)
                for one in (first, *first.children(recursive=True)):
                    total += one.memory_info().rss
        return total


def remove(path):
    """Remove a file or a folder, whatever its owner has made of it."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    with contextlib.suppress(OSError):
        path.chmod(0o700)
        for inside in path.iterdir():
            remove(inside)
    shutil.rmtree(path, ignore_errors=True)


def end_all(folder):
    """Kill every process that was started with this folder, and those that they still start."""
    for _ in range(LOOKS):
        found = [
            process
            for process in psutil.process_iter(["cmdline"])
            if str(folder) in " ".join(process.info["cmdline"] or ()) and process.pid != os.getpid()
        ]
        for process in found:
            with contextlib.suppress(psutil.Error):
                process.kill()
        if not found:
            return
        time.sleep(0.02)


class Kernels(AsyncMappingKernelManager):
    """All kernels, no more than so many at a time, and no more than so many of one reader."""

    most = Integer(8, config=True)
    most_each = Integer(0, config=True)
    starting = 0

    def __init__(self, **options):
        super().__init__(**options)
        self.context.MAXMSGSIZE = LARGEST_MESSAGE  # for all sockets that read from kernels
        self.owners = {}  # of kernels: who asked for them
        self.ended = {}  # why kernels were ended
        self._last_seen = {}  # when a page was last connected to a kernel
        self.asking = Counter()  # of readers: kernels that are being started

    def kernels_of(self, user):
        """Return the names of the kernels of a reader that run."""
        return {kernel for kernel, owner in self.owners.items() if owner == user and kernel in self}

    def may_have_another(self, user):
        """Return whether a reader may start another kernel."""
        return not self.most_each or (
            len(self.kernels_of(user)) + self.asking[user] < self.most_each
        )

    def reasons(self, user):
        """Return why kernels of a reader were ended."""
        return {k: reason for k, reason in self.ended.items() if self.owners.get(k) == user}

    async def start_kernel(self, **options):
        """Start a kernel, or refuse."""
        if len(self) + self.starting >= self.most:
            raise web.HTTPError(503, f"all {self.most} kernels are in use")
        self.starting += 1
        try:
            return await super().start_kernel(**options)
        finally:
            self.starting -= 1

    async def watch(self):
        """End kernels that take more than they may, and in a class those whose page is gone."""
        for kernel_id in self.list_kernel_ids():
            if kernel_id not in self:  # it has ended while another was being ended
                continue
            kernel, now = self.get_kernel(kernel_id), time.monotonic()
            if self._kernel_connections.get(kernel_id):
                self._last_seen[kernel_id] = now
            unseen = now - self._last_seen.setdefault(kernel_id, now)
            reason = None
            if kernel.resident() > kernel.memory:
                reason = f"it took more than {kernel.memory >> 20} MiB of memory"
            elif kernel.stored() > DISK:
                reason = f"it stored more than {DISK >> 20} MiB in its folder"
            elif self.cull_busy and unseen > self.cull_idle_timeout > 0:
                reason = "its page was gone"
            if reason:
                self.ended[kernel_id] = reason
                await self.shutdown_kernel(kernel_id, now=True)
        self._forget()

    def _forget(self):
        """Forget the kernels that ended long ago."""
        for known in (self.owners, self.ended, self._last_seen):
            for kernel_id in [one for one in known if one not in self][:-KNOWN]:
                del known[kernel_id]

    async def cull_kernel_if_idle(self, kernel_id):
        """End a kernel that has done nothing for long, and note why."""
        await super().cull_kernel_if_idle(kernel_id)
        if kernel_id not in self:
            minutes = self.cull_idle_timeout / 60
            self.ended[kernel_id] = f"it put out nothing for {minutes:g} minutes"
