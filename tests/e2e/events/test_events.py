"""Events of programs (SDT): they are shown in their calls, they change nothing, and those that
cannot be recorded are named."""

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from data import ENTRY, EVENT, EXIT, Recording
from programs import SOURCES, Program, Variant, build
from tools import peer, run, utrail

HERE = SOURCES / "events"
ALL = ["-E", "^(e|lib):.*"]
COMPILERS = [c for c in ("gcc", "clang") if shutil.which(c)]
VARIANTS = [
    Variant(c, method, opt, pie, extra)
    for c in COMPILERS
    for method, opt, pie, extra in (
        ("pg", "O0", True, ""),
        ("pg", "O2", True, ""),
        ("pg", "O2", False, ""),
        ("fentry", "O2", True, "cet"),
        ("cyg", "O1", True, ""),
        ("fentry", "Os", True, ""),
    )
]
TREES = ["places", "signals", "jumps", "throws", "shared", "loaded", "forks", "walk"]
PLAIN = Variant("gcc", "pg", "O2")


def sample(name, variant=PLAIN):
    path = HERE / f"{name}.c"
    prog = Program.read(path if path.exists() else HERE / f"{name}.cc")
    return prog, build(prog, variant)


def event_names(directory="uftrace.data"):
    lines = (Path(directory) / "events.txt").read_text().splitlines()
    return {int(i): name for i, name in (re.fullmatch(r"EVENT: (\d+) (\S+)", line).groups() for line in lines)}


def shown(task, names, left_out=()):
    """The calls and events of a task, as "main{e:one work{e:two}}". Functions that the program does
    not define are left out, and so are the events @left_out."""
    text, skipped = "", []
    last = 0
    for r in task.records:
        assert r.time >= last, "time goes back"
        last = r.time
        hidden = r.is_libcall or re.match(r"_|frame_dummy", r.name or "")
        if r.kind == EVENT:
            assert r.depth == 0
            text += names[r.addr] + " " if names[r.addr] not in left_out else ""
        elif r.kind == ENTRY:
            skipped.append(hidden)
            text += "" if hidden else r.name + "{"
        elif r.kind == EXIT:
            text += "" if skipped and skipped.pop() else "}"
    return text.replace(" ", "").replace("}", "} ").replace("{", "{ ")


def compact(text):
    return re.sub(r"\s+", "", text).replace("}", "} ").replace("{", "{ ")


def record(exe, *options):
    plain = run(exe)
    result = utrail("record", "--no-event", *options, exe)
    assert (result.status, result.out) == (plain.status, plain.out), result.err
    return result


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_tree(name, variant):
    prog, exe = sample(name, variant)
    result = record(exe, "--no-libcall", *ALL)
    left_out = left_out_events(result.err)
    # Compilers put some probes at places that have no room for a jump, for example after a call at
    # the end of a block.
    assert len(left_out) <= 1 and (not left_out or variant.opt != "O0")
    recording = Recording("uftrace.data")
    first = next(t for t in recording.tasks.values() if t.tid == t.pid and not t.ppid)
    expected = prog.one("shows", variant)
    for event in left_out:
        expected = re.sub(rf"{event}\b", "", expected)
    assert shown(first, event_names(), left_out) == compact(expected)
    assert recording.lost == 0


LEFT_OUT = re.compile(
    r"WARN: event '(\S+)' is not recorded at 0x[0-9a-f]+ in \w+\(\) of '.*': "
    r"(an instruction of (?:the|another) function leads behind it|the function ends too soon behind it)\n"
)


def left_out_events(err):
    assert LEFT_OUT.sub("", err) == ""
    return {match[0] for match in LEFT_OUT.findall(err)}


def counts(recording, names):
    return Counter(names[r.addr] for t in recording.tasks.values() for r in t.records if r.kind == EVENT)


def test_threads():
    _, exe = sample("threads")
    record(exe, "-b", "1m", *ALL)
    recording = Recording("uftrace.data")
    found = counts(recording, event_names())
    assert found == {"e:begin": 8, "e:end": 8, "e:step": 160000}


def test_children():
    _, exe = sample("forks")
    record(exe, *ALL)
    found = counts(Recording("uftrace.data"), event_names())
    assert found == {"e:start": 2, "e:work": 4, "e:end": 1}
    # The program that was executed gives its events the same ids.
    assert sorted(event_names()) == [1000000, 1000001, 1000002]


def test_library_of_the_system():
    """A probe of an untraced library at a place that has room for a short jump only (rethrow, in
    Debian 12)."""
    _, exe = sample("rethrows")
    result = record(exe, "-E", "libstdcxx:.*")
    if "has no event" in result.err:
        pytest.skip("this libstdc++ has no probes")
    found = counts(Recording("uftrace.data"), event_names())
    assert found == {"libstdcxx:throw": 4, "libstdcxx:catch": 6, "libstdcxx:rethrow": 2}


