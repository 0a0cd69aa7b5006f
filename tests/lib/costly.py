"""Files that are valid, or nearly, and as costly to read as their few bytes can be: {name: a
function that writes one}."""

import functools
import struct
from pathlib import Path

import kernel
import tracedat

CHUNK_BYTES = 16 << 20
SECTION_BYTES = 60 << 20
TIME = 10**12


@functools.cache
def packed(data):
    return tracedat.pack_zstd(data)


@functools.cache
def full_page(first_pid=None):
    """A page with as many records as it holds: all of one task, or each of another task from
    @first_pid on."""
    page = kernel.Page(TIME)
    number = next(iter(kernel.event_ids().values()))
    for i in range(250):
        page.record(TIME + i, number, 1 if first_pid is None else first_pid + i)
    return page.pack()


@functools.cache
def chunk():
    """A chunk that is unpacked to 16 MB of pages, a little more than the largest size that a reader
    accepts."""
    nr = CHUNK_BYTES // kernel.PAGE_BYTES
    # The first word of a page is its time. One page in four has a time of its own, the others TIME.
    pages = b"".join(struct.pack("<Q", TIME + 7 * i * (i % 4 == 0)) + full_page()[8:] for i in range(nr))
    small = packed(pages)
    assert 4096 < len(small) < 16384
    return struct.pack("<II", len(small), len(pages)) + small


class Odd(tracedat.File):
    """A trace.dat whose buffers and sections are written by the function @put."""

    def __init__(self, put):
        super().__init__([], 7, "zstd")
        self.put = put

    def make_v7(self):
        self.out += b"zstd\0" + b"1.0\0"
        place = len(self.out)
        self.out += bytes(8)
        usual = {16, 17, 18, 20}
        options = b"".join(
            self.option(number, self.pack("Q", self.section(number, content)))
            for number, content in self.contents().items()
            if number in usual
        )
        options += self.put(self) + self.option(0, bytes(8))
        self.out[place : place + 8] = self.pack("Q", self.section(0, options, packed=False))

    def raw_section(self, number, content, flags=1):
        at = len(self.out)
        self.out += self.pack("HHIQ", number, flags, 0, len(content)) + content
        return at

    def odd_buffer(self, cpus, name="", at=None):
        """The option of a buffer. @cpus: (number, place, bytes)"""
        at = self.raw_section(3, b"") if at is None else at
        table = b"".join(self.pack("IQQ", *cpu) for cpu in cpus)
        return self.option(
            3, self.pack("Q", at) + name.encode() + b"\0mono\0" + self.pack("II", kernel.PAGE_BYTES, len(cpus)) + table
        )


def one_chunk(file):
    at = len(file.out)
    data = struct.pack("<I", 1) + chunk()
    file.out += data
    return at, len(data) - 4


def one_cpu_many_times(file):
    place = one_chunk(file)
    return b"".join(file.odd_buffer([(0, *place)], str(i)) for i in range(2000))


def one_cpu_many_times_in_one(file):
    return file.odd_buffer([(0, *one_chunk(file))] * 2000)


def many_cpus_one_chunk(file):
    place = one_chunk(file)
    return file.odd_buffer([(cpu, *place) for cpu in range(20000)])


def parts_within_parts(file):
    at, size = one_chunk(file)
    return file.odd_buffer([(0, at, size - i) for i in range(1000)])


def many_buffers(file):
    return b"".join(file.odd_buffer([(0, *one_chunk(file))], str(i)) for i in range(500))


def many_chunks(file):
    at = len(file.out)
    data = struct.pack("<I", 1000) + chunk() * 1000
    file.out += data
    return file.odd_buffer([(0, at, len(data) - 4)])


def many_tasks(file):
    at = len(file.out)
    pages = b"".join(full_page(2 + 250 * i) for i in range(2000))
    small = packed(pages)
    data = struct.pack("<III", 1, len(small), len(pages)) + small
    file.out += data
    return file.odd_buffer([(0, at, len(data) - 4)])


@functools.cache
def blob(number):
    head = "<Q" if number == 21 else "<I"
    size = SECTION_BYTES if number != 20 else 15 << 20
    content = struct.pack(head, size - 8) + bytes(size - 8)
    small = packed(content)
    return struct.pack("<II", len(small), len(content)) + small


def one_section_many_times(number):
    def put(file):
        at = file.raw_section(number, blob(number))
        return file.option(number, file.pack("Q", at)) * 1000

    return put


def many_sections(number):
    def put(file):
        return b"".join(file.option(number, file.pack("Q", file.raw_section(number, blob(number)))) for _ in range(300))

    return put


def options_in_a_circle(file):
    """A section of options that names itself as the next one."""
    at = len(file.out)
    options = file.option(5, b"x\0") * 100 + file.option(0, file.pack("Q", at))
    assert file.raw_section(0, options, 0) == at
    return file.option(0, file.pack("Q", at))


TRACE_DAT = {
    "one-cpu-many-times": one_cpu_many_times,
    "one-cpu-many-times-in-one": one_cpu_many_times_in_one,
    "many-cpus-one-chunk": many_cpus_one_chunk,
    "parts-within-parts": parts_within_parts,
    "many-buffers": many_buffers,
    "many-chunks": many_chunks,
    "many-tasks": many_tasks,
    "kallsyms-many-times": one_section_many_times(19),
    "cmdlines-many-times": one_section_many_times(21),
    "printk-many-times": one_section_many_times(20),
    "many-kallsyms": many_sections(19),
    "many-printk": many_sections(20),
    "options-in-a-circle": options_in_a_circle,
}


def nest_calls(directory, nr):
    """Make the one task of a recording call its first function @nr times, each inside the call
    before, and return from all."""
    (path,) = Path(directory).glob("[0-9]*.dat")
    time, word = struct.unpack_from("<QQ", path.read_bytes())
    word &= ~(0x3FF << 6 | 3)
    entries = (struct.pack("<QQ", time + 1000 * i, word | min(i, 1023) << 6) for i in range(nr))
    exits = (struct.pack("<QQ", time + 1000 * (nr + i), word | min(nr - 1 - i, 1023) << 6 | 1) for i in range(nr))
    path.write_bytes(b"".join(entries) + b"".join(exits))


def write_trace_dat(kind, path):
    Path(path).write_bytes(Odd(TRACE_DAT[kind]).make())
