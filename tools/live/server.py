"""Serve the built book together with kernels for its cells.

On this machine alone: one port of the loopback address, and a token that is drawn anew each time
and stands in the address that is printed. For a class, with an address that others reach: a
password, which has to be set, and each kernel in a sandbox of bubblewrap, for whoever knows the
password runs code here. A page gets its part of the server (``live.js``) as it is sent; the built
book has none.
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

from guards import Channels, OwnersOnly
from jupyter_server.auth import passwd
from jupyter_server.auth.identity import PasswordIdentityProvider
from jupyter_server.base.handlers import APIHandler, JupyterHandler
from jupyter_server.serverapp import ServerApp
from jupyter_server.services.kernels.handlers import MainKernelHandler
from jupyter_server.services.sessions.handlers import SessionRootHandler
from kernels import Kernels, end_all
from tornado import web
from tornado.ioloop import PeriodicCallback

from svmbook.course.execution.sandbox import SandboxError, find_sandbox

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HTML = ROOT / "_build" / "html"
FIRST = "/book/intro.html"
SHORTEST = 8  # letters of a password
LARGEST_BODY = 2**20  # bytes of a request
TOP = (
    r"(?:index|search|genindex)\.html|(?:searchindex|sections)\.js|favicon\.ico|[\w-]+\.(?:xml|zip)"
)
PART = (
    b'<link rel="stylesheet" href="/live/live.css"><script type="module" src="/live/live.js">'
    b"</script></head>"
)


class OwnSessions(SessionRootHandler):
    """Sessions as their owner sees them: nobody learns the names of others' kernels."""

    @web.authenticated
    async def get(self):
        """List one's own."""
        own = self.kernel_manager.kernels_of(self.current_user.username)
        models = await self.session_manager.list_sessions()
        models = [one for one in models if one["kernel"]["id"] in own]
        self.finish(json.dumps(models, default=str))

    @web.authenticated
    async def post(self):
        """Start one, and note whose it is."""
        kernels, user = self.kernel_manager, self.current_user.username
        if not kernels.may_have_another(user):
            words = f"you have {kernels.most_each} kernels already; leave a page that has one"
            raise web.HTTPError(429, words)
        kernels.asking[user] += 1
        try:
            await super().post()
            await self._note_owner(user)
        except web.HTTPError as error:  # of status 500, whatever the cause
            if isinstance(error.__cause__, web.HTTPError):
                raise error.__cause__ from None
            raise
        finally:
            kernels.asking[user] -= 1

    async def _note_owner(self, user):
        path = (self.get_json_body() or {}).get("path", "")
        for one in await self.session_manager.list_sessions():
            if one["path"] == path:
                self.kernel_manager.owners.setdefault(one["kernel"]["id"], user)


class OwnKernels(MainKernelHandler):
    """Kernels as their owner sees them; they are started by sessions alone."""

    @web.authenticated
    async def get(self):
        """List one's own."""
        own = self.kernel_manager.kernels_of(self.current_user.username)
        models = [one for one in self.kernel_manager.list_kernels() if one["id"] in own]
        self.finish(json.dumps(models, default=str))

    @web.authenticated
    async def post(self):
        """Refuse."""
        raise web.HTTPError(405)


class Page(JupyterHandler, web.StaticFileHandler):
    """A file of the built book, for those who are let in; pages get their part of the server."""

    @web.authenticated
    async def get(self, path, include_body=True):
        """Send a file."""
        self.xsrf_token  # noqa: B018 - reading it sets the cookie that requests to the API repeat
        if ".." in path.split("/"):
            raise web.HTTPError(404)
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
        ended = kernels.reasons(self.current_user.username)
        count = len(kernels) + kernels.starting
        self.finish({"kernels": count, "most": kernels.most, "ended": ended})


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
                (r"/api/sessions", OwnSessions),
                (r"/api/kernels", OwnKernels),
                (r"/live/room", Room),
                (r"/live/(live\.(?:js|css)|vendor/.*)", Page, parts),
                (
                    r"/((?:book|notebooks|_static|_images|_sphinx_design_static|_sources)/.*)",
                    Page,
                    pages,
                ),
                (rf"/({TOP})", Page, pages),
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
            "max_body_size": LARGEST_BODY,
            "max_buffer_size": LARGEST_BODY,
            "kernel_websocket_connection_class": Channels,
            **({} if alone else {"authorizer_class": OwnersOnly}),
            "allow_root": True,
            "answer_yes": True,
            "log_level": "ERROR",
        },
        "PasswordIdentityProvider": {"login_handler_class": "guards.Login", **identity},
        "Kernels": {
            "most": options.kernels,
            "kernel_manager_class": "kernels.Kernel",
            "cull_idle_timeout": options.idle,
            "cull_interval": max(1, min(60, options.idle // 3)),
            "cull_connected": True,
            "cull_busy": not alone,  # a loop without end does not keep a place for ever
            "buffer_offline_messages": False,  # without end where the page has gone
            "most_each": 0 if alone else options.each,
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
            f"The kernels of a class run in a sandbox. {error}".replace("--unsafe", "ARGS=--unsafe")
        ) from None


def positive(text):
    """Return a positive whole number."""
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no positive whole number")
    return int(text)


def read(arguments=None):
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at")
    parser.add_argument("--port", type=int, default=8888)
    parser.add_argument("--kernels", type=positive, default=8, help="at most so many at a time")
    parser.add_argument(
        "--memory", type=positive, default=4096, help="MiB of address space of a kernel"
    )
    parser.add_argument(
        "--idle", type=positive, default=1200, help="seconds after which a kernel ends"
    )
    parser.add_argument(
        "--each", type=positive, default=2, help="at most so many kernels of one reader of a class"
    )
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
        PeriodicCallback(app.kernel_manager.watch, 1000).start()
        app.start()
        end_all(room)


if __name__ == "__main__":
    main()
