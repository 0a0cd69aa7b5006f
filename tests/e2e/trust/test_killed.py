"""SIGKILL at a random moment, with four threads: the committed records are compared with the
recording's files, byte by byte.

src/odd/witness.c has a process that sees the rings as the recorder does. It copies what is
committed and notes the time. It sees a ring only at times, so it reports too little, never too
much. The program counts the calls that have returned.

When the program is killed, nothing is lost. The file begins with all that the witness saw, and has
each call that had returned.

When the recorder is killed, the file has what the witness saw, up to some place. It has all bytes
that the ring's tail counts as taken, and all bytes that were committed longer ago than the
documented time. A recorder without a CPU cannot keep to that time, so the time is added during
which its threads had a CPU or waited for one. The kernel counts both, so no busy machine fails the
test.
"""

import glob
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time

import pytest
from data import EXIT, Recording
from tools import LIMIT_S, TOP, UTRAIL, environment, has_sanitizer, is_alive, run, wait_until

# The writer's FLUSH_INTERVAL_NS, which the overview promises, and the time of waking up.
DOCUMENTED_NS = 100_000_000
SLACK_NS = 20_000_000
PARTS = 4


@pytest.fixture
def quick_dir():
    """A directory in memory, so that the recorder never waits for a disk. busy_ns() does not count
    such waits."""
    top = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    path = tempfile.mkdtemp(prefix="killed-", dir=top)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def exe(workdir):
    run("gcc", "-pg", "-O1", "-pthread", f"-I{TOP}", TOP / "tests/e2e/src/odd/witness.c", "-o", "witness").must()
    return "./witness"


def seed_of_this_run():
    seed = int(os.environ.get("UTRAIL_TEST_SEED", random.SystemRandom().randrange(10**6)))
    print(f"UTRAIL_TEST_SEED={seed}")
    return seed


def begin(exe, top):
    """Start recorder, witness and program. Returns the recorder, and the pids of the witness and of
    the program. The program is about to start its threads."""
    os.mkdir(f"{top}/seen")
    command = [UTRAIL, "record", "--no-libcall", "--no-event", "-b", "1m", "-d", f"{top}/data", exe, f"{top}/seen"]
    proc = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), start_new_session=True, text=True)
    witness, program = map(int, proc.stdout.readline().split())
    return proc, witness, program


def hear(witness, top):
    """The witness' report by tid: the bytes, the times with their numbers of committed bytes, and
    the other numbers."""
    os.kill(witness, signal.SIGTERM)
    wait_until(lambda: not is_alive(witness))
    told = {}
    for path in glob.glob(f"{top}/seen/*.told"):
        tid = int(os.path.basename(path)[: -len(".told")])
        with open(f"{top}/seen/{tid}.seen", "rb") as f:
            seen = f.read()
        looks, numbers = [], {}
        for line in open(path):
            key, *rest = line.split()
            if key == "at":
                looks.append(tuple(map(int, rest)))
            else:
                numbers[key] = int(rest[0])
        told[tid] = (seen, looks, numbers)
    return told


def file_of(top, tid):
    path = f"{top}/data/{tid}.dat"
    if not os.path.exists(path):
        return b""
    with open(path, "rb") as f:
        return f.read()


def busy_ns(pid):
    """The time during which the threads of @pid had a CPU or waited for one."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with open(path) as f:
            total += sum(map(int, f.read().split()[:2]))
    return total


def clean(top):
    for name in ("data", "seen"):
        shutil.rmtree(f"{top}/{name}", ignore_errors=True)


def kill_program(exe, top, rng):
    proc, witness, program = begin(exe, top)
    time.sleep(rng.choice([0.003, 0.05, 0.3]) * rng.random())
    os.kill(program, signal.SIGKILL)
    _, err = proc.communicate(timeout=LIMIT_S)
    assert proc.returncode == 128 + signal.SIGKILL and "lost" not in err, err
    recording = Recording(f"{top}/data")
    assert recording.lost == 0
    calls = 0
    for tid, (seen, _, numbers) in hear(witness, top).items():
        data = file_of(top, tid)
        assert data[: len(seen)] == seen, f"{len(seen)} bytes were committed by {tid}, {len(data)} are there"
        returned = sum(r.kind == EXIT and r.name == "leaf" for r in recording.tasks[tid].records)
        assert returned >= numbers.get("done", 0)
        calls += returned
    return calls


def kill_recorder(exe, top, rng):
    proc, witness, program = begin(exe, top)
    time.sleep(rng.choice([0.05, 0.3, 0.7]) * rng.random())
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    allowed = DOCUMENTED_NS + SLACK_NS + busy_ns(proc.pid)
    os.kill(proc.pid, signal.SIGKILL)
    os.waitid(os.P_PID, proc.pid, os.WEXITED | os.WNOWAIT)
    os.kill(program, signal.SIGKILL)
    proc.communicate(timeout=LIMIT_S)
    checked = 0
    for tid, (seen, looks, numbers) in hear(witness, top).items():
        data = file_of(top, tid)
        both = min(len(data), len(seen))
        assert data[:both] == seen[:both], f"{tid}: other bytes than were committed"
        assert len(data) >= numbers.get("tail", 0), f"{tid}: {len(data)} bytes, {numbers['tail']} were taken"
        due = max((size for at, size in looks if at <= now - allowed), default=0)
        assert len(data) >= due, f"{tid}: {len(data)} bytes, {due} had been committed {allowed / 1e6:.0f} ms before"
        checked += due > 0
    return checked


def rounds():
    return 10 if has_sanitizer() else 200 // PARTS


@pytest.mark.parametrize("part", range(PARTS))
def test_program_is_killed(exe, quick_dir, note, part):
    seed = seed_of_this_run()
    rng = random.Random(seed)
    calls = 0
    for i in range(rounds()):
        calls += kill_program(exe, quick_dir, rng)
        clean(quick_dir)
    assert calls > 0
    note(f"program killed {rounds()} times, {calls} calls had returned")


@pytest.mark.parametrize("part", range(PARTS))
def test_recorder_is_killed(exe, quick_dir, note, part):
    if not os.path.exists("/proc/self/schedstat"):
        pytest.skip("this kernel does not count how long a thread waits for a CPU (CONFIG_SCHED_INFO)")
    seed = seed_of_this_run()
    rng = random.Random(seed)
    checked = 0
    for i in range(rounds()):
        checked += kill_recorder(exe, quick_dir, rng)
        clean(quick_dir)
    note(f"recorder killed {rounds()} times; {checked} files had something that was older than the documented time")
