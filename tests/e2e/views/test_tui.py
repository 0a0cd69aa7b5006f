"""utrail tui on a screen: each key, terminals of all sizes, and a terminal that works
afterwards."""

import os
import re
import signal
import subprocess
import time

import pytest

from programs import Variant, build, program
from screens import PATIENCE_S, Screen, has_tmux
from tools import UTRAIL, utrail

pytestmark = pytest.mark.skipif(not has_tmux(), reason="tmux is not installed")

PG = Variant("gcc", "pg", "O2")


@pytest.fixture
def recording(workdir):
    utrail("record", "--no-event", build(program("plain"), PG)).must()
    return workdir


def tui(workdir, *options, **screen):
    return Screen(workdir, " ".join([str(UTRAIL), "tui", *options]), **screen)


def test_every_view(recording):
    with tui(recording) as screen:
        lines = screen.wait_for("main")
        assert lines[0] == "  TOTAL TIME : FUNCTION" and lines[-1].startswith("utrail graph: session ")
        assert lines[-1].endswith(" 0%") and screen.cursor() == 1
        for key, words in {
            "T": ["DURATION", "main() {"], "R": ["*TOTAL TIME", "main"], "s": ["*SELF TIME"], "I": ["utrail info", "# cmdline"], "S": [" G  call Graph for session #1: plain"],
            "G": [" : FUNCTION"], "h": ["Help: ", "PageUp"], "x": [" : FUNCTION"], "f": ["[ x ] total-time"], "Escape": [" : FUNCTION"],
            "v": ["line 0 of "], "g": ["utrail graph: line"],
        }.items():
            screen.send(key)
            for word in words:
                screen.wait_for(word)
        screen.send("G", "End", "g")
        screen.wait_for("=== Function Call Graph for '")
        screen.send("q")
        assert screen.status() == 0


def test_search(recording):
    with tui(recording) as screen:
        screen.wait_for("main")
        screen.send("N")
        screen.wait_for("nothing was searched for")
        screen.send("/")
        screen.type("maim")
        screen.send("BSpace")
        screen.type("n")
        screen.wait_for("/main")
        screen.send("Enter")
        screen.wait_for('searching "main"  (1 match')
        assert screen.lines()[screen.cursor()].endswith(") main")
        screen.send("/")
        screen.type("x")
        screen.send("Escape")
        screen.settle()
        assert "searching" not in screen.lines()[-1]


def test_fields(recording):
    with tui(recording) as screen:
        screen.wait_for("main")
        screen.send("f", "Down", "Space")
        screen.wait_for("[ x ] self-time")
        screen.send("Enter")
        screen.wait_for("  TOTAL TIME   SELF TIME : FUNCTION")
        screen.send("R")
        screen.wait_for("CALL")
        screen.send("f", "Down", "Space", "Enter")
        screen.wait_for(" *TOTAL TIME   TOTAL AVG   SELF TIME        CALL  FUNCTION")


def test_list_of_programs(workdir):
    utrail("record", "--no-event", build(program("exec"), PG))
    with tui(workdir) as screen:
        lines = screen.wait_for("call Graph for session #2")
        assert lines[0] == "Key utrail command"
        screen.send("Down", "Enter")
        screen.wait_for(" : FUNCTION")
        screen.send("S")
        screen.wait_for("quit")
        screen.send("End", "Enter")
        assert screen.status() == 0


def test_report_first(recording):
    with tui(recording, "--report", "-s", "call", "-f", "total,call") as screen:
        screen.wait_for("  TOTAL TIME       *CALL  FUNCTION")


def replayed(*options):
    return [line.rstrip() for line in utrail("replay", *options).must().out.splitlines()]


@pytest.mark.parametrize("name", ["plain", "threads", "fork", "cplusplus", "longjmp", "exec", "sleeps", "signal"])
def test_replay_has_the_lines_of_replay(workdir, name):
    utrail("record", build(program(name), PG))
    expected = replayed()
    body = expected[:expected.index("utrail stopped tracing with remaining functions") - 1] if any("remaining" in line for line in expected) else expected
    with tui(workdir, "--no-sched-preempt", columns=250, rows=len(body) + 10) as screen:
        screen.wait_for(" : FUNCTION") if name not in ("fork", "exec") else screen.wait_for("utrail ")
        screen.send("T")
        screen.wait_for("utrail replay: line 1")
        screen.settle()
        assert [line for line in screen.lines()[:-1] if line] == [line for line in body if line]


