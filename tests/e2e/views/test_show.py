"""utrail show: the clients that its server answers, and its pages. It writes no files."""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from programs import Variant, build, program
from test_page import browser, driver_address, js, needs_browser, started_browser  # noqa: F401  (fixtures)
from test_page import devtools, keep, reported, sums
from tools import LIMIT_S, UTRAIL, environment, utrail, wait_until

pytestmark = pytest.mark.skipif(" show " not in utrail("--version").out, reason="built without libmicrohttpd")

VARIANT = Variant("gcc", "pg", "O2")
FORBIDDEN = (403, b"Forbidden.\n")


def record(directory, name):
    utrail("record", "-d", directory, "--no-event", build(program(name), VARIANT))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of two recordings, a directory that is none, and one that only looks like one."""
    folder = tmp_path_factory.mktemp("shown")
    record(folder / "a.data", "nested")
    record(folder / "b.data", "recursion")
    (folder / "notes").mkdir()
    (folder / "fake").mkdir()
    (folder / "fake" / "info").write_text("no header")
    return folder


class Server:
    """utrail show at work."""

    def __init__(self, proc):
        self.proc, self.address = proc, proc.stdout.readline().strip()
        self.port, self.token = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/0/", self.address).groups()
        self.port = int(self.port)

    def ask(self, path, method="GET", **headers):
        """The status, headers and body of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)
        with contextlib.closing(connection):
            connection.request(method, path, headers={k.replace("_", "-"): v for k, v in headers.items()})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()

    def get(self, rest="/0/", **headers):
        status, _, body = self.ask(f"/{self.token}{rest}", **headers)
        return status, body

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=LIMIT_S)

    def send(self, data):
        """Send bytes, and return the bytes until the server ends the connection."""
        with self.connect() as sock, contextlib.suppress(ConnectionError):
            sock.sendall(data)
            return b"".join(iter(lambda: sock.recv(65536), b""))
        return b""


