"""Serve the built book together with kernels for its cells.

On this machine alone: one port of the loopback address, and a token that is drawn anew each time
and stands in the address that is printed. For a class, with an address that others reach: a
password, which has to be set, and each kernel in a sandbox of bubblewrap, for whoever knows the
password runs code here. A page gets its part of the server (``live.js``) as it is sent; the built
book has none.
"""

import argparse
import getpass
import os
import secrets
import sys
import tempfile
from ipaddress import ip_address
from pathlib import Path

from jupyter_server.auth import passwd
from jupyter_server.auth.identity import PasswordIdentityProvider
from jupyter_server.base.handlers import APIHandler, JupyterHandler
from jupyter_server.serverapp import ServerApp
from jupyter_server.services.kernels.kernelmanager import (
    AsyncMappingKernelManager,
    ServerKernelManager,
)
from tornado import web
from traitlets import Integer, Unicode

from svmbook.course.sandbox import SandboxError, bubble, find_sandbox

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HTML = ROOT / "_build" / "html"
FIRST = "/book/intro.html"
SHORTEST = 8  # letters of a password
FOLDERS = ("SVMBOOK_RESULTS", "SVMBOOK_DATA")  # what chapters read
DISK = 2**26  # bytes of the files that a kernel in its sandbox may keep
PART = (
    b'<link rel="stylesheet" href="/live/live.css"><script type="module" src="/live/live.js">'
    b"</script></head>"
)
# What a kernel does before it is one: it takes its limit on memory, in bytes.
LIMITED = (
    "import os, resource, sys; resource.setrlimit(resource.RLIMIT_AS, 2 * (int(sys.argv[1]),)); "
    "os.execv(sys.argv[2], sys.argv[2:])"
)


class Kernel(ServerKernelManager):
    """A kernel with a limit on its memory, and in a sandbox where one is given."""

    memory = Integer(0, config=True)
    sandbox = Unicode("", config=True)
    room = Unicode("", config=True)

    async def _async_pre_start_kernel(self, **options):
        if self.sandbox:  # which has no network: the two speak through files of one folder
            folder = tempfile.mkdtemp(dir=self.room)
            self.transport, self.ip = "ipc", f"{folder}/socket"
            self.connection_file = f"{folder}/kernel.json"
        return await super()._async_pre_start_kernel(**options)

    def format_kernel_cmd(self, extra_arguments=None):
        """Return the command that starts a kernel."""
        command = [sys.executable, "-c", LIMITED, str(self.memory)]
        command += super().format_kernel_cmd(extra_arguments)
        if not self.sandbox:
            return command
        folder = str(Path(self.connection_file).parent)
        also = {name: os.environ[name] for name in FOLDERS if os.environ.get(name)}
        around = [*bubble(self.sandbox, disk=DISK, also=also.values()), "--cap-drop", "ALL"]
        for name, path in also.items():
            around += ["--setenv", name, path]
        return [*around, "--bind", folder, folder, *command]


class Kernels(AsyncMappingKernelManager):
    """All kernels, no more than so many at a time."""

    most = Integer(8, config=True)
    starting = 0

    async def start_kernel(self, **options):
        """Start a kernel, or refuse."""
        if len(self) + self.starting >= self.most:
            raise web.HTTPError(503, f"all {self.most} kernels are in use")
        self.starting += 1
        try:
            return await super().start_kernel(**options)
        finally:
            self.starting -= 1


class Page(JupyterHandler, web.StaticFileHandler):
    """A file of the built book, for those who are let in; pages get their part of the server."""

    @web.authenticated
    async def get(self, path, include_body=True):
        """Send a file."""
        self.xsrf_token  # noqa: B018 - reading it sets the cookie that requests to the API repeat
        file = Path(self.root, path).resolve()
        if file.suffix != ".html" or not file.is_file() or not file.is_relative_to(HTML):
            await web.StaticFileHandler.get(self, path, include_body)
            return
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.finish(file.read_bytes().replace(b"</head>", PART, 1))

    def set_extra_headers(self, path):
        """Let a browser ask again: the book may have been built anew."""
        self.set_header("Cache-Control", "no-cache")

    def compute_etag(self):
        """Return no tag: a date is enough."""


