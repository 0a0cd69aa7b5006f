"""Arguments of static probes: each kind of operand with its values, in programs and libraries, and
in all commands that show events."""

import csv
import io
import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from programs import SOURCES
from tools import peer, utrail

HERE = SOURCES / "events"

SAME_EVERYWHERE = """\
signed arg1=-1 arg2=-2 arg3=-3 arg4=-4
signed arg1=-128 arg2=-32768 arg3=-2147483648 arg4=-9223372036854775808
unsigned arg1=1 arg2=2 arg3=3 arg4=0x4
unsigned arg1=255 arg2=65535 arg3=4294967295 arg4=0xffffffffffffffff
static arg1=-100 arg2=65000 arg3=-9223372036854775808
static arg1=100 arg2=1 arg3=-1
indexed arg1=-20 arg2=1
indexed arg1=30 arg2=2
many arg1=1 arg2=-2 arg3=3 arg4=-4 arg5=5 arg6=-6 arg7=7 arg8=-8
same arg1=7
same arg1=0x7777 arg2=7
same
""".splitlines()
REAL = ["real arg1=-1.5 arg2=1e+100", "real arg1=0.1 arg2=0.1"]
ONLY = ["only:constants arg1=3 arg2=-1 arg3=2147483648 arg4=-9223372036854775808 arg5=0xffffffffffffffff",
        "only:wild arg1=? arg2=? arg3=4660 arg4=? arg5=? arg6=5"]


def compile_part(name, provider, constraint, *flags):
    Path(f"{name}.c").write_text(f'#define ARGS {provider}\n#define STAP_SDT_ARG_CONSTRAINT {constraint}\n#include "args.h"\n')
    subprocess.run(["gcc", f"-I{HERE}", "-c", f"{name}.c", "-o", f"{name}.o", *flags], check=True)
    return f"{name}.o"


def build(*flags):
    """Compile the program and its library. The events' names say where arguments are: in registers,
    in memory, or as floats in vector registers."""
    library = compile_part("library", "library", "nor", *flags, "-fPIC")
    subprocess.run(["gcc", "-shared", library, "-o", "liblibrary.so"], check=True)
    parts = [compile_part("registers", "registers", "r", *flags), compile_part("memory", "memory", "m", *flags),
             compile_part("vectors", "vectors", "x", "-DONLY_REAL", *flags)]
    subprocess.run(["gcc", *flags, str(HERE / "args.c"), *parts, "-L.", "-llibrary", "-Wl,-rpath,.", "-o", "args"], check=True)
    return "./args"


def record(exe, *options):
    result = utrail("record", "-E", "^(anywhere|registers|memory|vectors|library|only|libstdcxx):.*", "--no-libcall", *options, exe).must()
    return result


def shown(*options):
    """The texts of events in their order, as "provider:event text"."""
    lines = utrail("events", "show", *options).must().out.splitlines()
    return [re.sub(r"^\S+ \[ *\d+\] ", "", line) for line in lines]


def expected(providers):
    lines = []
    for provider in providers:
        lines += [f"{provider}:{line}" for line in ([] if provider == "vectors" else SAME_EVERYWHERE) + REAL]
    return lines + ONLY


PROVIDERS = ["anywhere", "registers", "memory", "vectors", "library"]


def operands(exe):
    listed = utrail("record", "--list-event", "-E", "^(anywhere|registers|memory|vectors|library|only):.*", exe).must().out
    return {name: args for name, args in re.findall(r"\[SDT event\] (\S+) (\S.*)", listed)}


@pytest.mark.parametrize("flags", [["-O0", "-pg"], ["-O2", "-pg", "-mfentry"], ["-O2", "-pg", "-fno-pie", "-no-pie"], ["-O1", "-finstrument-functions", "-mavx"]], ids=" ".join)
def test_values(workdir, flags):
    exe = build(*flags)
    forms = operands(exe)
    assert all(re.fullmatch(r"(-?[1248]f?@%\w+ ?)+", forms[f"registers:{event}"]) for event in ("signed", "unsigned", "static", "real"))
    assert all(re.fullmatch(r"(-?[1248]f?@\S*\(\S+\) ?)+", forms[f"memory:{event}"]) for event in ("signed", "unsigned", "static", "real"))
    assert "(%rip)" in forms["memory:static"]
    assert flags[0] == "-O0" or re.search(r"-4@\(%\w+,%\w+,4\)", forms["memory:indexed"])
    assert re.fullmatch(r"-?4f@%xmm\d+ -?8f@%xmm\d+", forms["vectors:real"])
    assert forms["only:constants"].count("@$") == 5
    assert record(exe).err == ""
    assert shown() == expected(PROVIDERS)


@pytest.fixture
def recorded(workdir):
    exe = build("-O1", "-pg")
    assert record(exe).err == ""
    return exe


