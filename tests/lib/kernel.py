"""The kernel's files of data directories, made without a kernel: kernel_header of a real machine,
and pages of any records."""

import re
import struct
from pathlib import Path

HEADER = Path(__file__).resolve().parents[1] / "data/kernel/kernel_header"
PAGE_BYTES = 4096


def header(big=False, only=None):
    """A kernel_header with PAGE_SIZE, LONG_SIZE, some formats of Linux 6.18 and those of tracers;
    with @only, the formats of these events."""
    text = HEADER.read_bytes().replace(b"ENDIAN: LE", b"ENDIAN: BE" if big else b"ENDIAN: LE")
    start, *blocks = re.split(rb"(?=TRACEFS: )", text)
    names = only and [f"events/{name.replace(':', '/')}/format:".encode() for name in only]
    return start + b"".join(b for b in blocks if not names or any(name in b for name in names))


def event_ids(content=None):
    """The number of each event by name: {"sched:sched_switch": 372, ...}"""
    found = {}
    for m in re.finditer(rb"TRACEFS: events/(\w+)/(\w+)/format: (\d+)\n", content or header()):
        number = re.search(rb"^ID: (\d+)", (content or header())[m.end() : m.end() + int(m[3])], re.M)
        found[f"{m[1].decode()}:{m[2].decode()}"] = int(number[1])
    return found


class Page:
    """A page of the kernel's ring buffer (include/linux/ring_buffer.h), with words of 64 bits."""

    def __init__(self, time, big=False):
        self.order, self.big, self.time, self.now, self.body = ">" if big else "<", big, time, time, b""

    def word(self, kind, delta):
        self.body += struct.pack(self.order + "I", kind << 27 | delta if self.big else delta << 5 | kind)

    def record(self, time, number, pid, fields=b""):
        delta = time - self.now
        self.now = time
        if delta >= 1 << 27:
            self.word(30, delta & ((1 << 27) - 1))
            self.body += struct.pack(self.order + "I", delta >> 27)
            delta = 0
        data = struct.pack(self.order + "HBBi", number, 0, 0, pid) + fields
        data += bytes(-len(data) % 4)
        if len(data) // 4 <= 28:
            self.word(len(data) // 4, delta)
        else:
            self.word(0, delta)
            self.body += struct.pack(self.order + "I", len(data) + 4)
        self.body += data
        return self

    def pack(self, missed=None):
        commit = len(self.body)
        tail = b""
        if missed is not None:
            commit |= 1 << 31 | 1 << 30
            tail = struct.pack(self.order + "Q", missed)
        page = struct.pack(self.order + "QQ", self.time, commit) + self.body + tail
        assert len(page) <= PAGE_BYTES
        return page + bytes(PAGE_BYTES - len(page))


def record_kinds(content):
    """The types of all records in a per-CPU file of this machine, in order: 31 is an absolute time,
    see ring_buffer.h for others."""
    for begin in range(0, len(content), PAGE_BYTES):
        commit = struct.unpack_from("Q", content, begin + 8)[0] & (1 << 20) - 1
        at, end = begin + 16, begin + 16 + commit
        while at + 4 <= end:
            kind = struct.unpack_from("I", content, at)[0] & 31
            yield kind
            if kind >= 30:
                at += 8
            elif kind in (0, 29):
                at += 4 + struct.unpack_from("I", content, at + 4)[0]
            else:
                at += 4 + 4 * kind


def sched_switch(prev, next_, big=False):
    """The fields of sched:sched_switch: (name, pid) of the task that leaves and of the one that
    comes."""
    return struct.pack(
        (">" if big else "<") + "16siiq16sii", prev[0].encode(), prev[1], 120, 1, next_[0].encode(), next_[1], 100
    )


def nanosleep(big=False):
    """The fields of syscalls:sys_enter_clock_nanosleep."""
    return struct.pack((">" if big else "<") + "iiQQQQ", 230, 0, 1, 2, 0x7FFC12345678, 0)


def graph_entry(func, depth, big=False):
    """The fields of ftrace:funcgraph_entry."""
    return struct.pack((">" if big else "<") + "Qi", func, depth)


def graph_exit(func, depth, big=False):
    """The fields of ftrace:funcgraph_exit in Linux 6.1: the depth, an overrun and two times."""
    return struct.pack((">" if big else "<") + "QiIQQ", func, depth, 0, 0, 0)
