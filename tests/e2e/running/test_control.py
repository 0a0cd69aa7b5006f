"""`utrail control` and `live --pid` change the recording while the program runs."""

import os
import re
import socket
import struct
import subprocess
import time
from pathlib import Path

import pytest

from data import ENTRY, EXIT, Recording
from programs import METHODS, Variant, build, program
from tools import NOBODY, UTRAIL, environment, peer, utrail, wait_until, why_not_as_nobody

VARIANTS = [Variant("gcc", method, "O2") for method in METHODS]
each_method = pytest.mark.parametrize("variant", VARIANTS, ids=str)
PG = VARIANTS[0]


class Running:
    """The program steered.c under a recorder."""

    def __init__(self, *options, variant=PG, name="steered", directory="uftrace.data"):
        self.proc = subprocess.Popen(
            [UTRAIL, "record", "--no-libcall", "--no-event", "-d", directory, *options, build(program("control/" + name), variant)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
            text=True,
        )
        self.pid = int(self.proc.stdout.readline())

    def control(self, *words):
        return utrail("control", "uftrace.data", *words).must().out

    def switches(self):
        """The number of times that each thread has slept."""
        texts = [p.read_text() for p in Path(f"/proc/{self.pid}/task").glob("*/status") if p.parent.name != str(self.pid)]
        return [int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", text, re.M)[1]) for text in texts]

    def wait_for_rounds(self):
        """Wait until each thread has begun and ended some rounds, even if it is short of CPU."""
        before = self.switches()
        wait_until(lambda: all(now > then + 6 for then, now in zip(before, self.switches(), strict=True)))

    def wait_until_taken(self):
        """Wait until the last change counts for whole rounds of all threads. The thread that asks
        the recorder gets the new plan first, the other threads get it later."""
        wait_until(lambda: "has not asked" not in self.control("status"))
        self.wait_for_rounds()
        self.wait_for_rounds()

    def end(self):
        out, err = self.proc.communicate(timeout=60)
        assert (out, err, self.proc.returncode) == ("ended by itself\n", "", 0)
        return Recording("uftrace.data")


@pytest.fixture
def start():
    running = []

    def begin(*options, **kw):
        running.append(Running(*options, **kw))
        return running[-1]

    yield begin
    for each in running:
        if each.proc.poll() is None:
            each.proc.kill()
            each.proc.communicate()


def check_pairs(recording):
    """Check that each entry has its exit, of the same function and depth, and each exit its
    entry."""
    assert recording.lost == 0
    for task in recording.tasks.values():
        stack = []
        for r in task.records:
            if r.kind == ENTRY:
                assert r.depth == len(stack)
                stack.append(r.name)
            elif r.kind == EXIT:
                assert stack and stack.pop() == r.name and r.depth == len(stack)
        assert not stack, f"no exit: {stack}"


def notes():
    """The changes that the recording has noted: (nanoseconds, words)."""
    lines = Path("uftrace.data/extern.dat").read_text().splitlines()
    found = [re.fullmatch(r"(\d+)\.(\d{9}) utrail: (.*)", line) for line in lines]
    return [(int(m[1]) * 10**9 + int(m[2]), m[3]) for m in found]


def entries(recording, since=0, until=1 << 63):
    return [r for task in recording.tasks.values() for r in task.records if r.kind == ENTRY and since < r.time < until]


@each_method
def test_off_and_on(start, variant):
    """Between off and on, only the ends of open calls are recorded."""
    running = start("-g", variant=variant)
    quiet, loud = [], []
    for _ in range(3):
        running.control("off")
        running.wait_until_taken()
        quiet.append(time.monotonic_ns())
        running.wait_for_rounds()
        running.control("on")
        running.wait_until_taken()
        loud.append(time.monotonic_ns())
        running.wait_for_rounds()
    recording = running.end()
    check_pairs(recording)
    assert [words for _, words in notes()] == ["off", "on"] * 3
    switched_on = [when for when, words in notes() if words == "on"]
    for since, until in zip(quiet, switched_on, strict=True):
        assert since < until and not entries(recording, since, until)
    for since in loud:
        assert len(entries(recording, since)) > 8


@each_method
def test_filters(start, variant):
    running = start("-g", variant=variant)
    windows = []
    for words, names in [
        (["filter", "inner"], {"inner", "leaf", "other"}),
        (["clear", "notrace", "inner"], {"outer", "recurse", "leaf"}),
        (["clear", "notrace", "recurse;outer"], set()),
        (["clear", "depth", "2"], {"outer", "recurse"}),
        (["depth", "1024", "match", "glob", "filter", "rec*"], {"recurse", "leaf"}),
        (["clear", "size", "100k"], set()),
        (["size", "1", "time", "10m"], set()),
        (["time", "0", "trigger", "recurse@depth=2", "notrace", "outer"], {"recurse", "leaf"}),
    ]:
        running.control(*words)
        running.wait_until_taken()
        since = time.monotonic_ns()
        running.wait_for_rounds()
        until = time.monotonic_ns()
        running.control("off")
        running.wait_until_taken()
        running.control("on")
        windows.append((since, until, names, words))
    recording = running.end()
    check_pairs(recording)
    for since, until, names, words in windows:
        assert {r.name for r in entries(recording, since, until)} == names, words


def say(name, *words, pid=None):
    """Send a request in the bytes of utils/format/probe/request.h."""
    text = b"".join(word.encode() + b"\0" for word in words)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.connect(name)
        s.send(struct.pack("<IIII", 0x71557472, 2, 4, len(text)) + text)
        answer = s.recv(70000)
    return struct.unpack_from("<Ii", answer)[1], answer[24:].decode()


def recorder_name(directory="uftrace.data"):
    st = os.stat(directory)
    return "\0utrail-dir-%x-%x" % (st.st_dev, st.st_ino)


@each_method
def test_ten_thousand_changes(start, variant):
    """Ten thousand changes while eight threads run: nothing crashes, and each entry has its
    exit."""
    running = start("-g", variant=variant)
    name = recorder_name()
    changes = [
        ["off"],
        ["on"],
        ["clear", "filter", "inner"],
        ["depth", "3"],
        ["off"],
        ["clear", "notrace", "recurse", "on"],
        ["clear", "depth", "1024", "caller", "other"],
        ["clear", "time", "2us"],
        ["time", "0", "filter", "outer@depth=2"],
        ["clear"],
    ]
    for i in range(10000):
        error, text = say(name, *changes[i % len(changes)])
        assert error == 0, text
    running.wait_until_taken()
    assert "changes: 10000\n" in running.control("status")
    recording = running.end()
    check_pairs(recording)
    assert {"outer", "inner", "recurse", "leaf", "other"} <= {r.name for r in entries(recording)}
    # The last change has reached each thread.
    last = notes()[-1][0]
    assert all(any(r.time > last for r in task.records) for task in recording.tasks.values())


def test_off_at_the_start(start):
    """The recording is off at the start, by --trace=off."""
    running = start("-g", "--trace=off")
    assert "recording: off, until a trigger or signal\n" in running.control()
    running.control("on", "filter", "recurse")
    running.wait_until_taken()
    assert {r.name for r in entries(running.end())} == {"recurse", "leaf"}


def test_a_change_counts_for_children(tmp_path):
    """A child that was forked while recording was off is recorded when it is on again."""
    proc = subprocess.Popen(
        [UTRAIL, "record", "-g", "--no-libcall", "--no-event", build(program("control/steered_fork"), PG)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        text=True,
    )
    proc.stdout.readline()
    utrail("control", "uftrace.data", "off").must()
    wait_until(lambda: "has not asked" not in utrail("control", "uftrace.data", "status").must().out)
    proc.stdin.write("fork\n")
    proc.stdin.flush()
    child = int(proc.stdout.readline())
    time.sleep(0.1)
    utrail("control", "uftrace.data", "on", "notrace", "other").must()
    # The child may get no CPU for a long time.
    wait_until(lambda: "round_" in utrail("report", f"--tid={child}", "-f", "call", "--no-libcall").out)
    assert utrail("control", str(child), "status").must().out.count("process: ") == 2
    out, err = proc.communicate(timeout=60)
    assert (out, err, proc.returncode) == ("ended by itself\n", "", 0)
    recording = Recording("uftrace.data")
    assert {r.name for r in recording.tasks[child].records} <= {"leaf", "round_", "main"}
    assert "round_" in {r.name for r in recording.tasks[child].records}


def test_stop(start):
    running = start("-g")
    running.wait_for_rounds()
    running.control("stop")
    running.wait_for_rounds()
    stopped = time.monotonic_ns()
    assert running.control().startswith("recording: stopped\n")
    running.wait_for_rounds()
    recording = running.end()
    assert entries(recording) and not entries(recording, stopped)


def test_status(start):
    running = start("-g", "-F", "worker", "-t", "1ns")
    text = utrail("control", str(running.pid)).must().out
    assert re.search(r"^process: \d+ /.*/steered", text, re.M)
    for line in ("recording: on", "steerable: yes", "filter: worker", "depth: 1024", "time: 1ns", "changes: 0", "lost: 0 records"):
        assert line in text.splitlines()
    wait_until(lambda: not re.search(r"^written: 0 bytes", running.control("status"), re.M))
    # The pid of the recorder names the recording, too.
    assert utrail("control", str(running.proc.pid), "status").must().out.startswith("recording: on\n")
    running.end()


def test_live_pid(start):
    """live --pid, uftrace's option, makes the same changes."""
    running = start("-g")
    assert "is being recorded: live --pid changes" in utrail("live", "-p", str(running.pid)).must().err
    assert utrail("live", "-p", str(running.pid), "-N", "leaf", "-D", "5", "--trace=on").must().out == ""
    text = running.control("status")
    assert "filter: !leaf\n" in text and "depth: 5\n" in text
    assert [words for _, words in notes()] == ["filter !leaf depth 5 on"]
    running.end()
    shown = utrail("replay", "--no-pager", "-D", "1").must().out
    assert "/* external-data: utrail: filter !leaf depth 5 on */" in shown


def test_cleared_filters_let_everything_in(start):
    """A cleared filter has no effect on calls, and `utrail control` does not show it."""
    running = start("-g")
    for added, cleared, kept in [
        ("inner", "inner@clear", None),
        ("inner;leaf", "leaf@clear", "inner;leaf@clear"),
        ("^in", "inner@clear", "^in;inner@clear"),
    ]:
        assert utrail("live", "-p", str(running.pid), "-F", added).must().out == ""
        assert utrail("live", "-p", str(running.pid), "-F", cleared).must().out == ""
        shown = re.findall("^filter: (.*)$", running.control("status"), re.M)
        assert shown == ([kept] if kept else []), shown
    running.wait_until_taken()
    since = time.monotonic_ns()
    running.wait_for_rounds()
    recording = running.end()
    check_pairs(recording)
    assert {r.name for r in entries(recording, since)} >= {"outer", "inner", "leaf", "recurse"}


def test_peer_shows_the_notes(start):
    running = start("-g")
    running.control("notrace", "leaf")
    running.end()
    assert "utrail: notrace leaf" in peer("replay", "--no-pager").must().out


REFUSED = [
    (["stats"], 2, "unknown word 'stats'; the nearest: status.*"),
    (["depth"], 2, "'depth' needs an argument: depth N"),
    (["depth", "0"], 2, "'depth 0': it is a number from 1 to 65534"),
    (["time", "soon"], 2, "'time'.*"),
    (["match", "fuzzy", "filter", "leaf"], 2, "'match fuzzy': it is regex, glob or simple"),
    (["trigger", "leaf@nothing=1"], 2, "cannot control 'uftrace.data': .*"),
    (["trigger", "leaf@arg1"], 2, "cannot control .*: 'leaf@arg1': the recorded arguments and results cannot change .*"),
    (["snapshot"], 1, "cannot control 'uftrace.data': 'snapshot': it is recorded without --flight.*"),
]


def test_refused(start):
    """Nothing changes when a word of the request is wrong."""
    running = start("-g")
    before = running.control("status")
    for words, status, message in REFUSED:
        result = utrail("control", "uftrace.data", "off", *words).must(status)
        assert re.fullmatch(f"utrail: {message}\n", result.err), result.err
        assert result.out == ""
    after = running.control("status")
    assert re.sub(r"written: .*", "", after) == re.sub(r"written: .*", "", before)
    running.end()


WARNED = [
    (["filter", "laef"], "no function of the running processes matches 'laef'; the nearest: leaf"),
    (["notrace", "leaf;laef"], "no function of the running processes matches 'laef'; the nearest: leaf"),
    (["trigger", "leaf@nosuchaction"], "no function of the running processes matches 'leaf@nosuchaction': 'nosuchaction' is no action, .*"),
    (["filter", "leaf@arg1"], "'leaf@arg1': action 'arg' has no effect here"),
    (["filter", "leaf@trace_off"], "'leaf@trace_off': action 'trace_off' has no effect here: use 'trigger'"),
    (["caller", "leaf@auto-args"], "'leaf@auto-args': action 'auto-args' has no effect here"),
]


def test_what_has_no_effect_is_a_warning(start):
    """A filter that matches nothing gives a warning, as for `record`. The filter is in force for
    libraries that are loaded later. An action that has no effect with "filter" or "caller" gives a
    warning, too."""
    running = start("-g")
    for words, message in WARNED:
        result = utrail("control", "uftrace.data", "clear", *words).must()
        assert re.fullmatch(f"WARN: {message}\n", result.err), result.err
        assert result.out == "" and f"{words[1].split(';')[-1]}\n" in running.control("status")
    running.end()


def test_not_steerable(start):
    running = start()
    result = utrail("control", "uftrace.data", "off").must(1)
    assert "it is recorded without --agent (-g)" in result.err
    assert "steerable: no (record --agent)\n" in running.control("status")
    running.end()
    result = utrail("control", "uftrace.data", "off").must(1)
    assert result.err == "utrail: cannot control 'uftrace.data': no utrail is recording into it\n"
    result = utrail("control", "nowhere", "off").must(1)
    assert result.err == "utrail: cannot control 'nowhere': No such file or directory\n"
    result = utrail("control", "1", "off").must(1)
    assert result.err == "utrail: cannot control process 1: no utrail of yours is recording it\n"


def test_others_may_not(start):
    why = why_not_as_nobody()
    if why:
        pytest.skip(why)
    running = start("-g")
    result = subprocess.run(
        [*NOBODY, UTRAIL, "control", str(running.pid), "off"], env=environment(), capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 1 and "no utrail of yours is recording it" in result.stderr
    assert running.control("status").startswith("recording: on\n")
    running.end()


def test_bad_requests(start):
    """Malformed requests do not stop the recording."""
    running = start("-g")
    head = lambda kind, length: struct.pack("<IIII", 0x71557472, 2, kind, length)
    for packet in (
        b"",
        b"x" * 15,
        head(4, 0),
        head(4, 4) + b"off",
        head(4, 3) + b"off",
        head(4, 1 << 31) + b"off\0",
        head(4, 5) + b"\xff\x00\x1b[\x00",
        head(4, 65537) + b"x" * 65536 + b"\0",
        head(5, 4) + b"abc\0",
        head(77, 0),
        os.urandom(65536),
    ):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
            s.settimeout(20)
            s.connect(recorder_name())
            try:
                s.send(packet)
                s.shutdown(socket.SHUT_WR)
                s.recv(70000)
            except (ConnectionResetError, BrokenPipeError):
                pass
    assert running.control("status").startswith("recording: on\n")
    assert "changes: 0\n" in running.control("status")
    running.end()
