"""The end of a recording: signals around the program's end, the processes that are waited for, and
the status."""

import glob
import os
import random
import shutil
import signal
import subprocess
import time

import pytest
from data import Recording
from programs import SOURCES, Program, Variant, build, program
from tools import LIMIT_S, TOP, UTRAIL, environment, has_sanitizer, run, utrail, wait_until

PG = Variant("gcc", "pg", "O2")
COMMANDS = {
    "record": ["record"],
    "live": ["live"],
    "record-keep-pid": ["record", "--keep-pid"],
    "live-keep-pid": ["live", "--keep-pid"],
}
INTERRUPTS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]


def exe_of(name):
    return build(Program.read(SOURCES / "ends" / f"{name}.c"), PG)


def by_default():
    for sig in INTERRUPTS:
        signal.signal(sig, signal.SIG_DFL)
    # SIGQUIT must leave no core file.
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def start(*args, **kw):
    env = environment(**kw.pop("env", {}))
    out = kw.pop("stdout", subprocess.PIPE)
    return subprocess.Popen(
        list(map(str, args)),
        stdout=out,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        env=env,
        start_new_session=True,
        text=True,
        preexec_fn=kw.pop("preexec_fn", by_default),
        **kw,
    )


def finish(proc, what):
    """Wait for the end of @proc and of all processes that have its output open, as a recorder or a
    viewer. Returns status, output and errors."""
    try:
        out, err = proc.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(proc.pid, signal.SIGKILL)
        out, err = proc.communicate()
        raise AssertionError(f"{what}: hangs\n{err[-2000:]}") from None
    assert "Sanitizer" not in err, f"{what}\n{err[-4000:]}"
    return (proc.returncode if proc.returncode >= 0 else 128 - proc.returncode), out, err


def send(proc, sig, to_all):
    try:
        (os.killpg if to_all else os.kill)(proc.pid, sig)
    except ProcessLookupError:
        pass


def one_run(rng, name, threads, tmp, usual_s, what):
    """Send two signals at random moments around the end of a program that lasts a few
    milliseconds."""
    signals = [rng.choice([signal.SIGINT, signal.SIGINT, *INTERRUPTS]) for _ in range(2)]
    lasts = rng.choice([1, 5, 15])
    nth = rng.choice([0, 1, 2, 2, 2])
    own = rng.choice([0, 5])
    first = (usual_s + lasts / 1000) * rng.uniform(0.3, 1.1)
    gap = rng.choice([0, 0.0005, 0.005, 0.02]) * rng.random()
    to_all = [rng.random() < 0.6 for _ in range(2)]
    what = f"{what}: {[s.name for s in signals]} after {first:.4f} s and {gap:.4f} s, to all: {to_all}, lasts {lasts} ms, own {own}, ends at {nth}"

    shutil.rmtree("uftrace.data", ignore_errors=True)
    if os.path.exists("said"):
        os.unlink("said")
    proc = start(UTRAIL, *COMMANDS[name], exe_of("ends"), "said", lasts, own, nth, 3 * threads, env={"TMPDIR": tmp})
    time.sleep(first)
    send(proc, signals[0], to_all[0])
    time.sleep(gap)
    send(proc, signals[1], to_all[1])
    status, _, err = finish(proc, what)

    said = open("said").read().split() if os.path.exists("said") else []
    right = {int(said[0])} if said else {128 + s for s in signals}
    assert status in right, f"{what}: status {status}, expected {right}\n{err}"
    assert not glob.glob(f"{tmp}/utrail-live-*"), what
    if name == "record" and os.path.exists("uftrace.data/info"):
        recording = Recording("uftrace.data")
        if said:
            assert recording.info["exit_status"] == [str(int(said[0]) << 8)], what
    return bool(said)


@pytest.mark.parametrize("threads", [False, True], ids=["one", "threads"])
@pytest.mark.parametrize("name", COMMANDS)
def test_two_signals_around_the_end(tmp_path, note, name, threads):
    """Right before it ends, the program blocks all signals and writes its coming status to a file.
    The test compares this status with the real one, so the moments of the signals do not matter. An
    empty file means that a signal has ended the program, or the recorder before the program ran.

    There are 50 runs of each kind, or $UTRAIL_TEST_RUNS.
    """
    seed = int(os.environ.get("UTRAIL_TEST_SEED", random.SystemRandom().randrange(10**6)))
    print(f"UTRAIL_TEST_SEED={seed}")
    rng = random.Random(seed)
    runs = int(os.environ.get("UTRAIL_TEST_RUNS", "15" if has_sanitizer() else "50"))
    begun = time.monotonic()
    for _ in range(3):
        status, _, err = finish(start(UTRAIL, *COMMANDS[name], exe_of("ends"), "said", 0, 6, 0, 0), "no signal")
        assert status == 6, err
    usual_s = (time.monotonic() - begun) / 3
    by_itself = sum(one_run(rng, name, threads, tmp_path, usual_s, f"UTRAIL_TEST_SEED={seed} run {i}") for i in range(runs))
    note(f"{name}{' with threads' if threads else ''}: {runs} times two signals, {by_itself} programs told their status")


