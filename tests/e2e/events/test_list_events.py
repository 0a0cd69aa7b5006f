"""--list-event: the events that -E can record."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from test_events import sample
from tools import BUILD, NOBODY, PEER, UTRAIL, peer, run, utrail, why_not_as_nobody

SDT = re.compile(r"\[SDT event\] (\S+:\S+) (.*)")


def listed(*args):
    result = utrail(*args).must()
    return result.out.splitlines()


def probes(lines):
    return [m[1] for m in map(SDT.fullmatch, lines) if m]


def has_tracepoints():
    return os.geteuid() == 0 and any(line.startswith("[kernel event] ") for line in listed("--list-event"))


@pytest.mark.parametrize("command", [["record", "--list-event"], ["live", "--list-event"], ["--list-event"]])
def test_of_the_program(workdir, command):
    _, exe = sample("places")
    lines = listed(*command, exe)
    found = probes(lines)
    assert found and len(set(lines)) == len(lines)
    assert all(line.startswith(("[kernel event] ", "[SDT event] ")) for line in lines)
    # No program was run, and no file was made.
    assert not list(workdir.iterdir())


@pytest.mark.skipif(not PEER, reason="Debian's uftrace is not installed")
def test_as_the_peer_says_it():
    _, exe = sample("places")
    ours = [line for line in listed("--list-event", exe) if SDT.fullmatch(line)]
    theirs = [line for line in peer("--list-event", exe).must().out.splitlines() if SDT.fullmatch(line)]
    # The peer has a line for each place of an event.
    assert ours == list(dict.fromkeys(theirs))


def test_a_linker_that_is_not_run(workdir):
    """The program names a linker outside of the system's directories: a warning says what is missing."""
    _, exe = sample("places")
    mine = workdir / "mine"
    code = re.sub(rb"/lib(?=[^\0]*/ld-linux[^\0]*\0)", b"/opt", Path(exe).read_bytes(), count=1)
    mine.write_bytes(code)
    mine.chmod(0o755)
    warning = f"the libraries of '{mine}' are not shown: utrail does not run the dynamic linker that it names"
    result = utrail("--list-event", mine).must()
    assert probes(result.out.splitlines()) == probes(listed("--list-event", exe))
    assert warning in result.err
    # A dry run looks at libraries only if a rule names a file.
    assert warning in utrail("record", "--dry-run", "-P", "malloc@libc.so.6", mine).must().err
    assert warning not in utrail("record", "--dry-run", "-P", "main", mine).must().err
    assert warning not in utrail("--list-event", exe).must().err


def test_chosen():
    _, exe = sample("places")
    everything = probes(listed("--list-event", exe))
    one = everything[0]
    assert set(probes(listed("--list-event", "-E", one, exe))) == {one}
    assert listed("--list-event", "-E", "nothing:here", exe) == []
    provider = one.split(":")[0]
    assert set(probes(listed("--list-event", "--match", "glob", "-E", f"{provider}:*", exe))) == {
        name for name in everything if name.startswith(f"{provider}:")
    }


def test_of_its_libraries():
    """Events of libraries are listed only when -E asks for them."""
    _, exe = sample("throws")
    assert not [name for name in probes(listed("--list-event", exe)) if name.startswith("libstdcxx")]
    names = probes(listed("--list-event", "-E", "libstdcxx:.*", exe))
    assert {"libstdcxx:throw", "libstdcxx:catch"} <= set(names)


def test_of_the_kernel():
    if not has_tracepoints():
        pytest.skip("no tracepoints: not root, or no tracefs is mounted")
    lines = listed("--list-event", "-E", "^sched:sched_(switch|wakeup)$@kernel")
    assert sorted(lines) == ["[kernel event] sched:sched_switch", "[kernel event] sched:sched_wakeup"]
    assert not probes(listed("--list-event"))


def test_without_permission():
    """A user who cannot read the kernel's events gets a warning, and the program's events."""
    if reason := why_not_as_nobody():
        pytest.skip(reason)
    _, exe = sample("places")
    result = run(*NOBODY, UTRAIL, "record", "--list-event", exe)
    assert result.status == 0 and probes(result.out.splitlines())
    (line,) = result.err.splitlines()
    assert line.startswith("WARN: ") and "tracing" in line
    # A pattern without @kernel asks for events of programs only: there is no warning then.
    assert run(*NOBODY, UTRAIL, "record", "--list-event", "-E", ".*:.*", exe).must().err == ""


def test_no_such_program():
    result = utrail("record", "--list-event", "-E", "a:b", "./nothing")
    assert result.status == 1 and result.err.count("\n") == 1 and "./nothing" in result.err


TOP = Path(__file__).resolve().parents[3]
TRACE = BUILD / "trace/library"

