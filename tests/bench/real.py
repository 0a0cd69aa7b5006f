#!/usr/bin/python3
"""Real programs that make many calls: sqlite's speedtest1 and a Lua script, recorded in several
ways. The numbers are multiples of their untraced time, beside the peer's.

usage: real.py [--only=WORD]... [RUNS]

WORD is a program, a method or a variant as they are printed. "Untraced" is the same source without
hooks. Elapsed time contains the recorder where the machine has no CPU for it. The program's CPU
time does not, so use that on a busy machine. apt-get fetches Debian's sources with a sources list
of its own; where it cannot, the benchmark is skipped, with the reason. Programs are kept in the
build directory.

--overhead needs a moment to see which functions to leave out. A table of its own has the cost after
that moment: a run of some seconds, less one of half a second. It is given as a multiple of the
untraced time of the same program, and of its source without hooks. The second one counts for -pg
and -mfentry, whose hooks are taken out. The hooks of -finstrument-functions stay, and a recorder
cannot save their untraced cost. The last rows compare, for functions that are not left out, the
number of calls with a plain recording's.
"""

import argparse
import csv
import os
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from benchlib import METHODS, PEER, SOURCES, UTRAIL, WORK, clean, need_peer, scratch, skip, unpack_source
from data import symbol_table
from tools import environment

PLAIN = "plain"
TARGET = 0.40  # the part of the peer's time over untraced
BUDGET = "--overhead=20%"
BUDGET_TARGET = 1.25  # time over untraced, after the first half second
BUDGET_CALLS = 5  # the allowed difference in a function's calls, in percent
CALLED_OFTEN = 1000  # a function with fewer calls misses too large a part by a handful
HOOKS_STAY = "-finstrument-functions"
LONGER = 5


@dataclass
class Program:
    """A program that is measured. @package: its Debian source. @prepare: the command to run once
    before compiling. @files: the files to compile. @arguments: words of a run of about half a
    second, in which "{}" stands for the amount of work, @amount. @below: the function that makes
    nearly all calls."""

    package: str
    prepare: str
    files: str
    flags: list
    arguments: list
    amount: int
    below: str
    needs: str = ""

    def arguments_for(self, times):
        return [str(argument).format(times * self.amount) for argument in self.arguments]


PROGRAMS = {
    "sqlite": Program(
        package="sqlite3",
        prepare="mkdir -p made && cd made && ../configure --disable-tcl && make sqlite3.c",
        files="test/speedtest1.c made/sqlite3.c",
        flags=["-Imade", "-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"],
        arguments=["--memdb", "--size", "{}"],
        amount=25,
        below="sqlite3_step",
        needs="tclsh",
    ),
    "lua": Program(
        package="lua5.4",
        prepare="rm -f src/luac.c",
        files="src/*.c",
        flags=["-DLUA_USE_POSIX"],
        arguments=[SOURCES / "work.lua", "{}", "without"],
        amount=40,
        below="luaV_execute",
    ),
}


def variants(program):
    """Returns the options of each variant, and True when the peer has these options, too."""
    return {
        PLAIN: ([], True),
        "--compact": (["--compact"], False),
        BUDGET: ([BUDGET], False),
        "-F main": (["-F", "main"], True),
        f"-F {program.below}": (["-F", program.below], True),
    }


def shell(command, where):
    done = subprocess.run(["sh", "-c", command], cwd=where, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command} (in {where}): status {done.returncode}\n{done.stderr[-2000:]}")


def source_of(name):
    """The source of a program, ready to be compiled."""
    program = PROGRAMS[name]
    place = WORK / name
    if place.is_dir():
        return place
    if program.needs and not shutil.which(program.needs):
        skip(f"{name} cannot be built without {program.needs}")
    unready = WORK / f"{name}.unready"
    shutil.rmtree(unready, ignore_errors=True)
    unpack_source(program.package, unready)
    shell(program.prepare, unready)
    unready.rename(place)
    return place


def build(name, method):
    """The program with the hooks of @method, or without hooks when it is None."""
    place = source_of(name)
    exe = place / f"bench{method or ''}"
    if not exe.exists():
        program = PROGRAMS[name]
        flags = " ".join([*program.flags, *METHODS.get(method, [])])
        shell(f"gcc -O2 {flags} {program.files} -o {exe}.new -lm && mv {exe}.new {exe}", place)
    return exe


@dataclass
class Took:
    """The time of a run. @elapsed: of the whole command; @cpu: of the program with its probe,
    without recorder and writer."""

    elapsed: float
    cpu: float


PARTS = {"time": lambda took: took.elapsed, "the program's CPU time": lambda took: took.cpu}


def run(tool, exe, arguments):
    """Run @exe in a shell, which reports the times. @tool: the command in front of the shell."""
    clean("data")
    command = [*tool, "sh", "-c", '"$@" > /dev/null 2>&1; times', "sh", exe, *arguments]
    begin = time.perf_counter()
    done = subprocess.run([str(c) for c in command], env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True)
    elapsed = time.perf_counter() - begin
    if done.returncode != 0:
        sys.exit(f"{command}: status {done.returncode}\n{done.stderr[-2000:]}")
    parts = [part.rstrip("s").split("m") for part in done.stdout.split()[-2:]]
    return Took(elapsed, sum(60 * float(m) + float(s) for m, s in parts))


def recording(tool, options):
    """The command in front of the program. It records a shell, which makes no traced calls
    itself."""
    return [tool, "record", "--force", "--no-libcall", "--no-event", *options, "-d", "data"]


