"""Programs with a runtime of their own: sanitizers, another C library, little address space. They
run as untraced."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from data import ENTRY, Recording
from programs import METHODS, SOURCES, Program, Variant, build, program
from tools import NOBODY, UTRAIL, run, utrail, why_not_as_nobody

GCC = [("gcc", s) for s in ("address", "thread", "leak", "undefined")]
CLANG = [("clang", s) for s in ("address", "thread", "leak", "memory")]
FLAGS = {"pg": "-pg", "cyg": "-finstrument-functions"}


def compiled(compiler, *args, output):
    """The path @output, made by @compiler. The test is skipped where the compiler cannot make
    it."""
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    done = subprocess.run([compiler, *args, "-o", output], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"{compiler} {' '.join(map(str, args))}: {done.stderr.strip().splitlines()[-1]}")
    return output


def calls(name, directory="uftrace.data"):
    tasks = Recording(directory, has_payloads=True).tasks.values()
    return sum(r.kind == ENTRY and r.name == name for t in tasks for r in t.records)


@pytest.mark.parametrize("method", FLAGS)
@pytest.mark.parametrize("compiler,sanitizer", GCC + CLANG)
def test_sanitizers(workdir, compiler, sanitizer, method):
    """Output, findings and status are as untraced, and all calls are recorded."""
    if (sanitizer, method) == ("memory", "pg"):
        pytest.skip("MemorySanitizer's own runtime fails in programs with -pg, untraced too")
    source = SOURCES / "hostile" / "sanitized.c"
    flags = ("-g", "-O1", "-pthread", FLAGS[method], f"-fsanitize={sanitizer}")
    exe = compiled(compiler, *flags, source, output=workdir / "sanitized")
    for what in ("", "exec", "leak", "bug"):
        alone = run(exe, what)
        traced = utrail("record", "--no-libcall", exe, what)
        assert (traced.status, traced.out) == (alone.status, alone.out), traced.err
        found = [re.findall("[A-Z][a-z]+Sanitizer: [a-z-]+", r.err) for r in (alone, traced)]
        assert found[0] == found[1]
        assert calls("leaf") == 101


def test_child_of_another_libc(workdir):
    """The probe is also preloaded into a program with musl. It steps aside there, and the recorder
    reports that."""
    other = compiled("musl-gcc", SOURCES / "hostile" / "other_libc.c", output=workdir / "other")
    exe = build(program("exec"), Variant("gcc", "pg", "O2"))
    alone = run(other)
    assert (alone.status, alone.out) == (7, "handled 1\n")
    result = utrail("record", "--force", "sh", "-c", f"{exe}; ./other; echo $?")
    assert result.status == 0
    assert result.out.endswith("handled 1\n7\n")
    assert "1 process was not traced: its C library is not glibc" in result.err
    # This time the recorder starts the program directly, and not a shell.
    result = utrail("record", "--force", other)
    assert (result.status, result.out) == (7, "handled 1\n")
    assert "its C library is not glibc" in result.err


FAULTY = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int two = 2;
/* Reads uninitialised memory, without depending on its value. */
static int lose(void) { char *p = malloc(16); return p[0] ? two : 2; }
static void *work(void *arg) { return malloc(10 + lose()); }
int main(void)
{
	pthread_t t;
	int status;
	pthread_create(&t, NULL, work, NULL);
	pthread_join(t, NULL);
	if (fork() == 0)
		_exit(lose());
	wait(&status);
	printf("%d\n", WEXITSTATUS(status));
	return 4;
}
"""


def valgrind_says(text):
    """valgrind's reports without numbers of processes and addresses, and without its remarks about
    debug information of the probe."""
    lines = [line for line in text.splitlines() if "DWARF2 CFI reader" not in line and not line.startswith("WARN: ")]
    return re.sub(r"==\d+==|0x[0-9A-Fa-f]+", "", "\n".join(lines))


@pytest.mark.parametrize("tool", ["memcheck --leak-check=full", "helgrind", "drd", "none"])
@pytest.mark.parametrize("method", ["pg", "cyg"])
def test_valgrind(workdir, tool, method):
    """Under valgrind the probe does nothing, so valgrind's reports and their backtraces stay as
    they are."""
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    Path("faulty.c").write_text(FAULTY)
    # "bare" has no hooks, since valgrind does not run a program with -pg: the profiling timer kills
    # it, even if it is not traced.
    run("gcc", "-g", "-O0", "-fno-inline", *(["-pg"] if method == "pg" else ["-finstrument-functions"]), "-pthread", "faulty.c", "-o", "faulty").must()
    run("gcc", "-g", "-O0", "-fno-inline", "-pthread", "faulty.c", "-o", "bare").must()
    command = ["valgrind", "-q", *f"--tool={tool}".split(), "--error-exitcode=9"]
    alone = run(*command, "./bare")
    result = utrail("record", "--force", *command, "./faulty")
    assert (result.status, result.out) == (alone.status, alone.out)
    assert valgrind_says(result.err).replace("faulty", "bare") == valgrind_says(alone.err).replace("faulty", "bare")
    assert "process was not traced: valgrind runs it" in result.err


