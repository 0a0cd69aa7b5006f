"""Fixtures of all end-to-end tests: the tools of tests/lib, and a working directory for each
test."""

import faulthandler
import glob
import os
import re
import shutil
import signal
import sys
import threading
import time
import zlib
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
# The rooms are in the path, too: a test may use helpers and fixtures of another room.
sys.path[:0] = [str(HERE.parent / "lib"), *sorted({str(path.parent) for path in HERE.glob("*/test_*.py")})]

import tools  # noqa: E402  (the path is set above)


def pytest_report_header():
    return f"utrail: {tools.UTRAIL}; peer: {tools.PEER or 'none, tests that need it are skipped'}"


def one_in(part, items):
    """All tests of test_trees.py, which runs each sample program, and one in @part of the others. A
    test's own name decides, so the choice stays the same when tests are added."""
    return [item for item in items if item.path.name == "test_trees.py" or zlib.crc32(item.nodeid.encode()) % part == 0]


def pytest_collection_modifyitems(config, items):
    taken = one_in(int(os.environ.get("UTRAIL_TEST_PART", "1")), items)
    if len(taken) < len(items):
        config.hook.pytest_deselected(items=list(set(items) - set(taken)))
        items[:] = taken
    reason = "Debian's uftrace is not installed (apt-get install uftrace)"
    for item in items:
        if item.get_closest_marker("needs_peer") and not tools.PEER:
            item.add_marker(pytest.mark.skip(reason=reason))


def is_main_thread():
    """False in another thread: only the main thread can set a signal's handler. A worker of xdist
    runs tests in another thread if its main thread is not waiting for work yet (execnet 1.9)."""
    return threading.current_thread() is threading.main_thread()


def pytest_configure(config):
    # Tests that are started in the background, or by nohup, ignore some of these signals. Workers,
    # and the programs under test, would inherit this.
    if is_main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for sig in (signal.SIGQUIT, signal.SIGHUP):
            signal.signal(sig, signal.SIG_DFL)
    config.addinivalue_line("markers", "needs_peer: compares with Debian's uftrace")
    config.addinivalue_line("markers", "is_long(times): it may take so many times as long as others")


# Several times the time that a test may wait (LIMIT_S). Without this limit a test that waits for
# ever stops the whole run.
HUNG_S = 3 * tools.LIMIT_S


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    marker = item.get_closest_marker("is_long")
    limit_s = HUNG_S * (marker.args[0] if marker else 1)

    def hung(*_):
        pytest.fail(f"not done after {limit_s} s")

    if not is_main_thread():
        # A signal handler cannot end a test in this thread. So after the limit, the worker prints
        # the stacks of its threads, and exits.
        faulthandler.dump_traceback_later(limit_s, exit=True)
        yield
        faulthandler.cancel_dump_traceback_later()
        return
    before = signal.signal(signal.SIGALRM, hung)
    signal.alarm(limit_s)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


NOTES = pytest.StashKey()


@pytest.fixture
def note(request):
    """A function that adds a line to the summary of the run, to say how much was tested."""
    return request.config.stash.setdefault(NOTES, []).append


def pytest_terminal_summary(terminalreporter, config):
    for text in config.stash.get(NOTES, []):
        terminalreporter.write_line(text)


FAILED = pytest.StashKey()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    outcome = yield
    if outcome.get_result().failed:
        item.stash[FAILED] = True


@pytest.fixture(autouse=True)
def workdir(request, tmp_path, tmp_path_factory, monkeypatch):
    """Recordings go to a directory of the test's own, which stays when the test has failed. Other
    directories are removed at once: all together have ten gigabytes, and would be written to the
    disk."""
    monkeypatch.chdir(tmp_path)
    # The cache of facts about files serves one test only.
    cache = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    yield tmp_path
    if FAILED not in request.node.stash:
        os.chdir("/")
        shutil.rmtree(tmp_path, ignore_errors=True)
        shutil.rmtree(cache, ignore_errors=True)


def recorder_sockets():
    """Names of recorders' sockets without a recorder: another process keeps such a socket open. The
    list also has the sockets of other pid namespaces, where a recorder has another number."""
    with open("/proc/net/unix") as f:
        found = re.findall(r"(\d+) @(utrail-(\d+)-.*)$", f.read(), re.M)
    alone = {f"socket:[{inode}]": name for inode, name, pid in found if not os.path.exists(f"/proc/{pid}")}
    return {alone[link] for link in open_files() if link in alone} if alone else set()


def open_files():
    """Where the descriptors of all processes of this pid namespace lead."""

    def target(path):
        try:
            return os.readlink(path)
        except OSError:  # the process has ended, or has closed the file
            return None

    for process in glob.iglob("/proc/[0-9]*"):
        if target(f"{process}/ns/pid") == os.readlink("/proc/self/ns/pid"):
            yield from map(target, glob.glob(f"{process}/fd/*"))


def processes_in(directory):
    """Processes that were started in @directory and have not ended."""
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/cwd").startswith(f"{directory}") and int(pid) != os.getpid():
                found.add(int(pid))
        except OSError:
            pass
    return found


@pytest.fixture(autouse=True)
def nothing_is_left_behind(workdir):
    """No test may leave a name in /dev/shm, a socket or a process."""

    # The trace library's folder stays for ever, and any process of the user may make it.
    stays = f"utrail-{os.geteuid()}"

    def left():
        return {n for n in os.listdir("/dev/shm") if "utrail" in n and n != stays} | recorder_sockets()

    before = left()
    yield
    # A program that was just killed may take a moment to end. A name may be of another test, which
    # runs at the same time.
    end = time.monotonic() + tools.LIMIT_S / 2
    while any(rest := (left() - before, processes_in(workdir))) and time.monotonic() < end:
        time.sleep(0.05)
    after, running = rest
    assert not after, f"left behind: {after}"
    assert not running, f"still running: {running}"
