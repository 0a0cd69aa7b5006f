"""Debian's uftrace and utrail read each other's recordings and print the same text.

For each known difference, a function makes both texts alike, and its docstring has the reason.
Everything else must be equal, byte for byte.
"""

import itertools
import os
import re
import shutil
from pathlib import Path

import pytest

from programs import CACHE, MATRIX, Variant, build, program
from tools import peer, utrail

pytestmark = pytest.mark.needs_peer

PROGRAMS = [
    "plain",
    "recursion",
    "threads",
    "fork",
    "fork_chain",
    "vfork",
    "exec",
    "spawn",
    "dlopen",
    "shared",
    "signal",
    "longjmp",
    "tailcall",
    "cplusplus",
    "exceptions",
    "sleeps",
    "sleeps_outside",
    "end_exit",
    "end_abort",
    "daemon",
    "ctors",
]

RECORDERS = {
    "ours": lambda d, exe: utrail("record", "-d", d, exe),
    "ours-no-event": lambda d, exe: utrail("record", "--no-event", "-d", d, exe),
    "peers": lambda d, exe: peer("record", "-d", d, exe),
    "peers-no-libcall": lambda d, exe: peer("record", "--no-libcall", "--no-event", "-d", d, exe),
}

REPLAYS = [
    "",
    "--flat",
    "-f all",
    "-f none",
    "-f time,delta,elapsed",
    "-f +addr,module,task",
    "--column-view",
    "--column-view --column-offset 2",
    "--task-newline",
    "--no-merge",
    "--no-comment",
    "--libname",
    "--no-libcall",
    "--no-libcall -D 1",
    "--no-event",
    "--no-sched",
    "--event-full",
    "-D 1",
    "-D 2",
    "-D 3 --no-merge",
    "-t 5ms",
    "-t 1us",
    "-Z 20",
    "--demangle=no",
    "--color=yes",
    "--format=html",
]

REPORTS = [
    "",
    "-f total,self,call",
    "-f total,total-avg,total-min,total-max,self,self-avg,self-min,self-max,call,size",
    "-f total,total-avg,total-min,total-max",
    "-f self-avg,self-min,self-max,call",
    "-s self",
    "-s call",
    "-s func",
    "-s total,self",
    "-s self,func",
    "--avg-total",
    "--avg-self",
    "--task",
    "--task -s self",
    "--task -s tid",
    "--no-libcall",
    "--no-sched",
    "-D 2",
    "-t 5ms",
    "--demangle=no",
    "--color=yes",
]

GRAPHS = [
    "",
    "main",
    "-f self main",
    "-f total,self,addr",
    "-f none",
    "-f self",
    "--task",
    "--task -f tid",
    "--no-event",
    "--no-libcall",
    "-t 100ns",
    "--demangle=no",
    "--color=yes",
    "--format=html",
]


# The largest number of recordings that are made of a program until one has no tie.
TRIES = 20


def has_tie(directory):
    """True when an event of the scheduler and a record of another task have the same time. The peer
    then shows the record first, and utrail the task that comes first in task.txt."""
    times = {}
    shown = utrail("replay", "-d", directory, "--no-merge", "-f", "time,tid").out
    for tid, time, event in re.findall(r"^ \[ *(\d+)\] +([\d.]+) \| *(/\* linux:)?", shown, re.M):
        times.setdefault(time, set()).add((tid, bool(event)))
    return any(len({tid for tid, _ in seen}) > 1 and any(event for _, event in seen) for seen in times.values())


def recorded(recorder, name):
    """A recording of program @name, made once for all tests. Both readers get the same paths."""
    variant = Variant("gcc", "pg", "O2")
    exe = build(program(name), variant)
    place = CACHE / "recordings" / f"{recorder}-{exe.parent.name}"
    if not (place / "info").exists():
        shutil.rmtree(place, ignore_errors=True)
        place.parent.mkdir(exist_ok=True)
        # A scratch directory beside the place: the test's directory may be on another file system.
        scratch = Path(f"{place}.{os.getpid()}")
        for _ in range(TRIES):
            RECORDERS[recorder](scratch, exe)
            if not has_tie(scratch):
                break
            shutil.rmtree(scratch)
        assert scratch.exists(), "each recording has events of two tasks at one time"
        try:
            scratch.rename(place)
        except OSError:  # another process has made it first
            assert (place / "info").exists()
            shutil.rmtree(scratch)
    return place


# By command: a function for utrail's text and one for the peer's, which make both alike.