class Room(APIHandler):
    """How many kernels there are, and how many there may be."""

    @web.authenticated
    def get(self):
        """Tell."""
        kernels = self.kernel_manager
        self.finish({"kernels": len(kernels) + kernels.starting, "most": kernels.most})


class Live(ServerApp):
    """A server of kernels and of the book, without files, terminals and the rest."""

    default_services = ("api", "auth", "kernels", "kernelspecs", "sessions", "security")
    load_other_extensions = False

    def init_webapp(self):
        """Add the book."""
        super().init_webapp()
        pages = {"path": str(HTML), "default_filename": "index.html"}
        parts = {"path": str(HERE)}
        self.web_app.add_handlers(
            ".*$",
            [
                (r"/live/room", Room),
                (r"/live/(live\.(?:js|css)|vendor/.*)", Page, parts),
                (r"/((?:book|notebooks|_static|_images|_sphinx_design_static)/.*)", Page, pages),
                (
                    r"/(index\.html|search\.html|genindex\.html|searchindex\.js|favicon\.ico)",
                    Page,
                    pages,
                ),
            ],
        )


def settings(options, room):
    """Return the settings of the server, or raise what keeps it from starting."""
    alone = is_loopback(options.host)
    sandbox = "" if alone else class_sandbox(options.unsafe)
    identity = {"token": secrets.token_hex(24)}
    if not alone:
        identity = {
            "token": "",
            "hashed_password": passwd(class_password()),
            "password_required": True,
        }
    return {
        "ServerApp": {
            "ip": options.host,
            "port": options.port,
            "port_retries": 20,
            "open_browser": False,
            "default_url": FIRST,
            "root_dir": room,
            "kernel_manager_class": Kernels,
            "identity_provider_class": PasswordIdentityProvider,
            "jpserver_extensions": {},
            "terminals_enabled": False,
            "allow_root": True,
            "answer_yes": True,
            "log_level": "ERROR",
        },
        "PasswordIdentityProvider": identity,
        "Kernels": {
            "most": options.kernels,
            "kernel_manager_class": f"{__name__}.Kernel",
            "cull_idle_timeout": options.idle,
            "cull_interval": max(1, min(60, options.idle // 3)),
            "cull_connected": True,
        },
        "Kernel": {"memory": options.memory * 2**20, "sandbox": sandbox, "room": room},
    }


def is_loopback(host):
    """Say whether nobody but this machine reaches an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def class_password():
    """Return the password of a class: from the environment, or asked for."""
    word = os.environ.get("SVMBOOK_PASSWORD", "")
    if not word and sys.stdin.isatty():
        word = getpass.getpass("A password for the class: ")
    if len(word) < SHORTEST:
        raise SystemExit(
            "Others reach this address, and whoever is let in runs code here: it needs a password "
            f"of {SHORTEST} letters or more. Set it in SVMBOOK_PASSWORD."
        )
    return word


def class_sandbox(unsafe):
    """Return the path of bubblewrap."""
    if unsafe:
        return ""
    try:
        return find_sandbox()
    except SandboxError as error:
        raise SystemExit(
            f"The kernels of a class run in a sandbox. {error}".replace("--unsafe", "UNSAFE=1")
        ) from None


def read(arguments=None):
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at")
    parser.add_argument("--port", type=int, default=8888)
    parser.add_argument("--kernels", type=int, default=8, help="at most so many at a time")
    parser.add_argument("--memory", type=int, default=4096, help="MiB of address space of a kernel")
    parser.add_argument("--idle", type=int, default=1200, help="seconds after which a kernel ends")
    parser.add_argument(
        "--unsafe", action="store_true", help="no sandbox for the kernels of a class"
    )
    return parser.parse_args(arguments)


def main():
    options = read()
    os.environ.setdefault("SVMBOOK_RESULTS", str(ROOT / "book" / "results"))
    app = Live()
    with tempfile.TemporaryDirectory(prefix="live-") as room:
        for section, values in settings(options, room).items():
            app.config[section].update(values)
        app.initialize(argv=[], find_extensions=False)
        token = app.identity_provider.token
        address = f"http://{app.ip}:{app.port}{FIRST}" + (f"?token={token}" if token else "")
        print(f"The live book is at {address} (stop with Ctrl-C)", flush=True)
        app.start()


if __name__ == "__main__":
    main()
