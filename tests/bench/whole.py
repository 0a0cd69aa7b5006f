#!/usr/bin/python3
"""The whole cost of a recorded call: user and system time of program, recorder and writers, less
the bare program's, for each call. It is compared with the floor (src/counter.c), with Debian's
uftrace and, where UFTRACE= names its program, with a newer uftrace.

usage: [UFTRACE=PROGRAM] whole.py [--only=WORD]... [--calls=N] [--runs=N] [--method=-pg] [--memory]

WORD is a program or a variant as they are printed; without one, all are measured. Recordings go
where TMPDIR is, since the kernel's part of writing files counts, too; with --memory they go to
/dev/shm. Where the machine has counters, `perf stat` counts instructions, cycles and cache misses
of a plain recording.
"""

import argparse
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import real
from benchlib import METHODS, PEER, SOURCES, UTRAIL, Cost, clean, compile, in_turns, loop_ns, need_peer, scratch
from tools import environment

PLAIN = "plain"
RECORD_BYTES = 16
SHAPES = ["leaf", "chain", "tree", "recursion", "pointers", "threads"]

# The limits: multiples of the floor for shapes, and of Debian's uftrace for real programs.
FLOORS = {PLAIN: 1.7, "--compact": 1.4}
REAL_OF_PEER = 0.25

# Options, and True when uftrace has them. {deep} stands for deep(), or in a real program for the
# function that it calls most often.
VARIANTS = {
    PLAIN: ("", True),
    "--compact": ("--compact", False),
    "--flight": ("--flight=1m", False),
    "-F deep": ("-F {deep}", True),
    "-t 1us": ("-t 1us", True),
    "-a": ("-a", True),
}
COUNTERS = ["instructions", "cycles", "cache-misses"]


@dataclass
class Program:
    """A program. @bare and @hooked: the same source without and with hooks; @deep: its most called
    function."""

    bare: list
    hooked: list
    deep: str
    is_real: bool = False


def shape_programs(method, calls):
    bare = compile("shapes.c", "shapes-bare", ["-g"])
    hooked = compile("shapes.c", "shapes", ["-g", *METHODS[method]])
    return {shape: Program([bare, shape, calls], [hooked, shape, calls], "deep") for shape in SHAPES}


def template_program(method, calls):
    """The template program makes about 30,000 calls a round."""
    rounds = max(calls // 30000, 1)
    built = []
    for name, flags in (("templates-bare", []), ("templates", METHODS[method])):
        subprocess.run(["g++", "-O1", "-g", *flags, SOURCES / "templates.cc", "-o", name], check=True)
        built.append([Path(name).resolve(), rounds])
    return Program(*built, deep="mix")


def real_program(name, method):
    program = real.PROGRAMS[name]
    arguments = program.arguments_for(1)
    commands = [[real.build(name, way), *arguments] for way in (None, method)]
    return Program(*commands, deep={"lua": "luaH_getshortstr", "sqlite": "sqlite3VdbeExec"}[name], is_real=True)


def makers(method, calls):
    """Functions that build the wanted programs: a source is fetched at its first use."""
    shapes = {shape: lambda shape=shape: shape_programs(method, calls)[shape] for shape in SHAPES}
    return {
        **shapes,
        "templates": lambda: template_program(method, calls),
        "lua": lambda: real_program("lua", method),
        "sqlite": lambda: real_program("sqlite", method),
    }


def record_command(tool, words, program):
    options = words.format(deep=program.deep).split()
    return [tool, "record", "--no-event", "--no-libcall", *options, "-d", "data", *program.hooked]


def cpu_of(command):
    def job():
        clean("data")
        return Cost(command).cpu

    return job


def recorded_calls(program):
    """The number of recorded calls: a plain recording has two records of 16 bytes for each."""
    clean("data")
    Cost(record_command(UTRAIL, "", program))
    return sum(p.stat().st_size for p in Path("data").glob("[0-9]*.dat")) / RECORD_BYTES / 2


def tools():
    named = {"ours": UTRAIL, "peer": PEER}
    if os.environ.get("UFTRACE"):
        named["newer"] = os.environ["UFTRACE"]
    return named


def verdict(value, limit):
    mark = "" if limit is None else f" <= {limit:.2f}{'' if value <= limit else ' MISSED'}"
    return f"{value:5.2f}{mark}"


def floor_ns(runs=10):
    """The time that src/counter.c prints, in nanoseconds of the clock. The least of many runs is
    one that no other program has slowed down."""
    return min(loop_ns([Path("counter").resolve()])() for _ in range(runs))


def measure(name, program, variants, runs, floor):
    """Print the rows of one program. All jobs run in turns, since they are compared."""
    calls = recorded_calls(program)
    jobs = {"bare": cpu_of(program.bare)}
    for variant in variants:
        words, has_peer = VARIANTS[variant]
        for who, tool in tools().items():
            if who == "ours" or has_peer:
                jobs[who, variant] = cpu_of(record_command(tool, words, program))
    best = in_turns(runs, jobs)
    cost = {job: (best[job] - best["bare"]) * 1e9 / calls for job in jobs}
    print(f"\n{name}: {calls:.0f} calls, bare {best['bare']:.2f} s; ns a call in all; of the floor ({floor:.1f} ns), of uftrace")
    for variant in variants:
        ours = cost["ours", variant]
        limit = None if program.is_real or name == "templates" else FLOORS.get(variant)
        line = f"  {variant:12} {ours:8.2f}   of the floor {verdict(ours / floor, limit):18}"
        for who in list(tools())[1:]:
            if (who, variant) in cost:
                other = cost[who, variant]
                limit = REAL_OF_PEER if program.is_real and variant == PLAIN and who == "peer" else None
                line += f"   {who} {other:8.2f}: {verdict(ours / other, limit)}"
        print(line, flush=True)


def counted(name, program):
    """Print the CPU's counters for a plain recording, where perf may read them."""
    clean("data")
    command = ["perf", "stat", "-x,", "-e", ",".join(COUNTERS), *map(str, record_command(UTRAIL, "", program))]
    done = subprocess.run(command, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    rows = [line.split(",") for line in done.stderr.splitlines()]
    found = {row[2].split(":")[0]: row[0] for row in rows if len(row) > 2 and row[0].isdigit()}
    if not found:
        print("  counters: this machine has none, or perf may not read them")
        return
    print("  counters: " + ", ".join(f"{number} {what}" for what, number in found.items()))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--calls", type=int, default=20_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--method", default="-pg", choices=list(METHODS))
    parser.add_argument("--memory", action="store_true")
    options = parser.parse_args()
    need_peer()
    known = makers(options.method, options.calls)
    wrong = [word for word in options.only if word not in known and word not in VARIANTS]
    if wrong:
        sys.exit(f"whole.py: '{wrong[0]}' is neither a program ({', '.join(known)}) nor a variant ({', '.join(VARIANTS)})")
    names = [name for name in known if name in options.only] or list(known)
    variants = [v for v in VARIANTS if v in options.only] or list(VARIANTS)
    with scratch(in_memory=options.memory):
        compile("counter.c", "counter")
        floor = floor_ns()
        for name in names:
            program = known[name]()
            floor = min(floor, floor_ns())
            measure(name, program, variants, options.runs, floor)
            if shutil.which("perf"):
                counted(name, program)


if __name__ == "__main__":
    main()
