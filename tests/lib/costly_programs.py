"""Programs whose symbols and debug information take as much time and memory to read as files of
their size can: {kind: a function that makes the file p}."""

import lzma
import struct
import subprocess
from pathlib import Path

HEADER_BYTES = 64
SOURCE = "int f(int a) { return a + 1; }\nint main(void) { return f(-1); }\n"
# A section header: name, type, flags, address, offset, size, link, info, alignment, size of an
# entry.
SECTION = struct.Struct("<IIQQQQIIQQ")


def compiled(source=SOURCE, name="p.c", options=()):
    Path(name).write_text(source)
    subprocess.run(["gcc", "-g", "-pg", *options, name, "-o", "p"], check=True)


class Image:
    """The file p. Its sections can be replaced."""

    def __init__(self):
        self.data = bytearray(Path("p").read_bytes())
        start, = struct.unpack_from("<Q", self.data, 40)
        size, nr, names = struct.unpack_from("<HHH", self.data, 58)
        headers = [SECTION.unpack_from(self.data, start + size * i) for i in range(nr)]
        text = self.data[headers[names][4] :]
        self.sections = {bytes(text[h[0] : text.index(0, h[0])]).decode(): start + size * i for i, h in enumerate(headers)}

    def header(self, name):
        return SECTION.unpack_from(self.data, self.sections[name])

    def content(self, name):
        header = self.header(name)
        return bytes(self.data[header[4] : header[4] + header[5]])

    def replace(self, name, content, kind=None, as_name=None):
        """Replace a section's content, and with @kind its type."""
        header = list(self.header(name))
        header[4:6] = len(self.data), len(content)
        header[1] = kind or header[1]
        self.data += content
        SECTION.pack_into(self.data, self.sections[name], *header)
        return self

    def done(self):
        Path("p").write_bytes(self.data)


def symbols(image, names, nr, start=None):
    """Add @nr functions. The name of number i begins at offset names(i) of the string table."""
    text = image.header(".text")
    known = image.content(".symtab")
    index = sorted(image.sections, key=image.sections.get).index(".text")
    added = b"".join(struct.pack("<IBBHQQ", names(i), 2, 0, index, text[3] + i % text[5], 1) for i in range(nr))
    image.replace(".symtab", known + added)


def long_names(number, nr):
    compiled()
    image = Image()
    known = image.content(".strtab")
    image.replace(".strtab", known + b"x" * 60000 + b"\0")
    symbols(image, lambda i: len(known) + number(i), nr)
    image.done()


def overlapping_names():
    """Names that overlap: each is the end of the one before."""
    long_names(lambda i: i, 50000)


def one_name():
    """One long name, which all symbols share."""
    long_names(lambda i: 0, 50000)


def names_of_all_lengths():
    """Names around the limit of length: too long, and just short enough."""
    long_names(lambda i: i % 7, 10)


def constructors():
    """Names of constructors of constructors: each repeats the last part of the readable name."""
    compiled()
    image = Image()
    known = image.content(".strtab")
    image.replace(".strtab", known + b"_ZN30000" + b"a" * 30000 + b"C1" * 16000 + b"Ev\0")
    symbols(image, lambda i: len(known), 10)
    image.done()


def overlapping_sections():
    """Sections of notes and of data that all have the bytes of the whole file."""
    compiled(options=["-Wl,--build-id=none"])
    image = Image()
    start, = struct.unpack_from("<Q", image.data, 40)
    size, nr = struct.unpack_from("<HH", image.data, 58)
    headers = image.data[start : start + size * nr]
    image.data += bytes((3 << 20) - len(image.data) % 8)
    added = b"".join(SECTION.pack(0, kind, 2, 1 << 40, 0, len(image.data), 0, 0, 1, 0) for kind in (1, 7) * 500)
    struct.pack_into("<Q", image.data, 40, len(image.data))
    struct.pack_into("<H", image.data, 60, nr + 1000)
    image.data += headers + added
    image.done()


def packed_symbols():
    """.gnu_debugdata of some KB, which is unpacked to megabytes."""
    compiled()
    inner = bytearray(Path("p").read_bytes()) + bytes(60 << 20)
    subprocess.run(["strip", "p"], check=True)
    Path("packed").write_bytes(lzma.compress(inner, preset=0))
    subprocess.run(["objcopy", "--add-section", ".gnu_debugdata=packed", "p"], check=True)


def many_symbols():
    """Many symbols with two short names in turn, for one byte of code each."""
    compiled()
    image = Image()
    known = image.content(".strtab")
    image.replace(".strtab", known + b"ab\0")
    symbols(image, lambda i: len(known) + i % 2, 80000)
    image.done()


def nested_inlines():
    """Functions that are inlined into each other, two calls in each."""
    levels = "".join(f"static inline __attribute__((always_inline)) int g{i}(int a) {{ return g{i - 1}(a) + g{i - 1}(a + 1); }}\n" for i in range(1, 9))
    calls = "".join(f"int h{i}(int a) {{ return g8(a + {i}); }}\n" for i in range(4))
    compiled("volatile int v;\nstatic inline __attribute__((always_inline)) int g0(int a) { return a + v; }\n" + levels + calls + SOURCE, options=["-O1"])


def long_enumeration():
    """Enumerations of thousands of names, as types of arguments of many functions."""
    enums = "".join(f"enum e{k} {{ {','.join(f'name_{k}_{i}' for i in range(2000))} }};\n" for k in range(10))
    functions = "".join(f"int f{i}(enum e{i % 10} a) {{ return a; }}\n" for i in range(500))
    compiled(enums + functions + SOURCE)


def pointers_to_pointers():
    """Types in long chains."""
    chain = "typedef int t0;\n" + "".join(f"typedef t{i - 1} *t{i};\n" for i in range(1, 3000))
    functions = "".join(f"int f{i}(t{2999 - i} a) {{ return !a; }}\n" for i in range(300))
    compiled(chain + functions + SOURCE)


def template_names():
    """Templates of templates, whose names double in length."""
    levels = "".join(f"using t{i} = p<t{i - 1}, t{i - 1}>;\n" for i in range(1, 9))
    text = "template <class A, class B> struct p { A a; B b; };\nusing t0 = int;\n" + levels
    text += "".join(f"int f{i}(t{i % 9} *x) {{ return !x; }}\n" for i in range(60)) + SOURCE
    compiled(text, "p.cc")


def marks():
    """Calls through 60,000 slots, for as many functions."""
    text = "".join(f".long 0x15ff15ff + {i}\n" for i in range(60000))
    compiled(SOURCE + 'asm(".text\\n.skip 4\\n");\n')
    Path("more.s").write_text(".text\n" + text + '.section .note.GNU-stack,"",@progbits\n')
    subprocess.run(["gcc", "-g", "-pg", "p.c", "more.s", "-Wl,-z,now", "-o", "p"], check=True)
    image = Image()
    header = image.header(".rela.dyn")
    known = image.content(".rela.dyn")
    named = next(i for i in range(1, 99) if image.content(".dynsym")[24 * i + 4] & 15 == 2)
    # Only readers of section headers see the added relocations: the dynamic linker goes by
    # DT_RELASZ.
    image.replace(".rela.dyn", known + b"".join(struct.pack("<QQq", header[3] + 8 * i, named << 32 | 6, 0) for i in range(60000)))
    image.done()


PROGRAMS = {f.__name__.replace("_", "-"): f for f in (
    overlapping_names, one_name, names_of_all_lengths, packed_symbols, many_symbols, nested_inlines, long_enumeration, pointers_to_pointers,
    template_names, marks, constructors, overlapping_sections)}
