"""Options that take other paths in the probe, on all programs: output and status are the same, and
trees are cut to the options."""

import re
from collections import Counter

import pytest

import trees
from data import ENTRY, EXIT, Recording
from programs import METHODS, Variant, build, chosen, in_turn, programs
from test_trees import demangler, expectation
from tools import run, utrail

VARIANTS = chosen([Variant("gcc", method, "O2") for method in METHODS])
OPTIONS = {"nested": ["-l"], "depth": ["-D", "3", "--no-libcall"], "time": ["-t", "1us"], "args": ["-a"]}

# Programs that end only on request, and those that take long and have tests of their own.
ELSEWHERE = {"endless", "sleeper", "notes_time", "threads_4096"}

def case(prog, variant, name):
    reason = prog.one("xfail", variant) if name != "time" else None
    marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
    return pytest.param(prog, variant, name, id=f"{prog.name}-{variant}-{name}", marks=marks)


THINGS = [(p, name) for p in programs() if p.name not in ELSEWHERE for name in OPTIONS]
CASES = [case(p, v, name) for (p, name), v in in_turn(THINGS, VARIANTS, lambda thing, v: thing[0].fits(v))]


def cut(tree, depth):
    """@tree without calls deeper than @depth."""
    text, level = [], 0
    for token in re.findall(r"[^{}]+\{|\{|\}", tree):
        if token.endswith("{"):
            level += 1
            if level <= depth:
                text.append(token)
        else:
            if level <= depth:
                text.append(token)
            level -= 1
    return "".join(text)


def is_part_of(part, whole):
    """True when @part is @whole without some calls: all its calls and returns are in @whole, in
    that order."""
    rest = iter(re.findall(r"[^{}]+\{|\}", whole))
    return all(any(token == other for other in rest) for token in re.findall(r"[^{}]+\{|\}", part))


def is_plain(tree):
    """True for a task that begins at its outermost call and returns from all its calls. Forked
    children do not."""
    return re.match(r"main\{|worker\{|_GLOBAL|before", tree) and not set("~|") & set(tree) and tree.count("{") == tree.count("}")


@pytest.mark.parametrize("prog, variant, name", CASES)
def test_option(prog, variant, name):
    exe = build(prog, variant)
    plain = run(exe)
    traced = utrail("record", *prog.one("options", variant, "").split(), *OPTIONS[name], exe)
    assert traced.status == plain.status, traced.err
    assert sorted(traced.out.splitlines()) == sorted(plain.out.splitlines())
    recording = Recording("uftrace.data", has_payloads=name == "args")
    if any(task.records for task in recording.tasks.values()):
        utrail("replay").must()
        utrail("report").must()
    if not prog.one("tree", variant):
        return
    names = demangler(recording)
    without = prog.one("ignore", variant, "").split()
    recorded = trees.of_tasks(recording.tasks.values(), names, without)
    expected = expectation(prog, variant)
    if name in ("nested", "args"):
        assert recorded == expected
    elif name.startswith("depth") and all(map(is_plain, expected)) and not without:
        shallow = Counter()
        for tree, count in expected.items():
            shallow[cut(tree, 3)] += count
        assert recorded == shallow
    elif name == "time" and len(expected) == 1 and all(map(is_plain, expected)):
        ((task, times),) = expected.items()
        for tree, count in recorded.items():
            assert is_part_of(tree, task) and count <= times
    if plain.status < 128 and all(map(is_plain, expected)):
        for task in recording.tasks.values():
            # The records of a vfork child begin with the end of a call of its parent. Its exec has
            # no end, so entries and ends are not compared.
            if task.records and task.records[0].kind == EXIT:
                continue
            entries = sum(r.kind == ENTRY for r in task.records)
            assert entries == sum(r.kind == EXIT for r in task.records)