def test_replay_folds(recording):
    with tui(recording, columns=120, rows=60) as screen:
        screen.wait_for("main")
        screen.send("T")
        screen.wait_for("utrail replay: line 1")
        lines = screen.settle()
        row = next(row for row, line in enumerate(lines) if line.endswith("| main() {"))
        end = next(row for row, line in enumerate(lines) if line.endswith("| } /* main */"))
        screen.send(*["Down"] * (row - screen.cursor()), "Enter")
        screen.wait_for("main() { ... }")
        folded = screen.settle()
        assert folded[:row] == lines[:row] and [x for x in folded[row + 1:-1] if x] == [x for x in lines[end + 1:-1] if x]
        screen.send("Enter")
        screen.wait_for("} /* main */")
        assert screen.settle()[:-1] == lines[:-1]
        # A fold inside another one stays folded.
        screen.send("t", "G", "T", "Home", "End", "w", "/", "x", "Enter", "q")
        assert screen.status() == 0


def test_replay_of_a_function(recording):
    with tui(recording) as screen:
        screen.wait_for("main")
        screen.send("/")
        screen.type("main")
        screen.send("Enter", "t")
        screen.wait_for("utrail replay: line ")
        screen.wait_until(lambda lines: lines[screen.cursor()].endswith("| main() {"))
        screen.send("g")
        screen.wait_for("=== Function Call Graph for 'main' ===")


def test_replay_of_many_pages(workdir):
    """Each screen of a long recording shows the lines of replay."""
    source = workdir / "long.c"
    source.write_text("""int leaf(int n) { return n + 1; }
        int middle(int n) { int sum = 0; for (int i = 0; i < 9; i++) sum += leaf(n + i); return sum; }
        int main(void) { volatile int sum = 0; for (int i = 0; i < 9000; i++) sum += middle(i); return 0; }
        """)
    subprocess.run(["gcc", "-pg", "-O0", "-o", "long", str(source)], check=True)
    utrail("record", "--no-event", "./long").must()
    expected = replayed()[1:]
    with tui(workdir, rows=40) as screen:
        screen.wait_for("main")
        screen.send("T", "End")
        for key in ["", "PPage", "PPage", "Up", "z", "Home", "NPage", "NPage", *["NPage"] * 3]:
            if key:
                screen.send(key)
            lines = screen.settle()
            shown = int(re.search(r"line (\d+) of (\d+)", lines[-1])[1])
            assert re.search(r"of (\d+)", lines[-1])[1] == str(len(expected))
            first = shown - screen.cursor()
            assert lines[1:-1] == expected[first:first + 38], key
        # The last call's caller is many pages away.
        screen.send("End", "Up", "Up", "u")
        screen.wait_until(lambda lines: lines[screen.cursor()].endswith("|   middle() {"))
        screen.send("u")
        screen.settle()
        assert screen.lines()[screen.cursor()].endswith("| main() {")
        screen.send("Enter")
        screen.wait_for("| main() { ... }")
        screen.wait_until(lambda lines: lines[-1].endswith("100%"))


@pytest.mark.parametrize("size", [(1, 1), (5, 3), (80, 1), (2, 40), (300, 100)], ids=str)
def test_sizes(recording, size):
    with tui(recording) as screen:
        screen.wait_for("main")
        for columns, rows in (size, (80, 24), size, (81, 23)):
            screen.resize(columns, rows)
            for key in ("Down", "R", "g", "h", "x", "I", "End", "f", "G", "z", "NPage", "S"):
                screen.send(key)
            screen.settle()
        screen.send("G")
        screen.wait_for("main")
        screen.send("q")
        assert screen.status() == 0


def test_editor(recording):
    source = recording / "plain.c"
    shown = recording / "shown"
    editor = recording / "vi"
    editor.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {shown}\n')
    editor.chmod(0o755)
    utrail("record", "--no-event", "--srcline", build(program("plain"), PG)).must()
    with tui(recording, env={"EDITOR": f"'{editor} -x'"}) as screen:
        screen.wait_for("main")
        screen.send("/")
        screen.type("main")
        screen.send("Enter", "O")
        screen.settle()
        screen.send("q")
        assert screen.status() == 0
    words = shown.read_text().splitlines()
    assert words[0] == "-x" and words[1].startswith("+") and words[2].endswith(source.name) and words[2].startswith("/")