def replay_tids(text):
    """The peer of Debian 12 prints tids in six columns; later versions and utrail in seven
    (doc/facts/text.md, "Replay")."""
    text = re.sub(r"^(#.*   TID  ) ", r"\1", text, flags=re.M)
    text = re.sub(r"^( +)  \| $", r"\1 | ", text, flags=re.M)  # --task-newline
    return re.sub(r"\[ ([ \d]{6})\]", r"[\1]", text)


def event_cells(text):
    """Blanks for address and module of scheduler events: the peer prints an id or nothing,
    depending on merged lines."""

    def blank(match):
        return re.sub(r"\b30d4\d\b|\[event\]", lambda m: " " * len(m[0]), match[0])

    return re.sub(r"^.*/\* linux:.*$", blank, text, flags=re.M)


def report_tids(text):
    """The text with one column less for tids, which are the third column of report."""
    lines = text.replace("  TID     Num", "   TID   Num", 1).splitlines(keepends=True)
    return "".join([*lines[:1], *(line[:26] + line[27:] for line in lines[1:])])


def without_stdv(text):
    """The text without its fourth column, the standard deviation, which the peer of Debian 12
    lacks."""
    return "".join(line[:36] + line[48:] for line in text.splitlines(keepends=True))


def task_graph_tids(text):
    """Tids in six columns, as in replay, for the graph of tasks."""
    text = re.sub(r"(TID ) (    TASK NAME)", r"\1\2", text)
    text = re.sub(r"\[ ([ \d]{6})\]", r"[\1]", text)
    return re.sub(r"^ (.*) (  :.*[|] +)$", r"\1\2", text, flags=re.M)


def tasks_in_any_order(text):
    """The peer shows tasks in the order of task.txt, utrail by their start. Threads that start
    together come in any order."""
    groups = itertools.groupby(text.splitlines(keepends=True), key=lambda line: line.find("+-"))
    return "".join(line for depth, lines in groups for line in (sorted(lines) if depth >= 0 else lines))


def without_root_address(text):
    """The text without the address of a program. utrail prints no such address. The peer prints the
    address of some function, or 0."""
    return re.sub(r"^(.{24})  [ \da-f]{12}( : \(1\) )", r"\1\2", text, flags=re.M)


def without_event_size(text):
    """The text without the size of an event. utrail prints no such size. The peer prints the size of
    a record."""
    return re.sub(r"^(.*) [ \d]{10}  (linux:schedule.*)$", r"\1  \2", text, flags=re.M)


def without_newer_info(text):
    """The text without keys that the peer of Debian 12 does not know: the offset to wall time, and
    the two sysctls."""
    text = re.sub(r" \| UTC_OFFSET \| SYSCTL\)", ")", text)
    return re.sub(r"^# (?:perf_event_paranoid|kptr_restrict) *: .*\n", "", text, flags=re.M)


def dump_tids(text):
    """Tids of dump: five columns in the peer's, seven in utrail's."""
    return re.sub(r"^(\d+\.\d{9} ) +(\d+: )", r"\1 \2", text, flags=re.M)


def replay_footer(text):
    """The footer has the program's name. The peer's also lists calls of _exit() and similar
    functions as unfinished."""
    title = "\nuftrace stopped tracing with remaining functions\n" + 48 * "=" + "\n"
    body, has_footer, blocks = text.partition(title)
    ends = re.compile(r"task: \d+\n\[\d+\] (?:_exit|_Exit|exit|quick_exit|pthread_exit|thrd_exit)\n(?:\[\d+\] .*\n)*\n", re.M)
    blocks = ends.sub("", blocks)
    return body + (title.replace("uftrace", "utrail") + blocks if "task: " in blocks else blocks) if has_footer else text


def whole_operators(text):
    """The text with `operator()()` for calls of call operators: one pair of brackets belongs to the
    name, and one to the call."""
    return re.sub(r"\boperator\(\)(?=;| \{)", "operator()()", text)


ALIKE = [
    (r"^(replay|live)", None, whole_operators),
    (r"^replay", None, replay_footer),
    (r"^replay", replay_tids, None),
    (r"^replay", event_cells, event_cells),
    (r"^report.*--task", report_tids, None),
    (r"^report --avg", without_stdv, None),
    (r"^report.*size", without_event_size, without_event_size),
    (r"^(dump|info)", without_newer_info, None),
    (r"^dump", dump_tids, dump_tids),
    (r"^graph --task", task_graph_tids, None),
    (r"^graph --task", tasks_in_any_order, tasks_in_any_order),
    (r"^graph -f total,self,addr", without_root_address, without_root_address),
    (r"^info --task", replay_tids, None),
]

