#!/usr/bin/env python3
"""Includes point downwards only (doc/internals/overview.md, "Rooms"), and each source includes its
own header first.

usage: includes.py TOP
"""
import pathlib
import re
import sys

# Rooms, in order: each may include itself and the rooms that are listed before it.
LAYERS = [
    "utils/base", "utils/format", "utils/tracecmd", "utils/object", "utils/spec", "utils/pipeline", "utils/builddb", "utils/view",
    "utils/script", "utils/export",
]
ALLOWED = {
    "arch": {"utils/base"},
    "libmcount": {"utils/base", "utils/format", "arch"},
    "cmds": set(LAYERS) | {"arch"},
}
for at, layer in enumerate(LAYERS):
    ALLOWED[layer] = set(LAYERS[:at]) | ({"arch"} if at >= LAYERS.index("utils/object") else set())

# libutrail-trace is a project of its own: the paths in its includes are relative to trace/. Other
# files include only the two headers in SEAM; the probe includes only recorder.h.
TRACE = "trace"
TRACE_MAY_USE = {
    "include": set(), "text": set(), "posixlog": set(), "seam": {"text", "posixlog"}, "events": {"include", "seam", "text"},
    "posix": {"include", "seam", "text", "posixlog", "events/door.h"},
}
SEAM = {"trace/seam/reader.h", "trace/seam/recorder.h"}
SEAM_OF = {"utils/base": set(), "arch": set(), "libmcount": {"trace/seam/recorder.h"}}

# The recorder has rooms of its own (doc/internals/recorder.md). Each may include those before it,
# and the listed files of other commands. Only the last one includes all others.
RECORDER = "cmds/record"
RECORDER_ROOMS = ["base", "store", "plan", "tasks", "sources", "proc", "control", "attach", "run"]
RECORDER_MAY_USE = {"cmds/terminal/msg.h"}


def room_of(path):
    return next((room for room in ALLOWED if path.startswith(room + "/")), None)


def recorder_room(path):
    """The number of the file's room in the recorder; None for a file outside, which is above all
    rooms."""
    parts = path.removeprefix(RECORDER + "/").split("/")
    if not path.startswith(RECORDER + "/") or len(parts) < 2 or parts[0] not in RECORDER_ROOMS:
        return None
    return RECORDER_ROOMS.index(parts[0])


def recorder_problem(name, target):
    """The error text for including a file of the recorder, or None."""
    room, used = recorder_room(name), recorder_room(target)

    if room is None or RECORDER_ROOMS[room] == "run" or not target.startswith("cmds/"):
        return None
    if used is None:
        return None if target in RECORDER_MAY_USE else f"a room of the recorder may not use {target}"
    if used > room:
        return f"the recorder's room '{RECORDER_ROOMS[room]}' may not use '{RECORDER_ROOMS[used]}', which is above it"
    return None


def trace_problem(name, target):
    """The error text for an include inside libutrail-trace, or None."""
    room, used = name.split("/")[1], target.split("/")[0]

    if room not in TRACE_MAY_USE:
        return f"trace/{room} is no room for sources"
    if used not in TRACE_MAY_USE:
        return "not named from the top of libutrail-trace, which stands alone"
    if used != room and not {used, target} & TRACE_MAY_USE[room]:
        return f"trace/{room} may not use {target}"
    return None


def seam_problem(name, target):
    """The error text for including libutrail-trace from outside, or None."""
    if target in SEAM_OF.get(room_of(name), SEAM):
        return None
    return f"{target} is not for {room_of(name) or 'tests'}: trace/seam is all that others see of libutrail-trace"


def include_problem(name, target):
    if name.startswith(TRACE + "/"):
        return trace_problem(name, target)
    if target.startswith(TRACE + "/"):
        return seam_problem(name, target)
    # Generated headers are allowed: offsets.h has numbers of the probe's structs for the stubs.
    # Tests may include any file.
    if target in ("config.h", "libmcount/offsets.h") or name.startswith("tests/"):
        return None
    room = room_of(target)
    if room is None:
        return "not named from the top of the tree"
    if room != room_of(name) and room not in ALLOWED[room_of(name)]:
        return f"{room_of(name)} may not use {room}"
    return recorder_problem(name, target)


def check(top, path):
    name = str(path.relative_to(top))
    lines = path.read_text().splitlines()
    problems = []

    if not name.startswith("tests/") and (not lines or not lines[0].startswith("/*")):
        problems.append(f"{name}:1: no comment that says what the file owns")
    if len(lines) > 800 and not name.startswith("tests/"):
        problems.append(f"{name}: {len(lines)} lines: a file is one idea")
    if name.startswith(RECORDER + "/") and recorder_room(name) is None:
        problems.append(f"{name}: in no room of the recorder ({', '.join(RECORDER_ROOMS)})")
    for number, line in enumerate(lines, 1):
        included = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if not included:
            continue
        problem = include_problem(name, included.group(1))
        if problem:
            problems.append(f"{name}:{number}: {problem}")
    return problems


def main():
    top = pathlib.Path(sys.argv[1])
    sources = [path for room in ("utils", "arch", "libmcount", "cmds", "trace", "tests")
               for path in sorted((top / room).rglob("*.[chS]"))
               if not str(path.relative_to(top)).startswith(("trace/tests/", "trace/examples/"))]
    problems = [problem for path in sources for problem in check(top, path)]

    print("\n".join(problems) or f"{len(sources)} files are good")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
