"""Filters and triggers give the same tree, whether record or replay gets them. Other tests are
about filters and triggers that only one of the two commands has."""

import re
import shutil
import subprocess
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

import trees
from data import ENTRY, EXIT, Recording
from programs import SOURCES, Variant, build, chosen, in_turn, program, programs
from test_trees import demangler, expectation
from tools import peer, utrail

METHODS = chosen(["pg", "fentry", "cyg"])

# Filters that mean the same in uftrace. Those by time are left to the tests below: times vary from
# run to run.
SAME_TREE = [
    "-F second",
    "-F second -N fourth",
    "-N fourth",
    "-N ^f",
    "-F ^f -N third",
    "-F first -F fourth -D 2",
    "-F second -D 1",
    "-D 3",
    "-F second@depth=2",
    "-T second@depth=1",
    "-T second@depth=2 -D 2",
    "-T second@filter,depth=1",
    "-T second@notrace",
    "-F again@depth=2",
    "-C fourth",
    "-C fourth -N third",
    "-C usleep",
    "-F usleep",
    "-F puts@PLT",
    "-F second@filtered",
    "-F first -T third@notrace",
    "--match glob -F *th -N f?fth",
    "--match simple -F second",
    "-F second -T third@filter -N fourth",
    "-T first@time=1s -T fourth@trace",
    "-t 1ms",
    "-t 1ms -T again@time=0",
    "-T second@time=1ms",
    "-Z 1000000",
    # These sizes are below or above those of all functions, since recorder and reader know
    # different ones: symbol files do not tell sizes, only where the next function begins.
    "-Z 1",
    "-Z 1000000 -T second@size=1",
    "-T second@size=1000000",
    "-F second@size=1000000",
    "-F second@time=1ms",
    "-F first@depth=3,time=1ms",
    "-F again@caller",
    "-T fourth@caller",
    "-T usleep@caller,filter",
    "-N second@depth=1",
    "-F again@filter,notrace",
    "-F second -N third@filter",
    "-T second@trace",
    "-t 1ms -T fifth@trace",
    "-T second@depth=1 -T second@clear",
    "-T second@depth=1,time=1s -T second@clear=time+depth",
    "-T second@notrace -T ^s@clear=notrace",
    "-F second -N fourth -F fourth@clear",
    "-C third -C third@clear -C usleep",
    "-T second@trace -T .@clear=trace -t 1ms",
    "-T second@size=1000000 -T second@clear=size",
    "-F again@if:arg1==77 -T again@clear=if",
    "--match glob -F s*d -N f????",
    "--match simple -F se.ond -F third",
    "-F .@plt -N usleep@PLT",
    "-F .@nosuchmodule -F third",
    "-F second@kernel",
    "-N .@k -F first",
]


def exe_of(name, method="pg", extra=""):
    return build(program(name), Variant("gcc", method, "O2", extra=extra))


def record(exe, *options, status=0, args=()):
    return utrail("record", "--no-event", "-d", "data", *options, exe, *args).must(status)


NOTHING = 255  # the status of a replay without records


def replay(*options):
    """The calls as text, without times and events."""
    result = utrail("replay", "-d", "data", "-f", "none", "--no-event", *options)
    text = result.out if result.status == NOTHING else result.must().out
    return "\n".join(line for line in text.splitlines() if not line.startswith(("__monstartup", "__cxa_atexit")))


LONG_NS = 40_000_000
# The calls of "filtered" that have the nap in them: one of each.
NAPS = {"main", "first", "second", "third", "usleep"}


def was_paused():
    """True when a call without the nap took as long as one with it, because the machine was busy."""
    long = Counter()
    for task in Recording("data").tasks.values():
        begun = []
        for r in task.records:
            if r.kind == ENTRY:
                begun.append(r)
            elif r.kind == EXIT:
                long[r.name] += r.time - begun.pop().time >= LONG_NS
    return any(nr > (name in NAPS) for name, nr in long.items())


def record_without_pause(exe, *options):
    for _ in range(20):
        record(exe, *options)
        if not was_paused():
            return
    pytest.fail("the machine is too busy")


@pytest.mark.parametrize("options, method", in_turn(SAME_TREE, METHODS))
def test_same_tree(method, options):
    is_timed = "1ms" in options
    exe = exe_of("filtered", method, "long-nap" if is_timed else "")
    options = options.replace("1ms", "40ms").split()
    record_it = record_without_pause if is_timed else record
    record_it(exe, *options)
    # Without this, replay would filter by time again.
    Path("data/default.opts").write_text("")
    recorded = replay()
    record_it(exe)
    assert recorded.strip() == replay(*options).strip()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["second", "fourth"])
def test_recording_that_begins_inside(method, name):
    """Calls keep their depth, though the calls around them were not recorded."""
    options = ["--trace=off", "-T", f"{name}@trace_on"]
    record(exe_of("filtered", method))
    first = next(line for line in replay().splitlines() if line.strip().startswith(f"{name}()"))
    assert first.startswith("  ")
    assert replay(*options).splitlines()[0] == first
    record(exe_of("filtered", method), *options)
    assert replay().splitlines()[0] == first


UNWANTED = ["-N around", "-N between", "-F between", "-F around -N around", "-N grow", "-N inner", "-F inner", "-N part", "-F part",
            "-N within", "-F within", "-N within_twice", "-F within_twice", "-N dive", "-N jumper", "-F dive", "-F leaf",
            "-F jumper -N dive", "-D 1", "-D 2", "-C leaf", "-C dive", "-N leaf -D 3", "-F main -D 2", "-F main -D 3",
            "-F main -D 2 -N grow", "-F grow -D 2", "-F main -N around -D 3", "-F main -N within -D 3", "-F jumper -D 1 -N dive"]


@pytest.mark.parametrize("options, method", in_turn(UNWANTED, METHODS))
@pytest.mark.parametrize("opt", ["O0", "O2"])
def test_unwanted(method, options, opt):
    """The exit of a call without a frame is not taken for another call's."""
    options = options.split()
    exe = build(program("unwanted"), Variant("gcc", method, opt))
    record(exe, "--no-libcall", *options)
    recorded = replay()
    record(exe, "--no-libcall")
    assert recorded.strip() == replay(*options).strip()


