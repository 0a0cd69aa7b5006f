"""record -e: no return address is touched; when calls end is guessed from the next ones."""

import pytest

import trees
from data import ENTRY, EXIT, Recording
from programs import Variant, build, chosen, program, programs
from tools import peer, run, utrail

VARIANTS = chosen([Variant("gcc", method, opt) for method in ("pg", "fentry", "cyg") for opt in ("O0", "O2")])
# They never end by themselves, or late, or what they print depends on the time.
ENDLESS = {"endless", "sleeper", "storm", "sigcount", "notes_time"}


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("prog", [p for p in programs() if p.name not in ENDLESS], ids=lambda p: p.name)
def test_program_runs_as_untraced(prog, variant):
    if not prog.fits(variant):
        pytest.skip("not built in this way")
    exe = build(prog, variant)
    bare, traced = run(exe), utrail("record", "-e", exe)
    assert (traced.status, traced.out) == (bare.status, bare.out), traced.err
    recording = Recording("uftrace.data")
    for task in recording.tasks.values():
        if task.ppid or len(recording.sessions) > 1:
            continue  # which begin within their parents' calls, or anew
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
