"""Packs data directories into one file, in the form of tests/fuzz/archive.h."""

import os
import re

HEAD = re.compile(rb"(?:^|\n)==== (file|dir|fifo|link) ([^\n/]+)(?:\n|$)")


def pack(entries):
    """Pack @entries: name -> content, or name -> (kind, content)."""
    parts = []
    for name, value in entries.items():
        kind, content = value if isinstance(value, tuple) else ("file", value)
        parts.append(b"==== %s %s\n%s" % (kind.encode(), name.encode(), content))
    return b"\n".join(parts)


def parse(data):
    """The content of each file by name, of an archive that has only files."""
    marks = list(HEAD.finditer(data))
    ends = [m.start() for m in marks[1:]] + [len(data)]
    assert all(m[1] == b"file" for m in marks)
    return {m[2].decode(): data[m.end() : end] for m, end in zip(marks, ends)}


def unpack(entries, path):
    """Make the directory @path, and files in it from @entries, which have the form of pack()."""
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
