"""Files in the form of trace-cmd, made by hand from the descriptions trace-cmd.dat.v6.5 and
trace-cmd.dat.v7.5 (doc/internals/trace-dat.md)."""

import re
import struct
import subprocess
import zlib

import kernel

MAGIC = b"\x17\x08\x44tracing"
CHUNK_PAGES = 10
PRINTK = b'0xffffffff82000000 : "a format\\n"\n'


def pack_zstd(data):
    return subprocess.run(["zstd", "-q", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout


PACKERS = {"zstd": pack_zstd, "zlib": zlib.compress}


def files_of(header):
    """The files in a kernel_header: {name: content}."""
    return {m[1].decode(): header[m.end() : m.end() + int(m[2])] for m in re.finditer(rb"TRACEFS: (\S+): (\d+)\n", header)}


class Buffer:
    """The records of one instance: {CPU: bytes of pages}."""

    def __init__(self, cpus, name="", clock="mono"):
        self.cpus, self.name, self.clock = cpus, name, clock


class File:
    def __init__(self, buffers, version=7, packing="none", big=False, cmdlines=b"", kallsyms=b"", options=(), header=None):
        self.buffers, self.version, self.packing, self.big = buffers, version, packing, big
        self.cmdlines, self.kallsyms, self.options = cmdlines, kallsyms, list(options)
        self.order = ">" if big else "<"
        self.out = bytearray()
        self.files = files_of(header or kernel.header(big))
        self.files.setdefault("events/header_page", files_of(kernel.header(big))["events/header_page"])

    def pack(self, form, *values):
        return struct.pack(self.order + form, *values)

    # --- contents that both versions have -------------------------------------------------------------------

    def header_info(self):
        page = self.files["events/header_page"]
        event = b"# compressed entry header\n"
        return b"header_page\0" + self.pack("Q", len(page)) + page + b"header_event\0" + self.pack("Q", len(event)) + event

    def formats(self, system):
        found = [content for name, content in self.files.items() if name.startswith(f"events/{system}/")]
        return self.pack("I", len(found)) + b"".join(self.pack("Q", len(content)) + content for content in found)

    def event_formats(self):
        systems = sorted({name.split("/")[1] for name in self.files if name.count("/") == 3} - {"ftrace"})
        return self.pack("I", len(systems)) + b"".join(system.encode() + b"\0" + self.formats(system) for system in systems)

    def contents(self):
        """The contents by version 7's numbers for them, in the order of version 6."""
        return {
            16: self.header_info(),
            17: self.formats("ftrace"),
            18: self.event_formats(),
            19: self.pack("I", len(self.kallsyms)) + self.kallsyms,
            20: self.pack("I", len(PRINTK)) + PRINTK,
            21: self.pack("Q", len(self.cmdlines)) + self.cmdlines,
        }

    def option(self, number, content):
        return self.pack("HI", number, len(content)) + content

    def align(self):
        self.out += bytes(-len(self.out) % kernel.PAGE_BYTES)

    def make(self):
        self.out = bytearray(MAGIC + b"%d\0" % self.version + bytes([self.big, 8]) + self.pack("I", kernel.PAGE_BYTES))
        if self.version == 6:
            self.make_v6()
        else:
            self.make_v7()
        return bytes(self.out)

    # --- version 6 -------------------------------------------------------------------------------------------

    def make_v6(self):
        for content in self.contents().values():
            self.out += content
        nr_cpus = max((cpu for buffer in self.buffers for cpu in buffer.cpus), default=0) + 1
        self.out += self.pack("I", nr_cpus) + b"options  \0"
        for number, content in self.options:
            self.out += self.option(number, content)
        places = []
        for buffer in self.buffers[1:]:
            places.append(len(self.out) + 6)
            self.out += self.option(3, self.pack("Q", 0) + buffer.name.encode() + b"\0")
        self.out += self.pack("H", 0)
        for i, buffer in enumerate(self.buffers):
            if i:
                self.align()
                self.out[places[i - 1] : places[i - 1] + 8] = self.pack("Q", len(self.out))
            self.put_v6_buffer(buffer, nr_cpus)

    def put_v6_buffer(self, buffer, nr_cpus):
        self.out += b"flyrecord\0"
        table = len(self.out)
        clock = f"local [{buffer.clock}] boot\n".encode() + b"\0"
        self.out += bytes(16 * nr_cpus) + self.pack("Q", len(clock)) + clock
        for cpu in range(nr_cpus):
            pages = buffer.cpus.get(cpu, b"")
            self.align()
            self.out[table + 16 * cpu : table + 16 * cpu + 16] = self.pack("QQ", len(self.out), len(pages))
            self.out += pages

    # --- version 7 -------------------------------------------------------------------------------------------

    def section(self, number, content, packed=True):
        """Write a section. Returns its place."""
        at = len(self.out)
        is_packed = packed and self.packing != "none"
        if is_packed:
            small = PACKERS[self.packing](content)
            content = self.pack("II", len(small), len(content)) + small
        self.out += self.pack("HHIQ", number, is_packed, 0, len(content)) + content
        return at

    def chunks(self, pages):
        size = CHUNK_PAGES * kernel.PAGE_BYTES
        parts = [pages[at : at + size] for at in range(0, len(pages), size)]
        small = [PACKERS[self.packing](part) for part in parts]
        return self.pack("I", len(parts)) + b"".join(self.pack("II", len(s), len(p)) + s for s, p in zip(small, parts))

    def buffer(self, buffer):
        """Write a buffer's records. Returns its option."""
        at = len(self.out)
        is_packed = self.packing != "none"
        self.out += self.pack("HHIQ", 3, is_packed, 0, 0)
        table = b""
        for cpu, pages in buffer.cpus.items():
            self.align()
            data = self.chunks(pages) if is_packed else pages
            # A packed size does not include the number of chunks, which comes first.
            table += self.pack("IQQ", cpu, len(self.out), len(data) - 4 * is_packed)
            self.out += data
        self.out[at + 8 : at + 16] = self.pack("Q", len(self.out) - at - 16)
        return self.option(3, self.pack("Q", at) + buffer.name.encode() + b"\0" + buffer.clock.encode() + b"\0" +
                           self.pack("II", kernel.PAGE_BYTES, len(buffer.cpus)) + table)

    def make_v7(self):
        self.out += self.packing.encode() + b"\0" + (b"" if self.packing == "none" else b"1.0") + b"\0"
        place = len(self.out)
        self.out += bytes(8)
        options = b""
        for number, content in self.contents().items():
            options += self.option(number, self.pack("Q", self.section(number, content)))
        for number, content in self.options:
            options += self.option(number, content)
        # The second section of options comes after the records.
        options += self.option(0, bytes(8))
        self.out[place : place + 8] = self.pack("Q", self.section(0, options, packed=False))
        place = len(self.out) - 8
        options = b"".join(self.buffer(buffer) for buffer in self.buffers) + self.option(0, bytes(8))
        self.out[place : place + 8] = self.pack("Q", self.section(0, options, packed=False))
        self.section(15, b"headers\0")
