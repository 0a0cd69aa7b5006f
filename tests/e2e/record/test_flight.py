"""Long runs: the flight recorder, limits of size, and full buffers."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from data import ENTRY, EXIT, LOST, Recording
from programs import METHODS, Variant, build, program
from tools import LIMIT_S, UTRAIL, environment, peer, run, utrail, wait_until

VARIANTS = [Variant("gcc", method, "O2") for method in METHODS]
each_method = pytest.mark.parametrize("variant", VARIANTS, ids=str)
PG = VARIANTS[0]
CALLS = 100001  # the calls of many_calls: main and its leaves


def count(recording, kind):
    return sum(r.kind == kind for task in recording.tasks.values() for r in task.records)


def data_bytes(pattern="[0-9]*.dat"):
    return sum(p.stat().st_size for p in Path("uftrace.data").glob(pattern))


@pytest.fixture
def start():
    running = []

    def begin(*args):
        proc = subprocess.Popen(
            [UTRAIL, "record", "--no-libcall", *args],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
            text=True,
        )
        running.append((proc, int(proc.stdout.readline())))
        return running[-1]

    yield begin
    for proc, pid in running:
        if proc.poll() is None:
            os.kill(pid, signal.SIGKILL)
        proc.communicate()


@each_method
def test_flight_keeps_the_newest(variant):
    exe = build(program("many_calls"), variant)
    assert utrail("record", "--no-libcall", "--flight=128k", exe).must().out == run(exe).out
    recording = Recording("uftrace.data")
    (task,) = recording.tasks.values()
    first, last = task.records[0], task.records[-1]
    assert first.kind == LOST
    assert (last.kind, last.name, last.depth) == (EXIT, "main", 0)
    # Each record is either there or counted as lost.
    assert len(task.records) - 1 + recording.lost == 2 * CALLS
    assert 100 << 10 < data_bytes() <= 128 << 10
    times = [r.time for r in task.records[1:]]
    assert times == sorted(times)
    shown = utrail("replay", "-f", "none").must().out.splitlines()
    assert f"/* LOST {recording.lost} records!! */" in shown[0]
    assert shown[-1] == "} /* main */"


def test_flight_of_a_short_run_is_complete():
    exe = build(program("plain"), PG)
    utrail("record", "--no-libcall", "-d", "plain.data", exe).must()
    utrail("record", "--no-libcall", "--flight=1m", "-d", "flight.data", exe).must()
    trees = [utrail("replay", "--no-event", "-f", "none", "-d", d).must().out for d in ("plain.data", "flight.data")]
    assert trees[0] == trees[1]


def test_flight_of_a_killed_program(start):
    proc, pid = start("--flight=256k", build(program("endless"), PG))
    for _ in range(3):
        proc.stdout.readline()
    assert data_bytes() == 0, "nothing is written while it runs"
    os.kill(pid, signal.SIGKILL)
    proc.communicate(timeout=LIMIT_S)
    recording = Recording("uftrace.data")
    assert recording.lost > 0 and 200 << 10 < data_bytes() <= 256 << 10
    assert "round_();" not in utrail("replay", "-f", "none").must().out


@pytest.mark.parametrize("by", ["command", "signal"])
def test_snapshot(start, by):
    """The last calls are saved several times while the program runs."""
    proc, pid = start("--flight=256k", build(program("endless"), PG))
    newest = 0
    for _ in range(3):
        proc.stdout.readline()
        (data,) = [Path(f"uftrace.data/{pid}.dat")]
        before = data.stat().st_ino if data.exists() else 0
        if by == "command":
            assert utrail("snapshot").must().out == "saved what 1 tasks did last into 'uftrace.data'\n"
        else:
            os.kill(proc.pid, signal.SIGUSR1)
            wait_until(lambda: data.exists() and data.stat().st_ino != before)
        recording = Recording("uftrace.data")
        (task,) = recording.tasks.values()
        assert recording.lost > 0 and len(task.records) > 1000
        times = [r.time for r in task.records[1:]]
        assert times == sorted(times) and times[-1] > newest
        newest = times[-1]
        depths = [r.depth for r in task.records[1:]]
        assert all(abs(a - b) <= 1 for a, b in zip(depths, depths[1:])), "no hole between segments"
        utrail("report").must()
    os.kill(pid, signal.SIGTERM)
    out, _ = proc.communicate(timeout=LIMIT_S)
    assert out.endswith("ended by itself\n") and proc.returncode == 0
    assert Recording("uftrace.data").tasks[pid].records[-1].name == "main"


def test_snapshot_errors(start):
    missing = utrail("snapshot", "-d", "nowhere")
    assert missing.status == 1
    assert missing.err == "utrail: cannot open 'nowhere': No such file or directory\n"
    proc, pid = start(build(program("endless"), PG))
    plain = utrail("snapshot")
    assert plain.status == 1 and "recorded without --flight" in plain.err
    os.kill(pid, signal.SIGTERM)
    proc.communicate(timeout=LIMIT_S)
    ended = utrail("snapshot")
    assert ended.status == 1 and "no utrail is recording into it" in ended.err


def test_flight_of_many_tasks_has_a_limit():
    exe = build(program("threads_long"), PG)
    utrail("record", "--no-libcall", "--flight=128k", "--max-size=256k", exe).must()
    recording = Recording("uftrace.data")
    assert data_bytes("*.dat") <= 256 << 10
    # Whole tasks are dropped, oldest first.
    assert 20 < len(recording.tasks) < 60
    lines = [re.match(r"TASK timestamp=(\S+) tid=(\d+)", line) for line in recording.task_lines]
    everybody = [int(m[2]) for m in sorted(filter(None, lines), key=lambda m: float(m[1]))]
    assert set(recording.tasks) <= set(everybody)
    assert all(len(t.records) in (2, 402) and recording.lost == 0 for t in recording.tasks.values())
    assert not set(everybody[1:150]) & set(recording.tasks), "the oldest are gone"
    assert len(utrail("replay", "-f", "none").must().out.splitlines()) > 20 * 202


@pytest.mark.needs_peer
def test_flight_forgets_threads_that_have_ended():
    """A program may run for weeks: neither task.txt nor the task list of `info` keeps threads that
    have ended."""
    exe = build(program("threads_long"), PG)
    utrail("record", "--no-libcall", "--no-event", "--flight=128k", "--max-size=256k", exe, "6000", limit=120).must()
    recording = Recording("uftrace.data")
    assert 20 < len(recording.tasks) < 60
    lines = recording.task_lines
    assert len(lines) < 2500 and lines[0].startswith("SESS ")
    tids = {int(m[1]) for m in re.finditer(r"^TASK .* tid=(\d+)", "\n".join(lines), flags=re.M)}
    assert set(recording.tasks) <= tids
    listed = re.search(r"^# number of tasks +: (\d+)$", utrail("info").must().out, flags=re.M)
    assert int(listed[1]) < 2500
    assert "worker() {" in utrail("replay").must().out
    assert peer("report", "-d", "uftrace.data").must().out == utrail("report").must().out


def test_max_size_ends_the_recording():
    exe = build(program("many_calls"), PG)
    result = utrail("record", "--no-libcall", "--max-size=256k", exe).must()
    assert result.out == run(exe).out
    assert "reached its --max-size" in result.err
    assert 128 << 10 < data_bytes("*.dat") <= 256 << 10
    recording = Recording("uftrace.data")
    assert 0 < count(recording, ENTRY) < CALLS
    assert "main() {" in utrail("replay").must().out


def test_max_size_must_hold_one_task():
    result = utrail("record", "--flight=1m", "--max-size=512k", "true")
    assert result.status == 2
    assert result.err == "utrail: option '--max-size' must not be less than '--flight'\n"


def test_drop_when_full(start):
    """A full buffer does not stop the program; dropped records are counted."""
    exe = build(program("many_calls"), PG)
    for _ in range(5):
        result = utrail("record", "--no-libcall", "--when-full=drop", "-b", "4k", exe).must()
        assert result.out == run(exe).out
        recording = Recording("uftrace.data")
        assert count(recording, ENTRY) + count(recording, EXIT) + recording.lost == 2 * CALLS
        if recording.lost:
            assert f"{recording.lost} records were lost" in result.err
