"""A second formatter of fstrace lines, written from the description of the format alone. The library is judged by it."""

import errno
import socket
import struct

LITERAL = set(b"\"-./0123456789<>ABCDEFGHIJKLMNOPQRSTUVWXYZ\\^_`abcdefghijklmnopqrstuvwxyz{|}~")

# By directive: the C types of its arguments, in order.
DIRECTIVES = {
    "%": [], "P": [], "T": [], "F": [], "L": [], "e": [],
    "d": ["int"], "u": ["unsigned"], "x": ["unsigned"], "b": ["int"], "E": ["int"],
    "64d": ["int64"], "64u": ["uint64"], "64x": ["uint64"],
    "lld": ["int64"], "llu": ["uint64"], "llx": ["uint64"],
    "z": ["ssize"], "f": ["double"], "s": ["string"], "S": ["string", "ssize"],
    "I": ["function", "pointer"], "J": ["function", "pointer"],
    "A": ["octets", "ssize"], "B": ["octets", "ssize"],
    "p": ["address"], "a": ["sockaddr", "socklen"],
}

# The name that logs use, for each error number that has two names.
PREFERRED = {errno.EAGAIN: "EAGAIN", errno.EOPNOTSUPP: "EOPNOTSUPP", errno.EDEADLK: "EDEADLK"}


def split(format):
    """The pieces of a format: ("text", ...) and ("%", directive). None for one that is wrong."""
    pieces = []
    while format:
        text, percent, format = format.partition("%")
        if text:
            pieces.append(("text", text))
        if not percent:
            break
        fitting = [name for name in DIRECTIVES if format.startswith(name)]
        if not fitting:
            return None
        name = max(fitting, key=len)
        pieces.append(("%", name))
        format = format[len(name):]
    return pieces


def encode(octets):
    return "".join(
        chr(c) if c in LITERAL else "+" if c == 0x20 else f"%{c:02X}" for c in octets
    )


def string(value):
    return "%00" if value is None else encode(value)


def signed(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def error(number):
    if number in PREFERRED:
        return PREFERRED[number]
    return errno.errorcode.get(number, str(number)) if number else "0"


def inet6(octets):
    groups = struct.unpack(">8H", octets)
    best, begin = 0, 0
    for at in range(8):
        length = 0
        while at + length < 8 and groups[at + length] == 0:
            length += 1
        if length > best:
            best, begin = length, at
    words = [f"{group:x}" for group in groups]
    if not best:
        return ":".join(words)
    return ":".join(words[:begin]) + "::" + ":".join(words[begin + best:])


def address(octets):
    """The text of %a. @octets: the bytes of a struct sockaddr; None: the argument is NULL."""
    if octets is None:
        return "-"
    family = struct.unpack("=H", octets[:2])[0] if len(octets) >= 2 else 0
    if family == socket.AF_INET and len(octets) >= 16:
        return f"AF_INET`{'.'.join(map(str, octets[4:8]))}`{struct.unpack('>H', octets[2:4])[0]}"
    if family == socket.AF_INET6 and len(octets) >= 28:
        return f"AF_INET6`{inet6(octets[8:24])}`{struct.unpack('>H', octets[2:4])[0]}"
    if family == socket.AF_UNIX and len(octets) >= 2:
        path = octets[2:]
        if not path:
            return "AF_UNIX`unnamed"
        if path[0] == 0:
            return f"AF_UNIX`abstract`{encode(path[1:])}"
        if 0 in path:
            return f"AF_UNIX`{encode(path[:path.index(0)])}"
        return f"AF_UNIX`bad`{encode(path)}"
    return f"OTHER`{octets.hex()}"


def double(value):
    return "%.17g" % value


def directive(name, values, place):
    """The text of one directive. @place: pid, thread, file, line, errno."""
    if name == "%":
        return "%"
    if name in ("P", "T", "L"):
        return str(place[{"P": "pid", "T": "thread", "L": "line"}[name]])
    if name == "F":
        return string(place["file"])
    if name == "e":
        return error(place["errno"])
    value = values[0]
    if name == "E":
        return error(signed(value, 32))
    if name == "d":
        return str(signed(value, 32))
    if name in ("u", "x"):
        return f"{value & 0xffffffff:{'d' if name == 'u' else 'x'}}"
    if name in ("64d", "lld", "z"):
        return str(signed(value, 64))
    if name in ("64u", "llu"):
        return str(value & (1 << 64) - 1)
    if name in ("64x", "llx"):
        return f"{value & (1 << 64) - 1:x}"
    if name == "f":
        return double(value)
    if name == "b":
        return "true" if value & 0xffffffff else "false"
    if name == "s":
        return string(value)
    if name == "S":
        limit = signed(values[1], 64)
        return "%00" if value is None else encode(value[:max(limit, 0)])
    if name == "I":
        return "%00" if values[1] is None else string(value[0] if value else None)
    if name == "J":
        return "[" + ",".join(encode(item) for item in value) + "]"
    if name in ("A", "B"):
        count = max(signed(values[1], 64), 0)
        return encode(value[:count]) if name == "A" else value[:count].hex()
    if name == "p":
        return f"{value or 0:x}"
    return address(value if value is None else value[:values[1]])


def body(format, arguments, place):
    """The text after the id. @arguments: a list of values for each directive of the format, in
    order."""
    arguments = iter(arguments)
    return "".join(
        text if kind == "text" else directive(text, next(arguments), place) for kind, text in split(format)
    )
