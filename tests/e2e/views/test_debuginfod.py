"""Arguments and source lines with debug information from a server (debuginfod), which
DEBUGINFOD_URLS names."""

import http.server
import shutil
import socket
import subprocess
import threading

import pytest

from programs import SOURCES
from tools import UTRAIL, environment, utrail

if " debuginfod " not in subprocess.run([UTRAIL, "--version"], capture_output=True, text=True, check=True).stdout:
    pytest.skip("this build has no libdebuginfod", allow_module_level=True)


class Server:
    """A server of @files: GET /buildid/HEX/debuginfo returns the file of that name (debuginfod(8),
    WEBAPI)."""

    def __init__(self):
        self.files = {}
        self.asked = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # noqa: N802  # the module's name
                outer.asked.append(self.path)
                path = outer.files.get(self.path)
                if path is None:
                    self.send_error(404)
                    return
                data = path.read_bytes()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def end(self):
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def server():
    server = Server()
    yield server
    server.end()


def build_id(path):
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout
    return notes.split("Build ID: ")[1].split()[0]


@pytest.fixture
def exe(tmp_path):
    """A program without debug information. Its debug information is in prog.debug, but no section
    of the program refers to this file."""
    exe = tmp_path / "bin" / "prog"
    exe.parent.mkdir()
    subprocess.run(["gcc", "-pg", "-g", "-O1", SOURCES / "args" / "values.c", "-o", exe], check=True)
    subprocess.run(["objcopy", "--only-keep-debug", exe, tmp_path / "prog.debug"], check=True)
    subprocess.run(["strip", "-g", exe], check=True)
    return exe


def record(tmp_path, exe, url, *options, **more):
    """Record, and return the number of functions whose arguments come from debug information."""
    # The server is on this machine, so the environment's proxy is not used.
    env = environment(DEBUGINFOD_URLS=url, DEBUGINFOD_CACHE_PATH=str(tmp_path / "cache"), no_proxy="*", **more)
    ran = subprocess.run(
        [UTRAIL, "record", *(options or ["-a"]), "-d", tmp_path / "d", exe], env=env, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return sum(path.read_text().count("\nA: ") for path in (tmp_path / "d").glob("prog*.dbg"))


def test_asked_when_there_is_none_here(tmp_path, exe, server):
    server.files[f"/buildid/{build_id(exe)}/debuginfo"] = tmp_path / "prog.debug"
    assert record(tmp_path, exe, "") == 0
    nr = record(tmp_path, exe, server.url)
    assert nr > 10
    assert server.asked == [f"/buildid/{build_id(exe)}/debuginfo"]
    # A fetched file is kept: the second recording needs no server.
    assert record(tmp_path, exe, server.url) == nr
    assert len(server.asked) == 1
    # No arguments are recorded now: names need no debug information, so the server is not asked.
    shutil.rmtree(tmp_path / "cache")
    record(tmp_path, exe, server.url, "--no-libcall")
    assert len(server.asked) == 1


def test_what_another_build_has_is_not_believed(tmp_path, exe, server):
    other = tmp_path / "other"
    source = tmp_path / "other.c"
    source.write_text("int ints(double d) { return d; }\nint main(void) { return ints(1); }\n")
    subprocess.run(["gcc", "-g", source, "-o", other], check=True)
    server.files[f"/buildid/{build_id(exe)}/debuginfo"] = other
    assert record(tmp_path, exe, server.url) == 0
    assert server.asked


@pytest.mark.parametrize("what", ["nothing", "text", "nobody", "deaf"])
def test_the_program_runs_whatever_the_server_does(tmp_path, exe, server, what):
    url = server.url
    if what == "text":
        (tmp_path / "text").write_text("no debug information\n" * 100)
        server.files[f"/buildid/{build_id(exe)}/debuginfo"] = tmp_path / "text"
    if what == "nobody":
        url = "http://127.0.0.1:1"
    if what == "deaf":
        # A server that accepts the connection, and never answers.
        deaf = socket.create_server(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
    assert record(tmp_path, exe, url, DEBUGINFOD_TIMEOUT="1") == 0
