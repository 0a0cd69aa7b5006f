"""-E/--Event selects which recorded events are shown, and which of the kernel's are recorded."""

import re
import struct
from pathlib import Path

import pytest

from archive import unpack
from programs import Variant, build, program
from tools import utrail


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """A recording of all kinds of events that need only the program."""
    data = tmp_path_factory.mktemp("events") / "data"
    exe = build(program("filtered"), Variant("gcc", "pg", "O2"))
    command = ["-T", "second@read=page-fault", "-T", "again@read=proc/statm", "-W", "cpu", "-d", data]
    utrail("record", *command, exe).must()
    return data


def kinds(*options):
    """The number of times that each event is shown, by its name."""
    text = utrail(*options).must().out
    found = re.findall(r"/\* ([a-z]+:[a-z/-]+)(?: \(.*\))? \*/", text)
    return {name: found.count(name) for name in found}


def replay(data, *options):
    return kinds("replay", "-d", data, "--event-full", *options)


def test_all(recording):
    shown = replay(recording)
    for name in ("read:page-fault", "diff:page-fault", "read:proc/statm", "watch:cpu", "linux:schedule", "linux:task-exit"):
        assert name in shown, shown
    assert shown["read:page-fault"] == 2 and shown["read:proc/statm"] == 4


@pytest.mark.parametrize(
    "options, expected",
    [
        ("-E read:page-fault", {"read:page-fault": 2}),
        ("-E read:.*", {"read:page-fault": 2, "read:proc/statm": 4}),
        ("-E ^(read|diff):page", {"read:page-fault": 2, "diff:page-fault": 2}),
        ("-E read:page-fault;diff:page-fault", {"read:page-fault": 2, "diff:page-fault": 2}),
        ("-E read:page-fault -E diff:page-fault", {"read:page-fault": 2, "diff:page-fault": 2}),
        ("--match glob -E *:proc/*", {"read:proc/statm": 4, "diff:proc/statm": 4}),
        ("--Event=diff:proc/statm --no-event", {"diff:proc/statm": 4}),
        ("-E linux:task-exit", {"linux:task-exit": 1}),
        ("-E linux:.* --no-sched", {"linux:task-name": 1, "linux:task-exit": 1}),
        ("-E read:page-fault -F again", {}),
    ],
)
def test_shown(recording, options, expected):
    assert replay(recording, *options.split()) == expected


def test_no_event(recording):
    """--no-event leaves out events that no option asks for. Events of triggers and watches stay, since
    the user has asked for them."""
    expected = {name: nr for name, nr in replay(recording).items() if not name.startswith("linux:")}
    assert replay(recording, "--no-event") == expected and "watch:cpu" in expected


@pytest.mark.parametrize("name", ["linux:schedule", "linux:sched-in", "linux:sched-out"])
def test_scheduler(recording, name):
    """-E with either name of the scheduler's events selects leaving the CPU and coming back, as a
    pair."""
    shown = replay(recording, "-E", name)
    assert set(shown) == {"linux:schedule"}
    assert shown == {"linux:schedule": replay(recording)["linux:schedule"]}


def test_every_view(recording):
    """Events that -E leaves out are in no view, and no table counts them."""
    for command in ("report", "graph"):
        assert "linux:schedule" in utrail(command, "-d", recording).must().out
        assert "linux:schedule" in utrail(command, "-d", recording, "-E", "linux:schedule").must().out
        assert "linux:schedule" not in utrail(command, "-d", recording, "-E", "read:.*").must().out
    raw = utrail("dump", "-d", recording, "-E", "linux:task-exit").must().out
    assert "linux:task-exit(200005)" in raw and "sched" not in raw and "read:" not in raw
    lines = utrail("dump", "-d", recording, "--format=jsonl", "-E", "diff:.*").must().out
    assert "diff:page-fault" in lines and "read:page-fault" not in lines and "schedule" not in lines


def test_external_data(recording, workdir):
    data = workdir / "data"
    data.mkdir()
    for file in Path(recording).iterdir():
        (data / file.name).write_bytes(file.read_bytes())
    first = utrail("replay", "-d", data, "-f", "time").must().out.splitlines()[3].split()[0]
    (data / "extern.dat").write_text(f"{first} a word\n")
    assert "external-data: a word" in utrail("replay", "-d", data).must().out
    assert "external-data: a word" in utrail("replay", "-d", data, "-E", "external-data").must().out
    assert "external-data" not in utrail("replay", "-d", data, "-E", "read:.*").must().out