def test_handlers_between():
    """An event in a handler that interrupts a hook is kept in a place of its own until the hook is
    done."""
    _, exe = sample("alarms")
    plain = run(exe).must()
    result = utrail("record", "--no-event", "-b", "4m", *ALL, exe).must()
    assert result.out == plain.out
    recording = Recording("uftrace.data")
    found = counts(recording, event_names())
    rings = int(result.err.splitlines()[0])
    assert found["e:step"] == 400000
    # A handler may come while that lane is emptied: its records are counted as lost. A LOST record
    # in the next buffer has their number, if there is a next buffer.
    warning = re.search(r"(\d+) records? (?:was|were) lost", result.err)
    lost = int(warning[1]) if warning else 0
    assert recording.lost <= lost
    assert 0 <= rings - found["e:ring"] <= lost


def test_stacks_of_the_program():
    _, exe = sample("stacks")
    record(exe, *ALL)
    names = event_names()
    found = counts(Recording("uftrace.data"), names)
    assert found == {"e:home": 4, "e:there": 3, "e:step": 3}


def without_values(text):
    """The text without values: the peer knows the events' names alone."""
    return re.sub(r"(/\* e:\w+) \(arg1=.*\) \*/", r"\1 */", text)


@pytest.mark.needs_peer
@pytest.mark.parametrize("name", ["places", "signals"])
def test_same_text_as_peer(name):
    """The peer shows our recording of events as we do. Its own recordings have the same events,
    except those of libraries."""
    prog, exe = sample(name)
    utrail("record", "--no-sched", "-d", "ours", *ALL, exe)
    ours = without_values(utrail("replay", "-f", "none", "-d", "ours").must().out)
    assert peer("replay", "-f", "none", "-d", "ours").out == ours
    if name != "places":
        return  # the peer's SIGTRAP ends a program that blocks that signal
    peer("record", "--no-sched", "-d", "theirs", *ALL, exe)
    # The peer does not set the semaphore of a probe, so programs skip guarded probes.
    ours = ours.replace("  guarded() {\n    /* e:open */\n  } /* guarded */\n", "  guarded();\n")
    drop = re.compile(r".*(linux:|__monstartup|__cxa_atexit).*\n")
    theirs = peer("replay", "-f", "none", "-d", "theirs").out
    assert drop.sub("", theirs) == drop.sub("", ours)
    assert utrail("replay", "-f", "none", "-d", "theirs").out == theirs


@pytest.mark.needs_peer
@pytest.mark.parametrize("command", ["replay", "report", "graph"])
@pytest.mark.parametrize("options", [["-t", "1s"], ["-t", "0"], ["-t", "1s", "-N", "wide"]])
def test_short_calls_with_events(command, options):
    """Calls with an event are shown, however short they are."""
    _, exe = sample("places")
    utrail("record", "--no-event", "--no-libcall", "-d", "data", *ALL, exe)
    ours = utrail(command, "-f", "call" if command == "report" else "none", "-d", "data", *options).must().out
    assert "main" in ours
    assert peer(command, "-f", "call" if command == "report" else "none", "-d", "data", *options).out == without_values(ours)
    # default.opts in the recording has the same options.
    utrail("record", "--no-event", "--no-libcall", "-t", "1s", "-d", "data", *ALL, exe)
    assert "main" in utrail(command, "-d", "data").must().out


@pytest.mark.needs_peer
def test_no_event_at_all():
    """events.txt exists from the start, so that a recording that is cut off can be read."""
    _, exe = sample("places")
    result = utrail("record", "--no-event", "-E", "nosuch:event", exe)
    assert result.err == "WARN: option '--Event': the program has no event 'nosuch:event' (--list-event shows those that it has); " \
                         "one of the kernel's is 'nosuch:event@kernel'\n"
    assert event_names() == {}
    assert "main" in utrail("replay").must().out
    assert "main" in peer("replay").out


def test_warnings():
    _, exe = sample("places")
    result = utrail("record", "--no-event", "-E", "e:strat;linux:schedule;linux:nothing;sys:open@kernel;e:end", exe)
    warnings = [line for line in result.err.splitlines() if "'--Event'" in line]
    assert warnings[0] == "WARN: option '--Event': the program has no event 'e:strat'; the nearest: e:start"
    assert "linux:nothing" in warnings[1] and len(warnings) == 2
    assert list(event_names().values()) == ["e:end"]


