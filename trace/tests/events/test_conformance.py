"""Every directive: what the library writes is what the second formatter (expected.py) says, byte for byte."""

import ctypes
import errno
import os
import random
import re
import socket
import struct
import subprocess
from ctypes import c_int, c_void_p

import expected
import pytest
from built import UTRAIL
from library import CALLBACK, TYPES, Log, lib, libc, log

LINE = re.compile(rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6} ([!-~]+) ([^\n]*)\n")
SEED = 20261123
NR_GENERATED = 10000


class Calls:
    """Functions for %I and %J. Their strings live as long as this object."""

    def __init__(self, items):
        self.buffers = [ctypes.create_string_buffer(item) for item in items]
        self.left = [ctypes.addressof(buffer) for buffer in self.buffers] + [None]
        self.function = CALLBACK(lambda arg: self.left.pop(0))


def sockaddr(octets):
    return ctypes.create_string_buffer(octets, max(len(octets), 1)) if octets is not None else None


def for_c(name, values, keep):
    """The arguments of a directive for the call; @keep holds what they point to."""
    if name in ("I", "J"):
        calls = Calls(values[0])
        keep.append(calls)
        return [calls.function, c_void_p(values[1])]
    converted = []
    for type, value in zip(expected.DIRECTIVES[name], values):
        if type in ("octets", "sockaddr"):
            buffer = sockaddr(value)
            keep.append(buffer)
            converted.append(buffer if buffer is not None else c_void_p(None))
        else:
            converted.append(TYPES[type](value))
    return converted


def place(error=0):
    return {"pid": os.getpid(), "thread": libc.pthread_self(), "file": b"a file.c", "line": 4711, "errno": error}


def emit(log_to, format, arguments, error=0, id="UNIT-EVENT"):
    """Log one event; returns the line that is expected, without its time."""
    event = log_to.declare(id, format)
    assert event, format
    names = [name for kind, name in expected.split(format) if kind == "%"]
    keep, values = [], []
    for name, of_directive in zip(names, arguments):
        values += for_c(name, of_directive, keep)
    ctypes.set_errno(error)
    log(event, *values, file=b"a file.c", line=4711)
    assert ctypes.get_errno() == error
    return f"{id} {expected.body(format, arguments, place(error))}".encode()


def lines(log_from):
    text = log_from.text()
    found = LINE.findall(text)
    assert sum(len(id) + len(body) + 29 for id, body in found) == len(text)
    return [id + b" " + body for id, body in found]


@pytest.fixture
def trace(tmp_path):
    one = Log(tmp_path / "t")
    yield one
    one.close()


INTEGERS = [0, 1, -1, 9, 10, 255, 2**31 - 1, -(2**31), 2**32 - 1, 2**63 - 1, -(2**63), 2**64 - 1]
DOUBLES = [0.0, -0.0, 1.0, 0.1, 1e300, -1e-300, 5e-324, 1.7976931348623157e308, 1 / 3, 123456789.0,
           float("nan"), float("inf"), float("-inf")]
STRINGS = [None, b"", b"a", b"two words", b"100%", bytes(range(1, 256)), b"x" * 3000]
UNIX = struct.pack("=H", socket.AF_UNIX)
ADDRESSES = [
    None,
    b"",
    b"\x01",
    struct.pack("=H", socket.AF_INET) + struct.pack(">H", 12345) + bytes([127, 0, 0, 1]) + bytes(8),
    struct.pack("=H", socket.AF_INET) + b"\x00\x50",
    *(struct.pack("=H", socket.AF_INET6) + struct.pack(">HI", 443, 0) + struct.pack(">8H", *groups) + bytes(4)
      for groups in ([0] * 8, [0] * 7 + [1], [1] + [0] * 7, [0x2001, 0xdb8, 0, 0, 1, 0, 0, 0xffff], [1, 0, 2, 0, 0, 3, 0, 4],
                     [1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 3, 0, 5, 6, 7, 8], [0, 0, 0, 0, 0, 0xffff, 0x7f00, 1])),
    UNIX,
    UNIX + b"/var/run/syslog\0",
    UNIX + b"/var/run/syslog\0and more",
    UNIX + b"/without an end",
    UNIX + b"\0hidden\0name",
    struct.pack("=H", 77) + b"\xfe\xea\xa1",
]

