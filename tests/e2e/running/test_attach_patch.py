"""record -p with -P and -E: functions and events of a running process are patched, and its code is
restored afterwards."""

import random
import re
import subprocess
import time

import pytest
from test_attach import Server, called, executables, live_until, record_briefly, record_until
from tools import LIMIT_S, UTRAIL, environment, utrail, wait_until

BUILDS = {
    "plain": ["-O2"],
    "stripped": ["-O1", "-no-pie", "-s"],
    "rooms": ["-O2", "-fpatchable-function-entry=16,3"],
    "pg": ["-O1", "-pg"],
}
FUNCTIONS = {"check", "tree", "leaf", "leap", "length", "mix", "sleep_within"}


class Hot(Server):
    def is_as_it_was(self):
        """Check that the server has the same modules, code and descriptors as before. Returns the
        number of executable mappings more than before, which hold the stubs."""
        files, executable, fds, code = self.look()
        assert (files, fds) == (self.before[0], self.before[2])
        assert [path for path, _ in code] == [path for path, _ in self.before[3]]
        for (path, then), (_, now) in zip(self.before[3], code):
            assert then == now, path
        return len(executable) - len(self.before[1])


@pytest.fixture(scope="session")
def hot(tmp_path_factory):
    return executables(tmp_path_factory, BUILDS, "hot")


@pytest.fixture
def serve(hot):
    running = []

    def start(*what):
        running.append(Hot(hot(*what)))
        return running[-1]

    yield start
    for server in running:
        server.proc.kill()
        server.proc.wait()


@pytest.mark.parametrize("build", ["plain", "stripped", "rooms"])
def test_patches_and_leaves(serve, build):
    server = serve(build)
    for _ in range(3):
        record_briefly(server.pid, "-P", ".", "--for=20ms")
        assert server.is_as_it_was() == 1

    def are_all_called():
        found = called("--no-libcall")
        return FUNCTIONS <= found if build != "stripped" else sum(name.startswith("fun_") for name in found) >= len(FUNCTIONS) - 1

    record_until(are_all_called, server.pid, "-P", ".", "--for=20ms")
    assert server.is_as_it_was() == 1
    assert utrail("replay").must().out
    server.end()


def test_unpatched_functions_cost_nothing(serve):
    """Unpatched functions are not recorded, except for a few calls: bytes cannot be changed while a
    thread runs in them. Each call of check() makes 31 calls of tree(). On average, fewer than four
    calls of tree() and leaf() are recorded for each call of check()."""
    server = serve("pg")

    def calls():
        lines = utrail("report", "--no-libcall").out.splitlines()[2:]
        return {line.split()[-1]: int(line.split()[-2]) for line in lines}

    record_until(lambda: calls().get("check", 0) > 20, server.pid, "-U", "leaf;tree", "--for=20ms")
    server.is_as_it_was()
    found = calls()
    assert found.get("tree", 0) + found.get("leaf", 0) < 4 * found["check"], found
    server.end()


def test_libraries(serve):
    server = serve("plain", "server")
    record_until(lambda: {"clock_nanosleep", "sum", "leaf"} <= called("--no-libcall"), server.pid, "-P", ".;.@libc.so.6", "--for=30ms")
    assert server.is_as_it_was() <= 2
    server.end()


@pytest.mark.parametrize("options", [["-E", "hot:*"], ["-E", "hot:*", "-P", "."]], ids=["alone", "with-functions"])
def test_events(serve, options):
    server = serve("plain")
    for _ in range(2):
        record_briefly(server.pid, *options, "--for=20ms")
        assert server.is_as_it_was() == 1
    record_until(lambda: "hot:checked" in utrail("replay", "--event-full").out, server.pid, *options, "--for=20ms")
    values = {}
    for task, value in re.findall(r"\[ *(\d+)\] hot:checked arg1=(\d+)\n", utrail("events", "show").must().out):
        values.setdefault(task, []).append(int(value))
    # One of the threads always prints 3.
    assert values and all(set(rounds) == {3} or rounds == list(range(rounds[0], rounds[0] + len(rounds))) for rounds in values.values())
    server.end()


def test_recorder_is_killed(serve):
    """A killed recorder leaves patches without effect; the next recorder removes them."""
    server = serve("plain")
    chance = random.Random()
    for _ in range(4):
        recorder = subprocess.Popen(
            [UTRAIL, "record", "-p", str(server.pid), "-P", ".", "--for=60ms"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment(),
        )
        time.sleep(chance.uniform(0, 0.3))
        recorder.kill()
        recorder.wait()
        server.is_alive()
        record_briefly(server.pid, "-P", ".", "--for=10ms")
        server.is_alive()
        server.is_as_it_was()
    server.end()


def test_it_ends_meanwhile(serve):
    server = serve("plain")
    recorder = subprocess.Popen([UTRAIL, "record", "-p", str(server.pid), "-P", "."], stderr=subprocess.PIPE, env=environment())
    wait_until(lambda: b"libmcount" in server.read("maps"))
    server.end()
    assert recorder.wait(LIMIT_S) == 0, recorder.stderr.read()


def test_live(serve):
    server = serve("plain")
    live_until(lambda out: "tree()" in out, "-p", server.pid, "-P", "tree", "--for=20ms", "--no-libcall")
    server.is_as_it_was()
    server.end()
