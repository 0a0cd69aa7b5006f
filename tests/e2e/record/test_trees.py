"""Each sample program, built in every way, runs as untraced, and its recorded calls are those that
it declares."""

import re
import subprocess
from collections import Counter
from itertools import product

import pytest

import trees
from data import Recording
from programs import MATRIX, all_variants, build, in_turn, programs
from tools import run, utrail



def case(prog, variant, libcalls):
    reason = prog.one("xfail", variant)
    marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
    return pytest.param(prog, variant, libcalls, id=f"{prog.name}-{variant}-{libcalls}", marks=marks)


def form(variant):
    return variant.opt, variant.pie, variant.extra


def is_built(prog, variant):
    return prog.fits(variant) and prog.one("tree", variant)


PROGRAMS = programs()
WAYS = all_variants()
# Each compiler with each method builds all programs in this form. The other forms take most of the
# compilers' time: each program in each form is built once, by the compilers and methods in turn.
PLAIN = ("O2", True, "")
OTHERS = [f for f in dict.fromkeys(map(form, WAYS)) if f != PLAIN]
IN_PLAIN = [(p, v) for p in PROGRAMS for v in WAYS if is_built(p, v) and form(v) == PLAIN]
IN_OTHERS = [
    (p, v) for (_, p), v in in_turn(product(OTHERS, PROGRAMS), WAYS, lambda thing, v: form(v) == thing[0] and is_built(thing[1], v))
]
# Without library calls, the simpler case, one to three builds of each program are enough.
WITHOUT = IN_PLAIN if MATRIX == "full" else [build for build in IN_PLAIN if WAYS.index(build[1]) % 5 == PROGRAMS.index(build[0]) % 5]
CASES = [case(p, v, "libcalls") for p, v in IN_PLAIN + IN_OTHERS] + [case(p, v, "no-libcall") for p, v in WITHOUT]


def demangler(recording):
    """A function that makes names as --demangle=simple shows them: without parameters and template
    arguments."""
    names = sorted({r.name for task in recording.tasks.values() for r in task.records if r.name})
    out = subprocess.run(
        ["c++filt", "-p"], input="\n".join(names), capture_output=True, text=True, check=True
    ).stdout.splitlines()
    table = {}
    for name, readable in zip(names, out):
        while (shorter := re.sub(r"(?<!operator)<[^<>]*>", "", readable)) != readable:
            readable = shorter
        table[name] = re.sub(r"\.\d+$", "", readable)  # gcc numbers nested functions
    return lambda name: table.get(name, name)


def expectation(prog, variant):
    tasks = Counter([trees.expand(prog.one("tree", variant))])
    for text in prog.all("task", variant):
        tree, count = trees.expand_task(text)
        tasks[tree] += count
    return tasks


def replayed(prog, variant):
    text = utrail("replay", "--no-libcall", "-f", "tid").must().out
    without = prog.one("ignore", variant, "").split()
    return Counter(trees.of_replay(text, without)[0].values())


@pytest.mark.parametrize("prog, variant, libcalls", CASES)
def test_tree(prog, variant, libcalls):
    options = ["--no-libcall"] if libcalls == "no-libcall" else []
    exe = build(prog, variant)
    plain = run(exe)
    plain.must(int(prog.one("status", variant, "0")))

    traced = utrail("record", *options, *prog.one("options", variant, "").split(), exe)
    assert traced.status == plain.status, traced.err
    assert sorted(traced.out.splitlines()) == sorted(plain.out.splitlines())
    if plain.status < 128:
        # gprof's code does not run in traced programs, so its complaint is missing there.
        assert traced.err == re.sub(r"^_mcleanup: .*\n", "", plain.err, flags=re.M)

    recording = Recording("uftrace.data")
    assert recording.lost == 0
    names = demangler(recording)
    without = prog.one("ignore", variant, "").split()
    recorded = trees.of_tasks(recording.tasks.values(), names, without)
    assert recorded == expectation(prog, variant)
    assert replayed(prog, variant) == expectation(prog, variant)
