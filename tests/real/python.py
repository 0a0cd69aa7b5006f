#!/usr/bin/python3
"""Records Python programs: test files of CPython itself, and a web server with a thread for each
request.

usage: python.py [--long] NAME...
       python.py --list

Each test of a file has the same outcome recorded, with all calls, as untraced. The server's answers
are right, each request is a recorded call, and its memory does not grow with the number of
requests; --long makes requests for a minute. Debian's Python runs them. Tests of packages that are
not installed are skipped (status 77), with the package's name.
"""

import http.client
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

from tools import BUILD, UTRAIL, environment, run  # noqa: E402  (the path is set above)
from python_server import body_of  # noqa: E402

HERE = Path(__file__).resolve().parent
PYTHON = os.environ.get("UTRAIL_PYTHON", "/usr/bin/python3")
SKIP = 77
LIMIT_S = 600
SUITES = ("test_generators", "test_asyncio", "test_threading", "test_exceptions", "test_sys_setprofile")
CLIENTS = 4
REQUESTS = 1500
LONG_S = 60
# The memory may grow by this: segments and states of ended threads are used again.
GROWTH_KB = 32 << 10


def say(text):
    print(text, flush=True)


def skip(reason):
    say(f"skipped: {reason}")
    sys.exit(SKIP)


# --- CPython's own tests ---


def outcomes(folder, suite, *recorder):
    home = folder / ("recorded" if recorder else "bare")
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    command = [*recorder, PYTHON, HERE / "python_suite.py", f"test.{suite}", home / "outcomes"]
    done = run(*command, cwd=home, limit=LIMIT_S)
    if not (home / "outcomes").exists():
        sys.exit(f"{suite}: status {done.status}\n{done.err[-4000:]}")
    return set((home / "outcomes").read_text().splitlines()), done


def check_suite(folder, suite):
    if run(PYTHON, "-c", f"import test.{suite}").status:
        skip(f"test.{suite} is not installed (apt-get install libpython3-testsuite)")
    recorder = (UTRAIL, "record", "--no-event", "--nest-libcall", "--flight=4m", "-d", folder / "data")
    bare, _ = outcomes(folder, suite)
    recorded, done = outcomes(folder, suite, *recorder)
    # Tests that wait for other threads may fail by chance on a busy machine, traced or not: both
    # runs are tried again.
    for _ in range(2):
        if recorded <= bare:
            break
        bare |= outcomes(folder, suite)[0]
        recorded, done = outcomes(folder, suite, *recorder)
    if not recorded or not recorded <= bare:
        sys.exit(f"{suite}: other outcomes recorded: {sorted(recorded ^ bare)}\n{done.err[-4000:]}")
    say(f"{suite}: {len(recorded)} tests have the same outcome recorded")


# --- the server ---


class Load:
    """Clients that make requests until there are enough answers. @wrong: the number of wrong
    answers"""

    def __init__(self, port, nr, seconds):
        self.port, self.nr, self.until = port, nr, time.monotonic() + seconds if seconds else None
        self.lock = threading.Lock()
        self.asked = self.wrong = 0

    def next(self):
        with self.lock:
            if self.asked >= self.nr and (not self.until or time.monotonic() > self.until):
                return None
            self.asked += 1
            return f"/page/{self.asked % 97}/Of-Some-Length"

    def work(self):
        while path := self.next():
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            connection.request("GET", path)
            answer = connection.getresponse()
            if answer.status != 200 or answer.read() != body_of(path):
                with self.lock:
                    self.wrong += 1
            connection.close()

    def run(self):
        clients = [threading.Thread(target=self.work) for _ in range(CLIENTS)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()


def server_pid(recorder_pid):
    children = Path(f"/proc/{recorder_pid}/task/{recorder_pid}/children").read_text().split()
    return int(children[0])


def check_server(folder, is_long):
    command = [UTRAIL, "record", "--no-event", "-F", "Handler.do_GET", "-D", "3", "-d", folder / "data", PYTHON, HERE / "python_server.py"]
    recorder = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
    try:
        load = Load(int(recorder.stdout.readline()), REQUESTS, LONG_S if is_long else 0)
        load.run()
        os.kill(server_pid(recorder.pid), signal.SIGTERM)
        out, err = recorder.communicate(timeout=LIMIT_S)
    finally:
        recorder.kill()
    answered, growth = map(int, out.split())
    report = run(UTRAIL, "report", "-d", folder / "data", "-f", "call", "-F", "Handler.do_GET", "-D", "1").must().out
    recorded = int(re.search(r"^ +(\d+)  Handler\.do_GET$", report, re.M)[1])
    told = (recorder.returncode, err, load.wrong, answered, recorded)
    if told != (0, "", 0, load.asked, load.asked):
        sys.exit(f"server: status, messages, wrong answers, answers, calls: {told}; {load.asked} requests")
    if growth > GROWTH_KB:
        sys.exit(f"server: its memory has grown by {growth} kB in {load.asked} requests")
    say(f"server: {load.asked} requests, each a call that is recorded; {growth} kB more memory")


def check(name, is_long):
    if not Path(PYTHON).exists():
        skip(f"{PYTHON} is not installed (apt-get install python3)")
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        if name == "server":
            check_server(Path(folder), is_long)
        else:
            check_suite(Path(folder), name)


def main():
    words = [word for word in sys.argv[1:] if word != "--long"]
    names = (*SUITES, "server")
    if words == ["--list"]:
        print("\n".join(names))
        return
    for name in words or names:
        check(name, "--long" in sys.argv)


if __name__ == "__main__":
    main()
