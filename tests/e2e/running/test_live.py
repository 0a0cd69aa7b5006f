"""live and replay --follow show calls while the program runs, in the same form as replay does
afterwards."""

import contextlib
import glob
import os
import pty
import re
import shutil
import signal
import subprocess
import time

import pytest

from data import Recording
from programs import METHODS, Variant, build, program
from tools import LIMIT_S, UTRAIL, environment, utrail, wait_until

PG = Variant("gcc", "pg", "O2")
WAYS = ["plain", "threads", "fork", "exec", "dlopen"]

# TIMESTAMP, DURATION and the call, in lines of `-f time,duration`
LINE = re.compile(r"^\s*(?:([0-9.]+) +([mun]?s))?\s+([0-9]+\.[0-9]{9}) \|\s*(.*)$")
UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def exe():
    return build(program("paced"), PG)


class Terminal:
    """A command on a pseudo-terminal of its own."""

    def __init__(self, *args, tmp=None):
        env = environment(**({"TMPDIR": tmp} if tmp else {}))
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(UTRAIL, [str(UTRAIL), *map(str, args)], env)

    def lines(self):
        """Each line with the time of its arrival, until the command has ended."""
        rest = b""
        while True:
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                break
            now = time.monotonic()
            *lines, rest = (rest + data).split(b"\n")
            yield from ((now, line.decode().rstrip("\r")) for line in lines)

    def type(self, data):
        os.write(self.fd, data)

    def end(self):
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.fd)
        return status


def arrivals(how, options=()):
    """For each call: the time when its line arrived, and the time when the call ended."""
    terminal = Terminal("live", "--color=off", "--no-event", "-f", "time,duration", *options, exe(), how)
    found = []
    for now, line in terminal.lines():
        match = LINE.match(line)
        if not match or match[4].endswith("{"):
            continue
        number, unit, stamp, text = match.groups()
        is_leaf = text.endswith(";")
        end = float(stamp) + (float(number) * UNITS[unit] if is_leaf and number else 0)
        found.append((now, end))
    assert terminal.end() == 7
    return found


@pytest.mark.parametrize("how", WAYS)
def test_lines_are_there_while_the_program_runs(how, note):
    """Most lines arrive while the program runs. The first ones wait until the recorder is ready,
    and on a busy machine whole runs may be late."""

    def run_once():
        found = arrivals(how)
        assert len(found) > 15
        last = max(end for _, end in found)
        return found if sum(now < last for now, _ in found) > len(found) // 2 else None

    found = wait_until(run_once)
    late = sorted(1000 * (now - end) for now, end in found)
    note(f"live {how}: {len(found)} calls, shown after {late[len(late) // 2]:.0f} ms, {late[-1]:.0f} ms at most")


def test_unfinished_call_is_shown_as_entered():
    """The call ends only after its line was seen, however late that is."""
    terminal = Terminal("live", "--color=off", "--no-event", "--no-libcall", "-f", "time,duration", exe(), "await")
    shown = []
    for _, line in terminal.lines():
        if "await" in line:
            shown.append(line)
            if len(shown) == 1:
                terminal.type(b"\n")
    assert terminal.end() == 7
    entry, left = shown
    assert entry.endswith("await() {") and left.endswith("} /* await */")


@pytest.mark.parametrize("command", ["live", "replay"])
def test_long_leaf_in_a_pipe(command):
    """A long leaf call has one line, as in replay: the number of lines does not depend on the times
    when the reader looks."""
    if command == "live":
        text = utrail("live", "--record", "--no-event", "--no-libcall", exe(), "doze").must(7).out
    else:
        recorder = subprocess.Popen([UTRAIL, "record", "--no-event", "--no-libcall", exe(), "doze"], env=environment())
        wait_until(lambda: glob.glob("uftrace.data/*.dat"))
        text = utrail("replay", "--follow").must().out
        assert recorder.wait() == 7
    assert [line for line in text.splitlines() if " doze();" in line]
    assert text == utrail("replay", preempted=True).must().out