# Cases in which the peer's text is wrong or random: recorder, program, command, and the reason.
KNOWN = [
    # A vforked child and a new program image add records to the same task. The peer guesses the
    # stack's depth from the names of functions (execl, longjmp), utrail from the records.
    (".*", "vfork|exec", ".*", "calls of the child of vfork, and after exec"),
    ("ours.*", "longjmp", "^(replay|report|graph)", "it takes a call of longjmp as the end of frames that have EXITs, too"),
    ("peers", "longjmp", "^(replay|report|graph)", "its own wrapper of longjmp writes returns that it reads otherwise"),
    # For a forked child, the peer begins with those open calls of the parent that it has shown.
    (".*", "fork|fork_chain|daemon", "^(replay|report|graph)", "depth and times of a forked child"),
    (".*", "dlopen", "module|-f all", "the module of an opened library is [unknown] to it"),
    (".*", "dlopen|shared", "-Z|size", "sizes of functions in libraries, of which it takes any of one name"),
    ("ours.*|peers", "exceptions|cplusplus", "--libname", "what a library defines and calls itself has no library for it"),
    ("ours|peers", ".*", "--event-full", "what happened before the first call of a task is left out"),
    (".*", ".*", "replay.*-t", "whether there is a header when nothing is left below it"),
    (".*", "spawn", "^graph --task", "the parent of what was spawned is left out by it"),
    ("ours|peers", ".*", "^graph.*--no-libcall", "it shows waiting in functions that are left out, elsewhere"),
    (".*", "end_exit", "^replay.*-Z", "exit() itself is left out there, and so main() is unfinished to it"),
    # The peer shows other times for calls that never returned.
    (".*", "end_exit|end_abort|longjmp", "^graph -t", "no time at all"),
    (".*", "end_exit|end_abort|longjmp", "^report.*(--task|--no-libcall|-D|-t)", "more time of its own than in all"),
    ("ours|peers", ".*", "--task", "pre-empted time is counted by halves"),
]


def is_known(recorder, name, command):
    return any(
        re.fullmatch(r, recorder) and re.fullmatch(n, name) and re.search(c, command)
        for r, n, c, _ in KNOWN
    )


def alike(text, command, side):
    for pattern, *functions in ALIKE:
        if re.search(pattern, command) and functions[side]:
            text = functions[side](text)
    return text.splitlines()


def differences(command, directory):
    name, *options = command.split()
    theirs = peer(name, "-d", directory, *options)
    ours = utrail(name, "-d", directory, *options)
    if ours.status != theirs.status:
        return [f"`{command}`: our status is {ours.status}, theirs {theirs.status}; {ours.err}"]
    pairs = itertools.zip_longest(alike(ours.out, command, 0), alike(theirs.out, command, 1))
    lines = [f"  ours: {a!r}\n  peer: {b!r}" for a, b in pairs if a != b]
    if not lines:
        return []
    return [f"`{command}`: {len(lines)} lines differ", *lines[:4]]


def compare(recorder, name, commands):
    """Compare every other one of @commands, so that each runs with half of the programs and all
    recorders; the stage matrix compares all."""
    directory = recorded(recorder, name)
    if MATRIX != "full":
        commands = commands[(PROGRAMS.index(name) + list(RECORDERS).index(recorder)) % 2 :: 2]
    commands = [c for c in commands if not is_known(recorder, name, c)]
    problems = [line for c in commands for line in differences(c, directory)]
    assert not problems, f"{directory}\n" + "\n".join(problems)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("recorder", RECORDERS)
class TestSameText:
    def test_replay(self, recorder, name):
        compare(recorder, name, [f"replay {options}" for options in REPLAYS])

    def test_report(self, recorder, name):
        compare(recorder, name, [f"report {options}" for options in REPORTS])

    def test_graph(self, recorder, name):
        compare(recorder, name, [f"graph {options}" for options in GRAPHS])

    def test_dump_and_info(self, recorder, name):
        compare(recorder, name, ["dump", "info", "info --task"])


@pytest.mark.parametrize("recorder", RECORDERS)
@pytest.mark.parametrize("name", ["cplusplus", "exceptions"])
def test_full_demangling(recorder, name):
    """C++ only: in C programs the peer demangles plain names (`a` becomes `signed char`)."""
    compare(recorder, name, ["replay --demangle=full", "report --demangle=full"])
