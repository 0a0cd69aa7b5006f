"""Functions are found by the names that people use, although compilers change them; and calls that
forks inherit."""

import json
import os
import re
import signal
from pathlib import Path

import pytest

from tools import peer, run, utrail

# The names are given: the compiler alone would decide which functions it splits or copies.
SOURCE = """
#define NAME(x) __asm__(x) __attribute__((noinline, used))
int plain(int n) NAME("f");
int part(int n) NAME("f.part.0");
int copy(int n) NAME("f.constprop.0.isra.0");
int other(int n) NAME("g.lto_priv.0");
int boom(int n) NAME("_ZN5crate1m4boom17h0123456789abcdefE");
int go(int n) NAME("_RNvMNtCs1_1m6shapesNtB2_1P2go");
int top(int n) NAME("_RNvCs1_1m3top");
int part(int n) { return n + 1; }
int copy(int n) { return n + 2; }
int plain(int n) { return part(n) + copy(n) + 3; }
int other(int n) { return n + 4; }
int boom(int n) { return n + 5; }
int go(int n) { return boom(n) + 6; }
int top(int n) { return n + 7; }
int main(void) { return plain(1) + other(1) + go(1) + top(1) > 1000; }
"""

FILTERS = [
    ("f", ["f", "f", "f"]),
    ("f.part.0", ["f"]),
    ("^f.constprop", ["f"]),
    ("g", ["g"]),
    ("m::boom", ["crate::m::boom"]),
    ("crate::m::boom", ["crate::m::boom"]),
    ("crate::", ["crate::m::boom"]),
    ("m::shapes::P::go", ["<m::shapes::P>::go", "crate::m::boom"]),
    ("shapes::", ["<m::shapes::P>::go", "crate::m::boom"]),
    ("m::top", ["m::top"]),
    ("m::", ["<m::shapes::P>::go", "crate::m::boom", "m::top"]),
]


@pytest.fixture(scope="module")
def prog(tmp_path_factory):
    where = tmp_path_factory.mktemp("names")
    (where / "prog.c").write_text(SOURCE)
    run("gcc", "-O1", "-pg", "prog.c", "-o", "prog", cwd=where).must()
    return where / "prog"


def called(text):
    """The names of functions in a replay without columns, in the order of calls."""
    return [re.sub(r"\(\)[ ;{]*$", "", line.strip()) for line in text.splitlines() if not line.strip().startswith("}")]


@pytest.mark.parametrize("name, expected", FILTERS, ids=[row[0] for row in FILTERS])
def test_filters(prog, name, expected):
    utrail("record", "-d", "all", "--no-libcall", prog).must()
    utrail("record", "-d", "some", "--no-libcall", "-F", name, prog).must()
    for words in (["-d", "all", "-F", name], ["-d", "some"]):
        result = utrail("replay", "-f", "none", "--no-event", *words).must()
        assert called(result.out) == expected and "WARN" not in result.err


def test_one_name(prog):
    utrail("record", "-d", "all", "--no-libcall", prog).must()

    def names(*words):
        lines = utrail("report", "-d", "all", "-f", "call", *words).must().out.splitlines()[2:]
        return {line.split()[1]: int(line.split()[0]) for line in lines if "linux:" not in line}

    simple, full = names(), names("--demangle=full")
    assert simple["f"] == 3 and simple["g"] == 1
    assert full["f"] == full["f.part.0"] == full["f.constprop.0.isra.0"] == full["g.lto_priv.0"] == 1
    assert names("--demangle=full", "-F", "g") == {"g.lto_priv.0": 1}
    assert names("--demangle=no", "-N", "f").keys() >= {"g.lto_priv.0", "_RNvCs1_1m3top"}
    assert not {"f", "f.part.0"} & names("--demangle=no", "-N", "f").keys()