def calls_of_data():
    """The number of calls of each function in the recording."""
    done = subprocess.run([UTRAIL, "report", "-d", "data", "--no-event", "-f", "call", "--format=csv"], env=environment(), capture_output=True, text=True)
    calls = {}
    for number, function in csv.reader(done.stdout.splitlines()[1:]):
        calls[function] = calls.get(function, 0) + int(number)
    return calls


def left_out_of_data(exe):
    """The functions that the recording has left out. A part of a function that the compiler has
    split off (`.part.0`) has the function's name, as in reports."""
    _, symbols = symbol_table(Path("data", f"{exe.name}.sym").read_text(), exe.name)
    notes = Path("data/left-out.txt")
    lines = [line.split() for line in notes.read_text().splitlines()] if notes.exists() else []
    places = {int(words[3], 16) for words in lines if words[0] == "function"}
    return {name.partition(".")[0] for address, _, _, name in symbols if address in places}


def measure(name, method, words, runs):
    program = PROGRAMS[name]
    bare, exe = build(name, None), build(name, method)
    chosen = {v: o for v, o in variants(program).items() if not words or v in words or v == PLAIN}
    jobs = {"untraced": ([], bare)}
    for variant, (options, has_peer) in chosen.items():
        for who, tool in [("ours", UTRAIL)] + [("peer", PEER)] * has_peer:
            jobs[who, variant] = (recording(tool, options), exe)
    took = {job: [] for job in jobs}
    calls = {}
    for _ in range(runs):
        for job, (tool, what) in jobs.items():
            took[job].append(run(tool, what, program.arguments_for(1)))
            if job[1] == PLAIN and job not in calls:
                calls[job] = sum(calls_of_data().values())
    # A recorder that has lost calls has had less work.
    if calls["peer", PLAIN] < 0.99 * calls["ours", PLAIN]:
        print(f"\n{name}, {method}: not to be compared: of {calls['ours', PLAIN]} calls the peer has recorded {calls['peer', PLAIN]}")
    for what, part in PARTS.items():
        median = {job: statistics.median(map(part, t)) for job, t in took.items()}
        report(f"{name}, {method}: {what}", chosen, {job: median[job] / median["untraced"] for job in jobs})


def verdict(value, target):
    return f"<= {target:.2f} {'ok' if value <= target else 'MISSED'}"


def measure_budget(name, method, runs):
    """Measure the cost under --overhead after the recorder has chosen which functions to leave
    out."""
    program = PROGRAMS[name]
    exe = build(name, method)
    jobs = {"the same program": ([], exe), "its source without hooks": ([], build(name, None)), BUDGET: (recording(UTRAIL, [BUDGET]), exe)}
    took = {job: [] for job in jobs}
    for _ in range(runs):
        for job, (tool, what) in jobs.items():
            long, short = (run(tool, what, program.arguments_for(times)) for times in (LONGER, 1))
            took[job].append(Took(long.elapsed - short.elapsed, long.cpu - short.cpu))
    *others, ours = jobs
    counts = others[0 if method == HOOKS_STAY else 1]
    print(f"\n{name}, {method}: {BUDGET} behind the first half second, times untraced")
    for what, part in PARTS.items():
        median = {job: statistics.median(map(part, took[job])) for job in jobs}
        for other in others:
            ratio = median[ours] / median[other]
            print(f"  {f'{what}, of {other}':50} {ratio:8.2f} {verdict(ratio, BUDGET_TARGET) if other == counts else ''}", flush=True)
    compare_calls(program, exe)


def compare_calls(program, exe):
    """Check that functions that --overhead keeps are recorded as without it."""
    calls = {}
    for options in ([], [BUDGET]):
        run(recording(UTRAIL, options), exe, program.arguments_for(1))
        calls[bool(options)] = calls_of_data()
    out = left_out_of_data(exe)
    off = {f: 100 * abs(calls[True].get(f, 0) / n - 1) for f, n in calls[False].items() if n >= CALLED_OFTEN and f not in out}
    if not off:
        print(f"  no function with {CALLED_OFTEN} calls was not left out: nothing to compare ({len(out)} left out)", flush=True)
        return
    worst = max(off, key=off.get)
    what = f"calls of {len(off)} functions, with {len(out)} left out: off by"
    print(f"  {what:50} {off[worst]:8.2f} {verdict(off[worst], BUDGET_CALLS)} percent ({worst})", flush=True)


def report(title, chosen, ratios):
    print(f"\n{title:42} {'ours':>8} {'peer':>8} times untraced; what is added: of the peer's, of a plain recording's")
    for variant in chosen:
        ours, peer = ratios["ours", variant], ratios.get(("peer", variant))
        of_plain = (ours - 1) / (ratios["ours", PLAIN] - 1)
        of_peer = "-"
        if peer:
            ratio = (ours - 1) / (peer - 1)
            of_peer = f"{ratio:.2f} {verdict(ratio, TARGET)}"
        print(f"  {variant:40} {ours:8.2f} {f'{peer:8.2f}' if peer else '       -'}   {of_peer:20} {of_plain:5.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("runs", nargs="?", type=int, default=3)
    args = parser.parse_args()
    need_peer()
    WORK.mkdir(parents=True, exist_ok=True)
    names = [n for n in PROGRAMS if n in args.only] or list(PROGRAMS)
    methods = [m for m in METHODS if m in args.only] or ["-pg", "-finstrument-functions"]
    words = [w for w in args.only if w not in PROGRAMS and w not in METHODS]
    programs = [(name, method) for name in names for method in methods]
    for name, method in programs:
        build(name, method)
        build(name, None)
    with scratch():
        for name, method in programs:
            measure(name, method, words, args.runs)
            if not words or BUDGET in words:
                measure_budget(name, method, args.runs)


if __name__ == "__main__":
    main()
