"""The program or the recorder is killed: the recording is good up to the last record, and no file
and no process stays."""

import os
import random
import signal
import subprocess
import time

import pytest

import trees
from data import ENTRY, EXIT, Recording
from programs import MATRIX, METHODS, Variant, build, program
from tools import LIMIT_S, TOP, UTRAIL, environment, is_alive, run, utrail

VARIANTS = [Variant("gcc", method, "O2") for method in METHODS]
each_method = pytest.mark.parametrize("variant", VARIANTS, ids=str)


class Running:
    """`utrail record` in the background. The program makes calls until it is ended, and prints the
    number of its rounds."""

    def __init__(self, exe, *options):
        self.proc = subprocess.Popen(
            [UTRAIL, "record", "--no-libcall", *options, exe],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
            start_new_session=True,
            text=True,
            # A shell ignores SIGINT for its background processes.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        self.pid = int(self.proc.stdout.readline())

    def rounds(self):
        """The number of rounds in the program's next line."""
        return int(self.proc.stdout.readline())

    def wait_for_the_program(self, limit_s=LIMIT_S):
        end = time.monotonic() + limit_s
        while is_alive(self.pid) and time.monotonic() < end:
            time.sleep(0.02)
        return not is_alive(self.pid)

    def finish(self):
        out, err = self.proc.communicate(timeout=60)
        return self.proc.returncode, out, err

    def close(self):
        for pid in (self.pid, self.proc.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.proc.communicate()


@pytest.fixture
def start():
    running = []

    def begin(*args):
        running.append(Running(*args))
        return running[-1]

    yield begin
    for r in running:
        r.close()


@pytest.fixture
def start_anyhow():
    """Starts `utrail record` in a process group of its own, which the fixture ends."""
    running = []

    def begin(*words):
        command = [UTRAIL, "record", "--no-libcall", *words]
        pipe = subprocess.PIPE
        proc = subprocess.Popen(command, stdout=pipe, stderr=pipe, env=environment(), start_new_session=True, text=True)
        running.append(proc)
        return proc

    yield begin
    for proc in running:
        end_group(proc)
        proc.communicate()


def end_group(proc):
    try:
        os.killpg(proc.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def check(recording, rounds):
    """Check that records are whole and in nesting order, and that only unfinished rounds are
    missing."""
    assert recording.lost == 0
    (task,) = recording.tasks.values()
    text = trees.of_records(task)
    assert text.startswith("main{")
    complete = text.count("round_{leaf{}leaf{}}")
    assert complete >= rounds, f"{complete} rounds are there, the program had done {rounds}"
    rest = text[len("main{") :].replace("round_{leaf{}leaf{}}", "")
    assert rest in ("", "round_{", "round_{leaf{", "round_{leaf{}", "round_{leaf{}leaf{", "round_{leaf{}leaf{}")
    return complete


def check_readable(complete):
    replayed = utrail("replay", "-f", "none").must().out
    assert replayed.count("round_() {") >= complete
    assert "utrail stopped tracing with remaining functions" in replayed
    report = utrail("report", "-f", "call").must().out
    assert f"{complete}" in report or f"{complete + 1}" in report
    utrail("info").must()
    utrail("dump").must()


@each_method
def test_program_is_killed(start, variant):
    r = start(build(program("endless"), variant))
    rounds = max(r.rounds() for _ in range(3))
    os.kill(r.pid, signal.SIGKILL)
    status, _, err = r.finish()
    assert status == 128 + signal.SIGKILL
    assert "WARN: child terminated by signal: 9: Killed" in err
    check_readable(check(Recording("uftrace.data"), rounds))


@each_method
def test_recorder_is_killed(start, variant):
    """The program runs on unharmed, and ends on request."""
    r = start(build(program("endless"), variant))
    rounds = max(r.rounds() for _ in range(3))
    os.kill(r.proc.pid, signal.SIGKILL)
    os.waitid(os.P_PID, r.proc.pid, os.WEXITED | os.WNOWAIT)
    first = r.rounds()
    later = [r.rounds() for _ in range(5)][-1]
    assert later > first and is_alive(r.pid)
    os.kill(r.pid, signal.SIGTERM)  # the program's handler ends it normally
    assert r.wait_for_the_program()
    assert r.proc.stdout.read().endswith("ended by itself\n")

    recording = Recording("uftrace.data")
    (task,) = recording.tasks.values()
    assert trees.of_records(task).startswith("main{round_{leaf{}leaf{}}")
    # The writer had not fetched some records when it was killed: a buffer's worth at most.
    assert sum(x.kind == EXIT for x in task.records) // 3 > rounds // 2
    check_readable(0)


@each_method
def test_both_are_killed(start, variant):
    r = start(build(program("endless"), variant))
    r.rounds()
    r.rounds()
    os.killpg(r.proc.pid, signal.SIGKILL)
    assert r.wait_for_the_program()
    (task,) = Recording("uftrace.data").tasks.values()
    assert trees.of_records(task).startswith("main{round_{leaf{}leaf{}}")
    check_readable(0)


def test_recorder_is_killed_before_anything_is_written(start):
    """The directory is a valid recording from the first moment on."""
    r = start(build(program("sleeper"), VARIANTS[0]))
    os.kill(r.proc.pid, signal.SIGKILL)
    os.kill(r.pid, signal.SIGKILL)
    assert r.wait_for_the_program()
    utrail("info").must()
    for command in ("replay", "report"):
        result = utrail(command)
        assert result.status in (0, 255) and len(result.err.splitlines()) <= 1
        assert "nap" in result.out or "cannot" in result.err


def test_interrupt_from_the_terminal(start):
    """^C reaches recorder and program: the program decides what to do, and the recording is
    finished."""
    r = start(build(program("endless"), VARIANTS[0]))
    rounds = [r.rounds() for _ in range(3)][-1]
    os.killpg(r.proc.pid, signal.SIGINT)
    status, _, err = r.finish()
    assert status == 128 + signal.SIGINT, err
    check(Recording("uftrace.data"), rounds)
    assert Recording("uftrace.data").info["exit_status"] == [str(int(signal.SIGINT))]


def test_signal_to_the_recorder_alone(start):
    """The recorder passes SIGTERM to the program, which handles it and ends normally."""
    r = start(build(program("endless"), VARIANTS[0]))
    r.rounds()
    os.kill(r.proc.pid, signal.SIGTERM)
    status, out, err = r.finish()
    assert status == 0, err
    assert out.endswith("ended by itself\n")
    (task,) = Recording("uftrace.data").tasks.values()
    assert trees.of_records(task).endswith("}")


def test_stopped_recorder_does_not_stop_the_program(start):
    """With a stopped recorder the program waits a little for room, then runs on and counts lost
    records."""
    r = start(build(program("endless"), VARIANTS[0]), "-b", "4k")
    r.rounds()
    os.kill(r.proc.pid, signal.SIGSTOP)
    end = time.monotonic() + 10
    while time.monotonic() < end:
        last = r.rounds()
    os.kill(r.proc.pid, signal.SIGCONT)
    os.kill(r.pid, signal.SIGTERM)
    status, _, err = r.finish()
    assert status == 0 and last > 0
    recording = Recording("uftrace.data")
    lost = recording.lost
    assert lost > 0 and f"{lost} records were lost" in err
    (task,) = recording.tasks.values()
    assert sum(x.kind == ENTRY for x in task.records) > 0
    assert f"LOST {lost} records" in utrail("replay").must().out


def test_nothing_is_left(start):
    """No process, no file outside of the directory, and no socket stays."""
    r = start(build(program("endless"), VARIANTS[0]))
    r.rounds()
    os.kill(r.pid, signal.SIGKILL)
    r.finish()
    assert sorted(os.listdir()) == ["uftrace.data"]
    assert {p for p in os.listdir("uftrace.data") if p.startswith(".")} == set()
    with open("/proc/net/unix") as sockets:
        assert not [line for line in sockets if f"utrail-{r.proc.pid}-" in line]
    assert not os.path.exists(f"/proc/{r.proc.pid}")


VICTIMS = ("program", "recorder", "both")


def records_of(path):
    """The recording, and its tree: whole records in nesting order, although the end may be cut
    off."""
    recording = Recording(path)
    texts = [trees.of_records(t) for t in recording.tasks.values()]
    return recording, (texts or [""])[0]


@pytest.mark.parametrize("number", range(51))
def test_killed_at_any_moment(start_anyhow, number):
    """SIGKILL at a random moment, from the first instruction on: committed records are there."""
    rng = random.Random(number)
    victim, variant = VICTIMS[number % 3], VARIANTS[number // 3 % 3]
    proc = start_anyhow(build(program("endless"), variant), "3000")
    time.sleep(rng.choice([0.002, 0.01, 0.05, 0.3]) * rng.random())
    children = subprocess.run(["pgrep", "-P", str(proc.pid)], capture_output=True, text=True).stdout.split()
    if victim != "program":
        os.kill(proc.pid, signal.SIGKILL)
    if victim != "recorder" and children:
        try:
            os.kill(int(children[0]), signal.SIGKILL)
        except ProcessLookupError:
            pass
    if victim == "program" and not children:
        os.kill(proc.pid, signal.SIGTERM)  # there is no program yet: ending the recorder ends it
    if victim != "program":
        time.sleep(0.05)
        end_group(proc)  # also ends a program that was started after pgrep had looked
    out, err = proc.communicate(timeout=60)
    assert "Sanitizer" not in err

    if not os.path.exists("uftrace.data/info"):
        return  # it was killed before it had info
    if victim == "program" and children:
        assert "records were lost" not in err
    recording, text = records_of("uftrace.data")
    complete = text.count("round_{leaf{}leaf{}}")
    rest = text.removeprefix("main{").replace("round_{leaf{}leaf{}}", "")
    if victim == "program" and not children and rest == "}":
        rest = ""  # the recorder passed SIGTERM on to the new program, which ended normally
    assert rest in ("", "round_{", "round_{leaf{", "round_{leaf{}", "round_{leaf{}leaf{", "round_{leaf{}leaf{}")
    said = [int(line) for line in out.splitlines()[1:] if line.isdigit()]
    if victim == "program" and said:
        assert complete >= said[-1]
    for command in ("replay", "report", "info", "dump"):
        result = utrail(command)
        assert result.status in (0, 1, 255) and len(result.err.splitlines()) <= 1, result.err
        if text:
            assert result.status == 0, result.err
    if text:
        assert utrail("replay", "-f", "none").must().out.count("round_() {") >= complete


@pytest.mark.parametrize("part", range(4))
def test_recorder_killed_at_each_system_call(workdir, note, part):
    """A directory with `info` is a recording. A directory that has no `info` yet does not hinder
    other recordings. The program ends as it does without being recorded."""
    run("gcc", "-O1", TOP / "tests/e2e/src/odd/kill_at.c", "-o", "kill_at").must()
    exe = build(program("plain"), VARIANTS[0])
    whole = run(exe).must().out
    step = {"full": 4, "": 12}.get(MATRIX, 20)
    # LeakSanitizer cannot work in a traced process.
    env = {"ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:detect_leaks=0"}
    kept = 0
    for number in range(1 + part * step // 4, 100000, step):
        result = run("./kill_at", number, UTRAIL, "record", exe, env=env)
        if result.status == 77:
            pytest.skip(f"cannot trace the recorder: {result.err.strip()}")
        assert result.out in ("", whole) and result.err == "", f"system call {number}: {result.err}"
        if os.path.exists("uftrace.data/info"):
            kept += 1
            Recording("uftrace.data")
            shown = utrail("replay")
            assert shown.status in ((0,) if shown.out else (1, 255)) and len(shown.err.splitlines()) <= 1, shown.err
        if result.status == 3:
            break
    assert result.out == whole and kept > 1
    note(f"killed at {number // step} system calls of some {number}, {kept} recordings")