@contextlib.contextmanager
def showing(*words, browser=False, cwd=None, **variables):
    words = words if browser else ("--no-browser", *words)
    proc = subprocess.Popen([UTRAIL, "show", *words], env=environment(**variables), cwd=cwd, text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        yield Server(proc)
    finally:
        proc.send_signal(signal.SIGINT)
        _, said = proc.communicate(timeout=LIMIT_S)
        assert proc.returncode == 0, said
        assert "shown no more" in said


@pytest.fixture(scope="module")
def server(folder):
    with showing(folder / "a.data") as server:
        yield server


def test_the_page_is_that_of_dump(folder, server):
    page = utrail("dump", "--format=html", "-d", folder / "a.data").must().out
    status, body = server.get()
    text = body.decode().replace("connect-src 'self'; ", "").replace(',\n"served":"whole"', "")
    assert status == 200 and text.replace("a.data", "") == page.replace("a.data", "")


def test_nothing_is_said_without_the_token(server):
    wrong = "0" * 32
    for path in ["/", "/0/", "/recordings", f"/{wrong}/0/", f"/{server.token[:-1]}/0/", f"/{server.token}x/0/", "//", "/favicon.ico",
                 f"/x/{server.token}/0/", f"/?{server.token}", f"/{server.token.upper()}/0/" if not server.token.isdigit() else "/"]:
        for method in ["GET", "HEAD", "POST", "OPTIONS"]:
            status, headers, body = server.ask(path, method)
            assert (status, body) == (403, b"" if method == "HEAD" else b"Forbidden.\n"), (path, method)
            assert "utrail" not in str(headers) and "microhttpd" not in str(headers).lower()


def test_names_that_lead_here(server):
    """DNS rebinding: the name evil.example now leads to 127.0.0.1, but its page sends that name as
    the host."""
    assert server.get(Host=f"localhost:{server.port}")[0] == 200
    for host in [f"evil.example:{server.port}", "127.0.0.1", "localhost", f"127.0.0.1:{server.port + 1}", f"127.0.0.1.evil.example:{server.port}"]:
        assert server.get(Host=host) == FORBIDDEN
    head = f"GET /{server.token}/0/ HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
    assert server.send(f"{head}Host: evil.example\r\n\r\n".encode()).startswith(b"HTTP/1.1 403")
    assert not server.send(f"GET /{server.token}/0/ HTTP/1.1\r\n\r\n".encode()).startswith(b"HTTP/1.1 200")
    assert server.send(f"GET /{server.token}/0/ HTTP/1.0\r\n\r\n".encode()).split()[1] == b"403"


def test_pages_of_others(server):
    ours = f"http://127.0.0.1:{server.port}"
    assert server.get(Origin=ours, Sec_Fetch_Site="same-origin")[0] == 200
    for headers in [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": ours.replace("http", "https")},
                    {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}]:
        assert server.get(**headers) == FORBIDDEN


def test_headers(server):
    for rest in ["/0/", "/recordings", "/nothing"]:
        status, headers, _ = server.ask(f"/{server.token}{rest}")
        assert headers["Cache-Control"] == "no-store" and headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer" and headers["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert not any(name.startswith("Access-Control") for name in headers)


def test_only_reading(server):
    for method in ["POST", "PUT", "DELETE", "PATCH", "TRACE"]:
        status, headers, _ = server.ask(f"/{server.token}/0/", method)
        assert status == 405 and headers["Allow"] == "GET, HEAD"
    status, headers, body = server.ask(f"/{server.token}/0/", "HEAD")
    assert status == 200 and not body and int(headers["Content-Length"]) > 10000


def test_paths_lead_nowhere_else(folder, server):
    assert server.get("/recordings") == (200, f'["{folder}/a.data", "b.data"]\n'.encode())
    assert b"recursion" in server.get("/1/")[1]
    for rest in ["/2/", "/-1/", "/00000/", "/0", "/0/info", "/0/../1/", "/../", "/0/%2e%2e/", "/a.data/", "/18446744073709551616/", "/%00/", "/0/%"]:
        assert server.get(rest)[0] == 404, rest


def test_hostile_names(tmp_path):
    """Hostile names of recordings: in the terminal, in the list, in the page and its links."""
    for i, name in enumerate(["a\x1b[31m", "b\n\"}]", "c<img src=x onerror=alert(1)>", "d\udcff"]):
        record(tmp_path / name, "nested")
        run = subprocess.Popen([UTRAIL, "show", "--no-browser", tmp_path / name], env=environment(),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="surrogateescape")
        server = Server(run)
        names = json.loads(server.get("/recordings")[1].decode("utf-8", "surrogateescape"))
        page = server.get()[1]
        run.send_signal(signal.SIGINT)
        out, said = run.communicate(timeout=LIMIT_S)
        assert run.returncode == 0 and "\x1b" not in server.address + out + said
        assert len(names) == i + 1 and b"<img src=x" not in page


def test_broken_requests(server):
    """A broken request gets an error at most, and all others are served as before."""
    good = f"GET /{server.token}/0/ HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
    for data in [b"\r\n\r\n", b"\0" * 500, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00", os.urandom(4000),
                 b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n", good.encode() + b"X: " + b"a" * 200000 + b"\r\n\r\n",
                 good.encode() + b"X: y\r\n" * 20000 + b"\r\n", good.encode() + b"Content-Length: 99999999999999999999\r\n\r\n",
                 good.encode() + b"Transfer-Encoding: chunked\r\n\r\nzzz\r\n"]:
        answer = server.send(data + b"\r\n\r\n")
        assert not answer or answer.startswith(b"HTTP/1."), data[:50]
        assert b"utrail" not in answer or data.startswith(good.encode()), data[:50]
    # Several requests at once: the first one is answered, the others are dropped.
    answer = server.send((good + "\r\n").encode() * 50)
    assert answer.count(b"HTTP/1.1 200") == 1
    assert server.get()[0] == 200


def test_slow_and_many(server):
    """Clients that only connect, send half a request, or read nothing: the server does not wait for
    them."""
    slow = []
    try:
        for i in range(600):
            slow.append(server.connect())
            with contextlib.suppress(ConnectionError):
                slow[-1].sendall([b"", b"GET / HTTP/1.1\r\nHost: ", b"GET /"][i % 3])
            if i % 100 == 0:
                assert server.get()[0] == 200
        assert server.get()[0] == 200
        # The last clients are closed, too, without a new connection.
        slow[-1].settimeout(LIMIT_S)
        with contextlib.suppress(ConnectionError):
            assert slow[-1].recv(1000)[:12] in (b"", b"HTTP/1.1 408")
    finally:
        for sock in slow:
            sock.close()
    # Clients with the token that do not read the answer do not delay others.
    head = f"GET /{server.token}/0/ HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n"
    idle = [server.connect() for _ in range(20)]
    for sock in idle:
        sock.sendall(head.encode())
    assert server.get()[0] == 200
    for sock in idle:
        sock.close()


def test_loopback_alone(server):
    """The listening socket is bound to 127.0.0.1 and nothing else."""
    inodes = {os.readlink(f) for f in Path(f"/proc/{server.proc.pid}/fd").iterdir() if os.path.islink(f)}
    found = [line.split() for name in ("tcp", "tcp6", "udp", "udp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    bound = {row[1] for row in found if f"socket:[{row[9]}]" in inodes and row[3] == "0A"}
    assert bound == {f"0100007F:{server.port:04X}"}


def test_nothing_is_written(folder, tmp_path):
    def state():
        return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in [folder, *folder.rglob("*")]}
    before = state()
    with showing(folder / "a.data", cwd=tmp_path, TMPDIR=tmp_path, HOME=tmp_path) as server:
        assert server.get()[0] == server.get("/1/")[0] == 200
        assert not list(tmp_path.iterdir())
    assert state() == before and not list(tmp_path.iterdir())


BROWSER = """#!/bin/bash
echo "$#" "$@" > "$OUT.tmp"; ls -l /proc/self/fd > "$OUT.fds"; mv "$OUT.tmp" "$OUT"
"""


@pytest.fixture
def stub(tmp_path):
    path = tmp_path / "browser"
    path.write_text(BROWSER)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("way", ["BROWSER", "list", "%s", "xdg-open"])
def test_a_browser_is_started(folder, tmp_path, stub, way):
    """The browser gets an address that works once, and none of the server's sockets."""
    out = tmp_path / "said"
    variables = {"BROWSER": stub}
    if way == "list":
        variables["BROWSER"] = f"/nosuch/x:false:{stub}"
    if way == "%s":
        variables["BROWSER"] = f"{stub} --new %s last"
    if way == "xdg-open":
        stub.rename(tmp_path / "xdg-open")
        variables = {"BROWSER": "", "DISPLAY": ":9", "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    with showing(folder / "a.data", browser=True, OUT=out, **variables) as server:
        said = wait_until(lambda: out.exists() and out.read_text()).split()
        address = said[2 if way == "%s" else 1]
        assert said == (["3", "--new", address, "last"] if way == "%s" else ["1", address])
        assert server.token not in address
        # The digits of the port may be in the random part, too.
        path = address.removeprefix(f"http://127.0.0.1:{server.port}")
        assert "socket" not in Path(f"{out}.fds").read_text()
        status, headers, _ = server.ask(path)
        assert (status, headers["Location"]) == (303, f"/{server.token}/0/")
        assert server.ask(path)[0] == 403


def test_a_browser_that_stays(folder, tmp_path, stub):
    """A browser that outlives the server keeps neither its port nor another descriptor."""
    out = tmp_path / "said"
    stub.write_text(BROWSER + "exec sleep 60\n")
    with showing(folder / "a.data", browser=True, BROWSER=stub, OUT=out) as server:
        wait_until(out.exists)
        waits = [int(pid) for pid in Path(f"/proc/{server.proc.pid}/task/{server.proc.pid}/children").read_text().split()]
        stays = [int(pid) for pid in Path(f"/proc/{waits[0]}/task/{waits[0]}/children").read_text().split()]
    try:
        with showing(folder / "a.data", f"--port={server.port}") as again:
            assert again.port == server.port
    finally:
        for pid in stays:
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("variables, said", [
    ({"BROWSER": "false:/nosuch/x"}, "no browser could be started: open the address above"),
    ({"BROWSER": "", "DISPLAY": ""}, "no browser"),
])
def test_without_a_browser(folder, variables, said):
    variables = dict(variables, PATH="/nonexistent") if "DISPLAY" in variables else variables
    with showing(folder / "a.data", browser=True, WAYLAND_DISPLAY="", **variables) as server:
        lines = iter(server.proc.stderr.readline, "")
        assert any(said in line for line in lines)
        assert server.get()[0] == 200


def test_what_cannot_be_shown(folder, tmp_path):
    assert "cannot open" in utrail("show", "--no-browser", tmp_path / "none").must(255).err
    assert "not also" in utrail("show", "a", "b").must(2).err
    assert "not both" in utrail("show", "-d", "a", "b").must(2).err
    assert "--parts or --no-parts" in utrail("show", "--parts", "--no-parts", folder / "a.data").must(2).err
    with showing(folder / "a.data") as server:
        assert f"port {server.port}" in utrail("show", "--no-browser", f"--port={server.port}", folder / "a.data").must(1).err


def test_options_choose_calls(folder):
    with showing("-N", "apply", folder / "a.data") as server:
        page = server.get()[1].decode()
        functions = re.search(r'"functions":\[(.*?)\]', page, re.S)[1]
        assert '"outer"' in functions and '"apply"' not in functions


def open_shown(browser, address):
    browser.get(address)
    wait_until(lambda: js(browser, "return 'ready' in document.documentElement.dataset"))


@needs_browser
def test_in_the_browser(folder, server, browser):
    open_shown(browser, server.address)
    assert sums(browser) == reported(folder / "a.data")
    choice = browser.find_element("css selector", "select[aria-label=Recording]")
    assert [option.text for option in choice.find_elements("tag name", "option")] == [f"{folder}/a.data", "b.data"]
    choice.find_elements("tag name", "option")[1].click()
    wait_until(lambda: browser.current_url.split("#")[0].endswith("/1/") and js(browser, "return 'ready' in document.documentElement.dataset"))
    assert sums(browser) == reported(folder / "b.data")
    devtools(browser, "Emulation.setDeviceMetricsOverride", {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": False})
    open_shown(browser, server.address)
    choice = wait_until(lambda: (found := browser.find_element("id", "recordings")).is_displayed() and found)
    keep(browser, "show-390")
    title, listed = browser.find_element("id", "title").rect, choice.rect
    assert title["width"] >= 60 and listed["width"] >= 50 and title["x"] + title["width"] <= listed["x"] < 390 - listed["width"]
    assert js(browser, "return document.documentElement.scrollWidth") <= 390 and browser.find_element("tag name", "main").rect["y"] < 190
    devtools(browser, "Emulation.clearDeviceMetricsOverride", {})
    browser.get("about:blank")