def test_place_that_cannot_be_recorded(workdir):
    """An event is not recorded if a jump leads to the instruction after its place. The warning has
    the function's name and the reason, once for all places of an event."""
    Path("odd.c").write_text(
        """
        #include <sys/sdt.h>
        int f(int n)
        {
            __asm__ goto("test %0, %0; je %l1; js %l2" : : "r"(n) : "cc" : before, behind);
            __asm__ volatile("nop; nop; nop; nop");
        before:
            DTRACE_PROBE(odd, place);
        behind:
            __asm__ volatile("nop; nop; nop; nop");
            return n;
        }
        int g(int n)
        {
            __asm__ goto("test %0, %0; je %l1; js %l2" : : "r"(n) : "cc" : before, behind);
            __asm__ volatile("nop; nop; nop; nop");
        before:
            DTRACE_PROBE(odd, place);
        behind:
            __asm__ volatile("nop; nop; nop; nop");
            return n;
        }
        int main(void) { DTRACE_PROBE(odd, good); return f(0) + g(0); }
        """
    )
    subprocess.run(["gcc", "-O1", "-pg", "-fno-inline", "odd.c", "-o", "odd"], check=True)
    result = utrail("record", "--no-event", "-E", "odd:.*", "./odd").must()
    (line,) = result.err.splitlines()
    assert re.fullmatch(
        r"WARN: event 'odd:place' is not recorded at 0x[0-9a-f]+ in [fg]\(\) of '.*/odd': "
        "an instruction of the function leads behind it",
        line,
    )
    assert list(event_names().values()) == ["odd:good"]


def test_damaged_notes(workdir):
    _, exe = sample("places")
    shutil.copy(exe, "damaged")
    raw = bytearray(Path("damaged").read_bytes())
    at = raw.index(b"stapsdt\0")
    raw[at - 8 : at - 4] = (0x7FFFFFFF).to_bytes(4, "little")
    Path("damaged").write_bytes(raw)
    result = utrail("record", "--no-event", *ALL, "./damaged")
    assert result.status == 3
    assert "section .note.stapsdt: the note at 0 is damaged" in result.err


OPTIONS = {
    "-F work": "work{e:begin usleep{} e:end} work{e:begin usleep{} e:end}",
    "-N work": "main{e:start puts{}}",
    "-F usleep": "usleep{} usleep{}",
    "-F work@depth=1": "work{e:begin e:end} work{e:begin e:end}",
    "-D 1": "main{e:start e:begin e:end e:begin e:end}",
    "-N usleep": "main{e:start work{e:begin e:end} work{e:begin e:end} puts{}}",
    "-C usleep": "main{e:start work{e:begin usleep{} e:end} work{e:begin usleep{} e:end}}",
    "-T work@trace_off": "main{e:start",
    "-T work@finish": "main{e:start work{",
    # With a threshold, the calls around an event are recorded, too, however short.
    "-t 1s": "main{e:start work{e:begin e:end} work{e:begin e:end}}",
    "-e": "main{e:start work{e:begin usleep{} e:end} work{e:begin usleep{} e:end} puts{}}",
}


@pytest.mark.parametrize("options", OPTIONS)
def test_with_filters(workdir, options):
    Path("some.c").write_text(
        """
        #include <stdio.h>
        #include <unistd.h>
        #include <sys/sdt.h>
        int main_() { return 0; }
        __attribute__((noinline)) void work(int n)
        {
            DTRACE_PROBE1(e, begin, n);
            usleep(n);
            DTRACE_PROBE1(e, end, n);
            __asm__ volatile("");
        }
        int main(void) { DTRACE_PROBE(e, start); work(1); work(2); printf("done\\n"); return 0; }
        """
    )
    subprocess.run(["gcc", "-O1", "-pg", "some.c", "-o", "some"], check=True)
    result = utrail("record", "--no-event", *options.split(), *ALL, "./some").must()
    assert result.out == "done\n"
    recording = Recording("uftrace.data")
    names = event_names()
    text = ""
    (task,) = recording.tasks.values()
    for r in task.records:
        if r.kind == EVENT:
            text += names[r.addr] + " "
        elif r.name in ("main", "work", "usleep", "puts"):
            text += r.name + "{" if r.kind == ENTRY else "} "
    expected = OPTIONS[options]
    assert compact(text) == compact(expected)


def test_flight(workdir):
    _, exe = sample("threads")
    utrail("record", "--no-event", "--flight=128k", *ALL, exe).must()
    found = counts(Recording("uftrace.data"), event_names())
    assert found["e:end"] == 8 and 0 < found["e:step"] < 160000


def test_off():
    _, exe = sample("places")
    result = utrail("record", "--no-event", "--trace=off", *ALL, exe)
    assert result.status == 3
    assert not list(Path("uftrace.data").glob("*.dat"))
