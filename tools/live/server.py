"""Serve the built book together with Jupyter kernels that run its cells.

For one reader, the server listens on the loopback address and prints an address with a new random
token. For a class, on an address that other computers can reach, it requires a password and runs
each kernel in a bubblewrap sandbox, since everyone with the password can run code. Pages get
their script (``live.js``) when they are served; the built book does not contain it.
"""

import argparse
import getpass
import json
import os
import secrets
import sys
import tempfile
from ipaddress import ip_address
from pathlib import Path

from guards import LimitedBufferConnection, OwnerAuthorizer
from jupyter_server.auth import passwd
from jupyter_server.auth.identity import PasswordIdentityProvider
from jupyter_server.base.handlers import APIHandler, JupyterHandler
from jupyter_server.serverapp import ServerApp
from jupyter_server.services.kernels.handlers import MainKernelHandler
from jupyter_server.services.sessions.handlers import SessionRootHandler
from kernels import LimitedMultiKernelManager, kill_processes
from tornado import web
from tornado.ioloop import PeriodicCallback

from svmbook.course.execution.sandbox import SandboxError, find_bubblewrap

LIVE_FOLDER = Path(__file__).resolve().parent
ROOT = LIVE_FOLDER.parents[1]
HTML = ROOT / "_build" / "html"
FIRST_PAGE = "/book/intro.html"
MIN_PASSWORD_LENGTH = 8  # characters
MAX_BODY_BYTES = 2**20  # bytes of a request
TOP_LEVEL_FILE_PATTERN = (
    r"(?:index|search|genindex)\.html|(?:searchindex|sections)\.js|favicon\.ico|[\w-]+\.(?:xml|zip)"
)
LIVE_TAGS = (
    b'<link rel="stylesheet" href="/live/live.css"><script type="module" src="/live/live.js">'
    b"</script></head>"
)


class OwnSessionsHandler(SessionRootHandler):
    """The sessions of a reader, who cannot see those of others."""

    @web.authenticated
    async def get(self):
        """List the reader's sessions."""
        own_ids = self.kernel_manager.running_kernel_ids(self.current_user.username)
        models = await self.session_manager.list_sessions()
        models = [model for model in models if model["kernel"]["id"] in own_ids]
        self.finish(json.dumps(models, default=str))

    @web.authenticated
    async def post(self):
        """Start a session and record the owner of its kernel."""
        manager, user = self.kernel_manager, self.current_user.username
        if not manager.may_start(user):
            limit = manager.max_kernels_per_reader
            raise web.HTTPError(
                429,
                f"you already have the largest number of kernels ({limit}); close a page",
            )
        manager.n_starting_for_reader[user] += 1
        try:
            await super().post()
            await self._record_owner(user)
        except web.HTTPError as error:  # Jupyter sets status 500, whatever the cause
            if isinstance(error.__cause__, web.HTTPError):
                raise error.__cause__ from None
            raise
        finally:
            manager.n_starting_for_reader[user] -= 1

    async def _record_owner(self, user):
        path = (self.get_json_body() or {}).get("path", "")
        for model in await self.session_manager.list_sessions():
            if model["path"] == path:
                self.kernel_manager.owners.setdefault(model["kernel"]["id"], user)


class OwnKernelsHandler(MainKernelHandler):
    """The kernels of a reader; only sessions can start them."""

    @web.authenticated
    async def get(self):
        """List the reader's kernels."""
        own_ids = self.kernel_manager.running_kernel_ids(self.current_user.username)
        models = [model for model in self.kernel_manager.list_kernels() if model["id"] in own_ids]
        self.finish(json.dumps(models, default=str))

    @web.authenticated
    async def post(self):
        """Reject: kernels are started through sessions."""
        raise web.HTTPError(405)


class BookFileHandler(JupyterHandler, web.StaticFileHandler):
    """A file of the built book or of this folder; pages get the tags of the live book."""

    @web.authenticated
    async def get(self, path, include_body=True):
        """Send a file."""
        self.xsrf_token  # noqa: B018 - reading it sets the cookie that API requests need
        if ".." in path.split("/"):
            raise web.HTTPError(404)
        file = Path(self.root, path).resolve()
        if file.suffix != ".html" or not file.is_file() or not file.is_relative_to(HTML):
            await web.StaticFileHandler.get(self, path, include_body)
            return
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.finish(file.read_bytes().replace(b"</head>", LIVE_TAGS, 1))

    def set_extra_headers(self, path):
        """Let the browser revalidate its cache, since the book may have been rebuilt."""
        self.set_header("Cache-Control", "no-cache")

    def compute_etag(self):
        """Return no ETag, since the modification date suffices."""


class CapacityHandler(APIHandler):
    """The number of kernels, its maximum, and why kernels of a reader were ended."""

    @web.authenticated
    def get(self):
        """Send the numbers and reasons."""
        manager = self.kernel_manager
        n_kernels = len(manager) + manager.n_starting
        self.finish(
            {
                "n_kernels": n_kernels,
                "max_kernels": manager.max_kernels,
                "end_reasons": manager.end_reasons_of(self.current_user.username),
            }
        )


