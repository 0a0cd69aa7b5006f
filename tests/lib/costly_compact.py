"""Compact records (<tid>.cdat) that take as much time and memory to read as files of their size can.
Each function writes a file, which its docstring describes."""

import struct

from costly_data import ENTRY, EXIT, LOST, event, record
from tools import utrail

FILE_BYTES = 1 << 20
RAW_MAX = 128 << 10
FACTOR, WORD = 0x9E3779B97F4A7C15, 2**64 - 1
DEPTH, TIME, BYTES = 3, 4, 5


def checksum(data):
    """The sum of compact_sum() (utils/format/calls/compact.h)."""
    sums, whole = [len(data), 1, 2, 3], len(data) // 32 * 32
    for at in range(0, whole, 32):
        for i, word in enumerate(struct.unpack_from("<4Q", data, at)):
            value = (sums[i] ^ word) * FACTOR & WORD
            sums[i] = value ^ value >> 32
    total, rest = 0, data[whole:].ljust(32, b"\0")
    for value, word in zip(sums, struct.unpack("<4Q", rest)):
        total = ((total ^ (value ^ word) * FACTOR & WORD) * FACTOR & WORD) ^ total >> 29
    return total


def block(tokens, raw_bytes, nr_records=1, functions=b"\x02", nr_functions=1, is_cut=0, body_sum=None):
    body = tokens + functions
    head = struct.pack("<IiQIIIHHQI", 0x42435455, 100, 1000, raw_bytes, nr_records, len(body), nr_functions, 0,
                       checksum(body) if body_sum is None else body_sum, len(tokens) << 1 | is_cut)
    return head + struct.pack("<I", checksum(head) & 0xFFFFFFFF) + body


def escape(kind):
    return bytes([3 | kind << 2])


def plain(size):
    """@size bytes of records that are not packed."""
    return escape(BYTES) + bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14]) + b"".join(record(1000 + i, i & 1, 0, 1) for i in range(size // 16))


def again(rec, blocks, size=FILE_BYTES):
    rec.put("100.cdat", blocks * max(size // len(blocks), 1))
    (rec.path / "100.dat").unlink(missing_ok=True)


def packed(rec, name="small"):
    """The compact file that convert makes of the directory's records."""
    rec.done()
    utrail("convert", "--compact", "-d", rec.path, name).must()
    return (rec.path.parent / name / "100.cdat").read_bytes()


def same_block(rec):
    """One byte for each record."""
    rec.records([(1000 + 10 * i, i & 1, 0, 1) for i in range(80000)])
    again(rec, packed(rec), 2 * FILE_BYTES)


def small_blocks(rec):
    """Blocks of one record, each of which begins without a state."""
    again(rec, block(b"\x02\x01", 16))


def lying_blocks(rec):
    """Blocks whose headers announce 128 KB, and whose bodies have one byte, with a wrong sum."""
    again(rec, block(b"", RAW_MAX, 2**32 - 1, body_sum=0))


def gaps(rec):
    """A byte that belongs to no block, between each two blocks."""
    again(rec, block(b"\x02\x01", 16) + b"x")


def false_heads(rec):
    """Only the beginnings of headers."""
    again(rec, block(b"\x02\x01", 16) + b"UTCB" * (FILE_BYTES // 4))


def open_and_shut(rec):
    """Escapes of three bytes, each of which opens or closes 65,535 calls."""
    again(rec, block((escape(DEPTH) + b"\xff\xff" + escape(DEPTH) + b"\0\0") * 50000 + plain(RAW_MAX), RAW_MAX), 2 * FILE_BYTES)


def times(rec):
    """Escapes that change the time, without a record for it."""
    again(rec, block((escape(TIME) + bytes(8)) * 35000 + plain(RAW_MAX), RAW_MAX))


def many_functions(rec):
    """Blocks with as many functions as a block can have, and with 2 KB of records."""
    again(rec, block(plain(2048), 2048, functions=b"\x02" * 4000, nr_functions=4000))


def payloads(rec):
    """Records with 8 bytes of arguments of an unknown kind."""
    rows = (record(1000 + 2 * i, ENTRY, 0, 1, 1) + bytes(8) + record(1001 + 2 * i, EXIT, 0, 1) for i in range(20000))
    rec.put("100.dat", b"".join(rows))
    again(rec, packed(rec))


def deep_calls(rec):
    """Nested calls, deeper than the reader's stack."""
    rec.records([(1000 + i, ENTRY, i, i % 900) for i in range(20000)])
    again(rec, packed(rec), FILE_BYTES // 4)


def losses(rec):
    """Losses, after each of which the open calls are unknown."""
    rec.records([(1000 + i, (ENTRY, EXIT, LOST)[i % 3], i * 31 % 1000 if i % 3 < 2 else 0, i % 900) for i in range(20000)])
    again(rec, packed(rec), FILE_BYTES // 4)


def events_only(rec):
    """Only events, no calls."""
    rec.put("100.dat", b"".join(event(1000 + i, 1000000 + i % 100) for i in range(40000)))
    again(rec, packed(rec))


DIRECTORIES = (
    same_block, small_blocks, lying_blocks, gaps, false_heads, open_and_shut, times, many_functions, payloads, deep_calls, losses, events_only)
