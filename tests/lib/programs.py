"""Sample programs: the expectations in their header comments, and the ways to build them."""

import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tools import BUILD, TOP

SOURCES = TOP / "tests/e2e/src"
CACHE = Path(os.environ.get("UTRAIL_TEST_CACHE", BUILD / "e2e-programs"))

METHODS = {
    "pg": ["-pg"],
    "fentry": ["-pg", "-mfentry"],
    "cyg": ["-finstrument-functions"],
}

# Programs as they are shipped: only `record -P` finds their functions.
PLAIN = {"none": []}

# Room for hooks instead of calls of hooks.
PATCHED = {"patchable": ["-fpatchable-function-entry=5"]}

# Methods that one compiler has. -mnop-mcount does not work in position-independent code, so
# libraries have calls of hooks instead of nops. With XRay a tail call is not inside its caller.
# Declared trees cannot say that, so tail calls are off here (tests/e2e/record/test_patch.py
# has them).
XRAY = ["-fxray-instrument", "-fxray-instruction-threshold=1", "-fno-optimize-sibling-calls"]
NOPS = ["-pg", "-mfentry", "-mnop-mcount"]
OWN_METHODS = {"clang": {"xray": XRAY}, "gcc": {"nops": NOPS}}
FOR_LIBRARIES = {"nops": "fentry"}

# Options that harden or optimise the code around calls of hooks. gcc's -fipa-ra relies on registers
# that a callee keeps. -pg needs frame pointers, -mfentry allows to omit them.
EXTRAS = {
    "": [],
    "cet": ["-fcf-protection=full", "-fstack-protector-strong", "-fstack-clash-protection", "-Wl,-z,now"],
    "lto": ["-flto"],
    # A nap that is longer than any pause of a busy machine: for tests that compare two runs of
    # "filtered".
    "long-nap": ["-DNAP_US=80000"],
}


@dataclass(frozen=True)
class Variant:
    """A way to build a program."""

    compiler: str
    method: str
    opt: str
    pie: bool = True
    extra: str = ""

    def __str__(self):
        extra = f"-{self.extra}" if self.extra else ""
        return f"{self.compiler}-{self.method}-{self.opt}{'' if self.pie else '-nopie'}{extra}"

    @property
    def words(self):
        """The words that stand for this way of building, in the brackets of directives."""
        return {self.compiler, self.method, self.opt, "pie" if self.pie else "nopie"} | {self.extra} - {""}

    def command(self, suffix, is_library=False):
        compiler = self.compiler
        methods = {**METHODS, **PLAIN, **PATCHED, **OWN_METHODS[compiler]}
        method = FOR_LIBRARIES.get(self.method, self.method) if is_library else self.method
        if suffix == ".cc":
            compiler = {"gcc": "g++", "clang": "clang++"}[compiler]
        extra = EXTRAS[self.extra]
        if self.extra == "lto" and self.compiler == "clang":
            extra = [*extra, "-fuse-ld=lld"]
        return [compiler, *methods[method], f"-{self.opt}", "-g", *extra]


# $UTRAIL_TEST_MATRIX says in how many ways programs are built:
#   not set   all ways, each program in some of them (in_turn)
#   full      each program in all ways
#   small     one way for each method
#   once      one way
MATRIX = os.environ.get("UTRAIL_TEST_MATRIX", "")


def chosen(ways):
    """@ways, or for "once" the first of them."""
    return ways[:1] if MATRIX == "once" else ways


def in_turn(things, ways, fits=lambda thing, way: True):
    """(thing, way) for each of @things. A thing gets the next one of the @ways that fit it, or for
    "full" all of them. This is for tests in which ways have little to do with things."""
    pairs = []
    for i, thing in enumerate(things):
        fitting = [way for way in ways if fits(thing, way)]
        if fitting and MATRIX != "full":
            fitting = [fitting[i % len(fitting)]]
        pairs += [(thing, way) for way in fitting]
    return pairs


def all_variants():
    """All variants: {gcc, clang} x all methods x {-O0, -O2, -Os}, and -O2 with -no-pie, hardened,
    with LTO. For patched hooks -O0 and -O2 are enough."""
    compilers = [c for c in ("gcc", "clang") if shutil.which(c)]
    if MATRIX == "once":
        return [Variant("gcc", "pg", "O2")]
    if MATRIX == "small":
        return [Variant("gcc", method, "O2") for method in METHODS]
    return [
        Variant(c, m, o, p, extra)
        for c in compilers
        for m in [*METHODS, *PATCHED, *OWN_METHODS[c]]
        for o, p, extra in (
            ("O0", True, ""),
            ("O2", True, ""),
            ("Os", True, ""),
            ("O2", False, ""),
            ("O2", True, "cet"),
            ("O2", True, "lto"),
        )
        if (extra != "lto" or c == "gcc" or shutil.which("ld.lld")) and (m != "nops" or not p)
        if m in METHODS or (o != "Os" and not extra)
    ]