@pytest.mark.parametrize("sig", ["TERM", "INT", "HUP", "QUIT", "SEGV", "ABRT"])
def test_signals_restore_the_terminal(recording, sig):
    command = f"sh -c 'stty -a > before; {UTRAIL} tui; echo $? > status; stty -a > after; echo done; exec cat'"
    with Screen(recording, command) as screen:
        screen.wait_for(" : FUNCTION")
        pid = subprocess.run(["pgrep", "-P", str(screen.pid())], text=True, stdout=subprocess.PIPE, check=True).stdout.split()
        os.kill(int(pid[0]), getattr(signal, f"SIG{sig}"))
        screen.wait_for("done")
        assert not any("FUNCTION" in line for line in screen.lines()), "the other screen is left"
        assert screen.tmux("display-message", "-p", "-t", screen.name, "#{cursor_flag}").strip() == "1"
    assert (recording / "before").read_text() == (recording / "after").read_text()
    assert int((recording / "status").read_text()) == 128 + getattr(signal, f"SIG{sig}")


def test_stopped_and_continued(recording):
    with Screen(recording, f"bash -i -c '{UTRAIL} tui; echo stopped; fg; echo ended'") as screen:
        screen.wait_for(" : FUNCTION")
        screen.send("C-z")
        screen.wait_for(" : FUNCTION")
        screen.send("Down")
        screen.settle()
        screen.send("q")
        screen.status()


