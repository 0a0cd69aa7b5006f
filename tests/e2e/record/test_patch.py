"""Functions that are compiled with room for hooks (-fpatchable-function-entry, -mnop-mcount, XRay),
and hooks that are taken out."""

import re
import shutil
import subprocess

import pytest

from programs import SOURCES
from tools import PEER, run, utrail

ROOMS = SOURCES / "rooms"

# The ways to prepare functions. Each name has a compiler and its flags.
WAYS = {
    "gcc": ["gcc", "-fpatchable-function-entry=5"],
    "gcc-more": ["gcc", "-fpatchable-function-entry=16"],
    "gcc-before": ["gcc", "-fpatchable-function-entry=8,3"],
    "gcc-before-cet": ["gcc", "-fpatchable-function-entry=8,3", "-fcf-protection"],
    "clang": ["clang", "-fpatchable-function-entry=5"],
    "clang-long": ["clang", "-fpatchable-function-entry=12", "-fcf-protection"],
    "clang-lld": ["clang", "-fpatchable-function-entry=7,2", "-fuse-ld=lld"],
    "xray": ["clang", "-fxray-instrument", "-fxray-instruction-threshold=1"],
    "xray-lld": ["clang", "-fxray-instrument", "-fxray-instruction-threshold=1", "-fuse-ld=lld"],
}
NOPS = {
    "nop-mcount": ["gcc", "-pg", "-mfentry", "-mnop-mcount", "-fno-pie", "-no-pie"],
    "nop-mcount-listed": ["gcc", "-pg", "-mfentry", "-mnop-mcount", "-mrecord-mcount", "-fno-pie", "-no-pie"],
}
HOOKED = {
    "pg": ["gcc", "-pg"],
    "pg-nopie": ["gcc", "-pg", "-fno-pie", "-no-pie"],
    "fentry": ["gcc", "-pg", "-mfentry"],
    "fentry-cet": ["gcc", "-pg", "-mfentry", "-fcf-protection"],
    "fentry-bound": ["clang", "-pg", "-mfentry", "-Wl,-z,now"],
}

WHOLE = "main(outer(inner) lib_outer(lib_inner) before_last(last) lib_late)"


BUILT = {}


@pytest.fixture(autouse=True, scope="module")
def keep_built(tmp_path_factory):
    """The directory of built programs: sources are compiled once."""
    BUILT["home"] = tmp_path_factory.mktemp("built")


def build(ways, name):
    """Put the program and its libraries into the working directory. Returns the untraced output."""
    home = BUILT["home"] / name
    if not home.exists():
        compile_into(ways, name)
        home.mkdir()
        for file in ("rooms", "librooms.so", "liblate.so"):
            shutil.copy(file, home)
    for file in home.iterdir():
        shutil.copy(file, ".")
    return run("./rooms").must()


def compile_into(ways, name):
    compiler, *flags = ways[name]
    if not shutil.which(compiler) or ("-fuse-ld=lld" in flags and not shutil.which("ld.lld")):
        pytest.skip(f"{compiler} or its linker is not installed")
    # Flags for libraries: XRay's runtime is for programs only, and libraries need
    # position-independent code.
    own = [] if ways is NOPS else [f for f in flags if f not in ("-fno-pie", "-no-pie")]
    is_xray = "-fxray-instrument" in flags
    lib_flags = ["-fpatchable-function-entry=5"] if is_xray else own
    for lib in ("lib", "late"):
        source = ROOMS / f"{lib}.c"
        target = "librooms.so" if lib == "lib" else "liblate.so"
        subprocess.run([compiler, "-O2", *lib_flags, "-shared", "-fPIC", source, "-o", target], check=True)
    command = [compiler, "-O2", *flags, ROOMS / "rooms.c", "-o", "rooms", "-L.", "-lrooms", "-Wl,-rpath,$ORIGIN"]
    subprocess.run(command, check=True)


def calls(directory="uftrace.data", tool=utrail):
    """The calls in one line: f(g h)."""
    text = tool("replay", "-d", directory, "-f", "none", "--no-libcall", "--no-event").must().out
    words = []
    for line in text.splitlines():
        line = re.sub(r"/\*.*?\*/", "", line).strip()
        if line.endswith("() {"):
            words.append(line[:-4] + "(")
        elif line.endswith("();"):
            words.append(line[:-3])
        elif line == "}":
            words.append(")")
    return " ".join(words).replace("( ", "(").replace(" )", ")")


def record(plain, *options, err=""):
    traced = utrail("record", *options, "./rooms")
    assert (traced.status, traced.out) == (plain.status, plain.out), traced.err
    assert re.fullmatch(err, re.sub(r"^_mcleanup: .*\n", "", traced.err, flags=re.M)), traced.err


def expected(name, tree=WHOLE):
    """The expected calls. With XRay a function ends before it jumps to another one."""
    return tree.replace("before_last(last)", "before_last last") if "xray" in name else tree


@pytest.mark.parametrize("name", WAYS)
def test_recorded_whole_without_options(name):
    plain = build(WAYS, name)
    record(plain)
    assert calls() == expected(name)


