"""record -e: no return address is touched; the end of a call is guessed from the calls after it."""

import pytest

import trees
from data import ENTRY, EXIT, Recording
from programs import MATRIX, Variant, build, chosen, in_turn, program, programs
from tools import peer, run, utrail

VARIANTS = chosen([Variant("gcc", method, opt) for method in ("pg", "fentry", "cyg") for opt in ("O0", "O2")])
# Programs that do not end by themselves, or end late, or whose output depends on the time.
ENDLESS = {"endless", "sleeper", "storm", "sigcount", "notes_time"}


# Programs with thousands of threads or coroutines run with -O2 only.
LONG = {"threads_4096", "fibers_many"}
BUILDS = [
    (p, opt) for p in programs() for opt in ("O0", "O2") if p.name not in ENDLESS and (opt == "O2" or p.name not in LONG or MATRIX == "full")
]
CASES = [
    pytest.param(p, v, id=f"{p.name}-{v}") for (p, opt), v in in_turn(BUILDS, VARIANTS, lambda thing, v: thing[0].fits(v) and v.opt == thing[1])
]


@pytest.mark.parametrize("prog, variant", CASES)
def test_program_runs_as_untraced(prog, variant):
    exe = build(prog, variant)
    bare, traced = run(exe), utrail("record", "-e", exe)
    assert (traced.status, traced.out) == (bare.status, bare.out), traced.err
    recording = Recording("uftrace.data")
    for task in recording.tasks.values():
        if task.ppid or len(recording.sessions) > 1:
            continue  # a child begins inside its parent's calls; an executed program begins anew
        depth = 0
        for r in task.records:
            if r.kind == ENTRY:
                assert r.depth == min(depth, 1023), "calls begin within those that are open"
                depth += 1
            elif r.kind == EXIT and depth:
                depth -= 1


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("name", ["plain", "threads", "recursion"])
def test_tree(name, variant):
    prog = program(name)
    utrail("record", "-e", "--no-libcall", build(prog, variant))
    recording = Recording("uftrace.data")
    (main,) = [t for t in recording.tasks.values() if t.tid == t.pid]
    assert trees.of_records(main) == trees.expand(prog.one("tree", variant))
    assert recording.features & 1 << 11
    peer("replay").must()
