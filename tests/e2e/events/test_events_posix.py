"""Logs of POSIX Trace are shown, imported, and exported. trace/tests/posix/test_programs.py has
programs read the exported ones."""

import json
import struct
from pathlib import Path

import pytest

import tools
from tools import peer, run, utrail

RECORDS = 4096 + 511 * 256
T = 1_764_000_000_000_000_000
START, STOP, OVERFLOW, UNNAMED, FIRST = 2, 3, 4, 64, 65
TRUNCATED = 1
NAMES = ["frame done", "never", "disk\x1b[31m"]
# (time, address, thread, pid, id, flags, data): two have the same time, one is out of order, one
# has no process.
EVENTS = [
    (T, 0x401000, 0x7f0000001000, 12, START, 0, bytes(128)),
    (T + 10, 0x401100, 0x7f0000001000, 12, FIRST, 0, b"\x2a\0\0\0"),
    (T + 10, 0x401100, 0x7f0000002000, 12, FIRST, TRUNCATED, b"long"),
    (T + 9, 0x401200, 0x7f0000001000, 13, UNNAMED, 0, b""),
    (T + 12, 0, 0, 0, OVERFLOW, 0, b""),
    (T + 13, 0x401300, 0x7f0000001000, 12, FIRST + 2, 0, bytes(range(256)) * 2),
    (T + 14, 0x401400, 0x7f0000001000, 12, STOP, 0, b"\0\0\0\0"),
]


def record(time, address, thread, pid, number, flags, data):
    padded = data + bytes(-len(data) % 8)
    return struct.pack("=IIQQQIIII", 48 + len(padded), 0, time, address, thread, pid, number, len(data), flags) + padded


def write(name, events=EVENTS, names=NAMES, closed=1, overrun=0, first=0, cut=0):
    records = b"".join(record(*event) for event in events)
    attr = struct.pack("=IIIIQQQQQ64s256s", 0x52545441, 1, 3, 4, 1 << 18, 1 << 20, 256, 1, T, b"utrail-1", b"stream")
    header = struct.pack("=8sIIQQQII", b"UTPOSIX\n", 0x01020304, 1, 1 << 60, first, len(records), closed, len(names))
    header += attr + struct.pack("=IIIIIIQ", 0, 0, overrun, 0, 0, 0, 0)
    table = b"".join(text.encode().ljust(256, b"\0") for text in names)
    content = header.ljust(4096, b"\0") + table.ljust(511 * 256, b"\0") + records
    Path(name).write_bytes(content[: len(content) - cut])
    return name


def read(name):
    """The events of a log that utrail has written. Event numbers are those of its header."""
    content = Path(name).read_bytes()
    first, last = struct.unpack_from("=QQ", content, 24)
    nr_names, = struct.unpack_from("=I", content, 44)
    names = [content[4096 + 256 * nr :][:256].rstrip(b"\0").decode() for nr in range(nr_names)]
    events, at = [], RECORDS + first
    while at < RECORDS + last:
        size, _, time, address, thread, pid, number, length, flags = struct.unpack_from("=IIQQQIIII", content, at)
        events.append((time, address, thread, pid, number, flags, content[at + 48 :][:length]))
        at += size
    return names, events


def export(name, *words):
    run("sh", "-c", 'exec "$@" > "$0"', name, tools.UTRAIL, "events", "export", "--as=posix", *words).must()
    return read(name)


def test_show(workdir):
    write("a.log")
    lines = utrail("events", "show", "a.log").must().out.splitlines()
    assert len(lines) == 7
    assert lines[1] == "1764000000.000000010 [    12] posix:frame_done DATA=2a000000"
    assert lines[2].endswith(" posix:frame_done DATA=6c6f6e67...")
    assert lines[3] == "1764000000.000000009 [    13] posix:unnamed DATA="
    assert lines[4] == "1764000000.000000012 [     0] posix:posix_trace_overflow DATA="
    assert "\x1b" not in "".join(lines)


def test_back_again(workdir):
    """An imported log is exported unchanged, with times that go back, events of no process,
    truncated data, and names without events."""
    write("a.log")
    result = utrail("events", "import", "-d", "data", "a.log").must()
    assert result.out == "7 events of 7 kinds in 4 tasks are in 'data', 0 events were left out\n" and result.err == ""
    assert export("b.log", "-d", "data") == (NAMES, EVENTS)
    assert utrail("events", "show", "b.log").must().out == utrail("events", "show", "a.log").must().out


