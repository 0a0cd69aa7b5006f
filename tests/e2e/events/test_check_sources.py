"""utrail events check-sources: the program's own compiler finds arguments of declared events that
do not fit their directives."""

import json
import os
from pathlib import Path

import pytest

from tools import run, utrail

HEADER = Path(__file__).resolve().parents[3] / "trace/include"

SHOP_C = r"""
#include <fstrace.h>
#include <string.h>
#include <sys/socket.h>
#define SIZE "64u"
FSTRACE_DECL(SHOP_SOLD, "NR=%d SIZE=%" SIZE " DATA=%A")
FSTRACE_DECL(SHOP_NONE, "")
FSTRACE_DECL(SHOP_ALL, "%b %s %S %I %J %B %P %T %F %L %e %E %p %a %z %f %lld %64x %%")
FSTRACE_DECL(SHOP_BAD, "X=%q") // bad format
fstrace_event_t *opened, *twice, *single;
struct { fstrace_event_t *closed; } TRC;
const char *f(void *x);
void right(fstrace_t *t, int n, const char *s, struct sockaddr *a, socklen_t l, unsigned char *u, void *v, size_t z)
{
	opened = fstrace_declare(t, "SHOP-OPENED", "WHO=%s");
	if (!(TRC.closed = fstrace_declare(t, "SHOP-CLOSED", "N=%f " "X=%x")))
		return;
	single = fstrace_declare(t, "SHOP-SINGLE", "%s");
	twice = fstrace_declare(t, "SHOP-TWICE", "%d");
	twice = fstrace_declare(t, "SHOP-TWICE", "%s");
	FSTRACE(SHOP_SOLD, n, (uint64_t)n, s, strlen(s));
	FSTRACE(SHOP_SOLD, n > 1 ? n : 2, 7ULL, "(),\"", (ssize_t)')');
	FSTRACE(SHOP_ALL, n == 1, s, s, z, f, v, f, &n, u, (ssize_t)1, 0, &n, a, l, (ssize_t)1, 1.0f, 1LL, (uint64_t)1);
	FSTRACE_NO_ARGS(SHOP_NONE);
	FSTRACE(SHOP_NONE);
	FSTRACE(opened, NULL);
	if (n) FSTRACE(opened, u); else FSTRACE(opened, "x");
	FSTRACE(TRC.closed, 1.0, n);
	FSTRACE(twice, s); // not known
}
void wrong(int n, const char *s)
{
	FSTRACE(SHOP_SOLD, n, n, s, strlen(s)); // %64u
	FSTRACE(SHOP_SOLD, n, (uint64_t)n,
		s, n); // none
	FSTRACE(SHOP_SOLD, n, (uint64_t)n, s); // missing
	FSTRACE(SHOP_NONE, 5); // more
	FSTRACE(opened, n); // %s
	FSTRACE_NO_ARGS(opened); // missing
	FSTRACE(opened); // missing
	FSTRACE(TRC.closed, n, n); // %f
}
"""

SHOP_CC = r"""
#include <fstrace.h>
#include <string>
extern fstrace_event_t *opened;
void shop(fstrace_event_t *other)
{
	std::string s = R"x("FSTRACE(opened, 1))x";
	FSTRACE(opened, s.c_str());
	FSTRACE(opened, s); // string
	FSTRACE(opened, s.c_str(), 1'000); // more
	FSTRACE(other, 1); // not known
}
void parameter(fstrace_event_t *single) { FSTRACE(single, 1); } // not known
"""


def check(*commands, options=()):
    """Check commands. Each is a text or a list, whose last word is the source."""
    entries = []
    for command in commands:
        words = command.split() if isinstance(command, str) else command
        key = "command" if isinstance(command, str) else "arguments"
        entries.append({"directory": os.getcwd(), "file": words[-1], key: command, "output": "x.o", "more": [{"a": [1.5, None]}, {}]})
    Path("compile_commands.json").write_text(json.dumps(entries, indent=1))
    return utrail("events", "check-sources", *options, "compile_commands.json")


def marked(name, *words):
    """The numbers of lines whose remark names the mistake in them."""
    lines = Path(name).read_text().splitlines()
    return [f"{os.getcwd()}/{name}:{nr}" for nr, line in enumerate(lines, 1) if any(line.endswith(f"// {word}") for word in words)]