VIEWS = [
    [],
    ["--no-event"],
    ["-f", "time,delta,elapsed,module,addr,task,tid,duration"],
    ["--flat"],
    ["--column-view"],
    ["--no-merge"],
    ["-H", "tick"],
    ["-r", "100ms~400ms"],
]


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("options", VIEWS, ids=" ".join)
def test_same_text_as_replay(how, options):
    """A program without a CPU may make no call in the range of time: then it is run again."""

    def run_once():
        text = utrail("live", "--record", *options, exe(), how).must(7).out
        assert text == utrail("replay", *options, preempted=True).must().out
        return text.count("\n") > 15

    wait_until(run_once)


@pytest.mark.parametrize("how", ["plain", "exec", "dlopen"])
@pytest.mark.parametrize("options", [["-t", "50ms"], ["-C", "tick"], ["-T", "step@time=50ms"], ["-F", "walk"], ["-D", "3"]], ids=" ".join)
def test_same_text_with_filters_while_recording(how, options):
    text = utrail("live", "--record", "--no-event", *options, exe(), how).must(7).out
    assert text == utrail("replay", "--no-event").must().out


@pytest.mark.parametrize("name", ["fork_chain", "thread_fork", "threads_many", "spawn", "vfork", "daemon"])
def test_same_text_of_many_tasks(name):
    prog = build(program(name), PG)
    own = subprocess.run([prog], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True).stdout
    text = utrail("live", "--record", "--no-event", prog).out
    if not own:
        assert text == utrail("replay", "--no-event").must().out
    lines = set(utrail("replay", "--no-event").must().out.splitlines())
    assert lines <= set(text.splitlines())


def start_recording(how, *options, **kw):
    shutil.rmtree("uftrace.data", ignore_errors=True)
    proc = subprocess.Popen([UTRAIL, "record", *options, exe(), how], env=environment(), stderr=subprocess.DEVNULL, **kw)
    wait_until(lambda: os.path.exists("uftrace.data/info"))
    return proc


@contextlib.contextmanager
def recording_that_lasts(*options):
    """A recording whose program ends at the end of the `with` block."""
    with start_recording("await", *options, stdin=subprocess.PIPE) as proc:
        yield proc
    assert proc.returncode == 7


@pytest.mark.parametrize("options", [[], ["-F", "step"], ["-F", "inner"], ["-t", "50ms"], ["-C", "tick"], ["-N", "step"]], ids=" ".join)
def test_follow(options):
    proc = start_recording("dlopen")
    text = utrail("replay", "--follow", "--no-event", *options).must().out
    assert proc.wait(timeout=LIMIT_S) == 7
    assert text == utrail("replay", "--no-event", *options).must().out


def test_follow_waits_for_short_calls_in_order():
    """With -t, the records of other tasks wait until a call's length is known, so that lines are in
    the order of time."""
    proc = start_recording("threads")
    text = utrail("replay", "--follow", "--no-event", "-t", "50ms").must().out
    proc.wait(timeout=LIMIT_S)
    assert text == utrail("replay", "--no-event", "-t", "50ms").must().out


def test_follow_of_what_is_complete():
    utrail("record", exe()).must(7)
    assert utrail("replay", "--follow").must().out == utrail("replay").must().out


def test_follow_ends_with_a_killed_recorder():
    proc = start_recording("threads")
    viewer = subprocess.Popen([UTRAIL, "replay", "--follow", "--no-event"], env=environment(), stdout=subprocess.PIPE, text=True)
    # Wait for the first records: a reader needs them, and files are there earlier.
    wait_until(lambda: any(os.path.getsize(file) for file in glob.glob("uftrace.data/[0-9]*.dat")))
    proc.kill()
    out, _ = viewer.communicate(timeout=LIMIT_S)
    assert viewer.returncode == 0
    assert out == utrail("replay", "--no-event").must().out


