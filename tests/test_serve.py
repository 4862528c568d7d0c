"""The local web server: its error for an invalid port, its choice of a port, and compression."""

import gzip
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

SERVE_COMMAND = [sys.executable, str(Path(__file__).parent.parent / "tools" / "serve.py")]


@contextmanager
def serve(folder, *options):
    """Serve a folder and yield the address that the server prints."""
    command = [*SERVE_COMMAND, str(folder), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield server.stdout.readline().split()[4]
        finally:
            server.kill()


@pytest.mark.parametrize("port", ["99999", "65536", "-1"])
def test_invalid_port_is_reported(tmp_path, port):
    command = [*SERVE_COMMAND, str(tmp_path), f"--port={port}"]
    process = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert process.returncode == 2
    assert f"--port is {port}; give a number from 0 to 65535" in process.stderr.splitlines()[-1]
    assert "Traceback" not in process.stderr


def test_server_starts_if_the_largest_port_is_requested(tmp_path):
    (tmp_path / "index.html").write_text("the book", encoding="utf-8")
    with (
        serve(tmp_path, "--port=65535") as address,
        urllib.request.urlopen(address, timeout=60) as response,
    ):
        assert response.read() == b"the book"


@pytest.mark.parametrize("name", ["index.html", "picture.png"])
@pytest.mark.parametrize("accepted_encodings", ["gzip, deflate", ""])
def test_only_text_is_compressed_and_only_if_the_client_accepts_gzip(
    tmp_path, name, accepted_encodings
):
    content = b"the same words again and again " * 1000
    (tmp_path / name).write_bytes(content)
    with serve(tmp_path) as address:
        url = address if name == "index.html" else address + name
        request = urllib.request.Request(url, headers={"Accept-Encoding": accepted_encodings})
        with urllib.request.urlopen(request, timeout=60) as response:
            body, encoding = response.read(), response.headers["Content-Encoding"]
            assert int(response.headers["Content-Length"]) == len(body)
    is_compressed = bool(accepted_encodings) and name == "index.html"
    assert encoding == ("gzip" if is_compressed else None)
    assert (gzip.decompress(body) if is_compressed else body) == content
    assert (len(body) < len(content) / 10) == is_compressed
