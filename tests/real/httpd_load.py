#!/usr/bin/python3
"""Load for a mini_httpd: several clients make the same requests at the same time. Prints the
results.

usage: httpd_load.py PROGRAM
"""

import getpass
import hashlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

CLIENTS = 4
ROUNDS = 6
HEADERS = ("Host: here", "User-Agent: load, 100% of it")
# Requests that the server answers with a file, a directory's list, another address, or an error.
FILES = ("GET /page.html", "HEAD /page.html", "GET /a%20b.html?x=1,2&y=%25")
DIRECTORIES = ("GET /sub/",)
OTHERS = ("GET /sub", "GET /missing", "POST /page.html", "GET relative")
REQUESTS = FILES + DIRECTORIES + OTHERS
results = Counter()


def ask(port, request):
    """The answer's first line, and the length and a digest of its body."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        client.sendall("\r\n".join((f"{request} HTTP/1.0", *HEADERS, "", "")).encode())
        answer = b"".join(iter(lambda: client.recv(1 << 16), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    return f"{head.splitlines()[0].decode()} {len(body)} {hashlib.sha1(body).hexdigest()[:8]}"


def work(port):
    for _ in range(ROUNDS):
        for request in REQUESTS:
            results[f"{request}: {ask(port, request)}"] += 1


def make_site(home):
    (home / "sub").mkdir()
    for name, size in (("page.html", 20_000), ("a b.html", 3), ("sub/file", 0)):
        (home / name).write_text("x" * size)
        os.utime(home / name, (10**9, 10**9))
    for name in ("sub", "."):
        os.utime(home / name, (10**9, 10**9))


def wait_for(condition):
    end = time.monotonic() + 120
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.01)
    sys.exit("httpd_load.py: the server does not get anywhere")


def listens(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def is_idle(pid):
    """True when the server has reaped all its children, and waits."""
    proc = Path("/proc") / str(pid)
    children = (proc / "task" / str(pid) / "children").read_text()
    return not children and (proc / "stat").read_text().rpartition(")")[2].split()[0] == "S"


def main():
    with socket.socket() as free, tempfile.TemporaryDirectory() as home:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        make_site(Path(home))
        server = subprocess.Popen([sys.argv[1], "-D", "-h", "127.0.0.1", "-p", str(port), "-d", home, "-u", getpass.getuser()])
        wait_for(lambda: listens(port))
        threads = [threading.Thread(target=work, args=(port,)) for _ in range(CLIENTS)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        wait_for(lambda: is_idle(server.pid))
        server.send_signal(signal.SIGTERM)
        status = server.wait(120)  # wait before printing: the server prints lines, too
        for what, times in sorted(results.items()):
            print(f"RESULT {what}: {times}")
        print(f"RESULT status {status}")


if __name__ == "__main__":
    main()