def build_here(source, *options):
    run("gcc", "-pg", "-O1", f"-I{TOP}", *options, TOP / "tests/e2e/src" / source, "-o", "prog").must()
    return "./prog"


def test_stranger_is_not_waited_for():
    """The program claims false children: a process without the shared memory, the recorder itself,
    init. The recorder waits for none of them."""
    exe = build_here("odd/names_stranger.c")
    other = subprocess.Popen(["sleep", "1000"])
    # The shell executes the recorder in its own process, so $$ is the recorder's number.
    command = f'exec {UTRAIL} record {exe} {other.pid} $$ 1'
    try:
        result = run("sh", "-c", command).must(3)
    finally:
        other.kill()
        other.wait()
    assert result.out == "named\n"


def test_daemon_is_waited_for_until_somebody_interrupts():
    """Processes that the program leaves running are recorded until they end. After the program's
    end, one SIGINT ends the recording."""
    exe = exe_of("left_behind")
    proc = start(UTRAIL, "record", exe, 300)
    status, out, err = finish(proc, "daemon")
    assert (status, err) == (4, "")
    assert sum(r.name == "beat" for t in Recording("uftrace.data").tasks.values() for r in t.records) > 0

    proc = start(UTRAIL, "record", exe, 100000)
    daemon = int(proc.stdout.readline())
    wait_until(lambda: glob.glob(f"uftrace.data/{daemon}.dat"))
    os.kill(proc.pid, signal.SIGINT)
    assert proc.wait(LIMIT_S) == 4
    os.kill(daemon, signal.SIGKILL)
    finish(proc, "daemon")
    assert daemon in Recording("uftrace.data").tasks


@pytest.mark.parametrize("name", ["record", "record-keep-pid"])
def test_program_that_ignores_interrupts(name):
    """After two interrupts the recorder still waits, since the second one may be ending the
    program. But the recorder does not wait for ever."""
    exe = exe_of("deaf")
    proc = start(UTRAIL, *COMMANDS[name], exe)
    pid = int(proc.stdout.readline())
    recorder = proc.pid
    if name != "record":
        assert pid == proc.pid
        recorder = recorder_of("uftrace.data", proc)
    for _ in range(3):
        os.kill(recorder, signal.SIGINT)
        wait_until(lambda: not is_pending(recorder, signal.SIGINT))
    said = ""
    while "goes on" not in said:
        line = proc.stderr.readline()
        assert line, said
        said += line
    assert said == f"WARN: the recording ended with signal 2: Interrupt; the program goes on (pid {pid})\n"
    if name == "record":
        assert proc.wait(LIMIT_S) == 128 + signal.SIGINT
    os.kill(pid, 0)
    os.kill(pid, signal.SIGKILL)
    finish(proc, name)
    recording = Recording("uftrace.data")
    assert recording.info["exit_status"] == ["-1"] and pid in recording.tasks


def is_pending(pid, sig):
    with open(f"/proc/{pid}/status") as f:
        pending = [int(line.split()[1], 16) for line in f if line.startswith(("SigPnd", "ShdPnd"))]
    return any(mask >> (sig - 1) & 1 for mask in pending)


def is_handled(pid, sig):
    with open(f"/proc/{pid}/status") as f:
        (caught,) = [int(line.split()[1], 16) for line in f if line.startswith("SigCgt")]
    return caught >> (sig - 1) & 1


def recorder_of(path, program_proc):
    """The recorder: the process other than the program that has the directory's task.txt open."""
    target = os.path.realpath(f"{path}/task.txt")

    def find():
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if int(pid) != program_proc.pid and any(os.path.realpath(f) == target for f in glob.glob(f"/proc/{pid}/fd/*")):
                    return int(pid)
            except OSError:
                pass
        return None

    return wait_until(find)


@pytest.mark.parametrize("sig", INTERRUPTS, ids=lambda s: s.name)
def test_each_signal_is_the_programs(sig):
    """A signal that only the recorder gets is passed on once. The recording is complete, with the
    program's status."""
    proc = start(UTRAIL, "record", exe_of("ends"), "said", 100000, 5, 1, 0)
    (dat,) = wait_until(lambda: glob.glob("uftrace.data/[0-9]*.dat"))
    program = int(os.path.basename(dat)[: -len(".dat")])
    # The file is there when main() is entered, before the program has its handlers.
    wait_until(lambda: is_handled(program, INTERRUPTS[-1]))
    os.kill(proc.pid, sig)
    assert finish(proc, sig.name)[0] == 7
    assert Recording("uftrace.data").info["exit_status"] == [str(7 << 8)]


