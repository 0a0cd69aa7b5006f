"""A crash is a result: the recording has the calls that were open, even those that a filter held
back, and the recorder can print them."""

import re

import pytest

from programs import METHODS, Variant, build, chosen, in_turn, program, programs
from tools import run, utrail

VARIANTS = chosen([Variant(compiler, method, "O0") for compiler in ("gcc", "clang") for method in METHODS])
each = pytest.mark.parametrize("variant", VARIANTS, ids=str)
CRASHES = {"end_segv": (11, "Segmentation fault"), "end_abort": (6, "Aborted")}


@each
@pytest.mark.parametrize("name", CRASHES)
def test_report(name, variant):
    exe = build(program(name), variant)
    number, text = CRASHES[name]
    bare, traced = run(exe), utrail("record", "--crash-report", exe)
    assert (traced.status, traced.out) == (bare.status, bare.out) and bare.status == 128 + number
    report = re.search(rf"WARN: task \d+ was ended by signal {number}: {text}(.*?); it was in\n(( +#.*\n)+)", traced.err)
    assert report, traced.err
    assert report[1] == (" at address 0x8" if number == 11 else "")
    names = re.findall(r"#\d+ +(\w+), for [0-9.]+[num]?s", report[2])
    assert [n for n in names if n != "abort"] == ["end", "main"]


@each
@pytest.mark.parametrize("options", [["-t", "1s"], ["-T", "main@time=1s"], ["-C", "before"]], ids=" ".join)
def test_what_was_held_back_is_there(variant, options):
    exe = build(program("end_segv"), variant)
    assert utrail("record", "--no-libcall", *options, exe).status == 139
    shown = utrail("replay", "-f", "none").must().out
    for name in ("main", "end") if options[0] != "-C" else ():
        assert f"{name}() {{" in shown and re.search(rf"\[\d\] {name}\n", shown)


WITH_HANDLERS = ["signal", "sigaltstack", "longjmp", "overflow", "exceptions", "unwind", "fork", "vfork", "vforksignal"]


@pytest.mark.parametrize("options", [["--crash-report"], ["-t", "1us"], ["-t", "1s", "--crash-report"]], ids=" ".join)
@pytest.mark.parametrize("name, variant", in_turn(WITH_HANDLERS, chosen([Variant("gcc", m, o) for o in ("O0", "O2") for m in METHODS])), ids=str)
def test_programs_with_handlers_of_their_own(name, variant, options):
    """Handlers on other stacks, jumps out of them, stack overflow: all programs run as untraced."""
    exe = build(program(name), variant)
    bare, traced = run(exe), utrail("record", *options, exe)
    assert (traced.status, traced.out) == (bare.status, bare.out), traced.err
    if bare.status < 128:
        assert "was ended by signal" not in traced.err


def test_many_processes_crash():
    """Each process reports its innermost call."""
    exe = build(program("end_segv"), Variant("gcc", "pg", "O0"))
    script = f"for i in 1 2 3 4; do {exe} >/dev/null; done; exit 0"
    result = utrail("record", "--force", "--crash-report", "sh", "-c", script)
    assert result.status == 0 and result.err.count("; it was in\n  #0  end") == 4


def test_without_calls_there_is_nothing_to_say():
    result = utrail("record", "--force", "--no-libcall", "--crash-report", "sh", "-c", "kill -ABRT $$")
    assert result.status == 134 and "#0" not in result.err