DECLARES = r"""
#include <fstrace.h>
#define SIZE "64u"
FSTRACE_DECL(SHOP_SOLD, "NR=%d WHAT=\"%s\"")
FSTRACE_DECL(SHOP_FREE, "BYTES=%" SIZE)
FSTRACE_DECL(SHOP_OPEN, "")
static const char format[] = "N=%d";
FSTRACE_DECL(SHOP_OTHER, format)
int main(void)
{
	fstrace_t *trace = fstrace_open("shop", -1);

	fstrace_declare_globals(trace);
	FSTRACE(SHOP_SOLD, 1, "x");
	FSTRACE(SHOP_FREE, (uint64_t)1);
	FSTRACE(SHOP_OTHER, 1);
	FSTRACE_NO_ARGS(SHOP_OPEN);
	return fstrace_close(trace);
}
"""

DECLARED = [
    "[fstrace event] trace:SHOP-FREE BYTES=%64u",
    "[fstrace event] trace:SHOP-OPEN ",
    "[fstrace event] trace:SHOP-OTHER (only the program knows the format)",
    '[fstrace event] trace:SHOP-SOLD NR=%d WHAT="%s"',
]


def compiled(source, *options, compiler="gcc", out="shop"):
    """Compile @source with the shared library, or with the one that @options name."""
    suffix = "cc" if compiler.endswith("++") else "c"
    Path(f"{out}.{suffix}").write_text(source)
    command = [*compiler.split(), f"-I{TOP / 'trace/include'}", f"{out}.{suffix}", "-o", out, *options]
    subprocess.run([*command, f"-L{TRACE}", "-lutrail-trace", f"-Wl,-rpath,{TRACE}"], check=True)
    return f"./{out}"


@pytest.mark.parametrize(
    "compiler, options",
    [
        ("gcc", ["-std=c99", "-pedantic-errors", "-Wall", "-Wextra", "-Werror"]),
        ("gcc", ["-O2", "-flto", "-s", "-fdata-sections", "-ffunction-sections", "-Wl,--gc-sections"]),
        ("gcc", ["-O1", "-fsanitize=address"]),
        ("clang", ["-O2", "-fdata-sections", "-fuse-ld=lld", "-Wl,--gc-sections"]),
        ("g++", ["-std=c++11", "-static", "-pthread"]),
    ],
    ids=["plain", "stripped", "asan", "lld", "static"],
)
def test_declared(workdir, compiler, options):
    """Events declared in a file are listed by its content, with any compiler and options. No
    program is run."""
    lines = listed("--list-event", "-E", "trace:.*", compiled(DECLARES, *options, compiler=compiler))
    assert lines == DECLARED
    assert not list(Path.cwd().glob("*.log"))


def test_declared_and_chosen(workdir):
    exe = compiled(DECLARES)
    assert listed("--list-event", "-E", "trace:SHOP-[FS].*", exe) == [DECLARED[0], DECLARED[3]]
    assert set(DECLARED) <= set(listed("--list-event", exe))


def test_declared_by_a_library(workdir):
    """Events that a library declares are recorded like the program's own, so they are listed
    without an option."""
    compiled("#include <fstrace.h>\nFSTRACE_DECL(BOX_MADE, \"N=%q\")", "-shared", "-fPIC", out="libbox.so")
    result = utrail("--list-event", compiled("int main(void) { return 0; }", "-Wl,--no-as-needed", "./libbox.so")).must()
    assert "[fstrace event] trace:BOX-MADE N=%q" in result.out.splitlines()
    assert "the event BOX-MADE is never on: its format is wrong\n" in result.err


def test_declared_while_it_runs(workdir):
    """A program that declares events while it runs: their formats are not known, and a warning says
    so."""
    source = '#include <fstrace.h>\nint main(void) { fstrace_declare(fstrace_open("x", -1), "X", ""); }'
    for library in ((), (str(TRACE / "libutrail-trace.a"), "-pthread")):
        result = utrail("record", "--list-event", "-E", "trace:.*", compiled(source, *library)).must()
        (line,) = result.err.splitlines()
        assert result.out == "" and "declares events while it runs" in line and "utrail events list" in line


def test_nothing_declared(workdir):
    result = utrail("--list-event", compiled("int main(void) { return 0; }")).must()
    assert "shop' has no events of its own: neither static probes (SDT) nor declared ones (fstrace)" in result.err


def test_damaged_declarations(workdir):
    exe = compiled(DECLARES)
    Path("junk").write_bytes(b"\xff" * 20)
    subprocess.run(["objcopy", "--update-section", "fstrace_decl=junk", exe], check=True)
    result = utrail("--list-event", exe)
    assert result.status == 1 and "section fstrace_decl: the entry at 0 is damaged" in result.err
