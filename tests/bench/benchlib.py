"""Shared by the benchmarks: building, measuring in turns, and tables of ratios with the target
beside them."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / room) for room in ("lib", "real")]

import sources  # noqa: E402  (the path is set above)
from tools import BUILD, PEER, UTRAIL, environment  # noqa: E402

SOURCES = Path(__file__).resolve().parent / "src"

METHODS = {
    "-pg": ["-pg"],
    "-mfentry": ["-pg", "-mfentry"],
    "-finstrument-functions": ["-finstrument-functions"],
}

SKIP = 77  # meson's exit status for a skipped test

# The folder for sources of other projects.
WORK = Path(os.environ.get("UTRAIL_REAL_DIR", BUILD / "real")) / "bench"


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIP)


def need_peer():
    if not PEER:
        skip("Debian's uftrace is not installed (apt-get install uftrace)")


def unpack_source(package, place):
    """Unpack the source of Debian's @package into @place, which must not exist."""
    try:
        archive = sources.fetch(package, WORK / "sources")
    except sources.Unavailable as reason:
        skip(reason)
    sources.unpack(archive, place)


@contextmanager
def scratch(in_memory=True):
    """A working directory in memory, so that the disk takes no part. When memory is short, or
    @in_memory is false, it is where TMPDIR is."""
    shm = Path("/dev/shm")
    where = shm if in_memory and shm.is_dir() and shutil.disk_usage(shm).free > 4 << 30 else None
    with tempfile.TemporaryDirectory(prefix="bench-", dir=where) as name:
        before = os.getcwd()
        os.chdir(name)
        try:
            yield Path(name)
        finally:
            os.chdir(before)


def compile(source, output, flags=(), libraries=()):
    subprocess.run(
        ["gcc", "-O2", *flags, "-pthread", "-o", output, SOURCES / source, *libraries], check=True
    )
    return Path(output).resolve()


class Cost:
    """The time and memory that a command takes."""

    def __init__(self, command, **kw):
        begin = time.perf_counter()
        proc = subprocess.Popen(
            [str(c) for c in command],
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=kw.get("stdout", subprocess.DEVNULL),
            text=True,
        )
        self.out = proc.stdout.read() if proc.stdout else ""
        _, status, usage = os.wait4(proc.pid, 0)
        self.elapsed = time.perf_counter() - begin
        self.cpu = usage.ru_utime + usage.ru_stime
        self.memory_kb = usage.ru_maxrss
        proc.returncode = os.waitstatus_to_exitcode(status)
        if proc.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}: status {proc.returncode}")


def loop_ns(command):
    """A job for in_turns(): runs the loop program, which prints the time of a round at its end."""

    def job():
        out = Cost(command, stdout=subprocess.PIPE).out
        clean("data")
        return float(out.split()[-1])

    return job


def in_turns(runs, jobs):
    """Run each job @runs times, in turns: a disturbance of the machine hits all of them. Returns
    the smallest number of each. @jobs: functions that return a number, by name."""
    best = {}
    for _ in range(runs):
        for name, job in jobs.items():
            value = job()
            best[name] = min(value, best.get(name, value))
    return best


def row(what, ours, peer, unit, target=None, goal=""):
    """Print a line with both numbers and their ratio, which counts."""
    ratio = ours / peer if peer else float("nan")
    verdict = "" if target is None else f"  target {target:.2f}{goal} {'ok' if ratio <= target else 'MISSED'}"
    print(f"{what:34} {ours:10.3f} {peer:10.3f} {unit:3}  ratio {ratio:5.3f}{verdict}", flush=True)
    return ratio


def factor(what, ours, peer, unit, target=None):
    """Like row(), with a target that is named the other way round: N times less than the peer."""
    times = peer / ours if ours else float("nan")
    verdict = "" if target is None else f"  target {target:.0f}x {'ok' if times >= target else 'MISSED'}"
    print(f"{what:34} {ours:10.3f} {peer:10.3f} {unit:3}  {times:5.1f}x less{verdict}", flush=True)
    return times


def heading(text):
    print(f"\n{text:34} {'ours':>10} {'peer':>10}")


def clean(*paths):
    for path in paths:
        shutil.rmtree(path, ignore_errors=True)
        shutil.rmtree(f"{path}.old", ignore_errors=True)