@pytest.mark.parametrize("options", [(), ("-a",), ("-t", "1us", "-l"), ("-F", "leaf")], ids=" ".join)
@pytest.mark.parametrize("method", METHODS)
def test_little_address_space(method, options):
    """The probe takes little address space, so a program under a limit still has what it needs."""
    exe = build(Program.read(SOURCES / "hostile" / "little_space.c"), Variant("gcc", method, "O2"))
    assert run(exe).out == "0 1\n"
    result = utrail("record", *options, exe).must()
    assert result.out == "0 1\n"
    if "-t" not in options:
        assert calls("leaf") == 8
    # Now the limit is set before the program starts.
    result = run("sh", "-c", f"ulimit -v 100000; exec {exe} no-limit")
    assert result.out == "0 0\n"
    script = f"ulimit -v 100000; exec {exe} no-limit"
    result = utrail("record", "--force", *options, "sh", "-c", script).must()
    assert result.out == "0 0\n"
    if "-t" not in options:
        assert calls("leaf") == 8


def stack_used(*options, exe):
    """The bytes of a new stack that its first calls have used: all slow code runs in these calls.
    The least of some runs counts. A thread that loses its CPU may repeat slow code, and then needs
    more stack."""
    command = (exe,) if options == ("untraced",) else (UTRAIL, "record", "--no-event", *options, exe)
    return min(int(run(*command).must().out.split()[0]) for _ in range(8))


@pytest.mark.parametrize("method", ["pg", "fentry"])
def test_stack_of_hooks(method):
    """Capturing arguments needs little more stack: it begins when the slow code of the hooks has
    returned."""
    exe = build(Program.read(SOURCES / "hostile" / "painted.c"), Variant("gcc", method, "O2"))
    plain = stack_used("--no-libcall", exe=exe)
    assert stack_used("untraced", exe=exe) < plain < 8192
    more = 256  # the saved registers of a few functions
    for options in (["-a"], ["-a", "-t", "1us"], ["-A", "texts@arg1/s,arg2/s"]):
        assert stack_used("--no-libcall", *options, exe=exe) <= plain + more


# By case: the number of recorded calls, of tasks, and the recorder's message.
PARTLY = {
    "": (20, 1, None),
    "strict": (20, 1, "1 thread was traced only until it forbade itself"),
    "thread": (10, 1, "1 thread was traced only until it made another one"),
    "fork": (30, 2, None),
    "network": (20, 1, "1 forked process was not traced"),
    "pids": (30, 2, None),
    "unshare": (30, 2, None),
    "left": (30, 2, None),
    "pids-left": (30, 2, None),
    "pids-network": (20, 1, "1 forked process was not traced"),
    "unshare-network": (20, 1, "1 forked process was not traced"),
    "descriptors": (30, 2, None),
    "hard": (30, 2, None),
}


def check_partly_traced(method, how, become=()):
    exe = build(Program.read(SOURCES / "hostile" / "partly.c"), Variant("gcc", method, "O2"))
    shutil.copy(exe, "partly")
    alone = run(*become, "./partly", how)
    if alone.out == "1\n":
        pytest.skip(f"this machine does not let a program do that: {how}")
    assert (alone.status, alone.out) == (4, "0\n")
    result = run(*become, UTRAIL, "record", "--no-libcall", "./partly", how)
    assert (result.status, result.out) == (4, "0\n"), result.err
    expected, tasks, said = PARTLY[how]
    if how == "hard" and "forked process" in result.err:
        expected, tasks, said = 20, 1, "1 forked process was not traced"  # users cannot raise it
    assert calls("leaf") == expected
    assert len(Recording("uftrace.data").tasks) == tasks
    assert (said in result.err) if said else "not traced" not in result.err


@pytest.mark.parametrize("how", PARTLY)
@pytest.mark.parametrize("method", METHODS)
def test_partly_traced(method, how):
    """The program runs on when the probe must step aside half-way; the recorder reports what is
    missing."""
    check_partly_traced(method, how)


@pytest.mark.parametrize("how", ["pids", "unshare", "left", "pids-left", "pids-network"])
def test_partly_traced_as_nobody(monkeypatch, how):
    if reason := why_not_as_nobody():
        pytest.skip(reason)
    with tempfile.TemporaryDirectory() as work:  # the directories of pytest belong to root
        os.chmod(work, 0o777)
        monkeypatch.chdir(work)
        check_partly_traced("pg", how, NOBODY)
        monkeypatch.undo()


@pytest.mark.parametrize("options", [[], ["-A", "work@arg1/s"], ["-t", "1us"]], ids=["plain", "arguments", "time"])
@pytest.mark.parametrize("method", FLAGS)
def test_functions_of_libc_that_the_program_has_itself(workdir, method, options):
    """Hooks call the functions of libc, not the program's own versions of them, and these calls are
    not recorded."""
    source = SOURCES / "hostile" / "own_libc.c"
    subprocess.run(["gcc", "-O1", "-g", "-fno-builtin", "-rdynamic", "-pthread", FLAGS[method], source, "-o", "own"], check=True)
    alone = run("./own").must().out
    assert alone == "1 calls of text\n"
    result = utrail("record", "--no-libcall", *options, "./own").must()
    assert result.out == alone
    shown = utrail("replay", "--no-merge", "-f", "none").must().out
    for name in ("strlen", "strcmp", "sched_yield", "syscall", "mprotect", "munmap", "clock_gettime", "pthread_self"):
        assert f" {name}(" not in shown
    if "-t" not in options:
        assert (shown.count(" work("), shown.count(" memcpy(")) == (5, 1)
