"""Data directories packed into one file, as tests/fuzz/archive.h describes it."""

import os
import re

HEAD = re.compile(rb"(?:^|\n)==== (file|dir|fifo|link) ([^\n/]+)(?:\n|$)")


def pack(entries):
    """@entries: name -> content, or name -> (kind, content)."""
    parts = []
    for name, value in entries.items():
        kind, content = value if isinstance(value, tuple) else ("file", value)
        parts.append(b"==== %s %s\n%s" % (kind.encode(), name.encode(), content))
    return b"\n".join(parts)


def parse(data):
    """name -> content, of archives that hold files only."""
    marks = list(HEAD.finditer(data))
    ends = [m.start() for m in marks[1:]] + [len(data)]
    assert all(m[1] == b"file" for m in marks)
    return {m[2].decode(): data[m.end() : end] for m, end in zip(marks, ends)}


def unpack(entries, path):
    """Make the directory @path from what pack() takes."""
    path.mkdir()
    for name, value in entries.items():
        kind, content = value if isinstance(value, tuple) else ("file", value)
        if kind == "file":
            (path / name).write_bytes(content)
        elif kind == "dir":
            (path / name).mkdir()
        elif kind == "fifo":
            os.mkfifo(path / name)
        else:
            (path / name).symlink_to(content.decode())
