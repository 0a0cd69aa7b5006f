#!/usr/bin/python3
"""The cost of one traced call over the untraced program, by the shape of the calls, compared with
the peer and with the floor: the least work of a recording, which is to read the counter twice and
write two records (src/counter.c).

usage: calls.py [--only=WORD]... [CALLS [RUNS]]

WORD is a shape, a method or a variant as they are printed; without one, all are measured. The
recorder's writer has the other CPU. On a busy machine: chrt -f 50 calls.py
"""

import argparse

from benchlib import METHODS, PEER, UTRAIL, compile, in_turns, loop_ns, need_peer, scratch

PLAIN = ""
# The limit of each shape, as a multiple of the floor.
FLOORS = {"leaf": 1.25, "chain": 1.35, "tree": 1.35}
SHAPES = ["leaf", "chain", "tree", "recursion", "plt", "pointers", "threads"]

# Options, and the largest allowed part of the peer's cost. deep() is the innermost function of each
# shape, main() is around all of them, other() is called once.
VARIANTS = {
    PLAIN: 0.40,
    "--flight=1m": None,  # no writer works meanwhile; the peer has no such option
    "-t 1us": 0.40,
    "-F main": 0.40,
    "-F deep": 0.40,
    "-N other": 0.40,
    "-F other": 0.25,
    "-a": 0.40,
}
# The limit, as a multiple of a plain recording's call: these filters leave the calls as they are.
BESIDE = {"-F main": 1.03, "-N other": 1.03}


def programs(method):
    """The program of each shape. One program has all shapes but plt, which calls a library."""
    flags = ["-g", *METHODS[method]]
    exe = compile("shapes.c", f"shapes{method}", flags)
    library = ["-DLIBRARY", "-L.", "-Wl,--no-as-needed,-rpath,.", "-ldeep"]
    plt = compile("shapes.c", f"plt{method}", [*flags, *library])
    return {shape: plt if shape == "plt" else exe for shape in SHAPES}


def recorded(tool, shape, variant, program, calls):
    quiet = ["--no-event"] if shape == "plt" else ["--no-event", "--no-libcall"]
    return loop_ns([tool, "record", *quiet, *variant.split(), "-d", "data", program, shape, calls])


def verdict(value, limit):
    mark = "" if limit is None else f" <= {limit:.2f}{'' if value <= limit else ' MISSED'}"
    return f"{value:5.2f}{mark}"


def measure(shape, method, variants, program, bare, counter, calls, runs):
    """Print the rows of one shape and method. All jobs run in turns, since they are compared."""
    jobs = {"bare": loop_ns([bare, shape, calls]), "floor": loop_ns([counter])}
    for variant in variants:
        jobs["ours", variant] = recorded(UTRAIL, shape, variant, program, calls)
        if VARIANTS[variant]:
            jobs["peer", variant] = recorded(PEER, shape, variant, program, calls)
    best = in_turns(runs, jobs)
    floor = best["floor"]
    cost = {job: best[job] - best["bare"] for job in best}
    print(f"\n{f'{shape}, {method}':34} {'ours':>8} {'peer':>8} ns;  of the peer, of the floor ({floor:.1f} ns), of a plain call")
    for variant in variants:
        ours, peer = cost["ours", variant], cost.get(("peer", variant))
        of_peer = verdict(ours / peer, VARIANTS[variant]) if peer else "    -"
        limit = FLOORS.get(shape) if variant in (PLAIN, "--flight=1m") else None
        of_plain = verdict(ours / cost["ours", PLAIN], BESIDE.get(variant)) if PLAIN in variants else "    -"
        peer_ns = f"{peer:8.2f}" if peer else f"{'-':>8}"
        print(f"  {variant or 'plain':32} {ours:8.2f} {peer_ns}     {of_peer:22} {verdict(ours / floor, limit):22} {of_plain}", flush=True)


def chosen(words, names):
    return [name for name in names if name in words] or list(names)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("calls", nargs="?", default="300000")
    parser.add_argument("runs", nargs="?", type=int, default=8)
    args = parser.parse_args()
    words = [PLAIN if word == "plain" else word for word in args.only]
    need_peer()
    with scratch():
        counter = compile("counter.c", "counter")
        compile("deep.c", "libdeep.so", ["-shared", "-fPIC"])
        bare = compile("shapes.c", "bare")
        for method in chosen(words, METHODS):
            program = programs(method)
            for shape in chosen(words, SHAPES):
                measure(shape, method, chosen(words, VARIANTS), program[shape], bare, counter, args.calls, args.runs)


if __name__ == "__main__":
    main()