DIRECTIVE = re.compile(r"^ \* ([a-z]+)(?:\[([^\]]*)\])?: ?(.*)$")


@dataclass
class Program:
    """A source file and its directives.

    tree:    the calls of the first task (tests/lib/trees.py), "..." ends in the next line
    task:    the calls of each further task; "x8" after them stands for eight such tasks
    status:  exit status, 128 + N for signal N
    cflags:  for the compiler; ldflags: after the source; lib: a source that becomes lib<stem>.so beside it
    options: for `record`; ignore: patterns of functions that the compiler or a library adds
    only:    words of variants for which it can be built
    xfail:   the reason why the tree comes out wrong; the test fails when it comes out right

    A directive with words in brackets, tree[cyg], holds for variants that have all of these words.
    For these variants it is used instead of the directive without brackets.
    """

    path: Path
    directives: list = field(default_factory=list)

    @classmethod
    def read(cls, path):
        directives = []
        for line in path.read_text().split("*/")[0].splitlines():
            match = DIRECTIVE.match(line)
            if match:
                name, words, value = match.groups()
                directives.append([name, set((words or "").split()), value.strip()])
            elif directives and line.startswith(" *      "):
                directives[-1][2] += " " + line[2:].strip()
        return cls(path, directives)

    @property
    def name(self):
        return self.path.stem

    def all(self, name, variant):
        """The values of the directives @name that fit @variant and have the most words in
        brackets."""
        fitting = [d for d in self.directives if d[0] == name and d[1] <= variant.words]
        most = max((len(d[1]) for d in fitting), default=0)
        return [d[2] for d in fitting if len(d[1]) == most]

    def one(self, name, variant, default=None):
        values = self.all(name, variant)
        return values[0] if values else default

    def fits(self, variant):
        only = self.one("only", variant)
        if not only:
            return True
        return all(set(group.split("|")) & variant.words for group in only.split())


def programs():
    paths = sorted([*SOURCES.glob("*.c"), *SOURCES.glob("*.cc")])
    return [Program.read(p) for p in paths]


def program(name):
    for suffix in (".c", ".cc"):
        if (SOURCES / (name + suffix)).exists():
            return Program.read(SOURCES / (name + suffix))
    raise KeyError(name)


def _compile(command, output):
    result = subprocess.run([*command, "-o", output], capture_output=True, text=True)
    assert result.returncode == 0, f"{' '.join(map(str, command))}\n{result.stderr}"


def build(prog, variant):
    """The executable of @prog, with its libraries beside it. It is made once, safely when several
    processes ask at the same time."""
    sources = [prog.path, *sorted({SOURCES / "program.h", *prog.path.parent.glob("*.h")})]
    libs = [SOURCES / name for name in prog.all("lib", variant)]
    key = hashlib.sha256(str(variant).encode())
    for path in [*sources, *libs]:
        key.update(path.read_bytes())
    home = CACHE / f"{prog.name}-{variant}-{key.hexdigest()[:12]}"
    exe = home / prog.name
    if exe.exists():
        return exe

    work = Path(f"{home}.{os.getpid()}")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    cflags = prog.one("cflags", variant, "").split()
    ldflags = prog.one("ldflags", variant, "").split()
    for lib in libs:
        command = [*variant.command(lib.suffix, is_library=True), *cflags, "-shared", "-fPIC", lib]
        _compile(command, work / f"lib{lib.stem}.so")
    pie = ["-fPIE", "-pie"] if variant.pie else ["-fno-pie", "-no-pie"]
    link = [f"-L{work}", "-Wl,-rpath,$ORIGIN"] if libs else []
    command = [*variant.command(prog.path.suffix), *cflags, *pie, prog.path, *link, *ldflags]
    _compile(command, work / prog.name)
    try:
        work.rename(home)
    except OSError:  # another process has made it first
        shutil.rmtree(work)
    return exe


def build_here(directory, source, command):
    """The output of @command for @source, a file of this tree. It is compiled once for all tests,
    then copied to @directory."""
    # The key has the source's path, since debug information contains it.
    key = hashlib.sha256("\0".join(map(str, [*command, source])).encode())
    for path in [source, *sorted(source.parent.glob("*.h"))]:
        key.update(path.read_bytes())
    kept = CACHE / f"{source.stem}-{key.hexdigest()[:16]}"
    if not kept.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        work = Path(f"{kept}.{os.getpid()}")
        _compile([*command, source], work)
        work.rename(kept)
    return Path(shutil.copy(kept, directory / source.stem))