def test_copies_count_once(prog):
    """f() calls f.part.0() and f.constprop.0.isra.0(), which count as f, too: the total time is
    that of the outermost call."""
    utrail("record", "-d", "all", "--no-libcall", "--no-event", prog).must()
    rows = json.loads(utrail("report", "-d", "all", "--format=json").must().out)
    (f,) = [row for row in rows if row["name"] == "f"]
    lines = map(json.loads, utrail("dump", "-d", "all", "--format=jsonl").must().out.splitlines())
    (whole,) = [line["dur"] for line in lines if line.get("name") == "f" and line["depth"] == 1]
    assert f["total"] == whole and f["call"] == 3


def test_views_of_one_function(prog):
    """Options may follow the function, since no program is run."""
    utrail("record", "-d", "all", "--no-libcall", prog).must()
    graph = utrail("graph", "m::boom", "-d", "all", "-f", "none").must().out
    assert "\n(1) crate::m::boom\n" in graph
    assert "crate::m::boom" in utrail("report", "-d", "all", "--callees", "shapes::P::go").must().out
    assert utrail("graph", "main", "-d", "nosuch").must(255).err.startswith("utrail: cannot open 'nosuch'")


FORKS = """
#include <sys/wait.h>
#include <unistd.h>
#define FN __attribute__((noinline))
FN void leaf(void) { __asm__ volatile(""); }
FN void child(void) { leaf(); __asm__ volatile(""); }
FN int spawn(void) { int pid = fork(); if (pid == 0) child(); else waitpid(pid, 0, 0); return pid; }
int main(void) { if (spawn() == 0) { child(); _exit(3); } return 0; }
"""

# For each filter, the inherited calls whose ends are shown: `record` with the filter would have
# recorded the same ones. The child's own calls are shown, too.
INHERITED = [
    ("", ["fork", "spawn"]),
    ("-F child", []),
    ("-F spawn", ["fork", "spawn"]),
    ("-N spawn", []),
    ("-N fork", ["spawn"]),
    ("-N child", ["fork", "spawn"]),
    ("-H spawn", ["fork"]),
    ("-C leaf", ["fork", "spawn"]),
    ("-D 1", []),
    ("-D 2", ["spawn"]),
    ("-D 3", ["fork", "spawn"]),
]


@pytest.fixture(scope="module")
def forks(tmp_path_factory):
    where = tmp_path_factory.mktemp("forks")
    (where / "prog.c").write_text(FORKS)
    run("gcc", "-O1", "-pg", "prog.c", "-o", "prog", cwd=where).must()
    utrail("record", "--no-event", "-d", where / "data", where / "prog").must()
    (child,) = re.findall(r"^ \[ *(\d+)\] \| *_exit\(\)", utrail("replay", "-d", where / "data", "-f", "tid").must().out, flags=re.M)
    return where / "data", child


@pytest.mark.parametrize("options, expected", INHERITED, ids=[row[0] for row in INHERITED])
def test_inherited_calls(forks, options, expected):
    directory, child = forks
    shown = utrail("replay", "-d", directory, "-f", "tid", *options.split()).must().out
    ends = re.findall(rf"^ \[ *{child}\] \| *}} /\* (fork|spawn|main) \*/", shown, flags=re.M)
    assert ends == expected


def test_recording_that_begins_with_a_return(workdir):
    """A signal turns recording on in the innermost call: its end is shown at its depth."""
    Path("prog.c").write_text("""
        #include <signal.h>
        #define FN __attribute__((noinline)) void
        FN leaf(void) { __asm__ volatile(""); }
        FN inner(void) { raise(SIGUSR1); __asm__ volatile(""); }
        FN outer(void) { inner(); leaf(); __asm__ volatile(""); }
        int main(void) { outer(); leaf(); return 0; }
    """)
    run("gcc", "-O1", "-pg", "prog.c", "-o", "prog").must()
    utrail("record", "--no-event", "--no-libcall", "--trace=off", "--signal", "USR1@trace_on", "./prog").must()
    shown = utrail("replay", "-f", "none").must().out
    assert shown == "    } /* inner */\n    leaf();\n  } /* outer */\n  leaf();\n} /* main */\n"


