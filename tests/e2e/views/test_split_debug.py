"""Debug information in files of its own (-gsplit-dwarf): .dwo files, packages of them, and messages
when they are missing."""

import os
import re
import shutil
import struct
import subprocess

import pytest

from programs import SOURCES
from tools import utrail

ARGS = SOURCES / "args"
# By name: the compiler, its options, and the program that packs its files. GNU's dwp of Debian 12
# crashes with DWARF 5.
COMPILERS = {
    "gcc-4": (["gcc", "-gdwarf-4"], ["dwp"]),
    "gcc-5": (["gcc", "-gdwarf-5"], None),
    "clang-4": (["clang", "-gdwarf-4"], ["llvm-dwp"]),
    "clang-5": (["clang", "-gdwarf-5"], ["llvm-dwp"]),
    "clang-5-types": (["clang", "-gdwarf-5", "-fdebug-types-section"], None),
}
TWO = {
    "one.c": "struct point { int first; double second; };\n"
    "__attribute__((noinline)) int one(struct point p, const char *s) { __asm__ volatile(''); return p.first + s[0]; }\n",
    "two.c": "struct point { int first; double second; };\nint one(struct point p, const char *s);\n"
    "__attribute__((noinline)) long two(long a, float b) { __asm__ volatile(''); return a + b; }\n"
    "int main(void) { return one((struct point){ 3, 4.5 }, \"hello\") + two(5, 2.5f) == 114 ? 0 : 1; }\n",
}


def run(*words, cwd=None):
    subprocess.run([str(word) for word in words], check=True, cwd=cwd)


def compile_sources(tmp_path, compiler, *flags, sources):
    if not shutil.which(compiler[0]):
        pytest.skip(f"{compiler[0]} is not installed")
    words = list(compiler)
    if sources[0].suffix == ".cc":
        words[0] = {"gcc": "g++", "clang": "clang++"}[words[0]]
        words.append("-std=c++20")
    objects = []
    for source in sources:
        objects.append(tmp_path / (source.stem + ".o"))
        run(*words, *flags, "-pg", "-O1", "-c", source, "-o", objects[-1], cwd=tmp_path)
    exe = tmp_path / "prog"
    run(words[0], "-pg", *objects, "-pthread", "-o", exe, cwd=tmp_path)
    return exe


def two_units(tmp_path, compiler=("gcc", "-gdwarf-5")):
    """Build a program of two units. The sources and the .dwo files are in the directory src, the
    program is beside it."""
    (tmp_path / "src").mkdir()
    sources = []
    for name, text in TWO.items():
        sources.append(tmp_path / "src" / name)
        sources[-1].write_text(text.replace("''", '""'))
    exe = compile_sources(tmp_path / "src", list(compiler), "-gsplit-dwarf", sources=sources)
    return exe.rename(tmp_path / "prog")


def debug_of(exe, data):
    """The program's debug information in the recording, and the recorder's messages about it."""
    ran = utrail("record", "-a", "-d", data, "--no-libcall", exe)
    text = "".join(path.read_text() for path in data.glob("prog*.dbg"))
    return [line for line in text.splitlines() if not line.startswith(("# path", "# build-id"))], ran.err


def lines(data):
    out = utrail("replay", "-d", data, "--no-pager", "-f", "none", "--no-event").must().out
    return [line.strip() for line in out.splitlines()]


# Headers of the C++ library take long to compile, so programs with them have fewer cases.
CASES = [(how, source) for how in COMPILERS for source in ("values.c", "fields.cc")] + [("gcc-5", "containers.cc")]


@pytest.mark.parametrize("how, source", CASES)
def test_as_plain_debug_information(tmp_path, how, source):
    """Each argument, field, file and line is as with plain debug information, wherever the files
    are."""
    compiler, packer = COMPILERS[how]
    path = ARGS / source
    where = {}
    for name, flags in (("plain", []), ("split", ["-gsplit-dwarf"])):
        where[name] = tmp_path / name
        where[name].mkdir()
        compile_sources(where[name], compiler, *flags, sources=[path])
    exe = where["split"] / "prog"
    expected, _ = debug_of(where["plain"] / "prog", tmp_path / "d0")
    assert len(expected) > 20

    split = where["split"] / (path.stem + ".dwo")
    assert split.exists()
    assert debug_of(exe, tmp_path / "d1") == (expected, "")

    # The files are moved with the program, away from the compiler's directory.
    moved = tmp_path / "moved"
    moved.mkdir()
    exe = exe.rename(moved / "prog")
    split = split.rename(moved / split.name)
    assert debug_of(exe, tmp_path / "d2") == (expected, "")

    if packer and shutil.which(packer[0]):
        run(*packer, split, "-o", moved / "prog.dwp")
        split.unlink()
        assert debug_of(exe, tmp_path / "d3") == (expected, "")


