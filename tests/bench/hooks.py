#!/usr/bin/python3
"""The cost of a call by the kind of its patched hook, compared with the peer. A call whose hook was
taken out while the program ran is compared with one that never had a hook. Either a user takes the
hook out, or the recorder does (--overhead).

usage: hooks.py [RUNS]
"""

import shutil
import subprocess
import sys
import time

from benchlib import PEER, SOURCES, UTRAIL, Cost, clean, heading, in_turns, loop_ns, need_peer, row, scratch
from tools import environment

KINDS = {
    "patchable": ["gcc", "-fpatchable-function-entry=5"],
    "XRay": ["clang", "-fxray-instrument", "-fxray-instruction-threshold=1"],
    "unprepared": ["gcc"],
}
TARGET = 0.45
SLICES, CALLS = 20, 20000
QUIET = ["--no-event", "--no-libcall", "-d", "data"]


def build(kind):
    compiler, *flags = KINDS[kind]
    if not shutil.which(compiler):
        return None
    subprocess.run([compiler, "-O2", *flags, SOURCES / "hooks.c", "-o", f"./hooks-{kind}"], check=True)
    return f"./hooks-{kind}"


def recorded(tool, program):
    return loop_ns([tool, "record", *QUIET, "-P", "^work$", program, SLICES, CALLS])


def all_are_there(tool, program):
    """True when the tool records all calls: missing ones would cost nothing."""
    subprocess.run([tool, "record", *QUIET, "-P", "^work$", program, "2", "1000"], check=True, stdout=subprocess.DEVNULL, env=environment())
    dump = subprocess.run([tool, "report", "-d", "data", "-f", "call"], check=True, capture_output=True, text=True, env=environment()).stdout
    clean("data")
    return any(line.split() == ["2000", "work"] for line in dump.splitlines())


def against_the_peer(kind, program, runs):
    jobs = {"bare": loop_ns([program, SLICES, CALLS]), "ours": recorded(UTRAIL, program)}
    if not all_are_there(UTRAIL, program):
        sys.exit(f"{kind}: its calls are not recorded")
    has_peer = all_are_there(PEER, program)
    if has_peer:
        jobs["peer"] = recorded(PEER, program)
    best = in_turns(runs, jobs)
    ours = best["ours"] - best["bare"]
    if has_peer:
        row(f"a call, {kind}", ours, best["peer"] - best["bare"], "ns", TARGET)
    else:
        print(f"a call, {kind:26} {ours:10.3f}          - ns   the peer does not record it")


def unpatched(program):
    """A job that takes the hook of work() out early, within the first half of the slices, which is
    not measured."""

    def job():
        recorder = subprocess.Popen(
            [UTRAIL, "record", "-g", *QUIET, "-P", "work;other", program, "120", "5000", "10000"],
            stdout=subprocess.PIPE, text=True, env=environment(),
        )
        time.sleep(0.2)
        subprocess.run([UTRAIL, "control", "data", "unpatch", "work"], check=True, stdout=subprocess.DEVNULL, env=environment())
        out = recorder.communicate()[0]
        clean("data")
        return float(out.split()[-1])

    return job


BUDGET = ["--overhead=5%", "-P", "work;other"]


def left_out(kind, program, runs):
    """The recorder takes out the hot function by itself, within the first half of the slices."""
    slices = ["300", "100000", "1000"]
    jobs = {
        "out": loop_ns([UTRAIL, "record", *QUIET, *BUDGET, program, *slices]),
        "never": loop_ns([UTRAIL, "record", *QUIET, "-P", "other", program, *slices]),
    }
    best = in_turns(runs, jobs)
    row(f"a call, {kind}", best["out"], best["never"], "ns", 1.05)


def within_the_limit(kind, program, runs):
    """CPU time of the program and the recorder. A short run is subtracted from a long one, so that
    the first moments do not count."""
    jobs = {}
    for name, command in {"traced": [UTRAIL, "record", *QUIET, *BUDGET, program], "bare": [program]}.items():
        for slices in (4000, 16000):

            def job(command=command, slices=slices):
                cpu = Cost([*command, slices, 100000]).cpu
                clean("data")
                return cpu

            jobs[name, slices] = job
    best = in_turns(runs, jobs)
    traced, bare = (best[name, 16000] - best[name, 4000] for name in ("traced", "bare"))
    row(f"CPU time, {kind}", traced, bare, "s", 1.05)


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    need_peer()
    with scratch():
        programs = {kind: program for kind in KINDS if (program := build(kind))}
        heading("cost over the untraced program")
        for kind, program in programs.items():
            against_the_peer(kind, program, runs)
        print(f"\n{'hooks that are taken out':34} {'out':>10} {'never':>10}")
        for kind, program in programs.items():
            never = [UTRAIL, "record", "-g", *QUIET, "-P", "other", program, "120", "5000", "10000"]
            best = in_turns(max(runs // 4, 1), {"out": unpatched(program), "never": loop_ns(never)})
            row(f"a call, {kind}", best["out"], best["never"], "ns", 1.05)
        print(f"\n{'taken out by --overhead=5%':34} {'out':>10} {'never':>10}")
        for kind, program in programs.items():
            left_out(kind, program, max(runs // 4, 1))
        print(f"\n{'the program under --overhead=5%':34} {'traced':>10} {'bare':>10}")
        for kind, program in programs.items():
            within_the_limit(kind, program, max(runs // 2, 1))


if __name__ == "__main__":
    main()
