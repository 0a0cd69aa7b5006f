#!/usr/bin/env python3
"""Files are written in two ways only: outputs that a user names by utils/base/outfile.h, recordings
by the store.

Each other place that opens a file for writing is in the list, with its reason.

usage: writes.py TOP
"""
import pathlib
import re
import sys

OPENS = re.compile(
    r"\bO_CREAT\b|\b(?:open|openat|fst_keep_away)\(.*\bO_(?:WRONLY|RDWR)\b|\bcreat\(|\bmko?stemps?\(|"
    r"\bf(?:re)?open\([^;]*?,\s*\"(?:[wa]|r\+)",
)
# An open() whose flags are on the next line.
SPLIT_OPEN = re.compile(r"\bopen(?:at)?\([^;]*\bO_(?:WRONLY|RDWR|CREAT)\b", re.S)

# path: the reason why it may write
MAY_WRITE = {
    "utils/base/outfile.c": "the one way for outputs that a user names",
    "cmds/terminal/statusline.c": "the terminal that stderr is, so that nobody waits for it",
    "cmds/tui/replay/replay_kept.c": "lines of the screen, in a file without a name",
    "cmds/record/store/user_cache.c": "the user's cache directory",
    "cmds/record/store/dir.c": "files of the recording directory",
    "cmds/record/store/reserve.c": "the room after files of the recording directory is given back",
    "cmds/record/store/dir_make.c": "the marker in a recording directory that was just made",
    "cmds/record/attach/attach.c": "standard output of the program that is attached to",
    "cmds/record/attach/attached.c": "memory of the program that is attached to",
    "cmds/record/sources/tracefs.c": "switches of the kernel's tracing",
    "cmds/record/sources/tracefs_state.c": "switches of the kernel's tracing",
    "cmds/show/parts/call_store.c": "a file without a name",
    "cmds/show/browser.c": "the null device, as what a browser writes to",
    "cmds/record/proc/calls.c": "words for what others opened",
    "utils/pipeline/kinds/kinds_proc_acts.c": "words for what others opened",
    "utils/spec/args/autoargs_table.c": "words for what others opened",
    "utils/export/exp_sqlite.c": "a database without a name, in a directory of its own",
    "trace/events/file.c": "a log that the program itself names",
    "trace/events/lock.c": "the lock of such a log",
    "trace/events/repair.c": "the end of such a log",
    "trace/posix/flush.c": "the null device, in place of a log that a forked child must not write to",
    "trace/posix/place.c": "streams in shared memory",
}


def opens_to_write(text):
    code = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)
    places = {code.count("\n", 0, m.start()) + 1 for m in OPENS.finditer(code)}
    places |= {code.count("\n", 0, m.start()) + 1 for m in SPLIT_OPEN.finditer(code)}
    return sorted(places)


def main():
    top = pathlib.Path(sys.argv[1])
    problems = []
    unused = set(MAY_WRITE)
    for room in ("cmds", "utils", "libmcount", "trace"):
        for path in sorted((top / room).rglob("*.[ch]")):
            name = str(path.relative_to(top))
            if name.startswith(("trace/tests/", "trace/examples/")):
                continue
            places = opens_to_write(path.read_text())
            if places:
                unused.discard(name)
            if name not in MAY_WRITE:
                problems += [f"{name}:{line}: opens a file for writing: use utils/base/outfile.h" for line in places]
    problems += [f"{name}: is listed here, and opens nothing for writing" for name in sorted(unused)]
    print("\n".join(problems) or f"{len(MAY_WRITE)} files open others for writing, each for a reason")
    return 1 if problems else 0


sys.exit(main())