def test_hangup_that_is_ignored_stays_so():
    """Under nohup(1) a hangup ends neither the recorder nor the program."""
    proc = start("nohup", UTRAIL, "record", exe_of("ends"), "said", 300, 5, 0, 0)
    wait_until(lambda: glob.glob("uftrace.data/[0-9]*.dat"))
    os.killpg(proc.pid, signal.SIGHUP)
    os.killpg(proc.pid, signal.SIGHUP)
    assert finish(proc, "nohup")[0] == 5


@pytest.mark.parametrize("name", COMMANDS)
def test_ignored_children(name):
    """The recorder is started with SIGCHLD ignored: the program ignores it, too, and its status is
    known. (The kernel keeps no status for a parent that ignores SIGCHLD.)"""

    def ignored():
        by_default()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    script = "open('own', 'w').write(open('/proc/self/status').read())\nraise SystemExit(7)"
    proc = start(UTRAIL, *COMMANDS[name], "--force", "/usr/bin/python3", "-c", script, preexec_fn=ignored)
    status = finish(proc, name)[0]
    (line,) = [line for line in open("own") if line.startswith("SigIgn")]
    assert status == 7 and int(line.split()[1], 16) >> (signal.SIGCHLD - 1) & 1


@pytest.mark.parametrize("options", [["record"], ["record", "-e"], ["record", "--nop"], ["live"]], ids=" ".join)
@pytest.mark.parametrize("way", ["handled", "thread", "stop", "exec", "trap", "killed"])
def test_program_that_asks_for_a_tracer(way, options):
    """PTRACE_TRACEME makes the recorder the tracer: it detaches at the program's first signal,
    which it passes on, and reports that."""
    proc = start(UTRAIL, *options, exe_of("traceme"), way)
    status, out, err = finish(proc, way)
    assert "asked" in out and "refused" not in out
    assert status == (128 + signal.SIGTERM if way == "killed" else 6), err
    (line,) = [line for line in err.splitlines() if "PTRACE_TRACEME" in line]
    assert ("for a tracer alone" in line) == (way in ("stop", "exec"))


@pytest.mark.parametrize("way", ["handled", "thread", "exec", "trap", "killed"])
def test_program_that_asks_for_a_second_tracer(way):
    """With --proc=ptrace the program already has a tracer."""
    proc = start(UTRAIL, "record", "--proc=ptrace", exe_of("traceme"), way)
    status, out, err = finish(proc, way)
    assert status == (128 + signal.SIGTERM if way == "killed" else 6), err
    assert "refused" in out and "PTRACE_TRACEME" not in err


def test_interrupt_ends_what_is_shown(tmp_path):
    """The program has ended, and no process reads its long output: a signal ends the command at
    once."""
    for options in ([], ["--no-follow"]):
        proc = start(UTRAIL, "live", "--no-libcall", *options, build(program("many_calls"), PG), env={"TMPDIR": tmp_path})
        first = proc.stdout.readline()  # no more lines are read: the pipe becomes full
        assert first
        wait_until(lambda: viewer_is_blocked(proc.pid))
        status = None
        while status is None:
            send(proc, signal.SIGTERM, False)
            try:
                status = proc.wait(0.2)
            except subprocess.TimeoutExpired:
                pass
        assert status in (0, 128 + signal.SIGTERM), status
        finish(proc, "live")
        assert not glob.glob(f"{tmp_path}/utrail-live-*")


def descendants(pid):
    found = [pid]
    for child in subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split():
        found += descendants(int(child))
    return found


def viewer_is_blocked(pid):
    for each in descendants(pid):
        try:
            with open(f"/proc/{each}/wchan") as f:
                if "pipe_w" in f.read():
                    return True
        except OSError:
            pass
    return False


def one_cpu_in_real_time():
    """Run on one CPU with real-time priority. The running thread is not pre-empted, so a thread
    that polls for another one waits for ever."""
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


@pytest.mark.parametrize("options", [[], ["--proc"], ["--keep-pid"]], ids=" ".join)
def test_nobody_waits_by_looking(workdir, options):
    """A perf event whose tasks have ended is ready at each poll(2). The recorder must not poll such
    events in a loop until the program has ended."""
    try:
        subprocess.run(["true"], preexec_fn=one_cpu_in_real_time, check=True)
    except subprocess.SubprocessError:
        pytest.skip("real-time scheduling is not permitted (sched_setscheduler(2))")
    proc = start(UTRAIL, "record", *options, exe_of("ends"), "said", 1, 0, 0, 0, preexec_fn=one_cpu_in_real_time)
    status, _, err = finish(proc, options)
    assert status == int(open("said").read().split()[0]), err
