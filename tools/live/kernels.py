"""Kernels of the live book: limited in number and resources, and sandboxed for a class."""

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

from svmbook.course.execution.sandbox import bubblewrap_command, confined_command

# The environment variables with the folders of data that chapters read.
DATA_FOLDER_VARIABLES = ("SVMBOOK_RESULTS", "SVMBOOK_DATA")
MAX_DISK_BYTES = 2**26  # of one file, of the file system in memory, and of a kernel's folder
DIRECTORY_ENTRY_BYTES = 4096
MAX_PROCESSES, MAX_CPU_SECONDS = 100, 3600  # of a sandboxed kernel; threads count as processes
# Limits the address space and then becomes a kernel; used for kernels without a sandbox.
LIMIT_MEMORY_SCRIPT = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_AS, 2 * (int(sys.argv[1]),))
os.execv(sys.argv[2], sys.argv[2:])
"""
MAX_MESSAGE_BYTES = 2**24  # of a message from a kernel; a larger one ends the connection
MAX_KILL_ATTEMPTS = 50
MAX_ENDED_KERNELS = 1000  # number of ended kernels for which the reason is kept
SANDBOX_USER_IDS = itertools.cycle(range(61_184, 61_600))  # used if the server runs as root


class LimitedKernelManager(ServerKernelManager):
    """A kernel with limited memory, in a sandbox if `sandbox` is the path of bubblewrap."""

    memory_limit = Integer(0, config=True)  # bytes
    sandbox = Unicode("", config=True)
    work_folder = Unicode("", config=True)  # parent of the folders of kernels
    folder = user_id = None

    async def _async_pre_start_kernel(self, **options):
        if self.sandbox:  # it has no network, so kernel and server use sockets in a folder
            if self.folder is None:
                self.folder = Path(tempfile.mkdtemp(dir=self.work_folder))
                self.user_id = next(SANDBOX_USER_IDS) if os.geteuid() == 0 else None
            for path in self.folder.iterdir():
                remove(path)
            self.transport, self.ip = "ipc", f"{self.folder}/socket"
            self.connection_file = f"{self.folder}/kernel.json"
        return await super()._async_pre_start_kernel(**options)

    def format_kernel_cmd(self, extra_arguments=None):
        """Return the command that starts a kernel."""
        command = super().format_kernel_cmd(extra_arguments)
        if not self.sandbox:
            return [sys.executable, "-c", LIMIT_MEMORY_SCRIPT, str(self.memory_limit), *command]
        command = confined_command(
            command,
            **{"memory": self.memory_limit, "disk": MAX_DISK_BYTES, "user_id": self.user_id},
            **{"processes": MAX_PROCESSES, "seconds": MAX_CPU_SECONDS},
        )
        # A signal would interrupt bubblewrap instead of the kernel.
        self.kernel_spec.interrupt_mode = "message"
        if self.user_id:
            for path in (self.folder, *self.folder.iterdir()):
                os.chown(path, self.user_id, self.user_id)
        folders = {name: os.environ[name] for name in DATA_FOLDER_VARIABLES if os.environ.get(name)}
        sandbox_command = bubblewrap_command(
            self.sandbox, disk=MAX_DISK_BYTES, extra_paths=folders.values()
        )
        for name, path in folders.items():
            sandbox_command += ["--setenv", name, path]
        sandbox_command += ["--perms", "0755", "--dir", self.work_folder]
        return [*sandbox_command, "--bind", str(self.folder), str(self.folder), *command]

    async def _async_cleanup_resources(self, restart=False):
        """Kill the processes left in a sandbox; remove the kernel's folder unless it restarts."""
        await super()._async_cleanup_resources(restart=restart)
        if self.folder is not None:
            kill_processes(self.folder)
            if not restart:
                remove(self.folder)

    def disk_usage(self):
        """Return the disk space of the kernel's folder in bytes, including directory entries."""
        if self.folder is None:
            return 0
        total = 0
        for folder, folders, files in os.walk(self.folder):
            for name in (*folders, *files):
                with contextlib.suppress(OSError):
                    total += (
                        DIRECTORY_ENTRY_BYTES + os.lstat(os.path.join(folder, name)).st_blocks * 512
                    )
        return total

    def memory_usage(self):
        """Return the resident memory of all processes of the kernel in bytes."""
        first_process, total = getattr(self.provisioner, "process", None), 0
        if first_process is not None:
            with contextlib.suppress(psutil.Error):
                root = psutil.Process(first_process.pid)
                for process in (root, *root.children(recursive=True)):
                    total += process.memory_info().rss
        return total