@pytest.mark.parametrize("redirected", ["< /dev/null", "> out"])
def test_no_terminal(recording, redirected):
    result = subprocess.run(["sh", "-c", f"exec {UTRAIL} tui {redirected}"], text=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    assert result.returncode == 1 and "tui needs a terminal" in result.stderr


def test_unknown_terminal(recording):
    for term in ("nosuch", "dumb", ""):
        with Screen(recording, f"sh -c '{UTRAIL} tui; echo status $?; exec cat'", env={"TERM": term or "''"}) as screen:
            screen.wait_for("status 1")
            assert any("cannot use a terminal of the kind" in line for line in screen.lines())


@pytest.mark.parametrize("options,env", [(["--color=no"], {}), ([], {"NO_COLOR": "1"})], ids=["option", "variable"])
def test_no_color(recording, options, env):
    with tui(recording, *options, env=env) as screen:
        screen.wait_for("main")
        assert not any(f"\x1b[{number}m" in line for line in screen.raw() for number in (*range(30, 38), *range(40, 48)))
        assert screen.cursor() == 1


def test_ascii(recording):
    with tui(recording, env={"LC_ALL": "C"}) as screen:
        screen.wait_for("main")
        assert all(line.isascii() for line in screen.lines())
        assert any(" +-(" in line for line in screen.lines())


def press_all(screen):
    """Press every key in every view: the program keeps running."""
    for view in ("G", "g", "R", "T", "I", "S"):
        screen.send(view)
        for key in ("End", "PPage", "Up", "Enter", "Home", "NPage", "c", "e", "n", "p", "u", "l", "C", "E", "s", "w", "z", "Right", "Left", "N", "P", "t"):
            screen.send(key)
        screen.settle()
        assert not screen.is_dead()
        screen.send(view)
    screen.send("q")
    assert screen.status() == 0


MANY = {
    "deep": """int down(int n) { return n ? down(n - 1) + 1 : 0; } int up(int n) { return n ? down(9) + up(n - 1) : 0; }
        int main(void) { return up(30000) & 1; }""",
    "wide": "".join(f"int function_{i}(int n) {{ return n + {i}; }} " for i in range(2000)) +
            "int main(void) { int n = 0; " + "".join(f"n += function_{i}(n); " for i in range(2000)) + "return n & 0; }",
    "tasks": """#include <pthread.h>
        static void *work(void *arg) { return arg; } void *start(void *arg) { return work(arg); }
        int main(void) { pthread_t tasks[300]; for (int i = 0; i < 300; i++) pthread_create(&tasks[i], 0, start, 0);
        for (int i = 0; i < 300; i++) pthread_join(tasks[i], 0); return 0; }""",
}


@pytest.mark.parametrize("name", MANY)
def test_many(workdir, name):
    (workdir / "many.c").write_text(MANY[name])
    subprocess.run(["gcc", "-pg", "-O0", "-pthread", "-o", "many", "many.c"], check=True)
    utrail("record", "--no-event", "--max-stack=65535", "-D", "65534", "./many")
    with tui(workdir) as screen:
        screen.wait_for(" : FUNCTION")
        press_all(screen)


def test_damaged(recording):
    """The readable parts are shown, and damaged ones reported."""
    data = next(path for path in (recording / "uftrace.data").glob("*.dat") if not path.name.startswith("perf"))
    data.write_bytes(data.read_bytes()[:-24] + b"\xff" * 21)
    with tui(recording) as screen:
        screen.wait_for(" : FUNCTION")
        press_all(screen)


def test_nothing_is_left(recording):
    with tui(recording, "-F", "nosuch") as screen:
        screen.wait_for("(0) plain")
        press_all(screen)


def test_empty(workdir):
    with Screen(workdir, f"sh -c '{UTRAIL} tui; echo status $?; exec cat'") as screen:
        screen.wait_for("status 255")


TICKS = """#include <unistd.h>
    int tick(void) { usleep(20000); return 0; } int other(void) { return tick(); }
    int main(void) { while (!tick()) other(); }"""


@pytest.fixture
def ticking(workdir):
    """A recording that grows until the test is over."""
    (workdir / "grow.c").write_text(TICKS)
    subprocess.run(["gcc", "-pg", "-O0", "-o", "grow", "grow.c"], check=True)
    with subprocess.Popen([UTRAIL, "record", "./grow"]) as recorder:
        while "tick" not in utrail("replay").out:
            pass
        yield recorder
        recorder.terminate()


def number_in(screen, pattern):
    found = re.search(pattern, "\n".join(screen.lines()))
    return int(found[1]) if found else 0


def wait_for_more(screen, pattern, more=1):
    before = number_in(screen, pattern)
    end = time.monotonic() + PATIENCE_S
    while number_in(screen, pattern) < before + more:
        assert time.monotonic() < end and not screen.is_dead(), "\n".join(screen.lines())


def test_growing(workdir, ticking):
    with tui(workdir) as screen:
        screen.wait_for(") tick")
        screen.send("T", "End")
        screen.wait_for("utrail replay")
        for _ in range(3):
            screen.send("L", "End")
            wait_for_more(screen, r"of (\d+)")
        press_all(screen)


def test_replay_follows_what_grows(workdir, ticking):
    """With the cursor on the last line, new lines are followed; otherwise it stays."""
    with tui(workdir, "--no-sched-preempt") as screen:
        screen.wait_for(") tick")
        screen.send("T", "End")
        screen.wait_for("utrail replay: line ")
        wait_for_more(screen, r"line (\d+) of", 20)
        screen.send("Home")
        screen.wait_for("line 1 of")
        wait_for_more(screen, r"of (\d+) so far", 20)
        assert number_in(screen, r"line (\d+) of") == 1
        screen.send("End")
        ticking.terminate()
        ticking.wait()
        while "so far" in screen.lines()[-1]:
            pass
        shown = [line for line in screen.settle()[1:-1] if line]
        assert shown == replayed_whole()[-len(shown):]
        screen.send("q")
        assert screen.status() == 0


def test_graph_and_report_follow_what_grows(workdir, ticking):
    """Numbers grow, while folds, the cursor and the order stay."""
    with tui(workdir) as screen:
        screen.wait_for(") other")
        wait_for_more(screen, r"\((\d+)\) other")
        screen.send("/")
        screen.type("other")
        screen.send("Enter", "Enter")
        screen.wait_for("▶(")
        wait_for_more(screen, r"▶\((\d+)\) other")
        assert screen.lines()[screen.cursor()].endswith(") other")
        screen.send("g")
        screen.wait_for("=== Function Call Graph for 'other' ===")
        wait_for_more(screen, r"\((\d+)\) tick")
        screen.send("R", "s", "s")
        screen.wait_for("*CALL")
        screen.send("/")
        screen.type("other")
        screen.send("Enter")
        wait_for_more(screen, r"(\d+)  other")
        assert screen.lines()[screen.cursor()].endswith("  other") and "*CALL" in screen.lines()[0]
        ticking.terminate()
        ticking.wait()
        total = [line for line in utrail("report").must().out.splitlines() if line.endswith("  other")]
        screen.wait_for(f"{total[0].split()[-2]}  other")


TALKS = """#include <stdio.h>
    #include <unistd.h>
    int tick(int i) { usleep(20000); printf("tick %d\\n", i); fflush(stdout); return getchar() == EOF; }
    int main(void) { int read = 0; for (int i = 0; i < 50; i++) read += tick(i); return read == 50 ? 3 : 4; }"""


@pytest.mark.parametrize("stays", [True, False])
def test_live(workdir, stays):
    """The screen follows the running program. The program's output appears when the screen is left.
    This may be before the program ends, or later."""
    (workdir / "talk.c").write_text(TALKS)
    subprocess.run(["gcc", "-pg", "-O0", "-o", "talk", "talk.c"], check=True)
    with Screen(workdir, f"sh -c '{UTRAIL} live --tui ./talk; echo status $?; exec cat'", rows=60) as screen:
        screen.wait_for(") tick")
        screen.send("T", "End")
        screen.wait_for("utrail replay: line ")
        if stays:
            screen.wait_for("} /* main */")
            assert not any(line.startswith("tick ") for line in screen.lines())
        screen.send("q")
        lines = screen.wait_for("status 3")
        ticks = [line for line in lines if line.startswith("tick ")]
        assert ticks == [f"tick {i}" for i in range(50)]


def test_live_needs_a_terminal(workdir):
    ran = workdir / "ran"
    result = subprocess.run([UTRAIL, "live", "--tui", "touch", ran], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert result.returncode == 1 and "needs a terminal" in result.stderr and not ran.exists()
    result = subprocess.run([UTRAIL, "live", "--tui", "--keep-pid", "true"], capture_output=True, text=True, timeout=60)
    assert result.returncode == 2 and "--tui cannot be used together with --keep-pid" in result.stderr


def replayed_whole(*options):
    """The lines of replay about calls, without the list of unfinished calls."""
    lines = replayed(*options)
    end = next((at for at, line in enumerate(lines) if "remaining functions" in line), len(lines) + 1)
    return [line for line in lines[:end - 1] if line]


FILTERS = {
    "-F": ["-F", "middle"], "-N": ["-N", "leaf"], "-t": ["-t", "1us"], "-D": ["-D", "2"], "-T": ["-T", "middle@depth=1"],
    "-C": ["-C", "rare"], "-r": ["-r", "50us~"], "none": ["-F", "nosuch"],
}


@pytest.mark.parametrize("name", FILTERS)
def test_replay_with_filters(workdir, name):
    """The pages of a long recording are the lines of replay with the same filters."""
    options = FILTERS[name]
    source = workdir / "long.c"
    source.write_text("""int leaf(int n) { return n + 1; }
        int middle(int n) { int sum = 0; for (int i = 0; i < 9; i++) sum += leaf(n + i); return sum; }
        int rare(int n) { return middle(n); }
        int main(void) { volatile int sum = 0; for (int i = 0; i < 9000; i++) sum += i % 99 ? middle(i) : rare(i); return 0; }
        """)
    subprocess.run(["gcc", "-pg", "-O0", "-o", "long", str(source)], check=True)
    utrail("record", "--no-event", "./long").must()
    shown = ["-f", "duration,tid"] if name == "-r" else []
    expected = [line for line in utrail("replay", *options, *shown).out.splitlines()[1:] if line.rstrip()]
    expected = [line.rstrip() for line in expected if "[" in line]
    with tui(workdir, *options, rows=40) as screen:
        screen.wait_for("utrail graph")
        screen.send("T", "End")
        screen.wait_for("utrail replay")
        while "so far" in screen.lines()[-1]:
            pass
        for key in ["", "PPage", "PPage", "Home", "NPage", "NPage", "End", "PPage"]:
            if key:
                screen.send(key)
            lines = screen.settle()
            place = re.search(r"line (\d+) of (\d+)", lines[-1])
            if not expected:
                assert not place or place[2] == "0"
                break
            assert place[2] == str(len(expected)), lines
            first = int(place[1]) - screen.cursor()
            assert [line for line in lines[1:-1] if line] == expected[first:first + 38], key
        screen.send("q")
        assert screen.status() == 0


def line_at_cursor(screen):
    return screen.settle()[screen.cursor()]


def test_replay_keys_of_calls(workdir):
    """Keys for siblings, for the longest call inside, and for folds, as in the graph."""
    (workdir / "calls.c").write_text("""#include <unistd.h>
        int leaf(int n) { return n + 1; } int slow(int n) { usleep(20000); return leaf(n); } int middle(int n) { return leaf(leaf(n)); }
        int main(void) { int n = middle(0); n = slow(n); n = middle(n); return leaf(n) & 0; }""")
    subprocess.run(["gcc", "-pg", "-O0", "-o", "calls", "calls.c"], check=True)
    utrail("record", "--no-event", "./calls").must()
    with tui(workdir, rows=40) as screen:
        screen.wait_for(") main")
        screen.send("/")
        screen.type("main")
        screen.send("Enter", "t")
        screen.wait_for("utrail replay")
        assert line_at_cursor(screen).endswith("| main() {")
        screen.send("l")
        assert line_at_cursor(screen).endswith("|   slow() {")
        screen.send("n")
        assert line_at_cursor(screen).endswith("|   middle() {")
        screen.send("n")
        assert line_at_cursor(screen).endswith("|   leaf();")
        screen.send("n")
        assert line_at_cursor(screen).endswith("|   leaf();")
        screen.send("p", "p", "p")
        assert line_at_cursor(screen).endswith("|   middle() {")
        screen.send("p", "u", "c")
        assert line_at_cursor(screen).endswith("| main() {")
        folded = [line.split("|", 1)[1] for line in screen.lines() if "|" in line]
        assert folded[-5:] == [" main() {", "   middle() { ... }", "   slow() { ... }", "   middle() { ... }", "   leaf();"] or folded[-6:-1] == [
            " main() {", "   middle() { ... }", "   slow() { ... }", "   middle() { ... }", "   leaf();"]
        screen.send("e")
        screen.settle()
        assert not any("..." in line for line in screen.lines())
        screen.send("C")
        screen.settle()
        assert sum("{ ... }" in line for line in screen.lines()) == 3
        screen.send("E")
        screen.settle()
        assert not any("..." in line for line in screen.lines())
        # The keys work on the line of a return, too.
        screen.send("l", "Down", "Down", "Down")
        assert line_at_cursor(screen).endswith("|   } /* slow */")
        screen.send("p")
        assert line_at_cursor(screen).endswith("|   middle() {")
        screen.send("q")
        assert screen.status() == 0


@pytest.mark.parametrize("options", [[], ["-N", "leaf"]], ids=["seek", "kept"])
def test_replay_fields(workdir, options):
    """Each field, on each page, is replay's, also the difference to the task's last line."""
    (workdir / "long.c").write_text("""int leaf(int n) { return n + 1; }
        int main(void) { volatile int sum = 0; for (int i = 0; i < 30000; i++) sum += leaf(i); return 0; }""")
    subprocess.run(["gcc", "-pg", "-O0", "-o", "long", "long.c"], check=True)
    utrail("record", "--no-event", "./long").must()
    expected = replayed("-f", "all", *options)
    with tui(workdir, *options, rows=40, columns=200) as screen:
        screen.wait_for("utrail graph")
        screen.send("T", "f")
        screen.wait_for("[ x ] tid")
        for at in range(8):
            if "[   ]" in line_at_cursor(screen):
                screen.send("Space")
            if at < 7:
                screen.send("Down")
        screen.send("Enter")
        screen.wait_for("TIMEDELTA")
        assert screen.settle()[0] == expected[0]
        for key in ["Home", "End", "PPage", "Home", "NPage"]:
            screen.send(key)
            lines = screen.settle()
            first = int(re.search(r"line (\d+) of", lines[-1])[1]) - screen.cursor()
            shown = [line for line in lines[1:-1] if line]
            assert shown == expected[1 + first:][:len(shown)], key
        screen.send("q")
        assert screen.status() == 0


def test_keys_while_it_is_read(workdir):
    """Keys are obeyed while a long recording is read: T and R change the view, and q ends the
    program."""
    (workdir / "many.c").write_text("""int leaf(int n) { return n + 1; }
        int main(void) { volatile int sum = 0; for (int i = 0; i < 3000000; i++) sum += leaf(i); return 0; }""")
    subprocess.run(["gcc", "-pg", "-O0", "-o", "many", "many.c"], check=True)
    utrail("record", "--no-event", "./many").must()
    with tui(workdir) as screen:
        screen.wait_for("utrail ")
        screen.send("T")
        screen.wait_for("main() {")
        screen.send("R")
        screen.wait_for("*TOTAL TIME")
        screen.send("T", "End", "q")
        assert screen.status() == 0