@pytest.mark.parametrize("name", NOPS)
def test_nops_in_the_place_of_fentry(name):
    plain = build(NOPS, name)
    record(plain)
    assert calls() == "main(outer(inner) before_last(last))"
    record(plain, "-P", "outer|inner")
    assert calls() == "outer(inner)"


@pytest.mark.parametrize("name", ["gcc-before-cet", "clang-long", "xray"])
@pytest.mark.parametrize(
    "options, tree",
    [
        (["-P", "."], "main(outer(inner) before_last(last))"),
        (["-P", ".;.@librooms;.@liblate"], WHOLE),
        (["-P", "outer"], "outer"),
        (["-P", ".", "-U", "^main$;^last"], "outer(inner) before_last"),
        (["-U", "last", "-P", "."], "main(outer(inner) before_last(last))"),
        (["-U", "main;.@librooms"], "outer(inner) before_last(last) lib_late"),
        (["-P", ".@librooms.so"], "lib_outer(lib_inner)"),
        (["-P", ".@liblate"], "lib_late"),
        (["-P", "*er", "--match", "glob"], "outer(inner)"),
        (["-P", "!main;!inner"], "outer lib_outer(lib_inner) before_last(last) lib_late"),
        (["-P", ".", "-Z", "100000"], ""),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, list) else "",
)
def test_what_is_patched(name, options, tree):
    plain = build(WAYS, name)
    if tree:
        record(plain, *options)
        assert calls() == expected(name, tree)
    else:
        record(plain, *options, err="WARN: nothing was recorded: .*\n")


@pytest.mark.parametrize("name", HOOKED)
def test_hooks_are_taken_out(name):
    plain = build(HOOKED, name)
    record(plain, "-U", "inner;last;lib_inner@librooms")
    assert calls() == "main(outer lib_outer before_last lib_late)"
    record(plain, "-U", ".;.@lib", "--no-libcall", err="WARN: nothing was recorded: .*\n")
    # The program has hooks, so -P . changes nothing.
    record(plain, "-P", ".")
    assert calls() == WHOLE


@pytest.mark.parametrize("name", ["gcc", "clang-long", "xray"])
def test_options_of_all_kinds(name):
    """Filters, arguments and limits give the same for patched functions as for hooks."""
    plain = build(WAYS, name)
    for options, tree in (
        (["-F", "outer"], "outer(inner)"),
        (["-N", "outer"], "main(lib_outer(lib_inner) before_last(last) lib_late)"),
        (["-D", "1"], "main"),
        (["-C", "inner"], "main(outer(inner))"),
        (["-t", "10s"], None),
    ):
        if tree is None:
            record(plain, *options, "--no-libcall", err="WARN: nothing was recorded: .*\n")
        else:
            record(plain, *options)
            assert calls() == expected(name, tree)
    record(plain, "-A", "outer@arg1", "-R", "outer@retval")
    text = utrail("replay", "-f", "none", "-F", "outer").must().out
    assert re.match(r"outer\(1\) \{\n  inner\(\);\n\} = 2;", text), text


@pytest.mark.needs_peer
@pytest.mark.parametrize("name", ["gcc-before-cet", "xray"])
def test_the_peer_reads_it(name):
    record(build(WAYS, name))
    text = subprocess.run([PEER, "replay", "-f", "none", "--no-libcall", "--no-event"], capture_output=True, text=True, check=True).stdout
    ours = utrail("replay", "-f", "none", "--no-libcall", "--no-event").must().out
    assert [x.strip() for x in text.splitlines()] == [x.strip() for x in ours.splitlines()]


def test_too_few_nops():
    plain = build({"few": ["gcc", "-fpatchable-function-entry=3"]}, "few")
    record(plain, "--no-libcall", err=r"(?s).*\d+ functions of '.*/rooms' are not recorded: they have nops where they begin, but fewer than the 5 "
           r"bytes of a call; compile them with -fpatchable-function-entry=5\n.*")


def test_rules_about_nothing():
    plain = build(WAYS, "gcc")
    record(plain, "-P", ".;outr", err="WARN: option '--patch': no function of the program matches 'outr'; the nearest: outer\n")
    record(plain, "-P", ".;x@libq", err="WARN: option '--patch': no function in a file whose name begins with 'libq' matches 'x'\n")
    record(plain, "-P", ".;_start", err="WARN: option '--patch': no function that matches '_start' was compiled with room for a hook .*\n")
    record(plain, "-U", "_start", err="WARN: option '--unpatch': no function that matches '_start' was compiled with .*\n")


def test_stripped():
    """The program is stripped: a section of its file tells where functions are, but not their
    names."""
    plain = build(WAYS, "gcc-before-cet")
    subprocess.run(["strip", "rooms"], check=True)
    record(plain, "-P", ".")
    assert len(re.findall(r"<[0-9a-f]+>", calls())) == 5
    record(plain, "-P", ".", "-U", ".", "--no-libcall", err="WARN: nothing was recorded: .*\n")
