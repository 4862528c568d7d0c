"""Serve a folder on this computer at the first free port and print the address."""

import argparse
import functools
import gzip
import http.server
import io
import shutil
import threading
from contextlib import contextmanager
from pathlib import Path

MAX_PORT = 65535
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
TEXT_SUFFIXES = (".html", ".css", ".js", ".svg", ".json", ".txt")  # worth compressing


class BookRequestHandler(http.server.SimpleHTTPRequestHandler):
    """Compresses text, makes browsers revalidate cached files, and logs no requests."""

    def send_head(self):
        """Compress text if the browser accepts gzip: this shrinks a chapter to a fifth."""
        path = Path(self.translate_path(self.path))
        if self.path.endswith("/"):
            path = path / "index.html"
        accepts_gzip = "gzip" in self.headers.get("Accept-Encoding", "")
        if not (accepts_gzip and path.suffix in TEXT_SUFFIXES and path.is_file()):
            return super().send_head()
        body = gzip.compress(path.read_bytes(), compresslevel=5)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        return io.BytesIO(body)

    def log_message(self, *args):
        """Log nothing, so that the terminal shows only the address."""

    def end_headers(self):
        # After a new build, a browser must not show its cached copy of a page.
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()


def create_server(directory, first_port):
    """Return a server of a folder at the first free of 20 ports from `first_port`, or any other."""
    handler = functools.partial(BookRequestHandler, directory=directory)
    for candidate in [*range(first_port, min(first_port + 20, MAX_PORT + 1)), 0]:
        try:
            return http.server.ThreadingHTTPServer(("127.0.0.1", candidate), handler)
        except OSError:
            continue
    raise SystemExit(f"no free port near {first_port}")


@contextmanager
def serving(directory):
    """Serve a folder in a background thread and yield its address."""
    with create_server(directory, 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    if not 0 <= options.port <= MAX_PORT:
        parser.error(f"--port is {options.port}; give a number from 0 to {MAX_PORT}.")
    with create_server(options.directory, options.port) as server:
        address = f"http://127.0.0.1:{server.server_port}/"
        print(f"The book is at {address} (stop with Ctrl-C)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main()
