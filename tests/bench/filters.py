#!/usr/bin/python3
"""The cost of a call with filters, compared with the peer in the same run; and the cost of many
patterns and of many symbols.

usage: filters.py [CALLS [RUNS]]
"""

import subprocess
import sys
from pathlib import Path

from benchlib import METHODS, PEER, UTRAIL, Cost, clean, compile, heading, in_turns, loop_ns, need_peer, row, scratch

# The options, and the target relative to the peer.
DROPPED = [
    (["-F", "other"], 0.5),
    (["-N", "leaf"], 0.5),
    (["-N", "."], 0.5),
    (["-D", "1", "-F", "other"], 0.5),
    (["-C", "other"], 0.5),
    (["-T", "leaf@time=1s"], 0.5),
]
KEPT = [["-F", "leaf"], ["-F", "."], ["-T", "leaf@depth=3"], ["-F", "leaf@if:arg1!=12345"]]

# Functions that call themselves or each other, and the filter that lets them in. The target is
# relative to calls without a filter.
LET_IN = {"recursion": ["-F", "recurse"], "tree": ["-F", "^tree"]}
LET_IN_TARGET = 1.1

NR_PATTERNS = 1000
NR_SYMBOLS = 100000
START_TARGET_S = 1.0


def record(exe, calls, options, tool=UTRAIL):
    quiet = ["--no-libcall", "--no-event"]
    return loop_ns([tool, "record", *quiet, *options, "-d", "data", exe, calls])


def cost_of_calls(calls, runs):
    bare = compile("filtered.c", "bare")
    for method, flags in METHODS.items():
        exe = compile("filtered.c", f"filtered{method}", flags)
        heading(f"{method}: ns per call, min of {runs}")
        for options, target in DROPPED + [(options, None) for options in KEPT]:
            jobs = {"bare": loop_ns([bare, calls]), "ours": record(exe, calls, options)}
            # Debian's uftrace knows no conditions in filters.
            if "if:" not in options[-1]:
                jobs["peer"] = record(exe, calls, options, PEER)
            best = in_turns(runs, jobs)
            ours = best["ours"] - best["bare"]
            peer = best["peer"] - best["bare"] if "peer" in best else float("nan")
            row("  " + " ".join(options), ours, peer, "ns", target)


def cost_of_letting_in(calls, runs):
    bare = compile("shapes.c", "shapes")
    # -P patches the functions of the program without hooks.
    programs = {method: (compile("shapes.c", f"shapes{method}", flags), []) for method, flags in METHODS.items()}
    programs["-P ."] = (bare, ["-P", "."])
    quiet = ["--no-libcall", "--no-event"]
    for shape, options in LET_IN.items():
        print(f"\n{f'{shape}: ns per call, min of {runs}':34} {' '.join(options):>10} {'no filter':>10}")
        for method, (exe, patch) in programs.items():
            jobs = {"bare": loop_ns([bare, shape, calls])}
            for name, given in (("in", options), ("all", [])):
                jobs[name] = loop_ns([UTRAIL, "record", *quiet, *patch, *given, "-d", "data", exe, shape, calls])
            best = in_turns(runs, jobs)
            row(f"  {method}", best["in"] - best["bare"], best["all"] - best["bare"], "ns", LET_IN_TARGET)


def patterns(kind):
    """Exact names, or regular expressions; one of them matches a function of the program."""
    names = [f"some_function_{i}" if kind == "names" else f"^some.*function_{i}$" for i in range(NR_PATTERNS - 1)]
    return ["-F", ";".join([*names, "leaf"])]


def cost_of_patterns(calls, runs):
    bare = compile("filtered.c", "bare")
    exe = compile("filtered.c", "filtered", METHODS["-pg"])
    best = in_turns(
        runs,
        {
            "bare": loop_ns([bare, calls]),
            "one": record(exe, calls, ["-F", "leaf"]),
            "names": record(exe, calls, patterns("names")),
            "expressions": record(exe, calls, patterns("expressions")),
        },
    )
    print(f"\n{f'{NR_PATTERNS} patterns, ns per call':34} {'ours':>10} {'one':>10}")
    for kind in ("names", "expressions"):
        row(f"  {kind}", best[kind] - best["bare"], best["one"] - best["bare"], "ns", 1.1)


def make_large_program(path):
    """A program with many functions, which calls main() alone. The assembler makes it, which is
    quick."""
    functions = "".join(
        f"\t.globl function_{i}\n\t.type function_{i}, @function\nfunction_{i}:\n\tcall mcount\n\tret\n"
        f"\t.size function_{i}, . - function_{i}\n"
        for i in range(NR_SYMBOLS)
    )
    Path("many.s").write_text(f"\t.text\n{functions}\t.section .note.GNU-stack,\"\",@progbits\n")
    Path("main.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["gcc", "-O2", "-pg", "-no-pie", "-o", path, "main.c", "many.s"], check=True)


def start_up(runs):
    make_large_program("large")
    print(f"\n{f'{NR_SYMBOLS} symbols, seconds':34} {'ours':>10} {'peer':>10}")
    for options in (["-F", "main"], ["-F", "^function_9.*9$"], ["-T", ".@depth=3"], ["-F", "function_77;main"]):
        best = in_turns(
            runs,
            {
                "ours": lambda: timed([UTRAIL, "record", *options, "-d", "data", "./large"]),
                "peer": lambda: timed([PEER, "record", *options, "-d", "data", "./large"]),
            },
        )
        row("  " + " ".join(options), best["ours"], best["peer"], "s")
        verdict = "ok" if best["ours"] < START_TARGET_S else "MISSED"
        print(f"{'':34} under {START_TARGET_S:.0f} s: {verdict}")
    many = [f"some_function_{i}" for i in range(NR_PATTERNS - 1)] + ["main"]
    ours = in_turns(runs, {"ours": lambda: timed([UTRAIL, "record", "-F", ";".join(many), "-d", "data", "./large"])})
    verdict = "ok" if ours["ours"] < START_TARGET_S else "MISSED"
    print(f"{f'  and {NR_PATTERNS} names':34} {ours['ours']:10.3f}            s    under {START_TARGET_S:.0f} s: {verdict}")


def timed(command):
    clean("data")
    return Cost(command).elapsed


def main():
    need_peer()
    calls = sys.argv[1] if len(sys.argv) > 1 else "300000"
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    with scratch():
        cost_of_letting_in(calls, runs)
        cost_of_calls(calls, runs)
        cost_of_patterns(calls, runs)
        start_up(max(2, runs // 4))


if __name__ == "__main__":
    main()