def test_relative_directory(tmp_path, monkeypatch):
    """With -ffile-prefix-map the compiler's directory is stored as ".". The files of the working
    directory are not read then, but those beside the program are."""
    src = tmp_path / "src"
    src.mkdir()
    for name, text in TWO.items():
        (src / name).write_text(text.replace("''", '""'))
        # With a relative name of the object, the name of the .dwo file is relative, too.
        flags = ["-gdwarf-5", "-gsplit-dwarf", f"-ffile-prefix-map={src}=."]
        run("gcc", *flags, "-pg", "-O1", "-c", name, "-o", name.replace(".c", ".o"), cwd=src)
    exe = tmp_path / "prog"
    run("gcc", "-pg", "one.o", "two.o", "-o", exe, cwd=src)
    monkeypatch.chdir(src)
    _, err = debug_of(exe, tmp_path / "d")
    assert "one.dwo' and 1 more file" in err
    for name in ("one.dwo", "two.dwo"):
        shutil.copy(src / name, tmp_path / name)
    _, err = debug_of(exe, tmp_path / "d")
    assert err == ""
    assert 'one(point{first=3, second=4.500000}, "hello") = 107;' in lines(tmp_path / "d")


def test_missing_file_is_said(tmp_path):
    """A missing file is reported once, by name; the rest is read."""
    exe = two_units(tmp_path)
    (tmp_path / "src" / "two.dwo").unlink()
    text, err = debug_of(exe, tmp_path / "d")
    assert err.count("two.dwo") == 1 and "cannot find" in err and str(exe) in err
    assert 'one(point{first=3, second=4.500000}, "hello") = 107;' in lines(tmp_path / "d")
    (tmp_path / "src" / "one.dwo").unlink()
    text, err = debug_of(exe, tmp_path / "d")
    assert "one.dwo' and 1 more file" in err
    assert "one();" in lines(tmp_path / "d")