@pytest.fixture
def shop(workdir):
    Path("shop.c").write_text(SHOP_C)
    Path("more.cc").write_text(SHOP_CC)


@pytest.mark.parametrize("compilers", [("gcc", "g++"), ("clang", "clang++")])
def test_arguments(shop, compilers):
    """Uses that do not fit are reported at their lines, and no others. The events may be declared
    in other sources."""
    c, cxx = compilers
    result = check(f"{c} -I{HEADER} -O2 -c shop.c", ["/not/there/" + cxx, "-I", str(HEADER), "-std=c++17", "-c", "more.cc"], options=["-v"])
    *problems, total = result.out.splitlines()
    places = [line.split(": ")[0] for line in problems]
    # A use over several lines is reported at its first line.
    (first,) = (place for place in marked("shop.c", "none"))
    first = first.rpartition(":")[0] + f":{int(first.rpartition(':')[2]) - 1}"
    expected = marked("shop.c", "bad format", "%64u", "missing", "more", "%s", "%f") + marked("more.cc", "string", "more")
    assert sorted(places) == sorted([*expected, first])
    assert result.status == 1 and total == "11 problems in 31 uses and declarations of events in 2 sources; of 3 no format was found (-v says which)"
    assert [line.split(": ")[1] for line in result.err.splitlines() if "not checked" in line] == marked("shop.c", "not known") + marked(
        "more.cc", "not known"
    )
    text = "\n".join(problems)
    assert text.count("there are more arguments than the format takes") == 2 and text.count("an argument is missing") == 3
    assert f'{marked("shop.c", "bad format")[0]}: SHOP-BAD "X=%q": the format is wrong, so the event is never on' in problems
    if c == "gcc":
        place = marked("shop.c", "%64u")[0]
        assert f"""{place}: SHOP-SOLD "NR=%d SIZE=%64u DATA=%A": argument 2, of %64u, is 'int' and should be 'long unsigned int'""" in problems


def test_nothing_is_wrong(workdir):
    """A mistake in a header of several sources is reported once."""
    Path("shop.h").write_text('#include <fstrace.h>\nFSTRACE_DECL(A, "%d")\nstatic void f(void) { FSTRACE(A, 1); }\n')
    for name in ("a.c", "b.c"):
        Path(name).write_text('#include "shop.h"\nvoid x(void) { f(); }\n')
    commands = [f"ccache gcc -I{HEADER} -c {name}" for name in ("a.c", "b.c")] + ["as x.s", "gcc -c x.S"]
    assert check(*commands).must().out == "0 problems in 4 uses and declarations of events in 2 sources\n"
    Path("shop.h").write_text(Path("shop.h").read_text().replace("(A, 1)", '(A, "x")'))
    result = check(*commands)
    assert result.status == 1 and result.out.count("shop.h:3: A ") == 1 and "\n1 problems" in result.out


@pytest.mark.parametrize(
    "words",
    [
        ["-o", "made"],
        ["-MD", "-MF", "made"],
        ["-save-temps", "-dumpdir", "made"],
        ["-wrapper", "./run"],
        ["-B."],
        ["-specs=specs"],
        ["-fplugin=./plugin.so"],
        ["-Xclang", "-load", "-Xclang", "./plugin.so"],
        ["@response"],
        ["-D", "@response"],
        ["-include-pch", "plugin.so"],
        ["-no-integrated-cpp", "-B", "."],
    ],
    ids=lambda words: words[0],
)
def test_a_strangers_options(shop, words):
    """Strange options of an entry run no other program and write no file."""
    for name in ("run", "cc1", "plugin.so"):
        Path(name).write_text("#!/bin/sh\ntouch made\n")
        Path(name).chmod(0o755)
    Path("response").write_text("-o made -wrapper ./run")
    Path("specs").write_text("*cc1:\n-wrapper ./run\n")
    before = sorted(os.listdir())
    result = check(["gcc", *words, f"-I{HEADER}", "-c", "shop.c"])
    assert sorted(os.listdir()) == sorted([*before, "compile_commands.json"])
    # A -D that is malformed ends the compiler; the other strange options are left out.
    assert "cannot check" in result.err if words[0] == "-D" else "9 problems" in result.out