class LiveServer(ServerApp):
    """A Jupyter server with kernels and the book, but without files, terminals and extensions."""

    default_services = ("api", "auth", "kernels", "kernelspecs", "sessions", "security")
    load_other_extensions = False

    def init_webapp(self):
        """Add the handlers of the book."""
        super().init_webapp()
        book_files = {"path": str(HTML), "default_filename": "index.html"}
        live_files = {"path": str(LIVE_FOLDER)}
        self.web_app.add_handlers(
            ".*$",
            [
                (r"/api/sessions", OwnSessionsHandler),
                (r"/api/kernels", OwnKernelsHandler),
                (r"/live/capacity", CapacityHandler),
                (r"/live/(live\.(?:js|css)|vendor/.*)", BookFileHandler, live_files),
                (
                    r"/((?:book|notebooks|_static|_images|_sphinx_design_static|_sources)/.*)",
                    BookFileHandler,
                    book_files,
                ),
                (rf"/({TOP_LEVEL_FILE_PATTERN})", BookFileHandler, book_files),
            ],
        )


def settings(options, work_folder):
    """Return the settings of the server, or exit if a class lacks a password or a sandbox."""
    is_for_class = not is_loopback(options.host)
    bubblewrap = find_bubblewrap_for_class(options.unsafe) if is_for_class else ""
    credentials = {"token": secrets.token_hex(24)}
    if is_for_class:
        credentials = {
            "token": "",
            "hashed_password": passwd(read_class_password()),
            "password_required": True,
        }
    return {
        "ServerApp": {
            "ip": options.host,
            "port": options.port,
            "port_retries": 20,
            "open_browser": False,
            "default_url": FIRST_PAGE,
            "root_dir": work_folder,
            "kernel_manager_class": LimitedMultiKernelManager,
            "identity_provider_class": PasswordIdentityProvider,
            "jpserver_extensions": {},
            "terminals_enabled": False,
            "max_body_size": MAX_BODY_BYTES,
            "max_buffer_size": MAX_BODY_BYTES,
            "kernel_websocket_connection_class": LimitedBufferConnection,
            **({"authorizer_class": OwnerAuthorizer} if is_for_class else {}),
            "allow_root": True,
            "answer_yes": True,
            "log_level": "ERROR",
        },
        "PasswordIdentityProvider": {
            "login_handler_class": "guards.DelayedLoginHandler",
            **credentials,
        },
        "LimitedMultiKernelManager": {
            "max_kernels": options.kernels,
            "kernel_manager_class": "kernels.LimitedKernelManager",
            "cull_idle_timeout": options.idle,
            "cull_interval": max(1, min(60, options.idle // 3)),
            "cull_connected": True,
            "cull_busy": is_for_class,  # so that an infinite loop does not occupy a kernel for ever
            "buffer_offline_messages": False,  # the buffer of a closed page would be unlimited
            "max_kernels_per_reader": options.per_reader if is_for_class else 0,
        },
        "LimitedKernelManager": {
            "memory_limit": options.memory * 2**20,
            "sandbox": bubblewrap,
            "work_folder": work_folder,
        },
    }


def is_loopback(host):
    """Return whether only this computer can reach an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_class_password():
    """Return the password of a class from the environment, or prompt for it."""
    password = os.environ.get("SVMBOOK_PASSWORD", "")
    if not password and sys.stdin.isatty():
        password = getpass.getpass("Password for the class: ")
    if len(password) < MIN_PASSWORD_LENGTH:
        raise SystemExit(
            "Other computers can reach this address, and readers can run code on this computer. "
            f"Set SVMBOOK_PASSWORD to a password of at least {MIN_PASSWORD_LENGTH} characters."
        )
    return password


def find_bubblewrap_for_class(unsafe):
    """Return the path of bubblewrap, or "" for kernels without a sandbox."""
    if unsafe:
        return ""
    try:
        return find_bubblewrap()
    except SandboxError as error:
        raise SystemExit(
            f"The kernels of a class run in a sandbox. {error}".replace("--unsafe", "ARGS=--unsafe")
        ) from None


def positive_int(text):
    """Convert a command-line argument to a positive integer."""
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive integer")
    return int(text)


def parse_arguments(arguments=None):
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=8888)
    parser.add_argument("--kernels", type=positive_int, default=8, help="maximum number of kernels")
    parser.add_argument(
        "--memory", type=positive_int, default=4096, help="MiB of address space per kernel"
    )
    parser.add_argument(
        "--idle",
        type=positive_int,
        default=1200,
        help="seconds after which an idle kernel is ended",
    )
    parser.add_argument(
        "--per-reader",
        type=positive_int,
        default=2,
        help="maximum number of kernels per reader of a class",
    )
    parser.add_argument(
        "--unsafe", action="store_true", help="run the kernels of a class without a sandbox"
    )
    return parser.parse_args(arguments)


def main():
    options = parse_arguments()
    os.environ.setdefault("SVMBOOK_RESULTS", str(ROOT / "book" / "results"))
    app = LiveServer()
    with tempfile.TemporaryDirectory(prefix="live-") as work_folder:
        for section, values in settings(options, work_folder).items():
            app.config[section].update(values)
        app.initialize(argv=[], find_extensions=False)
        token = app.identity_provider.token
        address = f"http://{app.ip}:{app.port}{FIRST_PAGE}" + (f"?token={token}" if token else "")
        print(f"The live book is at {address} (stop with Ctrl-C)", flush=True)
        PeriodicCallback(app.kernel_manager.enforce_limits, 1000).start()
        app.start()
        kill_processes(work_folder)


if __name__ == "__main__":
    main()
