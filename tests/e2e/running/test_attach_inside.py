"""record -p while calls are open: the calls inside them have the same depth as in a recording from
the start."""

import os
import re
import signal
import subprocess

import pytest
from test_attach import executables
from tools import LIMIT_S, UTRAIL, environment, run, utrail, wait_until

BUILDS = {
    "pg": ["-O2", "-pg"],
    "stripped": ["-O2", "-pg", "-mfentry", "-s"],
    "cyg": ["-O1", "-finstrument-functions"],
    "blind": ["-O2", "-pg", "-mfentry", "-fno-asynchronous-unwind-tables"],
}

WALKS = " dwarf " in run(UTRAIL, "--version").must().out

pytestmark = pytest.mark.skipif(not WALKS, reason="this build cannot walk stacks")


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    return executables(tmp_path_factory, BUILDS, "inside")


def is_attached(pid):
    """True when the probe is loaded, and the thread that has loaded it runs again."""
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/status") as status:
        return "libmcount" in maps.read() and "TracerPid:\t0\n" in status.read()


def waits(pid):
    """True when all three threads wait in their read(2)."""
    tasks = os.listdir(f"/proc/{pid}/task")
    calls = []
    for task in tasks:
        with open(f"/proc/{pid}/task/{task}/syscall") as f:
            calls.append(f.read().split()[0])
    return calls == ["0"] * 3


def record(exe, *args):
    """Attach while the program waits, and let it run to its end. Returns the recorder's
    messages."""
    program = subprocess.Popen([exe], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert program.stdout.readline() == "ready\n"
        wait_until(lambda: waits(program.pid))
        recorder = subprocess.Popen(
            [UTRAIL, "record", "-p", str(program.pid), *args], stderr=subprocess.PIPE, env=environment(), text=True
        )
        wait_until(lambda: is_attached(program.pid) or recorder.poll() is not None)
        program.stdin.write("x")
        program.stdin.flush()
        assert program.stdout.readline() == "done\n"
        recorder.send_signal(signal.SIGINT)
        said = recorder.communicate(timeout=LIMIT_S)[1]
        assert recorder.returncode == 0, said
        program.communicate("x", timeout=LIMIT_S)
        assert program.returncode == 0
    finally:
        program.kill()
        program.wait()
    return said


def calls(data="uftrace.data"):
    """The lines of replay for each task, without calls at depth 0 and read(2)."""
    tasks = []
    for name in sorted(os.listdir(data)):
        if re.fullmatch(r"\d+\.dat", name):
            out = utrail("replay", "-d", data, "--tid", name[:-4], "-f", "none", "--no-event").must().out
            # Functions of a stripped program are named by their addresses. A call in which the
            # thread has lost its CPU has two lines.
            out = re.sub("<[0-9a-f]+>", "nameless", out)
            out = re.sub(r"\(\) {\n +} /\* \w+ \*/\n", "();\n", out)
            tasks.append([line for line in out.splitlines() if re.match("  ", line) and not re.search(r"\bread\b", line)])
    return tasks


def from_the_start(exe, *args):
    with open("bytes", "w+") as file:
        file.write("xx")
        file.seek(0)
        utrail("record", "-d", "whole", *args, exe, stdin=file).must()
    return calls("whole")


def is_end_of(task, wholes):
    """True when the task's calls are the last ones of a whole task: from its first recorded call
    on, all are the same."""
    return any(task == whole[-len(task):] for whole in wholes)


@pytest.mark.parametrize(
    "build, options",
    [("pg", []), ("stripped", []), ("cyg", ["--no-libcall"]), ("pg", ["-N", "next", "--no-libcall"]), ("pg", ["-t", "1ns"])],
)
def test_depth_is_kept(programs, build, options):
    exe = programs(build)
    assert record(exe, *options) == ""
    late, wholes = calls(), from_the_start(exe, *options)
    assert len(late) == len(wholes) == 3
    for task in late:
        assert len(task) >= 8
        assert re.match(r"( {8,10})(leaf|nameless)\(\);$", task[0]), task
        assert is_end_of(task, wholes), (task, wholes)


def test_within_a_filter(programs):
    """A filter's function that is open when the recorder attaches lets in the calls inside it."""
    exe = programs("pg")
    record(exe, "-F", "work", "--no-libcall")
    (task,) = calls()
    assert task[0] == "      leaf();"
    assert is_end_of(task, from_the_start(exe, "-F", "work", "--no-libcall"))


def test_depth_is_not_known(programs):
    """Without call frame information all threads begin at depth 0, and -v reports that."""
    said = record(programs("blind"), "-v")
    assert len(re.findall(r"thread \d+: its open calls are not known, so it begins at depth 0: ", said)) == 3
    assert "\nleaf();\n" in utrail("replay", "-f", "none").must().out


def test_peer_reads_it(programs):
    """The peer shows the same lines, but without indentation at a task's beginning."""
    record(programs("pg"), "--no-libcall")
    ours = utrail("replay", "-f", "none").must().out
    theirs = run("uftrace", "replay", "-f", "none", "--no-pager").must().out
    words = lambda text: [line.strip() for line in text.splitlines() if line.strip().endswith((");", "{", "*/"))]
    assert words(ours) == words(theirs)