@pytest.mark.parametrize("how", ["another", "none"])
def test_follow_ends_when_the_recording_is_renamed(how):
    """After the recording is renamed, its old name leads to another recording, or nowhere. replay
    reads no files of the other recording."""
    with recording_that_lasts("--no-event"):
        viewer = subprocess.Popen(
            [UTRAIL, "replay", "--follow", "-f", "none"], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        # The viewer shows the first calls and waits for more.
        viewer.stdout.readline()
        if how == "another":
            utrail("record", exe()).must(7)
        else:
            os.rename("uftrace.data", "uftrace.data.old")
        err = viewer.communicate(timeout=LIMIT_S)[1]
    assert viewer.returncode == 1
    assert err == (
        "utrail: cannot follow 'uftrace.data' further: it was renamed or removed; a new recording renames the one before to 'uftrace.data.old'\n"
    )


def test_live_waits_for_its_own_recorder():
    """live waits for its own recorder without a time limit. (It waits two seconds for a recorder of
    another user.)"""
    shutil.rmtree("uftrace.data", ignore_errors=True)
    proc = subprocess.Popen([UTRAIL, "live", "--record", "--no-event", exe(), "threads"], env=environment(), stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)
    wait_until(lambda: os.path.exists("uftrace.data/info"))
    proc.send_signal(signal.SIGSTOP)
    time.sleep(3)
    proc.send_signal(signal.SIGCONT)
    out, err = proc.communicate(timeout=LIMIT_S)
    assert err == ""
    assert out == utrail("replay", "--no-event").must().out


def test_what_cannot_be_followed():
    with recording_that_lasts("--flight=1m"):
        text = utrail("replay", "--follow").must(1).err
        assert text == "utrail: cannot follow 'uftrace.data': a flight recording is in memory until it is saved\n"
    with recording_that_lasts():
        text = utrail("replay", "--follow", "-T", "step@trace_off").must(2).err
        assert "cannot follow a recording with trace_on or trace_off" in text
        text = utrail("replay", "--follow", "-F", "step@if:retval==0").must(2).err
        assert "cannot follow a recording with a condition on a return value" in text


def test_interrupt_ends_the_program_and_shows_the_rest(tmp_path):
    terminal = Terminal("live", "--color=off", "--no-event", exe(), "await", tmp=tmp_path)
    lines = []
    for _, line in terminal.lines():
        lines.append(line)
        if "await() {" in line:
            terminal.type(b"\x03")
    assert terminal.end() == 128 + signal.SIGINT
    assert any("stopped tracing with remaining functions" in line for line in lines)
    assert "[0] main" in "\n".join(lines)
    assert not glob.glob(str(tmp_path / "utrail-live-*"))


def test_reader_that_goes_leaves_the_program_alone(tmp_path):
    proc = subprocess.Popen(
        [UTRAIL, "live", "--no-event", exe()], env=environment(TMPDIR=tmp_path), stdout=subprocess.PIPE, text=True
    )
    assert "DURATION" in proc.stdout.readline()
    proc.stdout.close()
    assert proc.wait(timeout=LIMIT_S) == 7
    assert not glob.glob(str(tmp_path / "utrail-live-*"))


def test_no_follow(tmp_path):
    """All calls are shown after the program's output."""
    prog = build(program("many_calls"), PG)
    own = subprocess.run([prog], stdout=subprocess.PIPE, text=True).stdout
    text = utrail("live", "--no-follow", "--no-event", prog).must().out
    assert text.startswith(own + "# DURATION")


def test_errors_are_told_once(tmp_path):
    for args, status in [(["./nothing"], 1), (["-f", "nothing", exe()], 2), (["/bin/true"], 1)]:
        result = utrail("live", *args, env={"TMPDIR": tmp_path}).must(status)
        assert result.out == "" and result.err.count("utrail: ") == 1
    assert not glob.glob(str(tmp_path / "utrail-live-*"))


@pytest.mark.parametrize("options", [(), ("-F", "leaf"), ("-D", "9", "-F", "main")], ids=" ".join)
@pytest.mark.parametrize("method", METHODS)
def test_a_child_is_known_before_its_first_record(workdir, method, options):
    """A child is recorded from the moment when the recorder learns of it, however late: no record
    is older than the lines that were shown before."""
    exe = build(program("forklate"), Variant("gcc", method, "O2"))
    words = [UTRAIL, "record", *options, exe]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()) as recorder:
        assert recorder.stdout.readline() == b"ready\n"
        recorder.send_signal(signal.SIGSTOP)
        recorder.stdin.write(b"x")
        recorder.stdin.flush()
        time.sleep(0.3)
        heard_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        recorder.send_signal(signal.SIGCONT)
    assert recorder.returncode == 0
    (child,) = [task for task in Recording("uftrace.data").tasks.values() if task.ppid]
    assert child.records[0].time >= heard_ns