OPENED = ["-F deep", "-F tail", "-F thrower", "-F jumps", "-F twice", "-F chain1", "-F chain2 -F deep", "-F deep -N helper", "-F deep -D 1",
          "-F chain1 -D 2", "-F raises", "-F handler", "-F catches -F helper", "-F twice -F deep -D 2", "-F helper",
          "-F .", "-F ^chain -F deep", "-F . -N helper", "-F ^chain -N chain2", "-F ^chain -F deep -D 3"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("options", OPENED)
def test_opened(method, options):
    """A filter lets a function in at its twelfth call as at its first, however the earlier calls
    ended."""
    options = options.split()
    exe = exe_of("opened", method)
    record(exe, "--no-libcall", *options)
    recorded = replay()
    record(exe, "--no-libcall")
    assert recorded.strip() == replay(*options).strip()
    assert recorded.count("\n") > 10


class TestSwitches:
    def test_trace_off_and_on(self):
        record(exe_of("filtered"), "--no-libcall", "-T", "third@trace_off", "-T", "again@trace_on")
        text = replay()
        assert "third" not in text
        assert text.count("again() {") == 4
        assert text.count("second") == 1

    def test_start_switched_off(self):
        record(exe_of("filtered"), "--trace=off", "-T", "again@trace_on")
        assert replay().split()[0] == "again()"

    @pytest.mark.parametrize("method", METHODS)
    def test_finish(self, method):
        result = record(exe_of("filtered", method), "--no-libcall", "-T", "again@finish")
        assert result.out == "done\n", "the program goes on"
        text = replay()
        assert text.count("again() {") == 1
        assert text.count("second") >= 2
        assert "} /* main */" not in text

    def test_trace_off_counts_for_all_tasks(self):
        record(exe_of("threads"))
        assert replay("-T", "main@trace_off").strip() == ""

    @pytest.mark.parametrize("handles", [False, True])
    def test_signals(self, handles):
        """The program's own handler of the signal is called, too."""
        args = ["handle"] if handles else []
        exe = exe_of("switched")
        result = record(exe, "--no-libcall", "--signal", "USR1@trace_off;USR2@trace_on", args=args)
        assert result.out == f"handled {2 if handles else 0}\n"
        assert re.findall(r"one|two|three", replay()) == ["one", "three"]
        record(exe, "--no-libcall", "--signal", "SIGUSR2@finish", args=args)
        assert re.findall(r"one|two|three", replay()) == ["one", "two"]
        record(exe, "--no-libcall", "--trace=off", "--signal", "10@trace_on", args=args)
        assert re.findall(r"one|two|three", replay()) == ["two", "three"]


    @pytest.mark.parametrize("leaves", ["return", "siglongjmp"])
    def test_finish_behind_the_handler(self, leaves, workdir):
        """The calls of the program's own handler are still recorded, and nothing after it."""
        with open("finish.c", "w") as file:
            file.write("""
                #include <setjmp.h>
                #include <signal.h>
                static sigjmp_buf back;
                volatile int n;
                __attribute__((noinline)) void of_handler(void) { n++; }
                __attribute__((noinline)) void before(void) { n++; }
                __attribute__((noinline)) void after(void) { n++; }
                static void handle(int sig) { of_handler(); of_handler(); if (JUMPS) siglongjmp(back, 1); }
                int main(void)
                {
                    signal(SIGUSR1, handle);
                    before();
                    if (!sigsetjmp(back, 1))
                        raise(SIGUSR1);
                    after();
                    return 0;
                }""")
        subprocess.run(["gcc", "-pg", "-O1", f"-DJUMPS={int(leaves == 'siglongjmp')}", "finish.c", "-o", "finish"], check=True)
        record("./finish", "--no-libcall", "--signal", "SIGUSR1@finish")
        assert re.findall(r"before|of_handler|after", replay()) == ["before", "of_handler", "of_handler"]


class TestOneSide:
    """Actions that have an effect only while recording, or only when reading: at the other time
    they do no harm."""

    SHOWN = ["color=red", "color=bold", "backtrace", "hide"]
    RECORDED = ["finish", "read=page-fault", "read=proc/statm", "recover", "callsite", "arg1", "retval", "fparg1/32", "auto-args"]

    @pytest.mark.parametrize("action", SHOWN)
    def test_ignored_while_recording(self, action):
        record(exe_of("filtered"))
        plain = replay()
        assert record(exe_of("filtered"), "-T", f"third@{action}").err == ""
        assert replay() == plain

    @pytest.mark.parametrize("action", RECORDED)
    def test_ignored_when_reading(self, action):
        record(exe_of("filtered"))
        assert replay("-T", f"third@{action}") == replay()

    def test_hide(self):
        record(exe_of("filtered"))
        assert "third" not in replay("-H", "third")
        assert replay("-T", "third@hide") == replay("-H", "third")
        assert replay("-F", "second@hide") == replay("-F", "second", "-H", "second")

    def test_backtrace(self):
        record(exe_of("filtered"))
        text = replay("-F", "fifth", "-T", "fifth@backtrace")
        assert re.findall(r"\[ *\d+\] (\w+) \*/", text)[:5] == ["main", "first", "second", "third", "fourth"]

    @pytest.mark.parametrize("color, code", [("red", 91), ("green", 32), ("blue", 94), ("yellow", 33), ("magenta", 35),
                                             ("cyan", 36), ("bold", 1), ("gray", 90)])
    def test_color(self, color, code):
        record(exe_of("filtered"))
        assert f"{code}mthird" in replay("-T", f"third@color={color}", "--color=yes")

    @pytest.mark.parametrize("action", SHOWN)
    def test_cleared_when_reading(self, action):
        record(exe_of("filtered"))
        word = action.split("=")[0]
        options = ["--color=yes"]
        assert replay("-T", f"third@{action}", *options) != replay(*options)
        assert replay("-T", f"third@{action}", "-T", f".@clear={word}", *options) == replay(*options)
        assert replay("-T", f"third@{action}", "-T", "third@clear", *options) == replay(*options)

    @pytest.mark.parametrize("action", RECORDED)
    def test_cleared_while_recording(self, action):
        word = {"auto-args": "arg"}.get(action, re.split("[=/1]", action)[0])
        exe = exe_of("filtered")
        record(exe, "-T", f"^third$@{action}", "-T", f"third@clear={word}+retval")
        events = utrail("replay", "-d", "data", "-f", "none").must().out
        assert "third() {" in events and "} /* third */" in events and "} /* main */" in events
        assert not re.search(r"read:|callsite", events)


@pytest.mark.parametrize("options", ["-F second -T second@clear", "-F ^secon -T second@clear=filter", "-C fourth -C fourth@clear"])
def test_a_cleared_filter_lets_everything_in(options):
    """A trigger with `clear` cancels the filter of its function, so no call is left out."""
    exe = exe_of("filtered")
    record(exe)
    plain = replay("-f", "none")
    assert replay("-f", "none", *options.split()) == plain
    record(exe, *options.split())
    assert replay("-f", "none") == plain
    listed = utrail("record", "--list-functions", *options.split(), exe).must().out
    assert listed == utrail("record", "--list-functions", exe).must().out


def test_kernel_functions():
    """Patterns for functions of the kernel match no function of the program. A warning says that -k
    records them."""
    record(exe_of("filtered"))
    plain = replay()
    for word in ("kernel", "k"):
        for option in ("-F", "-N", "-T", "-C", "-H"):
            spec = f"second@{word}" + (",depth=1" if option == "-T" else "")
            result = record(exe_of("filtered"), option, spec)
            # A message about -H says that it is an option for reading.
            why = "functions of the kernel are recorded with -k only" if option != "-H" else "'--hide' means nothing for record"
            assert why in result.err and len(result.err.splitlines()) == 1
            assert replay() == plain
            assert utrail("replay", "-d", "data", option, spec, "-f", "none").must().out.count("second() {") == 2


class TestConditions:
    @pytest.mark.parametrize(
        "condition, levels",
        [
            ("arg1==3", 4),
            ("arg1/i32<=1", 2),
            ("arg1 < 1", 1),
            ("arg1>0&&arg1!=3", 3),
            ("arg1==7||arg1==2", 3),
            ("arg1&2", 4),
            ("arg1>=100", 0),
        ],
    )
    @pytest.mark.parametrize("method", ["pg", "fentry"])
    def test_filter_while_recording(self, method, condition, levels):
        record(exe_of("filtered", method), "--no-libcall", "-F", f"again@if:{condition}")
        assert len(re.findall(r"again\(", replay())) == levels

    def test_notrace(self):
        record(exe_of("filtered"), "--no-libcall", "-N", "second@if:arg1==0")
        assert len(re.findall(r"third\(", replay())) == 1

    @pytest.mark.parametrize(
        "condition, says",
        [
            ("retval==0", "return values cannot be known when the function begins"),
            ("arg1>0&&retval>1.5", "return values cannot be known when the function begins"),
            (r'arg1=~"(a)\\w"', "is too much for a regular expression while recording: it has an escaped letter or digit"),
            ('arg1=~"a{99}"', "it is too long"),
        ],
    )
    def test_only_when_reading(self, workdir, condition, says):
        result = utrail("record", "-d", "data", "-F", f"again@if:{condition}", exe_of("filtered"))
        assert result.status == 2
        assert says in result.err and "give the condition when reading" in result.err
        assert len(result.err.splitlines()) == 1 and not (workdir / "data").exists()


class TestReferences:
    """Back references in patterns take too long to match. They are refused in options, and left out
    in a recording's own settings."""

    @pytest.mark.parametrize("options", [["-F", r"(a)\1"], ["-N", r"(.*)\1$"], ["-T", r"(a)\1@trace"], ["-L", r"(a)\1"],
                                         ["-F", r'second@if:arg1=~"(a)\\1"']])
    @pytest.mark.parametrize("command", [["record", "true"], ["replay"]])
    def test_refused(self, workdir, command, options):
        result = utrail(*command[:1], "-d", "data", *options, *command[1:])
        assert result.status == 2 and "refers back to a group" in result.err
        assert len(result.err.splitlines()) == 1 and not (workdir / "data").exists()

    def test_of_a_recording(self, workdir):
        record(exe_of("filtered"), "-A", "second@arg1")
        expected = replay()
        info = workdir / "data/info"
        info.write_bytes(info.read_bytes().replace(b"second@arg1", b"(s*)\\1@arg1"))
        assert "second(" in expected and "second(1" not in replay()


class TestEvents:
    @pytest.mark.parametrize("what", ["proc/statm", "page-fault"])
    @pytest.mark.parametrize("method", METHODS)
    def test_read(self, method, what):
        record(exe_of("filtered", method), "-F", "first", "-T", f"second@read={what}")
        text = utrail("replay", "-d", "data", "-f", "none").must().out
        lines = [line.strip() for line in text.splitlines()]
        at = lines.index("second() {")
        assert lines[at + 1].startswith(f"/* read:{what} (")
        assert lines[lines.index("} /* second */") - 1].startswith(f"/* diff:{what} (")

    def test_a_number_that_falls(self):
        """A negative difference is shown with a minus. uftrace 0.13 shows a number of 20 digits."""
        Path("p.c").write_text(
            "#include <sys/mman.h>\n"
            "static void *p;\n"
            "void take(void) { p = mmap(0, 8 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }\n"
            "void give(void) { munmap(p, 8 << 20); }\n"
            "int main(void) { take(); give(); return 0; }\n")
        subprocess.run(["gcc", "-pg", "-O1", "-fno-inline", "p.c", "-o", "p"], check=True)
        record("./p", "--no-libcall", "-T", "^(take|give)$@read=proc/statm")
        sizes = re.findall(r"diff:proc/statm \(vmsize=(\S+)KB", utrail("replay", "-d", "data", "-f", "none").must().out)
        assert sizes == ["+8192", "-8192"]
        chrome = utrail("dump", "-d", "data", "--format=chrome").must().out
        assert re.findall(r'"vmsize":(-?\d+)', chrome)[1::2] == ["8192", "-8192"]

    @pytest.mark.parametrize("what", ["pmu-cycle", "pmu-cache", "pmu-branch"])
    def test_pmu_that_is_not_there(self, what):
        """A PMU event is either recorded, or one warning names it."""
        result = record(exe_of("filtered"), "-T", f"second@read={what}")
        text = utrail("replay", "-d", "data", "-f", "none").must().out
        if what in text:
            assert text.count(f"read:{what}") == text.count(f"diff:{what}") == 2
        else:
            assert result.err.count(what) == 1

    def test_callsite(self):
        record(exe_of("filtered"), "-F", "first", "-T", "third@callsite")
        dump = utrail("dump", "-d", "data").must().out
        lines = [line for line in dump.splitlines() if re.search(r"entry|callsite\(", line)]
        at = next(i for i, line in enumerate(lines) if "callsite" in line)
        assert "third" in lines[at + 1], "it stands before its call"

    @pytest.mark.parametrize("method", METHODS)
    def test_callsite_in_replay(self, workdir, method):
        text = (SOURCES / "filtered.c").read_text().splitlines()
        at = next(i for i, line in enumerate(text, 1) if "third(us);" in line)
        third = next(i for i, line in enumerate(text, 1) if "void third" in line)
        # The test removes the program's debug information later, so it takes a copy.
        shutil.copy(exe_of("filtered", method), "prog")
        record(workdir / "prog", "--srcline", "-T", "third@callsite")
        # The compiler's directory decides how files are named.
        plain = lambda *options: utrail("replay", "-d", "data", "-f", "none", *options).must().out
        shown = lambda *options: re.sub(r"(/\* |from )\S*filtered\.c:", r"\1FILE:", plain(*options))
        lines = [line.strip() for line in shown().splitlines()]
        assert lines.count(f"third() {{ /* from FILE:{at} */") == 2
        assert not any("callsite" in line or "second() { /*" in line for line in lines)
        assert shown("--srcline").count(f"third() {{ /* FILE:{third} from FILE:{at} */") == 2
        assert "fourth() { /* from" not in plain("-N", "third"), "it was about another call"
        assert "from" not in plain("--no-callsite") and "from" not in plain("--no-comment")
        assert shown("-F", "fourth", "-N", "fifth").count("/* from") == 0
        subprocess.run(["strip", "-g", "prog"], check=True)
        assert len(re.findall(r"third\(\) \{ /\* from second\+0x[0-9a-f]+ \*/", plain())) == 2
        assert "CALLSITE" in utrail("dump", "-d", "data").must().out

    def test_watch_cpu(self):
        record(exe_of("filtered"), "-W", "cpu")
        text = utrail("replay", "-d", "data", "-f", "none").must().out
        assert "/* watch:cpu (cpu=" in text

    def test_watch_variable(self):
        record(exe_of("switched"), "--no-libcall", "-W", "var:counter")
        text = utrail("replay", "-d", "data", "-f", "none").must().out
        assert re.findall(r"counter=(\d+)", text) == ["0", "1", "2"]

    def test_watch_and_read(self):
        """Events of a watch and of a trigger at the same call are in the order of their times."""
        record(exe_of("switched"), "--no-libcall", "-W", "var:counter", "-T", ".@read=proc/statm")
        text = utrail("replay", "-d", "data", "-f", "none").must().out
        assert "counter=2" in text and "diff:proc/statm" in text and "inverted" not in text

    def test_unknown_variable(self):
        result = utrail("record", "-W", "var:countre", exe_of("switched"))
        assert result.status == 1
        assert "no variable 'countre'" in result.err and "counter" in result.err


@pytest.mark.parametrize("method", ["pg", "fentry"])
def test_recover(method, monkeypatch):
    """A program that walks its own stack sees its own return addresses."""
    monkeypatch.setenv("BACKWALK", "1")
    exe = exe_of("backwalk", method)
    assert record(exe).out != "foreign 0\n", "the test would prove nothing"
    assert record(exe, "-T", "walk@recover").out == "foreign 0\n"
    assert "} /* main */" in replay()
    assert "inner() {" in replay()


class TestMessages:
    def test_unmatched(self):
        result = record(exe_of("filtered"), "-F", "secnd", "-N", "nothing_like_this")
        assert "no function matches 'secnd', so that nothing is recorded; the nearest: second" in result.err
        assert "option '--notrace': no function matches 'nothing_like_this'" in result.err
        assert "it has no records of any task" in utrail("replay", "-d", "data").must(255).err
        record(exe_of("filtered"))
        result = utrail("replay", "-d", "data", "-F", "secnd").must()
        assert "no function matches 'secnd', so that nothing is shown; the nearest: second" in result.err
        assert "main" not in result.out

    @pytest.mark.parametrize("option", ["-F", "-C"])
    def test_program_that_has_no_such_function(self, option):
        """The option's function is in one program of a script; the other programs, which lack it,
        are not recorded."""
        exe = exe_of("filtered")
        result = utrail("record", "--no-event", "-d", "data", "--force", option, "second", "sh", "-c", f"true; {exe}; true").must()
        assert result.err == ""
        shown = replay()
        assert "second()" in shown
        names = set(re.findall(r"(\w+)\(", shown))
        assert names <= {"main", "first", "second", "third", "fourth", "fifth", "again", "usleep", "puts"}, names

    def test_unknown_module(self):
        result = record(exe_of("filtered"), "-T", "second@backtrac")
        assert "did you mean the action 'backtrace'" in result.err

    def test_ignored_action(self):
        result = record(exe_of("filtered"), "-F", "second@backtrace")
        assert "action 'backtrace' has no effect here: use --trigger" in result.err

    def test_nothing_to_say(self):
        assert record(exe_of("filtered"), "-F", "second", "-T", "^f@depth=2").err == ""
        assert utrail("replay", "-d", "data", "-F", "third").must().err == ""

    @pytest.mark.parametrize("command", ["record", "replay", "report"])
    def test_wrong_spec(self, command):
        result = utrail(command, "-T", "second@depth=1,colour=red", exe_of("filtered"))
        assert result.status == 2
        assert "option '--trigger': 'second@depth=1,colour=red': column 16" in result.err
        assert "did you mean color" in result.err


class TestListFunctions:
    def listed(self, *options):
        return utrail("record", "--list-functions", *options, exe_of("filtered")).must().out.split()

    def test_all(self):
        names = self.listed()
        assert names == sorted(names)
        assert {"main", "first", "fifth", "puts@PLT", "usleep@PLT"} <= set(names)

    def test_matching(self):
        assert self.listed("-F", "^f", "-N", "fifth") == ["first", "fourth"]
        assert self.listed("--match", "glob", "-F", "f*th") == ["fifth", "fourth"]
        assert self.listed("-F", "puts@PLT") == ["puts@PLT"]

    def test_each_line_is_a_filter(self):
        for name in ("second", "usleep@PLT"):
            assert name in self.listed()
            record(exe_of("filtered"), "-F", name)
            assert replay().startswith(name.split("@")[0] + "()")

    def test_nothing_is_run(self, workdir):
        assert utrail("--list-functions", "-F", "second", exe_of("filtered")).must().out == "second\n"
        assert not list(workdir.iterdir())


class TestOptionFiles:
    def test_words(self, workdir):
        record(exe_of("filtered"))
        (workdir / "opts").write_text("# what to show\n-F 'second'\n\n-N \"fourth\" # and not\n")
        assert replay("--opt-file", "opts") == replay("-F", "second", "-N", "fourth")

    def test_command_line_wins(self, workdir):
        record(exe_of("filtered"))
        (workdir / "opts").write_text("-D 1")
        assert replay("--opt-file", "opts", "-D", "2") == replay("-D", "2")

    def test_command_and_program(self, workdir):
        (workdir / "opts").write_text(f"record --no-event -d data -F second {exe_of('filtered')}")
        utrail("--opt-file", "opts").must()
        assert replay().startswith("second() {")

    @pytest.mark.parametrize(
        "text, says", [("-D", "in 'opts'"), ("'a", "line 1: the quote has no end"), ("--opt-file x", "another one")]
    )
    def test_wrong(self, workdir, text, says):
        (workdir / "opts").write_text(text)
        result = utrail("replay", "--opt-file", "opts")
        assert result.status != 0 and says in result.err

    def test_missing(self):
        result = utrail("replay", "--opt-file", "nowhere")
        assert result.status == 1 and "'nowhere'" in result.err

    def test_default_opts(self, workdir):
        record(exe_of("filtered"), "-t", "1ms")
        assert (workdir / "data/default.opts").read_text() == "-t 1ms\n"
        record(exe_of("filtered"))
        assert (workdir / "data/default.opts").read_text() == ""
        (workdir / "data/default.opts").write_text("-t 1ms\n")
        assert replay() == replay("-t", "1ms")
        assert "fifth" in replay("-t", "1ns"), "what the user says counts"
        assert "fifth" in replay("-r", "~1s")
        assert "fifth" in replay("-t", "0")

    @pytest.mark.parametrize("words", [["-T", "fifth@trace"], ["-T", "fifth@time=0"], ["-F", "first", "-T", "^fif@trace"]])
    def test_short_calls_that_were_asked_for(self, words):
        """Reading does not apply -t again to calls that record kept on request."""
        record(exe_of("filtered"), "-t", "100s", *words)
        assert "fifth" in replay()
        record(exe_of("filtered"), "-t", "100s")
        assert "fifth" not in replay()

    @pytest.mark.parametrize("command", ["replay", "report", "graph", "dump", "info"])
    def test_default_opts_of_a_stranger(self, workdir, command):
        """A stranger's default.opts: only the options that `record` writes are taken. Files to
        write to, other directories and patterns are ignored."""
        record(exe_of("filtered"))
        expected = utrail(command, "-d", "data", "-t", "1ms").must().out
        log = workdir / "log"
        text = f"--logfile={log} -d nowhere --opt-file=nowhere -F '((' -t 1ms -t nonsense --no-such-option text -D0 -vvv -- -d x\n"
        (workdir / "data/default.opts").write_text(text)
        result = utrail(command, "-d", "data").must()
        assert result.out == expected
        assert not log.exists()
        assert result.err.count("\n") == 1, result.err
        for name in ("--logfile", "--data", "--opt-file", "--filter", "--depth", "--verbose", "no options"):
            assert name in result.err
        assert "--time-filter with a wrong argument" in result.err

    def test_default_opts_that_cannot_be_read(self, workdir):
        record(exe_of("filtered"))
        expected = utrail("replay", "-d", "data").must().out
        (workdir / "data/default.opts").write_text("-t '1ms")
        result = utrail("replay", "-d", "data").must()
        assert result.out == expected and "the quote has no end" in result.err


class TestSymbolFolder:
    def test_reading(self, workdir):
        record(exe_of("filtered"))
        expected = replay()
        (workdir / "syms").mkdir()
        for path in (workdir / "data").glob("*.sym"):
            path.rename(workdir / "syms" / path.name)
        assert replay() != expected
        assert replay("--with-syms", "syms") == expected

    def test_recording_a_stripped_program(self, workdir, tmp_path):
        exe = exe_of("filtered")
        record(exe)
        (workdir / "syms").mkdir()
        for path in (workdir / "data").glob("filtered*.sym"):
            path.rename(workdir / "syms" / path.name)
        subprocess.run(["strip", "-o", "filtered", exe], check=True)
        record(workdir / "filtered", "--with-syms", "syms", "-F", "second")
        assert replay().startswith("second() {")

    def test_missing(self):
        record(exe_of("filtered"))
        result = utrail("replay", "-d", "data", "--with-syms", "nowhere")
        assert result.status == 1 and "cannot open 'nowhere'" in result.err


@pytest.mark.parametrize("method", METHODS)
def test_live(method):
    """live does not apply the filter of a recording again. Options for showing are applied."""
    text = utrail("live", "--no-event", "-f", "none", "-F", "second@depth=2", "-H", "third", exe_of("filtered", method))
    lines = [line.strip() for line in text.must().out.splitlines() if line.strip() != "done"]
    assert lines == ["second() {", "fourth();", "} /* second */"] * 2


def test_live_has_obeyed_conditions():
    """live does not check conditions again, since that would need recorded arguments."""
    text = utrail("live", "--no-event", "--no-libcall", "-f", "none", "-F", "again@if:arg1==1", exe_of("filtered"))
    assert len(re.findall(r"again\(", text.must().out)) == 2


def compile_located(name, *sources):
    paths = [SOURCES / "located" / source for source in sources]
    subprocess.run(["gcc", "-O2", "-g", "-fno-inline", "-fno-ipa-cp", "-pg", "-o", name, *paths], check=True)
    return Path(name).resolve()


@pytest.mark.parametrize(
    "options, calls",
    [
        ("-L outer.c", "main outer deep"),
        ("-L located", "main outer inner deep"),
        ("-L inner.c", "inner"),
        ("-L !inner.c", "main outer deep"),
        ("-L inner.c@hide", "main outer deep"),
        ("-L outer.c -D 1", "main"),
        ("-L outer.c -N outer", "main"),
        ("-L inner.c -L outer.c", "main outer inner deep"),
        ("-F outer -L inner.c", "inner"),
    ],
)
def test_locations(options, calls):
    """A filter by source file lets in the file's functions, without their calls into other files,
    while recording and when reading."""
    exe = compile_located("located", "outer.c", "inner.c")
    record(exe, "--no-libcall", *options.split())
    assert re.findall(r"(\w+)\(\)", replay()) == calls.split()
    record(exe, "--no-libcall", "--srcline")
    assert re.findall(r"(\w+)\(\)", replay(*options.split())) == calls.split()


@pytest.mark.parametrize("version", [4, 5])
def test_locations_of_clang(version):
    """A unit's file number 0, which DWARF 5 allows and clang uses, is a file like others."""
    if not shutil.which("clang"):
        pytest.skip("clang is not installed")
    paths = [SOURCES / "located" / source for source in ("outer.c", "inner.c")]
    subprocess.run(["clang", "-O1", f"-gdwarf-{version}", "-fno-inline", "-pg", "-o", "located", *paths], check=True)
    record(Path("located").resolve(), "--no-libcall", "-L", "inner.c")
    assert re.findall(r"(\w+)\(\)", replay()) == ["inner"]


def test_unmatched_location():
    exe = compile_located("located", "outer.c", "inner.c")
    assert "no source file of a function matches 'nowhere.c'" in record(exe, "-L", "nowhere.c").err


class TestConditionsWhenReading:
    @pytest.mark.parametrize(
        "condition, calls",
        [
            ("around@if:arg1==9", ["around(9, 2)"]),
            ("around@if:arg1/i32>2&&arg2<3", ["around(9, 2)"]),
            ("around@if:retval==0", ["around(3, 3)"]),
            ("around@if:retval/i32<0||arg1==9", ["around(1, 5)", "around(9, 2)"]),
            ('length@if:arg1=="beta"', ['length("beta")']),
            ('length@if:arg1!="beta"', ['length("alpha")', 'length("alphabet")']),
            ('length@if:arg1^="alpha"', ['length("alpha")', 'length("alphabet")']),
            ('length@if:arg1=~"t$"', ['length("alphabet")']),
            ("length@if:retval>4", ['length("alpha")', 'length("alphabet")']),
            ("half@if:fparg1>2", ["half(3.000000)"]),
            ("half@if:retval<1.0", ["half(1.000000)"]),
        ],
    )
    def test_filter(self, condition, calls):
        exe = compile_located("values", "values.c")
        record(exe, "--no-libcall", "-A", "around@arg1/i32,arg2/i32", "-R", "around@retval/i32", "-A", "length@arg1/s",
               "-R", "length@retval/i32", "-A", "half@fparg1", "-R", "half@retval/f")
        text = replay("-F", condition, "-N", "difference")
        assert re.findall(r"\w+\([^)]*\)", text) == calls

    def test_nothing_recorded(self):
        """A condition on a value that was not recorded is false."""
        record(compile_located("values", "values.c"), "--no-libcall")
        assert replay("-F", "around@if:arg1==9") == ""
        assert "difference" not in replay("-N", "around") and "difference" in replay("-N", "around@if:arg1==9")


# Conditions, and the numbers of the calls for which they hold: tests/e2e/src/located/conditions.cc.
CONDITIONS = [
    ("text@if:arg2==3", "3"),
    ("text@if:arg2/i32<0", "-1"),
    ("text@if:arg2&4", "4 5 6 7 -1"),
    ('text@if:arg1=="beta"', "1"),
    ('text@if:arg1!="beta"', "0 2 3 4 5 6 7 -1"),
    ('text@if:arg1^="alpha"', "0 2"),
    ('text@if:arg1^=""', "0 1 2 3 5 6 7 -1"),
    ('text@if:arg1==""', "3"),
    ('text@if:arg1=~"t$"', "2"),
    ('text@if:arg1=~"^(al|be).*a$"', "0 1"),
    ('text@if:arg1=~"[[:digit:]]{2}"', "7 -1"),
    ('text@if:arg1=~"^$"', "3"),
    ('text@if:arg1=~"pha"', "0 2"),
    ('text@if:arg1=~"operator *|bet"', "1 2"),
    ('text@if:arg1=~"."', "0 1 2 5 6 7 -1"),
    ('text@if:arg1=="<0x10>"', "7"),
    (f'text@if:arg1=="{"x" * 97}"', "5"),
    (f'text@if:arg1=="{"x" * 95}..."', "6"),
    (f'text@if:arg1^="{"x" * 90}"', "5 6"),
    ('text@if:arg1=~"x\\\\.\\\\.\\\\.$"', "6"),
    ('text@if:arg1^="alpha"&&arg2>0', "2"),
    ('text@if:arg1=="beta"||arg2==5||arg1==""&&arg2==4', "1 5"),
    ('object@if:arg1/S=="beta"', "1"),
    ('object@if:arg1/S=~"^alpha(bet)?$"', "0 2"),
    ('object@if:arg1/S!=""', "0 1 2 4 5"),
    ('object@if:arg1/S^="a"', "0 2 4"),
    ('object@if:arg1/S=~"b$"', ""),
    ("real@if:fparg1>2", "0 5 6"),
    ("real@if:fparg1==-1.5", "1"),
    ("real@if:fparg1<0", "1 7"),
    ("real@if:fparg1<=0", "1 2 3 7"),
    ("real@if:fparg1!=1e300", "0 1 2 3 4 6 7 8"),
    ("real@if:fparg1==0", "2 3"),
    ("real@if:fparg1>1e-320", "0 4 5 6"),
    ("real@if:arg1/f>=1e300", "5 6"),
    ("single@if:fparg1/32==0.5", "0"),
    ("single@if:fparg1/32<-1", "1 4"),
    ("single@if:fparg1/32>0&&fparg1/32<1e-38", "2"),
    ("single@if:fparg1/32>1e38", "3"),
    ("many@if:fparg9==9", "0"),
    ("many@if:fparg2==2&&fparg9<9", "1"),
    ("many@if:arg1==1", "1"),
    ("extended@if:fparg1/80==0.1", "0"),
    ("extended@if:fparg1/80>2.5", "2 3"),
    ("extended@if:fparg1/80<-1", "1 4"),
    ("extended@if:fparg1/80!=0", "0 1 2 3 4"),
]
RECORDED = ["-A", "text@arg1/s,arg2/i32", "-A", "object@arg1/S,arg2/i32", "-A", "real@fparg1,arg1/i32", "-A",
            "single@fparg1/32,arg1/i32", "-A", "many@arg1/i32,fparg2,fparg9", "-A", "extended@arg1/i32,fparg1/80"]
NUMBER_AT = {"many": 0, "extended": 0}  # in other functions the number is the last argument


def numbers_of(lines, function):
    found = [re.sub(r'".*"', "", found) for found in re.findall(rf"^{function}\((.*)\)(?: \{{|;)", lines, re.M)]
    return " ".join(arguments.split(", ")[NUMBER_AT.get(function, -1)] for arguments in found)


@pytest.fixture(scope="module", params=["pg", "fentry", "libc++"])
def conditions(request, tmp_path_factory):
    """The program, and a recording of it that was made without filters and has arguments."""
    where = tmp_path_factory.mktemp("conditions")
    flags = {"pg": ["g++", "-pg"], "fentry": ["g++", "-pg", "-mfentry"], "libc++": ["clang++", "-stdlib=libc++", "-pg"]}
    compiler, *method = flags[request.param]
    source = SOURCES / "located" / "conditions.cc"
    subprocess.run([compiler, "-O1", *method, "-o", where / "conditions", source], check=True)
    utrail("record", "--no-event", "--no-libcall", "-d", where / "all", *RECORDED, where / "conditions").must()
    return where / "conditions", where / "all"


@pytest.mark.parametrize("condition, numbers", CONDITIONS, ids=[c for c, _ in CONDITIONS])
def test_conditions_at_both(conditions, condition, numbers):
    """A condition holds for the same calls while recording and when reading, for all types."""
    exe, everything = conditions
    function = condition.split("@")[0]
    assert numbers_of(utrail("replay", "-d", everything, "-f", "none", "-F", condition).out, function) == numbers
    record(exe, "--no-libcall", *RECORDED, "-F", condition)
    # A filter limits the recording to its calls, so each call that is left is one for which the
    # condition holds.
    assert numbers_of(replay(), function) == numbers


PLANNED = [
    pytest.param(prog, variant, options, id=f"{prog.name}-{variant}{options[0]}{options[1]}")
    for (prog, options), variant in in_turn(
        list(product(programs(), (["-T", ".@time=0"], ["-F", "."]))),
        [Variant("gcc", method, "O2") for method in METHODS],
        lambda thing, v: thing[0].fits(v) and thing[0].one("tree", v) and not thing[0].one("xfail", v),
    )
]


@pytest.mark.parametrize("prog, variant, options", PLANNED)
def test_hazards(prog, variant, options):
    """Every function has a rule, and none leaves it out: programs with longjmp, exceptions,
    coroutines, signals and forks come out as without rules."""
    exe = build(prog, variant)
    traced = utrail("record", "--no-libcall", *options, *prog.one("options", variant, "").split(), exe)
    traced.must(int(prog.one("status", variant, "0")))
    recording = Recording("uftrace.data")
    assert recording.lost == 0
    without = prog.one("ignore", variant, "").split()
    names = demangler(recording)
    recorded = Counter(trees.of_records(task, names, without) for task in recording.tasks.values())
    assert recorded == expectation(prog, variant)


FORKED = r"""
#include <sys/wait.h>
#include <unistd.h>
#define FN __attribute__((noinline))
FN void leaf(void) { __asm__ volatile(""); }
FN void below(void) { leaf(); __asm__ volatile(""); }
FN void beside(void) { leaf(); __asm__ volatile(""); }
FN int spawn(void)
{
    int pid = fork();

    if (pid)
        waitpid(pid, NULL, 0);
    else
        below();
    __asm__ volatile("");
    return pid;
}
FN int middle(void) { int pid = spawn(); leaf(); return pid; }
int main(void) { int pid = middle(); beside(); return pid < 0; }
"""

CHILDREN = [
    "-N spawn",
    "-N middle",
    "-N main",
    "-N fork",
    "-F below",
    "-F spawn",
    "-F middle -N leaf",
    "-F middle -D 2",
    "-F main@depth=2 -F beside",
    "-F beside",
]


def shown(lines):
    """The lines of a replay as depths, words and names of leaves, without times."""
    return [re.sub(r"(?<=[^ ])[(); /*]+|(?<=})[ /*]+", " ", line).rstrip() for line in lines if line.strip()]


def build_forked(tmp_path):
    source = tmp_path / "forked.c"
    source.write_text(FORKED)
    exe = tmp_path / "forked"
    subprocess.run(["gcc", "-pg", "-O1", source, "-o", exe], check=True)
    return exe


def last_task(directory):
    """The number of the child's task, the last one of task.txt."""
    return re.findall(r"^FORK .* pid=(\d+)", Path(directory, "task.txt").read_text(), re.M)[-1]


@pytest.mark.parametrize("options", CHILDREN)
def test_forked_child(options, tmp_path):
    """Filters work in a forked child within the calls that it inherits, equally while recording and
    when reading, with and without library calls."""
    exe = build_forked(tmp_path)
    for libcalls in ([], ["--no-libcall"]):
        replays = []
        for recorded, read in (([], options.split()), (options.split(), [])):
            utrail("record", "--no-event", *libcalls, *recorded, exe).must()
            tids = list(Recording("uftrace.data").tasks)
            texts = [utrail("replay", "-f", "none", "--tid", str(tid), *read).must().out for tid in tids]
            replays.append([shown(text.splitlines()) for text in texts if shown(text.splitlines())])
        assert replays[0] == replays[1]


DEPTHS = {
    "-N __cxa_atexit": "4} fork, 4below, 5leaf, 4} below, 3} spawn, 3leaf, 2} middle, 2beside, 3leaf, 2} beside, 1} main",
    "-N leaf": "4} fork, 4below, 3} spawn, 2} middle, 2beside, 1} main",
    "-N fork": "4below, 5leaf, 4} below, 3} spawn, 3leaf, 2} middle, 2beside, 3leaf, 2} beside, 1} main",
    "-N spawn": "3leaf, 2} middle, 2beside, 3leaf, 2} beside, 1} main",
    "-H spawn": "3} fork, 3below, 4leaf, 3} below, 3leaf, 2} middle, 2beside, 3leaf, 2} beside, 1} main",
    "-N spawn --no-libcall": "3leaf, 2} middle, 2beside, 3leaf, 2} beside, 1} main",
    "-F spawn": "2} fork, 2below, 3leaf, 2} below, 1} spawn",
    "-F middle": "3} fork, 3below, 4leaf, 3} below, 2} spawn, 2leaf, 1} middle",
    "-F below": "1below, 2leaf, 1} below",
    "-C below": "4} fork, 4below, 3} spawn, 2} middle, 1} main",
    "-F main@depth=2 -F beside": "2} middle, 2beside, 3leaf, 2} beside, 1} main",
}


def test_depth_of_forked_child(tmp_path):
    """A forked child begins inside of calls of its parent. If these calls are shown, they count for
    the depth of the child's calls. The result is the same for filters of `record` and `replay`."""
    exe = build_forked(tmp_path)
    utrail("record", "--no-event", "-d", "all", exe).must()
    for options, expected in DEPTHS.items():
        texts = [utrail("replay", "-d", "all", "-f", "none", "--tid", last_task("all"), *options.split()).must().out]
        if "-H" not in options:
            utrail("record", "--no-event", "-d", "some", *options.split(), exe).must()
            texts.append(utrail("replay", "-d", "some", "-f", "none", "--tid", last_task("some")).must().out)
        for text in texts:
            lines = re.findall(r"^( *)((?:} /\* )?\w+)", text, re.M)
            found = [f"{len(margin) // 2 + 1}{name.replace('/* ', '')}" for margin, name in lines]
            assert found == expected.split(", "), options


@pytest.mark.parametrize("depth", ["1", "2", "3", "4"])
def test_limit_of_forked_child(depth, tmp_path):
    """-D in a child counts levels from its first call on, with or without other filters. With -F it
    counts from the filter's function."""
    exe = build_forked(tmp_path)
    utrail("record", "--no-event", exe).must()
    child = ["replay", "-f", "none", "--tid", last_task("uftrace.data"), "-D"]
    plain = utrail(*child, depth).must().out
    assert "below" in plain
    for other in ("nosuch", "__cxa_atexit"):
        assert utrail(*child, depth, "-N", other).must().out == plain
    inside = utrail(*child, depth, "-F", "below").must().out
    assert ("leaf" in inside) == (int(depth) > 1)


def test_depth_of_forked_child_unknown(tmp_path):
    """When the calls that the child begins in are unknown, all its calls count; with -F none of
    them counts."""
    exe = build_forked(tmp_path)
    utrail("record", "--no-event", exe).must()
    after_fork = ["-f", "none", "-r", "1ns~", "--tid", last_task("uftrace.data")]
    assert utrail("replay", *after_fork, "-N", "leaf").must().out.splitlines()[0] == "      } /* fork */"
    assert utrail("replay", *after_fork, "-F", "beside").must().out.splitlines()[0] == "beside() {"


@pytest.mark.needs_peer
@pytest.mark.parametrize("options", ["-N __cxa_atexit", "-N leaf", "-T leaf@hide"])
def test_depth_of_forked_child_as_peer(options, tmp_path):
    """The peer lets the child go on at the depth that its parent showed. In these cases, the text
    is the same with the peer's rule and with ours."""
    exe = build_forked(tmp_path)
    utrail("record", "--no-event", exe).must()
    ours = utrail("replay", "-f", "none", *options.split()).must().out
    theirs = peer("replay", "-f", "none", *options.split()).must().out
    assert ours.splitlines() == theirs.splitlines()


def test_depth_of_an_option_file(workdir):
    """-D in an option file counts as in the command line."""
    exe = build(program("recursion"), Variant("gcc", "pg", "O2"))
    Path("options").write_text("-D 2\n")
    utrail("record", "--opt-file=options", "--no-event", exe).must(25)
    (task,) = Recording("uftrace.data").tasks.values()
    assert {r.depth for r in task.records} == {0, 1}