ORDINARY_AND_EXTREME = {
    **{name: [[value] for value in INTEGERS]
       for name in ("d", "u", "x", "b", "64d", "64u", "64x", "lld", "llu", "llx", "z")},
    **{name: [[]] for name in ("%", "P", "T", "F", "L", "e")},
    "f": [[value] for value in DOUBLES],
    "s": [[value] for value in STRINGS],
    "S": [[value, limit] for value in STRINGS for limit in (-1, 0, 1, 5, 10**6, 2**63 - 1)],
    "I": [[[b"of a function"], 1], [[], 1], [[], None], [[b""], 1], [[bytes(range(1, 256))], 1]],
    "J": [[[], None], [[b"one"], None], [[b"one,two", b"", b"three"], 1], [[b"x"] * 500, 1]],
    "A": [[octets, count] for octets in (b"", b"\0\1 \xff+%") for count in (-1, 0, len(octets))] + [[b"\0" * 2000, 2000]],
    "B": [[octets, count] for octets in (b"", b"\0\1 \xff") for count in (-1, 0, len(octets))] + [[b"\xab" * 2000, 2000]],
    "E": [[number] for number in [*errno.errorcode, 0, 9999, -1, -errno.EPERM, 2**31 - 1, -(2**31)]],
    "p": [[value] for value in (None, 1, 0xdeadbeef, 2**64 - 1)],
    "a": [[octets, len(octets or b"")] for octets in ADDRESSES],
}


@pytest.mark.parametrize("name", expected.DIRECTIVES)
def test_directive(trace, name):
    wanted = [emit(trace, f"K=%{name} next", [values]) for values in ORDINARY_AND_EXTREME[name]]
    assert lines(trace) == wanted


def test_errno_is_that_of_the_call(trace):
    numbers = [*errno.errorcode, 0, 9999, -5]
    assert lines_after(trace, [lambda n=n: emit(trace, "%e", [[]], error=n) for n in numbers])


def lines_after(trace, jobs):
    wanted = [job() for job in jobs]
    return lines(trace) == wanted


def test_wrong_formats_are_no_events(trace):
    for format in ("%", "x%", "%q", "%64", "%64z", "%ll", "%ld", "%5d", "%-d", "%i", "%c", "a%db%", "% d"):
        assert expected.split(format) is None
        assert trace.declare("WRONG", format) is None
    assert trace.declare("RIGHT", "%%%d%%")


def test_empty_format_leaves_a_blank(trace):
    assert emit(trace, "", []) == b"UNIT-EVENT "
    assert lines(trace) == [b"UNIT-EVENT "]


def test_long_lines(trace):
    long = b"y" * 65536
    wanted = [emit(trace, "A=%s B=%s", [[long], [b"end"]]), emit(trace, "A=%A", [[b"\0" * 65536, 65536]])]
    wanted.append(emit(trace, "z" * 70000, []))
    assert lines(trace) == wanted


@pytest.mark.parametrize("locale", ["de_DE.UTF-8", "fa_IR.UTF-8", "C.UTF-8"])
def test_the_point_does_not_depend_on_the_locale(trace, locale):
    import locale as locales
    try:
        locales.setlocale(locales.LC_ALL, locale)
    except locales.Error:
        pytest.skip(f"there is no locale {locale} here")
    try:
        assert lines_after(trace, [lambda v=v: emit(trace, "%f", [[v]]) for v in DOUBLES])
    finally:
        locales.setlocale(locales.LC_ALL, "C")


def random_values(name, random):
    def octets(most, first=0):
        return bytes(random.randrange(first, 256) for _ in range(random.randrange(most)))

    def integer():
        return random.choice([random.getrandbits(64), random.getrandbits(8), *INTEGERS])

    if name in ("I", "J"):
        return [[octets(9, 1) for _ in range(random.randrange(4) if name == "J" else 1)], random.choice([1, None])]
    if name in ("A", "B"):
        data = octets(40)
        return [data, random.choice([len(data), random.randrange(len(data) + 1), -1])]
    if name == "a":
        data = random.choice([octets(40), *ADDRESSES])
        return [data, len(data or b"")]
    if name == "S":
        return [random.choice([None, octets(30, 1)]), random.choice([-1, 0, 3, 1000])]
    return [{
        "double": lambda: random.choice([struct.unpack("d", random.randbytes(8))[0], random.random(), *DOUBLES]),
        "string": lambda: random.choice([None, octets(60, 1)]),
        "address": lambda: random.choice([None, random.getrandbits(48)]),
    }.get(type, integer)() for type in expected.DIRECTIVES[name]]