def remove(path):
    """Remove a file or a folder, even if a kernel has changed its permissions."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    with contextlib.suppress(OSError):
        path.chmod(0o700)
        for child in path.iterdir():
            remove(child)
    shutil.rmtree(path, ignore_errors=True)


def kill_processes(folder):
    """Kill all processes whose command line names a folder, until no new ones appear."""
    for _ in range(MAX_KILL_ATTEMPTS):
        processes = [
            process
            for process in psutil.process_iter(["cmdline"])
            if str(folder) in " ".join(process.info["cmdline"] or ()) and process.pid != os.getpid()
        ]
        for process in processes:
            with contextlib.suppress(psutil.Error):
                process.kill()
        if not processes:
            return
        time.sleep(0.02)


class LimitedMultiKernelManager(AsyncMappingKernelManager):
    """All kernels, with a limit on their number, and in a class a limit per reader."""

    max_kernels = Integer(8, config=True)
    max_kernels_per_reader = Integer(0, config=True)  # 0 means no limit
    n_starting = 0  # number of kernels being started

    def __init__(self, **options):
        super().__init__(**options)
        self.context.MAXMSGSIZE = MAX_MESSAGE_BYTES  # for all sockets that read from kernels
        self.owners = {}  # the reader who started each kernel
        self.end_reasons = {}  # the reason why each kernel was ended
        self._last_connected = {}  # the last time at which a page was connected to each kernel
        self.n_starting_for_reader = Counter()

    def running_kernel_ids(self, user):
        """Return the ids of the running kernels of a reader."""
        return {
            kernel_id
            for kernel_id, owner in self.owners.items()
            if owner == user and kernel_id in self
        }

    def may_start(self, user):
        """Return whether a reader may start another kernel."""
        count = len(self.running_kernel_ids(user)) + self.n_starting_for_reader[user]
        return not self.max_kernels_per_reader or count < self.max_kernels_per_reader

    def end_reasons_of(self, user):
        """Return the reasons why kernels of a reader were ended."""
        return {k: reason for k, reason in self.end_reasons.items() if self.owners.get(k) == user}

    async def start_kernel(self, **options):
        """Start a kernel unless the maximum number of kernels is running."""
        if len(self) + self.n_starting >= self.max_kernels:
            raise web.HTTPError(503, f"all {self.max_kernels} kernels are in use")
        self.n_starting += 1
        try:
            return await super().start_kernel(**options)
        finally:
            self.n_starting -= 1

    async def enforce_limits(self):
        """End kernels that exceed their limits and, in a class, kernels without a page."""
        for kernel_id in self.list_kernel_ids():
            if kernel_id not in self:  # it ended while another kernel was being shut down
                continue
            kernel, now = self.get_kernel(kernel_id), time.monotonic()
            if self._kernel_connections.get(kernel_id):
                self._last_connected[kernel_id] = now
            seconds_disconnected = now - self._last_connected.setdefault(kernel_id, now)
            reason = None
            if kernel.memory_usage() > kernel.memory_limit:
                reason = f"it used more than {kernel.memory_limit >> 20} MiB of memory"
            elif kernel.disk_usage() > MAX_DISK_BYTES:
                reason = f"it stored more than {MAX_DISK_BYTES >> 20} MiB in its folder"
            elif self.cull_busy and seconds_disconnected > self.cull_idle_timeout > 0:
                reason = "its page was closed"
            if reason:
                self.end_reasons[kernel_id] = reason
                await self.shutdown_kernel(kernel_id, now=True)
        self._delete_old_entries()

    def _delete_old_entries(self):
        """Delete the entries of all but the latest ended kernels."""
        for entries in (self.owners, self.end_reasons, self._last_connected):
            for kernel_id in [key for key in entries if key not in self][:-MAX_ENDED_KERNELS]:
                del entries[kernel_id]

    async def cull_kernel_if_idle(self, kernel_id):
        """End a kernel that has been idle for too long, and record the reason."""
        await super().cull_kernel_if_idle(kernel_id)
        if kernel_id not in self:
            minutes = self.cull_idle_timeout / 60
            self.end_reasons[kernel_id] = f"it produced no output for {minutes:g} minutes"