def test_footer(forks):
    """A task that called _exit() has no unfinished calls; a killed one has."""
    assert "stopped tracing" not in utrail("replay", "-d", forks[0]).must().out
    Path("prog.c").write_text("#include <signal.h>\nint main(void) { return raise(SIGKILL); }\n")
    run("gcc", "-pg", "prog.c", "-o", "prog").must()
    utrail("record", "-d", "cut", "./prog").must(128 + signal.SIGKILL)
    footer = utrail("replay", "-d", "cut").must().out.split("\n\n")[1]
    assert re.fullmatch(r"utrail stopped tracing with remaining functions\n=+\ntask: \d+\n\[1\] raise\n\[0\] main", footer)


def test_stripped(workdir):
    """A stripped program is shown by addresses. The reason is given once, and the advice works."""
    Path("shop.c").write_text("__attribute__((noipa)) int f(int n) { return n; }\nint main(void) { return f(f(0)); }\n")
    run("gcc", "-pg", "shop.c", "-o", "shop").must()
    utrail("record", "-d", "whole", "./shop").must()
    run("strip", "shop").must()
    utrail("record", "--no-libcall", "./shop").must()
    for command in ["replay"], ["report"], ["graph"], ["dump", "--format=chrome"], ["report", "-f", "p50"]:
        result = utrail(*command).must()
        told = rf"WARN: 2 functions of '{workdir}/shop' are shown by address: the recording has no symbols of that file.*: --with-syms=DIR\n"
        assert re.fullmatch(told, result.err), (command, result.err)
        named = utrail(*command, "--with-syms=whole").must()
        assert named.err == "" and "main" in named.out, (command, named.err)
    assert utrail("replay", "-d", "whole").must().err == ""
    assert utrail("info").must().err == ""


@pytest.mark.parametrize("build_id", ["sha1", "none"])
def test_no_symbols_saved(workdir, build_id):
    """A killed recorder may have saved records without symbols. The symbols come from the program,
    if it is unchanged."""
    Path("shop.c").write_text("__attribute__((noipa)) int f(int n) { return n; }\nint main(void) { return f(f(0)); }\n")
    run("gcc", "-pg", f"-Wl,--build-id={build_id}", "shop.c", "-o", "shop").must()
    utrail("record", "--no-libcall", "./shop").must()
    os.unlink("uftrace.data/shop.sym")
    assert "<" in utrail("report").must().out, "whoever moves the files of a whole recording wants them"
    info = Path("uftrace.data/info")
    info.write_bytes(info.read_bytes().replace(b"ended  ", b"running"))
    same = utrail("report").must()
    assert (re.findall(r"\S+$", same.out, re.M)[-2:] == ["main", "f"]) == (build_id == "sha1")
    assert "is incomplete" in same.err and ("by address" in same.err) == (build_id == "none")
    Path("shop.c").write_text("__attribute__((noipa)) int g(int n) { return n; }\nint main(void) { return g(g(1)) - 1; }\n")
    run("gcc", "-pg", f"-Wl,--build-id={build_id}", "shop.c", "-o", "shop").must()
    other = utrail("report").must()
    told = rf"WARN: 2 functions of '{workdir}/shop' are shown by address: .* the file is no longer the one that was recorded.*: --with-syms=DIR\n"
    assert "main" not in other.out and re.search(told, other.err), (other.out, other.err)


ALIASES = """__attribute__((noipa)) int real_impl(int n) { return n + 1; }
int api(int n) __attribute__((alias("real_impl")));
int _hidden(int n) __attribute__((weak, alias("real_impl")));
int main(void) { return api(1) + real_impl(2) - 5; }
"""