def test_generated(trace):
    """10,000 formats with their arguments."""
    source = random.Random(SEED)
    names = list(expected.DIRECTIVES)
    printable = [chr(c) for c in range(0x20, 0x7f) if c != 0x25]
    wanted = []
    for _ in range(NR_GENERATED):
        format, arguments = "", []
        for _ in range(source.randrange(7)):
            # Any text may follow a directive at once: no directive is the beginning of another one.
            format += "".join(source.choice(printable) for _ in range(source.randrange(5)))
            name = source.choice(names)
            format += f"%{name}"
            arguments.append(random_values(name, source))
        wanted.append(emit(trace, format, arguments, error=source.choice([0, 2, 11, 9999])))
    found = lines(trace)
    for got, want in zip(found, wanted):
        assert got == want
    assert len(found) == NR_GENERATED
    if UTRAIL:
        checked = check(trace.path)
        assert checked.returncode == 0 and checked.stdout == f"0 of {NR_GENERATED} lines in 1 files are wrong\n"


def check(*paths):
    return subprocess.run([UTRAIL, "events", "check", *paths], text=True, stdout=subprocess.PIPE)


TIME = "2026-11-23 01:02:03.000004"
needs_utrail = pytest.mark.skipif(not UTRAIL, reason="the library is built alone")


@needs_utrail
@pytest.mark.parametrize("line, wrong", [
    (f"{TIME} A ", None),
    (f"{TIME} A-B text with blanks ", None),
    ("2024-02-29 23:59:59.999999 A b", None),
    ("2023-02-29 00:00:00.000000 A b", "9: there is no such day in this month"),
    ("2023-13-01 00:00:00.000000 A b", "6: there is no such month"),
    ("2023-12-01 24:00:00.000000 A b", "12: there is no such hour"),
    ("2023-12-01 00:60:00.000000 A b", "15: there is no such minute"),
    ("2023-12-01 00:00:60.000000 A b", "18: there is no such second"),
    ("", "1: the line ends within the time"),
    (TIME[:20], "21: the line ends within the time"),
    (TIME.replace(" ", "T") + " A b", "11: expected a time of the form YYYY-MM-DD hh:mm:ss.dddddd"),
    (TIME, "27: expected a blank after the time"),
    (f"{TIME}  A", "28: expected the name of an event after the time"),
    (f"{TIME} A", "29: expected a blank after the event's name"),
    (f"{TIME} A\tB c", "29: a byte that is not printable ASCII in the event's name"),
    (f"{TIME} A b\tc", "31: a byte that is not printable ASCII"),
    (f"{TIME} A b\0c", "31: a byte that is not printable ASCII"),
])
def test_check(tmp_path, line, wrong):
    (tmp_path / "log").write_text(f"{TIME} FIRST x\n{line}\n")
    done = check(tmp_path / "log")
    told = done.stdout.splitlines()
    assert done.returncode == (wrong is not None)
    assert told[:-1] == ([f"{tmp_path}/log:2:{wrong}"] if wrong else [])
    assert told[-1] == f"{len(told) - 1} of 2 lines in 1 files are wrong"


@needs_utrail
def test_check_of_many_wrong_lines(tmp_path):
    (tmp_path / "log").write_text("wrong\n" * 30 + f"{TIME} A no end")
    told = check(tmp_path / "log").stdout.splitlines()
    assert len(told) == 22 and told[20] == f"{tmp_path}/log: and 11 more lines are wrong"


def test_variant_without_a_place(trace):
    event = trace.declare("OLD-ONE", "%F %L %d")
    lib.fstrace_log(c_void_p(event), c_int(-3))
    assert lines(trace) == [b"OLD-ONE unknown 0 -3"]


def test_mixed_registers(trace):
    """More arguments than there are registers, integers as well as floating-point numbers."""
    format = " ".join(["%d", "%f", "%s", "%64u", "%S"] * 6)
    values = [[-5], [0.5], [b"text"], [2**63], [b"limit", 3]] * 6
    assert lines_after(trace, [lambda: emit(trace, format, values)])
