"""A recorder in the process: what it is told of events and records, and what becomes of the text."""

import ctypes
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from built import BUILD

SHIM = BUILD / "tests/events/libtrace_recorder.so"


def run(tmp_path, script, **environment):
    """Runs @script with a recorder. Returns the lines of the log, and the recorder's notes."""
    notes = tmp_path / "notes"
    env = {**os.environ, "LD_PRELOAD": str(SHIM), "TRACE_RECORDER_OUT": str(notes),
           "PYTHONPATH": str(Path(__file__).parent), **environment}
    head = ("import ctypes\nfrom ctypes import *\nfrom library import *\n"
            f"t = Log({str(tmp_path / 't')!r})\n")
    subprocess.run([sys.executable, "-c", head + script], env=env, check=True, timeout=60)
    log = tmp_path / "t.log"
    lines = [line.split(" ", 2)[2] for line in log.read_text().splitlines()] if log.exists() else []
    return lines, notes.read_text().splitlines() if notes.exists() else []


ONE = "e = t.declare('A-ONE', 'N=%d', enabled={})\nprint(is_enabled(e))\nlog(e, 5)\n"


@pytest.mark.parametrize("choice,enabled,lines,emitted", [
    (1, False, [], 1), (1, True, ["A-ONE N=5"], 1),
    (-1, False, None, 0), (-1, True, ["A-ONE N=5"], 0),
    (0, False, None, 0), (0, True, ["A-ONE N=5"], 1),
])
def test_choice(tmp_path, choice, enabled, lines, emitted):
    """The recorder's choice of an event is about the recording, the program's about the log."""
    if lines is None:  # disabled: the macros do not call the library
        script = f"e = t.declare('A-ONE', 'N=%d', enabled={enabled})\nassert is_enabled(e) == 0"
    else:
        script = ONE.format(enabled) + "assert is_enabled(e) == 1"
    got, notes = run(tmp_path, script, TRACE_RECORDER_CHOICE=str(choice))
    assert got == (lines or [])
    assert notes == ["declare 1000001 A-ONE|N=%d|(none)"] + ["emit 1000001 05000000"] * emitted


@pytest.mark.parametrize("environment", [{"TRACE_RECORDER_ABI": "2"}, {"TRACE_RECORDER_FULL": "1"}])
def test_no_recorder(tmp_path, environment):
    """With a recorder of another version, or one that takes no event, only the log has the event."""
    lines, notes = run(tmp_path, ONE.format(True), **environment)
    assert lines == ["A-ONE N=5"]
    assert notes == []


def test_selected_later(tmp_path):
    """If the user chooses nothing, the program chooses for the log and for the recorder."""
    lines, notes = run(tmp_path, """
e = t.declare("A", "%s", enabled=False)
lib.fstrace_select_regex(t.handle, b"A", None)
log(e, c_char_p(b"x"))
lib.fstrace_select_regex(t.handle, b"B", None)
assert not is_enabled(e)
""", TRACE_RECORDER_CHOICE="0")
    assert lines == ["A x"]
    assert notes[1:] == ["emit 1000001 0100000078"]


def test_common_format(tmp_path):
    """When the common format changes, the event gets a new number from the recorder. The records have
    the values of the common format, and then those of the event."""
    lines, notes = run(tmp_path, """
e = t.declare("A", "%u")
lib.fstrace_set_common_format(t.handle, b"L=%L")
log(e, 9, line=3)
lib.fstrace_set_common_format(t.handle, None)
log(e, 9)
""")
    assert lines == ["A L=3 9", "A 9"]
    assert notes == ["declare 1000001 A|%u|(none)", "declare 1000002 A|%u|L=%L", "emit 1000002 0300000009000000",
                     "declare 1000003 A|%u|(none)", "emit 1000003 09000000"]


def text(octets):
    return struct.pack("<I", len(octets)) + octets if octets is not None else b"\xff\xff\xff\xff"