@pytest.mark.parametrize(
    "rule, nearest",
    [
        ("linux:shedule", "linux:schedule"),
        ("read:pagefault", "read:page-fault"),
        ("nothing:like-this-at-all", None),
    ],
)
def test_unmatched(recording, rule, nearest):
    result = utrail("replay", "-d", recording, "-E", rule).must()
    (line,) = result.err.splitlines()
    assert f"option '--Event': no event of the recording matches '{rule}'" in line
    assert (f"; the nearest: {nearest}" in line) if nearest else ("nearest" not in line)


@pytest.mark.parametrize("command", ["record", "replay", "report"])
@pytest.mark.parametrize(
    "rule, says",
    [
        ("a:b@user", "'a:b@user': column 5: expected nothing or 'kernel' after '@'"),
        ("a:b;@kernel", "column 5: expected PROVIDER:EVENT"),
        ("a:(", "column 1: "),
    ],
)
def test_wrong(workdir, command, rule, says):
    result = utrail(command, "-E", rule, "-d", "data", "/bin/true")
    assert result.status == 2
    (line,) = result.err.splitlines()
    assert line.startswith("utrail: option '--Event': ") and says in line
    assert not (workdir / "data").exists()


@pytest.mark.parametrize(
    "rules, has_sched, has_tasks",
    [
        ("linux:schedule", True, False),
        ("linux:sched-out", True, False),
        ("linux:task-exit", False, True),
        ("linux:.*", True, True),
        ("linux:.* --no-sched", False, True),
        ("linux:.* --no-event", True, True),
    ],
)
def test_recorded(workdir, rules, has_sched, has_tasks):
    exe = build(program("filtered"), Variant("gcc", "pg", "O2"))
    utrail("record", "-d", "data", "-E", *rules.split(), exe).must()
    shown = replay("data")
    assert ("linux:schedule" in shown) == has_sched
    assert ("linux:task-exit" in shown) == has_tasks
    assert any(Path("data").glob("perf-cpu*.dat"))


def without_records(name):
    """A recording of a process without a probe and of its child, with the kernel's events about
    them."""
    def record(kind, misc, body, tid, time):
        return struct.pack("<IHH", kind, misc, 24 + len(body)) + body + struct.pack("<IIQ", tid, tid, time)

    perf = (record(3, 0, struct.pack("<II8s", 70, 70, b"outer"), 70, 1000)
            + record(7, 0, struct.pack("<IIIIQ", 71, 70, 71, 70, 2000), 70, 2000)
            + record(14, 0x2000, b"", 70, 3000) + record(14, 0, b"", 71, 3100)
            + record(4, 0, struct.pack("<IIIIQ", 71, 70, 71, 70, 4000), 71, 4000) + record(14, 0, b"", 70, 5000))
    info = b"Ftrace!\0" + struct.pack("<IHBBQQH6x", 4, 40, 1, 2, 0x22 | 64, 0, 1024)
    unpack({"info": info, "task.txt": b"", "perf-cpu0.dat": perf}, Path(name))
    return name


def test_tasks_without_calls(workdir):
    data = without_records("bare.data")
    result = utrail("replay", "-d", data).must(255)
    assert "has no records of any task" in result.err and "--event-full" in result.err
    text = utrail("replay", "-d", data, "--event-full", "-f", "tid,task").must().out
    rows = re.findall(r"\[ +(\d+)\] +(\S+) \| +/\* (\S+)", text)
    assert rows == [("70", "outer", "linux:task-name"), ("71", "outer", "linux:task-new"), ("70", "outer", "linux:sched-out"),
                    ("71", "outer", "linux:sched-in"), ("71", "outer", "linux:task-exit"), ("70", "outer", "linux:sched-in")]
    assert utrail("dump", "-d", data, "--event-full").must().out.count("[event] linux:") == 6
    assert "linux:schedule" in utrail("graph", "-d", data, "--event-full").must().out
    assert "linux:schedule" in utrail("report", "-d", data, "--event-full").must().out
    for format_ in "chrome", "firefox", "jsonl", "perfetto":
        assert "linux:schedule" in utrail("dump", "-d", data, "--event-full", f"--format={format_}").must().out, format_