def test_views(workdir):
    write("a.log")
    utrail("events", "import", "a.log").must()
    assert "/* posix:frame_done (DATA=2a000000) */" in utrail("replay").must().out
    rows = json.loads(utrail("events", "export", "--as=json").must().out)
    assert rows[1]["args"] == {"DATA": "2a000000"} and (rows[1]["pid"], rows[1]["tid"]) == (12, 12)
    counts = {line.split()[3]: int(line.split()[0]) for line in utrail("events", "list").must().out.splitlines()[1:]}
    assert counts["posix:frame_done"] == 2 and counts["posix:never"] == 0
    assert len(export("b.log", "-E", "posix:frame_done")[1]) == 2
    assert "posix:frame_done" in utrail("report", "--events").must().out
    if tools.PEER:
        assert "posix:frame_done" in peer("replay", "-d", "uftrace.data").must().out


def test_several(workdir):
    """Events of several POSIX logs are merged by time, each log with its own ids. Events of other
    kinds in the recording are exported with their text as data."""
    write("a.log", [(T + 2 * nr, 1, 2, 3, FIRST, 0, bytes([nr])) for nr in range(3)], ["one"])
    write("b.log", [(T + 2 * nr + 1, 1, 2, 4, FIRST, 0, bytes([nr])) for nr in range(3)], ["two"])
    utrail("events", "import", "-d", "data", "a.log", "b.log").must()
    names, events = export("c.log", "-d", "data")
    assert names == ["one", "two"] and [event[4] for event in events] == [FIRST, FIRST + 1] * 3
    Path("lines.log").write_text("2026-11-23 09:30:01.000042 HTTP PID=12 UID=17\n")
    utrail("events", "import", "--into", "data", "lines.log").must()
    names, events = export("c.log", "-d", "data")
    assert names == ["one", "two", "trace:HTTP"] and events[6][3:] == (12, FIRST + 2, 0, b"PID=12 UID=17")


def test_what_is_missing(workdir):
    write("a.log", closed=0, overrun=1)
    result = utrail("events", "show", "a.log").must()
    assert result.err.splitlines() == ["WARN: 'a.log' was not closed: it has only events that were flushed before its program ended",
                                       "WARN: 'a.log' lacks events: there was no room for all"]
    write("cut.log", cut=20)
    for words in (["show"], ["import"]):
        result = utrail("events", *words, "cut.log")
        assert result.status == 1 and result.err == "WARN: 'cut.log' is damaged: the rest is left out\n"
    write("long.log", [(T, 1, 2, 3, FIRST, 0, bytes(100_000))])
    assert "1 event has more data than a record takes" in utrail("events", "import", "long.log").must().err
    data = export("b.log")[1][0]
    assert data[5] == TRUNCATED and len(data[6]) == 65484


def test_what_is_wrong(workdir):
    write("a.log")
    write("none.log", [])
    Path("lines.log").write_text("2026-11-23 09:30:01.000042 HTTP PID=12 UID=17\n")
    for words, status, text in (
            (["show", "lines.log"], 2, "'lines.log' is no log of POSIX Trace; recordings are named by -d"),
            (["show", "nowhere"], 1, "cannot open 'nowhere'"),
            *((["show", *option.split(), "a.log"], 2, f"'--{option.split()[0].lstrip('-')}' means nothing for logs")
              for option in ("--path", "--time-range 1~2", "--tid 3", "--data d", "--filter main", "--Event x:y")),
            (["import", "a.log", "lines.log"], 2, "some files are logs of POSIX Trace, and some are not"),
            (["import", "a.log", "a.log"], 2, "'a.log' is given twice"),
            (["import", "--common", "%P", "a.log"], 2, "'--common' means nothing for logs of POSIX Trace"),
            (["import", "none.log"], 1, "the given logs have no events")):
        result = utrail("events", *words)
        assert result.status == status and text in result.err, result.err
    assert not Path("uftrace.data").exists()
    Path("a.log").write_bytes(Path("a.log").read_bytes()[:100])
    assert "'a.log' is no log of POSIX Trace, or is damaged" in utrail("events", "show", "a.log").err


@pytest.mark.parametrize("at", [24, 32, 44, 4096, RECORDS, RECORDS + 8, RECORDS + 36, RECORDS + 40])
def test_any_bytes(workdir, at):
    """A changed byte of a log at most makes the command fail with an error."""
    content = bytearray(Path(write("a.log")).read_bytes())
    for value in (0, 0x7f, 0xff):
        content[at : at + 4] = bytes([value] * 4)
        Path("a.log").write_bytes(content)
        for words in (["show", "a.log"], ["import", "-d", "data", "a.log"]):
            result = utrail("events", *words)
            assert result.status in (0, 1), result.err
        if result.status == 0:
            utrail("events", "export", "--as=posix", "-d", "data").must()