@pytest.mark.parametrize("options", [["-F"], ["-A"], ["-T"], ["-P"]], ids=lambda words: words[0])
@pytest.mark.parametrize("name", ["api", "real_impl", "_hidden"])
def test_aliases_recorded(workdir, options, name):
    """An option finds a function by each of its aliases. utrail and the peer show the alias that
    the option has."""
    Path("prog.c").write_text(ALIASES)
    run("gcc", *([] if options == ["-P"] else ["-pg"]), "prog.c", "-o", "prog").must()
    spec = name + {"-A": "@arg1", "-T": "@depth=5"}.get(options[0], "")
    assert utrail("record", "--no-libcall", "--no-event", *options, spec, "./prog").must().err == ""
    shown = utrail("replay", "-f", "none").must().out
    args = ("1", "2") if options == ["-A"] else ("", "")
    assert [line.strip() for line in shown.splitlines() if f"{name}(" in line] == [f"{name}({arg});" for arg in args], shown
    assert [f"{name}({arg});" in run("uftrace", "replay").must().out for arg in args] == [True, True]


@pytest.mark.parametrize("options", ["-F api -A real_impl@arg1", "-F real_impl -A api@arg1 -R api@retval", "-F _hidden -A api@arg1"])
def test_aliases_by_two_names(workdir, options):
    """Two options name a function by two aliases: one option records the function, the other its
    arguments. Either name may be shown."""
    Path("prog.c").write_text(ALIASES)
    run("gcc", "-pg", "prog.c", "-o", "prog").must()
    utrail("record", "--no-libcall", "--no-event", *options.split(), "./prog").must()
    results = (" = 2", " = 3") if "-R" in options else ("", "")
    for words in ([], ["-F", "api"], ["-F", "real_impl"], ["-F", "_hidden"]):
        for tool in (utrail, peer) if not words else (utrail,):
            shown = tool("replay", "-f", "none", *words).must().out
            assert re.findall(r"\((\d)\)( = \d)?;", shown) == list(zip("12", results)), (words, shown)


def test_aliases_read(workdir):
    Path("prog.c").write_text(ALIASES)
    run("gcc", "-pg", "prog.c", "-o", "prog").must()
    utrail("record", "--no-libcall", "--no-event", "./prog").must()
    assert "real_impl" not in utrail("replay").must().out
    for name in ("api", "real_impl", "_hidden"):
        assert utrail("replay", "-f", "none", "-F", name).must().out == f"{name}();\n" * 2
        assert re.findall(r"\S+$", utrail("report", "-F", name).must().out, re.M)[-1] == name
    hidden = utrail("replay", "-f", "none", "-N", "real_impl").must().out
    assert hidden == "main();\n"
    both = utrail("replay", "-f", "none", "-F", "api", "-T", "_hidden@color=red").must()
    assert both.err == "" and both.out.count("api();") == 2


@pytest.mark.parametrize("name", ["api", "real_impl", "_hidden"])
def test_aliases_of_one_function(workdir, name):
    """A command about one function shows it by the alias that was given."""
    Path("aliases.c").write_text(ALIASES)
    run("gcc", "-pg", "-O1", "aliases.c", "-o", "aliases").must()
    utrail("record", "--no-libcall", "./aliases").must()
    for words in (["graph", name], ["graph", "--diff", "uftrace.data", name], ["report", "--callers", name], ["report", "--histogram", name]):
        text = utrail(*words, "--no-pager").must().out
        assert set(re.findall(r"\b(?:api|real_impl|_hidden)\b", text)) == {name}, words



def test_call_operator(workdir):
    Path("prog.cc").write_text("struct Twice { __attribute__((noipa)) int operator()(int n) { return 2 * n; } };\nint main() { return Twice()(0); }\n")
    run("g++", "-pg", "prog.cc", "-o", "prog").must()
    utrail("record", "--no-libcall", "--no-event", "./prog").must()
    assert utrail("replay", "-f", "none").must().out == "main() {\n  Twice::operator()();\n} /* main */\n"
    assert utrail("replay", "-f", "none", "-F", "Twice::operator()").must().out == "Twice::operator()();\n"
    assert "Twice::operator()(int);" in utrail("replay", "-f", "none", "--demangle=full").must().out