PLAIN = [
    ("%d", "c_int(-2)", struct.pack("<i", -2)), ("%u", "c_uint(2**32 - 1)", struct.pack("<I", 2**32 - 1)),
    ("%x", "c_uint(255)", struct.pack("<I", 255)), ("%b", "c_int(7)", struct.pack("<i", 7)),
    ("%64d", "c_int64(-3)", struct.pack("<q", -3)), ("%llu", "c_uint64(2**64 - 1)", struct.pack("<Q", 2**64 - 1)),
    ("%z", "c_ssize_t(-1)", struct.pack("<q", -1)), ("%f", "c_double(0.1)", struct.pack("<d", 0.1)),
    ("%s", "c_char_p(b'a b')", text(b"a b")), ("%s", "c_char_p(None)", text(None)),
    ("%S", "c_char_p(b'abc'), c_ssize_t(2)", text(b"ab")), ("%S", "c_char_p(b'abc'), c_ssize_t(-1)", text(b"")),
    ("%S", "c_char_p(None), c_ssize_t(2)", text(None)),
    ("%A", "c_char_p(b'ab'), c_ssize_t(2)", text(b"ab")), ("%B", "c_char_p(None), c_ssize_t(2)", text(b"")),
    ("%E", "c_int(2)", struct.pack("<i", 2)), ("%p", "c_void_p(4096)", struct.pack("<Q", 4096)),
    ("%a", "c_void_p(None), c_uint(16)", text(None)),
    ("%a", "c_char_p(b'\\1\\0/x'), c_uint(4)", text(struct.pack("<H", socket.AF_UNIX) + b"/x")),
    ("%F:%L", "", text(b"unit.c") + struct.pack("<I", 7)),
]


@pytest.mark.parametrize("format,arguments,payload", PLAIN)
def test_payload(tmp_path, format, arguments, payload):
    _, notes = run(tmp_path, f"log(t.declare('A', {format!r}), {arguments})")
    assert notes[1] == f"emit 1000001 {payload.hex()}"
    script = f"log(t.declare('B', {format!r}, enabled=False), {arguments})"
    _, notes = run(tmp_path, script, TRACE_RECORDER_ROOM="4096")
    assert notes[3] == f"place 1000001 {payload.hex()}"


def test_place(tmp_path):
    """Without a log a record is made at the place that begin() gives, if it fits, and if no
    function is called for it."""
    script = "e = t.declare('A', {!r}, enabled=False)\nlog(e, {})\n"
    room = {"TRACE_RECORDER_ROOM": "12"}
    line, notes = run(tmp_path, script.format("%d %s", "c_int(1), c_char_p(b'abcd')"), **room)
    assert (line, notes[1]) == ([], "place 1000001 01000000" + text(b"abcd").hex())
    _, notes = run(tmp_path, script.format("%d %s", "c_int(1), c_char_p(b'abcde')"), **room)
    assert notes[3] == "emit 1000001 01000000" + text(b"abcde").hex()
    _, notes = run(tmp_path, script.format("%s %llu %d", "c_char_p(b'abcd'), c_uint64(7), c_int(9)"), **room)
    assert notes[5] == "emit 1000001 " + (text(b"abcd") + struct.pack("<Qi", 7, 9)).hex()
    _, notes = run(tmp_path, script.format("%T", ""), **room)
    assert notes[7].startswith("emit 1000001 ")


def test_iterator_is_asked_once(tmp_path):
    """The callback that yields the texts is called for one list, which the log and the recorder
    get."""
    lines, notes = run(tmp_path, """
left = [create_string_buffer(b"x,"), create_string_buffer(b"y")]
keep = list(left)
f = CALLBACK(lambda arg: addressof(left.pop(0)) if left else None)
log(t.declare("A", "%J"), f, c_void_p(1))
""")
    assert lines == ["A [x%2C,y]"]
    assert notes[1] == "emit 1000001 " + (struct.pack("<I", 2) + text(b"x,") + text(b"y")).hex()


def test_chosen_again(tmp_path):
    """The user changes which events are recorded while the program runs. The program's own choice
    of the events in its log stays."""
    lines, notes = run(tmp_path, """
import os, signal
e = t.declare("A", "%d", enabled=False)
f = t.declare("B", "%d", enabled=True)
assert not is_enabled(e) and is_enabled(f)
for choice, a, b in [("1", 1, 1), ("-1", 0, 1), ("0", 0, 1), ("1", 1, 1)]:
    CDLL(None).setenv(b"TRACE_RECORDER_CHOICE", choice.encode(), 1)
    os.kill(os.getpid(), signal.SIGUSR1)
    assert (is_enabled(e), is_enabled(f)) == (a, b), choice
log(e, 1)
log(f, 2)
""", TRACE_RECORDER_CHOICE="0")
    assert lines == ["B 2"]
    assert notes[2:] == ["emit 1000001 01000000", "emit 1000002 02000000"]


def test_busy(tmp_path):
    """While a thread is in the library, new choices are refused, and the recorder must come again.
    Here a signal handler of this thread makes the new choices."""
    _, notes = run(tmp_path, """
import os, signal
said = []
def callback(arg):
    # The library has blocked it.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR1])
    os.kill(os.getpid(), signal.SIGUSR1)
    said.append(1)
f = CALLBACK(callback)
e = t.declare("A", "%I", enabled=False)
log(e, f, c_void_p(1))
assert said
""")
    assert any(note.startswith("busy") for note in notes)