@pytest.mark.parametrize(
    "compiler, reason",
    [
        (["./run"], "'run' is no compiler that utrail knows"),
        (["sh", "-c", "touch made", "gcc"], "'sh' is no compiler that utrail knows"),
        (["ccache", "./run"], "'run' is no compiler that utrail knows"),
        (["ccache"], "'shop.c' is no compiler that utrail knows"),
        (["./nosuch-gcc"], "the compiler 'nosuch-gcc' is not in $PATH"),
        (["$(touch made)gcc"], "'$(touch made)gcc' is no compiler that utrail knows"),
    ],
    ids=lambda words: words[0] if isinstance(words, list) else "",
)
def test_a_strangers_compiler(shop, compiler, reason):
    Path("run").write_text("#!/bin/sh\ntouch made\n")
    Path("run").chmod(0o755)
    result = check([*compiler, "shop.c"])
    assert result.status == 1 and reason in result.err and not Path("made").exists()
    assert result.out == "0 problems in 0 uses and declarations of events in 0 sources; 1 sources were not checked\n"


def test_relative_path(shop):
    """A program in the entry's directory is not run as the compiler, even with that directory in
    $PATH."""
    Path("gcc").write_text("#!/bin/sh\ntouch made\n")
    Path("gcc").chmod(0o755)
    check("./gcc shop.c")
    path = f".::{os.environ['PATH']}:"
    run("env", f"PATH={path}", *utrail("events", "check-sources", "compile_commands.json").args)
    assert not Path("made").exists()


def test_a_source_named_as_the_check(workdir):
    """A source gives its own lines the name that the checked calls have. A wrong argument of such a
    line has no directive in the event's format."""
    Path("shop.c").write_text(
        '#include <stdio.h>\n#include <fstrace.h>\nFSTRACE_DECL(A, "%d")\nvoid x(void) { FSTRACE(A, 1); FSTRACE(A, 2); }\n'
        '#line 1 "<utrail>"\nvoid y(void) { printf("%d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, "x"); }\n'
    )
    result = check(f"gcc -I{HEADER} -c shop.c")
    assert result.status == 1 and "an argument is 'char *' and should be 'int'" in result.out


def test_what_does_not_compile(shop):
    """The error is the compiler's, at its place in the source."""
    Path("shop.c").write_text('#include <fstrace.h>\nFSTRACE_DECL(A, "%d")\nvoid x(void)\n{\n\tFSTRACE(A, nosuch);\n}\n')
    result = check(f"gcc -I{HEADER} -c shop.c")
    assert result.status == 1 and f"cannot check 'shop.c': {os.getcwd()}/shop.c:5: error: 'nosuch' undeclared" in result.err
    result = check("gcc -c shop.c")
    assert result.status == 1 and "fstrace.h: No such file or directory" in result.err


def test_ignored_children(workdir):
    """A shell may have made the command ignore SIGCHLD. The command still gets the compiler's
    status."""
    Path("shop.c").write_text('#include <fstrace.h>\nFSTRACE_DECL(A, "%d")\nvoid x(void) { FSTRACE(A, nosuch); }\n')
    args = check(f"gcc -I{HEADER} -c shop.c").args
    result = run("sh", "-c", "trap '' CHLD; exec \"$@\"", "sh", *args)
    assert result.status == 1 and "'nosuch' undeclared" in result.err


@pytest.mark.parametrize(
    "text",
    ["", "[", "{}", "[{}]", '[{"directory": "/", "file": "x.c"}]', '[{"directory": "\\ud800", "file": "x.c", "command": "gcc"}]',
     '[{"directory": "/", "file": "x\\u0000.c", "command": "gcc"}]', '[{"directory": "/", "file": "x.c", "command": "gcc \\"x"}]',
     '[{"directory": "/", "file": "x.c", "command": ""}]', "[" * 100000, '[{"x": ' + "[" * 100000],
)
def test_no_such_file(workdir, text):
    Path("x.json").write_text(text)
    result = utrail("events", "check-sources", "x.json")
    assert result.status == 1 and "'x.json' is no compile_commands.json: see byte" in result.err and result.err.count("\n") == 1