def test_directory(recorded):
    """A static probe has one event and one definition for each list of argument types. Without
    arguments it needs no definition. Debian's uftrace shows the names of the events."""
    names = [line.split() for line in Path("uftrace.data/events.txt").read_text().splitlines()]
    numbers = [number for _, number, name in names if name == "anywhere:same"]
    assert len(numbers) == 3
    defs = Path("uftrace.data/events.def").read_text()
    assert [re.search(rf"DECLARED: {number} sdt anywhere%3Asame (\S+)\n", defs) is not None for number in numbers] == [True, True, False]
    assert f"DECLARED: {numbers[1]} sdt anywhere%3Asame 8+-4\n" in defs
    result = peer("replay", "--no-pager").must()
    assert Counter(re.findall(r"/\* (anywhere:\w+) \*/", result.out)) == Counter(line.split()[0] for line in expected(["anywhere"]) if "any" in line)


def test_views(recorded):
    replay = utrail("replay").must().out
    assert "/* memory:static (arg1=-100 arg2=65000 arg3=-9223372036854775808) */" in replay
    listed = utrail("events", "list").must().out
    assert re.search(r" 2 .* memory:unsigned  1 2 4 8\n", listed) and re.search(r" 1 .* only:wild  -4 8 2 8 8 4\n", listed)
    rows = json.loads(utrail("events", "export", "--as=json").must().out)
    (wild,) = (row for row in rows if row["event"] == "only:wild")
    assert wild["args"] == {"arg3": 4660, "arg6": 5}
    assert [row["args"] for row in rows if row["event"] == "library:signed"][0] == {"arg1": -1, "arg2": -2, "arg3": -3, "arg4": -4}
    line = utrail("events", "export", "--as=fstrace", "-E", "vectors:real").must().out.splitlines()[0]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6} vectors:real arg1=-1.5 arg2=1e\+100", line)
    for form in ("chrome", "jsonl", "html", "firefox"):
        assert "4660" in utrail("dump", f"--format={form}", "--event-full").must().out


def test_between(recorded):
    """--between matches equal values, also when their operands differ in size."""
    table = utrail("report", "--between", "registers:unsigned,memory:unsigned,arg1,arg4", "--format=csv").must().out
    (row,) = csv.DictReader(io.StringIO(table[1:]))
    assert (row["Count"], row["No end"], row["No begin"]) == ("2", "0", "0")


def test_stripped(workdir):
    """strip removes the addresses of symbols: an argument at such an address is shown as ?, and all
    others have their values."""
    exe = build("-O2", "-pg")
    subprocess.run(["strip", exe], check=True)
    record(exe)
    lines = [line for line in shown() if line.startswith("memory:")]
    assert lines[:4] == [f"memory:{line}" for line in SAME_EVERYWHERE[:4]]
    assert lines[4:6] == ["memory:static arg1=? arg2=? arg3=?"] * 2


def test_handler_of_the_program(workdir):
    """Reading a bad address of an argument does not call the program's handler of SIGSEGV; the
    program's own faults do."""
    Path("segv.c").write_text(r"""
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdint.h>
#define STAP_SDT_ARG_CONSTRAINT m
#include <sys/sdt.h>

static sigjmp_buf back;
static int caught;

static void on_segv(int sig) { caught++; siglongjmp(back, 1); }

__attribute__((noinline, noipa)) void look(volatile int *at)
{
	STAP_PROBE1(only, look, *at);
	__asm__ volatile("nop; nop; nop; nop; nop; nop");
}

int main(void)
{
	sigset_t set;

	signal(SIGSEGV, on_segv);
	look((int *)16);
	if (sigsetjmp(back, 1) == 0)
		*(volatile int *)8192 = 1;
	look((int *)8192);
	sigemptyset(&set);
	sigaddset(&set, SIGSEGV);
	sigprocmask(SIG_BLOCK, &set, NULL);
	look((int *)8192);
	look(&caught);
	printf("caught %d\n", caught);
	return 0;
}
""")
    subprocess.run(["gcc", "-O2", "-pg", "segv.c", "-o", "segv"], check=True)
    assert record("./segv").out == "caught 1\n"
    assert shown() == ["only:look arg1=?"] * 3 + ["only:look arg1=1"]


@pytest.mark.skipif(not shutil.which("g++"), reason="needs g++")
def test_library_of_the_system(workdir):
    """libstdc++ gives the same address of the exception in the events that throw and catch it."""
    Path("throws.cc").write_text("""
int main()
{
	int caught = 0;

	for (int i = 0; i < 3; i++) {
		try {
			throw i;
		} catch (int) {
			caught++;
		}
	}
	return caught - 3;
}
""")
    subprocess.run(["g++", "-O1", "-pg", "throws.cc", "-o", "throws"], check=True)
    if "has no event" in record("./throws").err:
        pytest.skip("this libstdc++ has no probes")
    lines = shown()
    assert len(lines) == 6
    assert all(re.fullmatch(r"libstdcxx:(throw|catch) arg1=0x[0-9a-f]+ arg2=0x[0-9a-f]+", line) for line in lines)
    assert [line.split()[1:] for line in lines[::2]] == [line.split()[1:] for line in lines[1::2]]