def test_file_of_another_build(tmp_path):
    """A file of another build has the right name, but another number of its unit."""
    exe = two_units(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    two_units(other)
    source = other / "src" / "two.c"
    source.write_text(source.read_text().replace("long a", "long a, int more").replace("two(5,", "two(5, 6,"))
    run("gcc", "-gdwarf-5", "-gsplit-dwarf", "-pg", "-O1", "-c", "two.c", cwd=other / "src")
    shutil.copy(other / "src" / "two.dwo", tmp_path / "src" / "two.dwo")
    _, err = debug_of(exe, tmp_path / "d")
    assert err.count("two.dwo") == 1


@pytest.mark.parametrize("what", ["fifo", "directory", "device", "empty", "text", "cut", "itself"])
def test_what_is_no_such_file(tmp_path, what):
    """A FIFO in the file's place is not waited for, and nothing is read from a device."""
    exe = two_units(tmp_path)
    split = tmp_path / "src" / "two.dwo"
    data = split.read_bytes()
    split.unlink()
    if what == "fifo":
        os.mkfifo(split)
    elif what == "directory":
        split.mkdir()
    elif what == "device":
        split.symlink_to("/dev/zero")
    elif what == "itself":
        shutil.copy(exe, split)
    else:
        split.write_bytes({"empty": b"", "text": b"x" * 5000, "cut": data[: len(data) // 2]}[what])
    ran = utrail("record", "-a", "-d", tmp_path / "d", exe)
    assert ran.status == 0 and ran.err.count("two.dwo") == 1
    assert 'one(point{first=3, second=4.500000}, "hello") = 107;' in lines(tmp_path / "d")


def test_lines_beside_a_fifo(tmp_path):
    """The program itself has the source lines. libdw does not open a .dwo file by itself: it would
    wait for this FIFO."""
    exe = two_units(tmp_path)
    utrail("record", "-d", tmp_path / "d", "-T", "one@callsite", exe).must()
    split = tmp_path / "src" / "two.dwo"
    split.unlink()
    os.mkfifo(split)
    ran = utrail("replay", "-d", tmp_path / "d", "--no-pager", "--srcline").must()
    assert "one(); /* from two.c:4 */" in ran.out


def test_directory_that_depends_on_the_reader(tmp_path, monkeypatch):
    """The compiler's directory is given as /proc/self/cwd. For the process that reads the debug
    information, this is its own directory, which may have files of another program."""
    src = tmp_path / "src"
    src.mkdir()
    for name, text in TWO.items():
        (src / name).write_text(text.replace("''", '""'))
        flags = ["-gdwarf-5", "-gsplit-dwarf", f"-fdebug-prefix-map={src}=/proc/self/cwd"]
        run("gcc", *flags, "-pg", "-O1", "-c", name, "-o", name.replace(".c", ".o"), cwd=src)
    exe = tmp_path / "prog"
    run("gcc", "-pg", "one.o", "two.o", "-o", exe, cwd=src)
    monkeypatch.chdir(src)
    _, err = debug_of(exe, tmp_path / "d")
    if not err:
        pytest.skip("the kernel does not know RESOLVE_NO_MAGICLINKS, or a sandbox forbids openat2(2)")
    assert "one.dwo' and 1 more file" in err


def program_with_shared_names(tmp_path, shared):
    """Build a program whose names are in the file that dwz has made for several programs."""
    (tmp_path / "p.c").write_text(
        "__attribute__((noipa)) int add(int a) { return a + 1; }\nint main(void) { return add(3) - 4; }\n"
    )
    run("gcc", "-O1", "-pg", "-g", "-gdwarf-5", "-S", "p.c", cwd=tmp_path)
    before, abbrev = (tmp_path / "p.s").read_text().split(".debug_abbrev", 1)
    # DW_AT_producer and DW_AT_name get the form DW_FORM_GNU_strp_alt.
    abbrev, nr = re.subn(r"(\.uleb128 0x(?:3|25)\n\t\.uleb128 )0x(?:e|1f)\n", r"\g<1>0x1f21\n", abbrev)
    assert nr >= 2
    link = f'\n\t.section .gnu_debugaltlink,"",@progbits\n\t.string "{shared}"\n\t.zero 20\n'
    (tmp_path / "p.s").write_text(before + ".debug_abbrev" + abbrev + link)
    run("gcc", "-pg", "p.s", "-o", "prog", cwd=tmp_path)
    return tmp_path / "prog"


@pytest.mark.parametrize("shared", ["fifo", "/dev/zero", "/usr/lib/debug/absent", "none"])
def test_shared_file_of_a_stranger(tmp_path, shared):
    """libdw would open any file that .gnu_debugaltlink names, and would wait for a FIFO."""
    os.mkfifo(tmp_path / "fifo")
    exe = program_with_shared_names(tmp_path, tmp_path / shared)
    ran = utrail("record", "-a", "-d", tmp_path / "d", exe)
    assert ran.status == 0
    assert "add(3) = 4;" in lines(tmp_path / "d")


def test_damaged_package(tmp_path):
    """The program is recorded, however the package's table is damaged."""
    if not shutil.which("llvm-dwp"):
        pytest.skip("llvm-dwp is not installed")
    exe = two_units(tmp_path, ("clang", "-gdwarf-5"))
    package = tmp_path / "prog.dwp"
    run("llvm-dwp", "src/one.dwo", "src/two.dwo", "-o", package, cwd=tmp_path)
    for split in (tmp_path / "src").glob("*.dwo"):
        split.unlink()
    good = package.read_bytes()
    assert debug_of(exe, tmp_path / "d")[1] == ""
    found = subprocess.run(["readelf", "-SW", package], check=True, capture_output=True, text=True).stdout
    (words,) = [line.split() for line in found.splitlines() if " .debug_cu_index" in line]
    at = words.index(".debug_cu_index")
    start, size = int(words[at + 3], 16), int(words[at + 4], 16)
    for place in range(0, size, 4):
        for value in (b"\xff\xff\xff\xff", b"\x00\x00\x00\x00", b"\x00\x00\x00\x80"):
            package.write_bytes(good[: start + place] + value + good[start + place + 4 :])
            assert utrail("record", "-a", "-d", tmp_path / "d", exe).status == 0
    package.write_bytes(good[: len(good) // 2])
    assert utrail("record", "-a", "-d", tmp_path / "d", exe).err.count("cannot find") == 1


def test_limit(tmp_path):
    """One limit counts the bytes of all files that are read. Otherwise a small program could name a
    large file in each of many units."""
    exe = two_units(tmp_path)
    split = tmp_path / "src" / "two.dwo"
    os.truncate(split, 200 << 20)
    _, err = debug_of(exe, tmp_path / "d")
    assert err.count("two.dwo") == 1 and "64 MB" in err
    assert 'one(point{first=3, second=4.500000}, "hello") = 107;' in lines(tmp_path / "d")


# The format and offset of each member in a section header of 64 bits (elf(5)).
FIELDS = {"sh_type": ("<I", 4), "sh_flags": ("<Q", 8), "sh_size": ("<Q", 32)}
LIES = {"nobits": ("sh_type", 8), "no bytes": ("sh_size", 0), "past the end": ("sh_size", 1 << 40), "not packed": ("sh_flags", 0x800)}


def lie(path, section, field, value):
    """Change a field in the header of a section of an ELF file."""
    data = bytearray(path.read_bytes())
    (heads,) = struct.unpack_from("<Q", data, 40)
    nr, names = struct.unpack_from("<HH", data, 60)
    (texts,) = struct.unpack_from("<Q", data, heads + 64 * names + 24)
    for head in range(heads, heads + 64 * nr, 64):
        start = texts + struct.unpack_from("<I", data, head)[0]
        if data[start : data.index(0, start)] == section.encode():
            form, at = FIELDS[field]
            struct.pack_into(form, data, head + at, value)
            break
    else:
        raise KeyError(section)
    path.write_bytes(data)


@pytest.mark.parametrize("what", LIES)
def test_sections_without_bytes(tmp_path, what):
    """A section header without the section's bytes is no debug information, neither in the program
    nor in its other file."""
    exe = two_units(tmp_path)
    for section in (".debug_info", ".debug_abbrev", ".debug_str_offsets", ".debug_str", ".debug_loclists"):
        split = tmp_path / "src" / "two.dwo"
        good = split.read_bytes()
        lie(split, f"{section}.dwo", *LIES[what])
        assert utrail("record", "-a", "-d", tmp_path / "d", exe).status == 0
        assert 'one(point{first=3, second=4.500000}, "hello") = 107;' in lines(tmp_path / "d")
        split.write_bytes(good)
    for section in (".debug_line", ".debug_addr", ".debug_abbrev", ".debug_info"):
        lie(exe, section, *LIES[what])
        assert utrail("record", "-a", "--srcline", "-d", tmp_path / "d", exe).status == 0


def test_limit_of_packages(tmp_path):
    """The limit of the size of a package counts a large unit once for each skeleton unit that names
    it."""
    if not shutil.which("llvm-dwp"):
        pytest.skip("llvm-dwp is not installed")
    head = ".long 2f-1f\n1: .short 5\n.byte {type},8\n.long 0\n.quad 0x1234\n.uleb128 1\n"
    skeleton = head.format(type=4) + '.asciz "unit.dwo"\n2:\n'
    one_abbrev = ".uleb128 1\n.uleb128 {tag}\n.byte {children}\n{attributes}.byte 0,0\n"
    skeletons = (
        '.section .debug_abbrev,"",@progbits\n'
        + one_abbrev.format(tag=0x4A, children=0, attributes=".uleb128 0x76,8\n")
        + '.byte 0\n.section .debug_info,"",@progbits\n'
        + skeleton * 5
    )
    unit = (
        '.section .debug_abbrev.dwo,"e",@progbits\n'
        + one_abbrev.format(tag=0x11, children=1, attributes="")
        + ".uleb128 2\n.uleb128 0x34\n.byte 0\n.byte 0,0\n.byte 0\n"
        + '.section .debug_info.dwo,"e",@progbits\n'
        + head.format(type=5)
        + f".fill {20 << 20},1,2\n.byte 0\n2:\n"
    )
    for name, text in (("skeletons.s", skeletons), ("unit.s", unit), ("main.c", "int main(void) { return 0; }\n")):
        (tmp_path / name).write_text(text)
    run("gcc", "-pg", "main.c", "skeletons.s", "-o", "prog", cwd=tmp_path)
    run("gcc", "-c", "unit.s", "-o", "unit.dwo", cwd=tmp_path)
    run("llvm-dwp", "unit.dwo", "-o", "prog.dwp", cwd=tmp_path)
    (tmp_path / "unit.dwo").unlink()
    _, err = debug_of(tmp_path / "prog", tmp_path / "d")
    assert "64 MB" in err and "and 1 more file:" in err
