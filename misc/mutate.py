"""Mutation testing: generates small faults in C code and runs the tests against each (see
misc/mutate.sh).

A faulty source file is outside of the tree. Its object is linked before the archives of the build,
so the archives need not be made anew. Faulty code may send signals or delete files. So tests run in
namespaces of their own (pids, mounts, network). There they can write only to their work directory,
to the cache of sample programs, and to a /tmp and a /dev/shm of their own.
"""

import argparse
import concurrent.futures
import itertools
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

ROOMS = ["libmcount", "utils/format", "utils/pipeline", "cmds/record"]
# A fast linker saves much time, since hundreds of test programs are linked.
FAST_LINKER = "-fuse-ld=mold" if shutil.which("mold") else None
# Time limits for a test program, and for the end-to-end tests in one line of misc/fast-e2e.txt. The
# limits are long enough for slow tests, and end only tests that hang.
LIMIT_S = 90
LIMIT_E2E_S = 900
# The time limit for one file of tests of the library. A fault that stops the rotation of logs makes
# a test reach this limit.
LIMIT_LIBRARY_S = 240
# The time limit for all scenes, which take a minute on an idle machine.
LIMIT_SCENES_S = 400

# --- faults ---

TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<string>L?"(?:\\.|[^"\\])*"|L?'(?:\\.|[^'\\])*')
      | (?P<number>\.?[0-9](?:[eE][+-]|[0-9A-Za-z_.])*)
      | (?P<word>[A-Za-z_]\w*)
      | (?P<op>->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\.\.\.|.)""",
    re.S | re.X,
)
SWAPS = {
    "<": ["<=", ">="],
    "<=": ["<", ">"],
    ">": [">=", "<="],
    ">=": [">", "<"],
    "==": ["!="],
    "!=": ["=="],
    "&&": ["||"],
    "||": ["&&"],
    "++": ["--"],
    "--": ["++"],
    "+=": ["-="],
    "-=": ["+="],
    "|=": ["&="],
    "&=": ["|="],
    "<<": [">>"],
    ">>": ["<<"],
}
BINARY_SWAPS = {"+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"], "&": ["|"], "|": ["&"]}
# No test can notice faults in these calls. They change only the speed, or the order in which other
# threads see changes of memory.
UNSEEN = {"guard_barrier", "atomic_thread_fence", "__builtin_prefetch", "__asm__", "_Static_assert"}
# The multiplier of a hash function. With a different multiplier, or a different mixture of the
# key's bits, a hash table still finds its entries.
HASH_MULTIPLIER = re.compile(r"0x9e3779b97f4a7c15[uUlL]*")
ALLOCATIONS = {"malloc", "calloc", "realloc", "reallocarray"}
TYPE_WORDS = {"struct", "enum", "union", "const", "static", "unsigned", "char", "int", "bool", "long", "void", "extern", "volatile"}
KEYWORDS = {"if", "for", "while", "do", "switch", "case", "default", "return", "else", "goto", "sizeof", "break", "continue"}


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Fault:
    """A fault: bytes [start, end) of @path are replaced by @text."""

    path: str
    line: int
    start: int
    end: int
    text: str
    what: str

    def apply(self, source):
        # The number of lines stays, since some code uses its own line number.
        removed = source[self.start : self.end].count("\n")
        return source[: self.start] + self.text + "\n" * (removed - self.text.count("\n")) + source[self.end :]


def tokens_of(source):
    """Returns all tokens of @source, except blanks, comments and lines of the preprocessor."""
    source = re.sub(r"^[ \t]*#(?:\\\n|/\*.*?\*/|[^\n])*", lambda m: re.sub(r"[^\n]", " ", m[0]), source, flags=re.M | re.S)
    out = []
    for m in TOKEN.finditer(source):
        if m.lastgroup != "space":
            out.append(Token(m.lastgroup, m[0], m.start(), m.end()))
    return out


def match_up(tokens):
    """Returns a table that maps the index of each bracket to that of its matching bracket."""
    partner = {}
    stack = []
    for i, t in enumerate(tokens):
        if t.text in "([{" and t.kind == "op":
            stack.append(i)
        elif t.text in ")]}" and t.kind == "op" and stack:
            partner[i] = stack.pop()
            partner[partner[i]] = i
    return partner


def bodies(tokens, partner):
    """Yields the indices of the outer braces and of the name for each function."""
    i = 0
    while i < len(tokens):
        if tokens[i].text == "{" and tokens[i].kind == "op":
            if i and tokens[i - 1].text == ")":
                yield i, partner.get(i, i), partner[i - 1] - 1
            i = partner.get(i, i)
        i += 1


def statement_end(tokens, partner, i, last):
    """Returns the index of the semicolon of the statement that begins at @i, or None if the
    statement contains a block."""
    while i < last:
        text = tokens[i].text
        if text == ";":
            return i
        if text == "{" and tokens[i - 1].text != ")":
            return None
        i = partner[i] + 1 if text in "([{" and i in partner else i + 1
    return None


def is_declaration(tokens, i):
    first, second = tokens[i], tokens[i + 1]
    if first.text in TYPE_WORDS:
        return True
    # This is a declaration, "T x" or "T *x". No program has the statement "a * b;".
    return second.kind == "word" or (second.text == "*" and tokens[i + 2].kind == "word")


def faults_of_number(text):
    m = re.fullmatch(r"(0x[0-9a-fA-F]+|\d+)([uUlL]*)", text)
    if not m:
        return
    value, suffix = int(m[1], 0) if not re.fullmatch(r"0\d+", m[1]) else int(m[1], 8), m[2]
    yield f"{value + 1}{suffix}"
    if value:
        yield f"{value - 1}{suffix}"


def in_hash(tokens, partner, i):
    """True when token @i is the multiplier of a hash, or inside the parentheses that are multiplied
    by it."""
    if HASH_MULTIPLIER.fullmatch(tokens[i].text):
        return tokens[i - 1].text == "*"
    for close in range(i, min(i + 20, len(tokens) - 2)):
        if tokens[close].text in (";", "{", "}"):
            return False
        is_multiplied = tokens[close + 1].text == "*" and HASH_MULTIPLIER.fullmatch(tokens[close + 2].text)
        if tokens[close].text == ")" and is_multiplied and partner.get(close, i) < i:
            return True
    return False


def is_room_to_spare(tokens, partner, i, text):
    """True when token @i is a number that is added to the size of an allocation, and @text is a
    larger number. No test can notice that an allocation is larger than it needs to be."""
    if tokens[i - 1].text != "+" or tokens[i + 1].text not in (",", ")") or int(text.rstrip("uUlL"), 0) < int(tokens[i].text.rstrip("uUlL"), 0):
        return False
    start = i - 1
    while start > 0 and tokens[start].text not in ("(", ";", "{", "}", "?", ":"):
        start = partner[start] - 1 if tokens[start].text == ")" and start in partner else start - 1
    return tokens[start].text == "(" and tokens[start - 1].text in ALLOCATIONS


def faults_of(path, source):
    tokens = tokens_of(source)
    partner = match_up(tokens)

    def fault(first, last, text, what):
        line = source.count("\n", 0, tokens[first].start) + 1
        return Fault(path, line, tokens[first].start, tokens[last].end, text, what)

    for begin, end, name in bodies(tokens, partner):
        head = name
        while head > 0 and tokens[head - 1].text not in (";", "}", "{"):
            head -= 1
        is_void = any(t.text == "void" for t in tokens[head:name]) and not any(t.text == "*" for t in tokens[head:name])
        leave = "return;" if is_void else "return 0;"
        yield fault(begin, begin, "{ " + leave, f"{tokens[name].text}() leaves at once: {leave}")

        i = begin + 1
        while i < end:
            t = tokens[i]
            before = tokens[i - 1]
            if t.text in UNSEEN:
                while tokens[i].text != ";":
                    i += 1
                continue
            at_statement = before.text in ("{", ";", "}", ")", "else", ":") and before.kind != "string"
            if before.text == ")":
                opens = partner.get(i - 1, 0)
                at_statement = tokens[opens - 1].text in ("if", "for", "while", "switch")
            if before.text == ":":
                at_statement = tokens[i - 2].kind == "word" and tokens[i - 3].text in ("case", "{", ";") or tokens[i - 2].text == "default"
            in_for = False
            if before.text == ";":
                # A semicolon inside of parentheses belongs to a `for`. Look for a parenthesis that
                # is still open.
                depth = 0
                for j in range(i - 1, begin, -1):
                    if tokens[j].text == ")":
                        depth += 1
                    elif tokens[j].text == "(":
                        depth -= 1
                        if depth < 0:
                            in_for = True
                            break
                    elif tokens[j].text in "{}" and depth == 0:
                        break
            if at_statement and not in_for and i + 2 < end:
                if t.text in ("break", "continue") or (
                    (t.kind == "word" or t.text in ("*", "++", "--", "("))
                    and t.text not in KEYWORDS
                    and not is_declaration(tokens, i)
                    and tokens[i + 1].text != ":"
                ):
                    stop = statement_end(tokens, partner, i, end)
                    if stop is not None:
                        text = " ".join(source[t.start : tokens[stop].end].split())
                        yield fault(i, stop, ";", f"dropped: {text}")
            if t.text == "if" and i + 1 in partner:
                close = partner[i + 1]
                condition = source[tokens[i + 1].start : tokens[close].end]
                short = " ".join(condition.split())
                yield fault(i + 1, close, f"(!{condition})", f"if {short} negated")
            if t.text == "return" and tokens[i + 1].text not in (";", "0", "true", "false"):
                stop = statement_end(tokens, partner, i, end)
                if stop is not None:
                    text = " ".join(source[t.start : tokens[stop].end].split())
                    yield fault(i, stop, "return 0;", f"{text} became return 0;")
            if t.text == "true":
                yield fault(i, i, "false", "true became false")
            if t.text == "false":
                yield fault(i, i, "true", "false became true")
            if in_hash(tokens, partner, i):
                i += 1
                continue
            if t.kind == "number":
                for text in faults_of_number(t.text):
                    if is_room_to_spare(tokens, partner, i, text):
                        continue
                    yield fault(i, i, text, f"{t.text} became {text}")
            if t.kind == "op":
                swaps = SWAPS.get(t.text, [])
                if t.text in BINARY_SWAPS and (before.kind in ("number", "word") and before.text not in KEYWORDS | TYPE_WORDS or before.text in ")]"):
                    swaps = BINARY_SWAPS[t.text]
                for text in swaps:
                    yield fault(i, i, text, f"{t.text} became {text}")
            i += 1


# --- compiling ---


class Build:
    """A built tree, with ninja's commands that compile its objects and link its programs."""

    def __init__(self, tree, work):
        self.tree = tree.resolve()
        self.dir = self.tree / "build"
        self.work = work.resolve()
        self.lock = threading.Lock()
        self.clean = {}
        self.compile = {}
        self.users = {}  # objects by their source or header
        for row in json.loads((self.dir / "compile_commands.json").read_text()):
            self.compile[row["output"]] = (shlex.split(row["command"]), row["file"])
        obj = None
        for line in self.ninja("-t", "deps").splitlines():
            if line and not line.startswith(" "):
                obj = line.split(":")[0]
            # Outputs of custom commands (offsets.h) are left out: they have no bodies of functions.
            elif line.strip().startswith("../") and obj in self.compile:
                self.users.setdefault(os.path.normpath(line.strip())[3:], []).append(obj)
        self.links = {}
        for row in json.loads(self.ninja("-t", "compdb", "c_LINKER")):
            self.links[row["output"]] = shlex.split(row["command"])
        self.members = {}  # objects by the linked program that they are in

    def ninja(self, *args):
        return subprocess.run(["ninja", "-C", self.dir, "--quiet", *args], check=True, stdout=subprocess.PIPE, text=True).stdout

    def members_of(self, target):
        with self.lock:
            known = self.members.get(target)
        if known is None:
            command = list(self.links[target])
            command[command.index("-o") + 1] = "/dev/null"
            lines = subprocess.run([*command, "-Wl,--trace"], cwd=self.dir, check=True, stdout=subprocess.PIPE, text=True).stdout
            known = {w for line in lines.splitlines() for w in re.findall(r"[^()\s]+\.o\b", line)}
            known = {w for w in known if w in self.compile}
            with self.lock:
                self.members[target] = known
        return known

    def object(self, obj, out, source=None, overlay=None):
        """Compile @obj to @out. Returns False when the compiler reports an error."""
        command, file = self.compile[obj]
        command = [a for a in command if a != "-Werror"]
        place = command.index("-o")
        command[place + 1] = str(out)
        command[-1] = str(source or file)
        command = [a for a in command if not a.startswith(("-MD", "-MQ", "-MF")) and a not in (obj, obj + ".d")]
        if overlay:
            # The option goes after the compiler's name, which may have two words: ccache gcc.
            command.insert(next(i for i, a in enumerate(command) if a.startswith("-")), f"-I{overlay}")
        out.parent.mkdir(parents=True, exist_ok=True)
        return subprocess.run([*command, "-g0", "-w"], cwd=self.dir, stderr=subprocess.DEVNULL).returncode == 0

    def clean_object(self, obj):
        """Returns the bytes of @obj, compiled without a fault."""
        with self.lock:
            known = self.clean.get(obj)
        if known is None:
            out = self.work / "clean" / obj
            assert self.object(obj, out), obj
            known = out.read_bytes()
            with self.lock:
                self.clean[obj] = known
        return known

    def link(self, target, changed, out):
        """Link @target to @out. @changed maps objects to the files that replace them."""
        command = list(self.links[target])
        command[command.index("-o") + 1] = str(out)
        if FAST_LINKER and target not in PROGRAMS:
            command.append(FAST_LINKER)
        explicit = {a for a in command if a in changed}
        command = [str(changed[a]) if a in changed else a for a in command]
        place = command.index("-o") + 2
        command[place:place] = [str(f) for o, f in changed.items() if o not in explicit and o in self.members_of(target)]
        out.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(command, cwd=self.dir, check=True)


# --- running ---

SANDBOX = r"""
set -e
mount --make-rprivate /
awk '{ print $5 }' /proc/self/mountinfo | while read -r at; do
	case $at in /proc|/dev|/dev/*) ;; *) mount -o remount,bind,ro "$at" 2> /dev/null || true ;; esac
done
for at in "$1" "$2"; do
	mount --bind "$at" "$at"
	mount -o remount,bind,rw "$at"
done
mount -t tmpfs -o size=4g,mode=1777 none /tmp
mount -t tmpfs -o size=1g,mode=1777 none /dev/shm
ip link set lo up 2> /dev/null || true
echo 900 > /proc/self/oom_score_adj
shift 2
set +e
cd /tmp
"$@"
exit $?
"""


def in_sandbox(work, cache, command, limit, env):
    """Runs @command, which may write only to @work, to @cache, and to a /tmp and a /dev/shm of its
    own. Returns its status and its output. The status is None if the command has exceeded @limit
    seconds. At the end of the function all processes of the command have ended."""
    sandbox = ["unshare", "--mount", "--pid", "--net", "--ipc", "--fork", "--kill-child", "--mount-proc"]
    proc = subprocess.Popen(
        [*sandbox, "sh", "-c", SANDBOX, "sandbox", str(work), str(cache), *map(str, command)],
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        proc.out = proc.communicate(timeout=limit)[0].decode(errors="replace")
    except subprocess.TimeoutExpired:
        os.killpg(proc.pid, signal.SIGKILL)
        proc.communicate()
        return None, "it hung"
    return proc.returncode, proc.out


def read_tests(build):
    """Returns (name, program, arguments) for each unit test and each corpus."""
    out = []
    for test in json.loads((build.dir / "meson-info/intro-tests.json").read_text()):
        suite = test["suite"][0].split(":")[-1]
        if suite in ("unit", "fuzz"):
            target = os.path.relpath(test["cmd"][0], build.dir)
            if target in build.links:
                out.append((f"{suite}/{test['name']}", target, test["cmd"][1:]))
    return out


# The test of many programs together (see tests/scenes/scenes.py).
SCENES = "unit/scenes"
TRACED = ["utrail", "libmcount/libmcount.so"]
# The two forms of libutrail-trace, which tests in Python use. The faulty archive is not linked:
# programs() replaces objects in a copy of the archive.
LIBRARY = "trace/library/libutrail-trace.so.1.0.0"
ARCHIVE = "trace/library/libutrail-trace.a"
LIBRARY_USERS = ["utrail", LIBRARY, "trace/tests/events/trace_stress"]
LIBRARY_TESTS = ["api", "conformance", "load", "recorder"]
PROGRAMS = sorted({*TRACED, *LIBRARY_USERS})


def nearest_first(tests, path):
    """Returns the tests in this order: the test that mirrors the file, the tests of the file's
    room, corpora, and all other tests."""
    stem = path.rsplit(".", 1)[0]
    room = os.path.dirname(path)

    def rank(test):
        name = test[0]
        if name == f"unit/{stem}":
            return 0
        if name.startswith(f"unit/{room}/"):
            return 1
        return 3 if name == "fuzz/datadir" else 2

    return sorted(tests, key=rank)


class History:
    """The scenes and end-to-end tests that have noticed faults of a file, in this run or an earlier
    one. They run first, since running all scenes and tests would take long."""

    def __init__(self, path):
        self.path = path
        self.lock = threading.Lock()
        self.counts = json.loads(path.read_text()) if path.exists() else {}

    def scenes(self, source):
        """Returns the headings of scenes. The scenes that are most likely to notice a fault in
        @source come first."""
        with self.lock:
            keys = [shlex.split(key.split("\t")[1]) for key in self.counts]
            heads = {args[1] for args in keys if args[0] == SCENES}
            return sorted(heads, key=lambda head: -self.count(source, [SCENES, head]))

    def count(self, source, args):
        # Tests that have noticed faults of @source come first. Tests that have noticed faults of
        # other files in the same room come next.
        room = os.path.dirname(source)
        alike = sum(n for key, n in self.counts.items() if key.endswith(f"\t{shlex.join(args)}") and key.startswith(room + "/"))
        return 1000 * self.counts.get(f"{source}\t{shlex.join(args)}", 0) + alike

    def add(self, source, args):
        with self.lock:
            key = f"{source}\t{shlex.join(args)}"
            self.counts[key] = self.counts.get(key, 0) + 1
            self.path.write_text(json.dumps(self.counts, indent=1, sort_keys=True))


class Runner:
    def __init__(self, build, e2e):
        self.build = build
        self.tests = read_tests(build)
        self.e2e = e2e
        self.history = History(build.work / "noticed.json")
        self.cache = build.dir / "e2e-programs"
        self.cache.mkdir(exist_ok=True)

    def verdict(self, fault, work):
        """Returns the result for a fault, and the test that has noticed it or None."""
        build = self.build
        source = fault.apply((build.tree / fault.path).read_text())
        overlay = work / "overlay"
        file = overlay / fault.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source)
        is_header = fault.path.endswith(".h")
        changed = {}
        for obj in build.users.get(fault.path, []):
            out = work / "objects" / obj
            if not build.object(obj, out, None if is_header else file, overlay if is_header else None):
                return "not compiled", None
            if out.read_bytes() != build.clean_object(obj):
                changed[obj] = out
        if not changed:
            return "equivalent", None
        tests = [t for t in nearest_first(self.tests, fault.path) if build.members_of(t[1]) & set(changed)]
        # The nearest tests run first, in a sandbox of their own, since they notice most faults. The
        # scenes notice most of the remaining faults. All other tests share one sandbox, since
        # starting a sandbox takes longer than most tests.
        nr_near = sum(test[0] == f"unit/{fault.path.rsplit('.', 1)[0]}" for test in tests)
        by = self.first_to_fail(tests[: max(nr_near, 1)], changed, work)
        if by:
            return "noticed", by
        home = self.programs(changed, work)
        if home and self.is_in(LIBRARY_USERS[1:], changed):
            by = self.library_tests(home, work)
            if by:
                return "noticed", by
        is_traced = home and self.is_in(TRACED, changed)
        by = is_traced and self.first_scene(home, work, fault.path)
        if by:
            return "noticed", by
        by = self.first_to_fail(tests[max(nr_near, 1) :], changed, work)
        if by:
            return "noticed", by
        if not home:
            return "survived", None
        return self.end_to_end(home, work, fault.path) if self.e2e else ("survived", None)

    def programs(self, changed, work):
        """Returns a build directory with the faulty programs, or None if no program is faulty."""
        build = self.build
        if not self.is_in(PROGRAMS, changed):
            return None
        home = self.home(work)
        for target in PROGRAMS:
            if self.is_in([target], changed):
                (home / target).unlink()
                build.link(target, changed, home / target)
        if self.is_in([LIBRARY], changed):
            members = subprocess.run(["ar", "t", build.dir / ARCHIVE], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
            faulty = [o for o in changed.values() if o.name in members]
            (home / ARCHIVE).unlink()
            shutil.copy(build.dir / ARCHIVE, home / ARCHIVE)
            subprocess.run(["ar", "r", home / ARCHIVE, *faulty], check=True)
        return home

    def is_in(self, targets, changed):
        return any(self.build.members_of(target) & set(changed) for target in targets)

    def home(self, work):
        """Returns a directory that looks like the build directory. Its programs may be replaced."""
        build = self.build
        home = work / "build"
        home.mkdir()
        # The directories that contain a program of PROGRAMS at any depth. They are made from the
        # top down, so that no file is written through a link.
        apart = {place for target in PROGRAMS for place in Path(target).parents}
        for place in sorted(apart):
            (home / place).mkdir(exist_ok=True)
            for entry in (build.dir / place).iterdir():
                if Path(place, entry.name) not in apart and not (home / place / entry.name).exists():
                    (home / place / entry.name).symlink_to(entry)
        for target in PROGRAMS:
            (home / target).unlink()
            shutil.copy(build.dir / target, home / target)
        # The links above lead from the library's other names to the library without a fault. They
        # are replaced by links to the copy.
        for name in (LIBRARY[: -len(".0.0")], LIBRARY[: -len(".1.0.0")]):
            (home / name).unlink()
            (home / name).symlink_to(Path(LIBRARY).name)
        return home

    def library_tests(self, home, work):
        """Returns the test of the library that has failed, or None."""
        for name in LIBRARY_TESTS:
            command = self.pytest([f"trace/tests/events/test_{name}.py"])
            status, _ = in_sandbox(work, self.cache, command, LIMIT_LIBRARY_S, self.environment(home))
            if status != 0:
                return f"unit/trace/{name}"
        return None

    def first_scene(self, home, work, path):
        """Returns the first scene that has changed, or None."""
        first = work / "scenes"
        first.write_text("".join(f"{head}\n" for head in self.history.scenes(path)))
        difference = self.scenes(home, work, "--first", first)
        if difference is None:
            return None
        head = re.search(r"^\+\+\+ = (.*)", difference, re.M)
        if head:
            self.history.add(path, [SCENES, head[1]])
        return f"{SCENES}: {head[1] if head else 'it hung'}"

    def scenes(self, home, work, *options):
        """Returns the difference in the first scene that has changed, or None."""
        command = ["/usr/bin/python3", self.build.tree / "tests/scenes/scenes.py", home, *options]
        status, out = in_sandbox(work, self.cache, command, LIMIT_SCENES_S, {})
        return None if status == 0 else out

    def first_to_fail(self, tests, changed, work):
        script = []
        for name, target, args in tests:
            exe = work / "bin" / target
            self.build.link(target, changed, exe)
            command = shlex.join(["timeout", "-s", "KILL", str(LIMIT_S), str(exe), *args])
            script.append(f"{command} > /dev/null 2>&1 || {{ echo {shlex.quote(name)}; exit 1; }}\n")
        if not tests:
            return None
        status, out = in_sandbox(work, self.cache, ["sh", "-c", "".join(script)], LIMIT_S * len(tests), {})
        return None if status == 0 else out.strip() or tests[0][0]

    def end_to_end(self, home, work, path):
        # Tests that have noticed faults of the file come first. Tests that are named like the file
        # or its directory come next.
        words = set(re.split(r"[/._]", path))
        alike = {id(args): len(words & set(re.split(r"[/._ ]", " ".join(args)))) for args in self.e2e}
        for args in sorted(self.e2e, key=lambda args: (-self.history.count(path, args), -alike[id(args)])):
            failed = self.failing_e2e(home, work, args)
            if not failed:
                continue
            # A test that fails only once has failed by chance, and has not noticed the fault.
            if self.failing_e2e(home, work, args) == failed:
                self.history.add(path, args)
                return "noticed", failed
            print(f"by chance    {failed}: see by-chance.txt", flush=True)
        return "survived", None

    def failing_e2e(self, home, work, args):
        """Returns the first test that fails, or None. The output of this test is kept, since some
        tests fail by chance."""
        status, out = in_sandbox(work, self.cache, self.pytest(args), LIMIT_E2E_S, self.environment(home))
        if status == 0:
            return None
        with (self.build.work / "by-chance.txt").open("a") as f:
            f.write(f"=== {work.name}\n{out}\n")
        failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", out or "", re.M)
        return failed[0] if failed else f"e2e: {args[0]}"

    def environment(self, home):
        return {
            "UTRAIL_BUILD": str(home),
            "UTRAIL_TEST_CACHE": str(self.cache),
            "UTRAIL_TEST_MATRIX": "small",
            "UTRAIL_TEST_LIMIT": "120",
            "TMPDIR": "/tmp",
        }

    def pytest(self, args):
        command = ["/usr/bin/python3", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--tb=short"]
        return [*command, *[str(self.build.tree / a) if a.startswith(("tests/", "trace/")) else a for a in args]]

    def check_clean(self, work):
        """Check that all tests pass with the unchanged program."""
        for name, target, args in self.tests:
            status, out = in_sandbox(work, self.cache, [self.build.dir / target, *args], LIMIT_S, {})
            if status != 0:
                sys.exit(f"without any fault {name} fails:\n{out}")
        # The tests below run in the directories in which faulty programs will run. So they also
        # show that these directories cause no failures.
        home = self.home(work)
        difference = self.scenes(home, work)
        if difference is not None:
            sys.exit(f"without any fault tests/scenes/scenes.py fails:\n{difference}")
        by = self.library_tests(home, work)
        if by is not None:
            sys.exit(f"without any fault {by} fails")
        for args in self.e2e:
            status, out = in_sandbox(work, self.cache, self.pytest(args), LIMIT_E2E_S, self.environment(home))
            if status != 0:
                sys.exit(f"without any fault tests fail:\n{out}")


def read_e2e(path, word):
    """Returns the arguments of pytest for each line in the list of fast tests that contains @word.
    @path is the list, which begins with the tests that notice most faults."""
    lines = [shlex.split(line, comments=True) for line in path.read_text().splitlines()]
    return [line for line in lines if line and word in shlex.join(line)]


VERDICTS = ["noticed", "survived", "equivalent", "not compiled"]


def say(line):
    """Print the line in one write, so that the lines of threads do not mix."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def said(fault):
    return f"{fault.path}:{fault.line}: {fault.what}"


def read_log(path):
    """Returns a table that maps a fault's text to the lines that an earlier run has printed for it.
    Several faults may have one text. They usually come in the same order in all runs.
    """
    out = {}
    for line in path.read_text().splitlines():
        m = re.match(rf"(?:{'|'.join(VERDICTS)}) +(.*?)(?:  \[.*\])?  \d+ s$", line)
        if m:
            out.setdefault(m[1], []).append(line)
    return out


def sources_of(tree, places):
    out = []
    for place in places:
        path = tree / place
        if path.is_dir():
            out.append((place, sorted(p for p in path.rglob("*") if p.suffix in (".c", ".h"))))
        elif path.is_file():
            out.append((place, [path]))
        else:
            sys.exit(f"misc/mutate.sh: no room and no file '{place}'")
    return out


def main():
    parser = argparse.ArgumentParser(prog="misc/mutate.sh")
    parser.add_argument("tree", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("places", nargs="*", metavar="ROOM|FILE")
    parser.add_argument("-n", type=int, default=40, help="how many faults, spread over the rooms (0: all)")
    parser.add_argument("-s", type=int, default=1, help="seed: the same one chooses the same faults")
    parser.add_argument("-j", type=int, default=1, help="so many at a time")
    parser.add_argument("--list", action="store_true", help="only print them")
    parser.add_argument("--only", help="FILE:LINE, all faults of that line")
    parser.add_argument("--again", type=Path, metavar="LOG", help="only what survived according to the output of another run")
    parser.add_argument("--resume", type=Path, metavar="LOG", help="take what is said there for known: the output of a run that did not end")
    parser.add_argument("--no-e2e", action="store_true", help="unit tests and corpora only")
    parser.add_argument("--e2e", metavar="WORD", help="of the end-to-end tests only the lines of misc/fast-e2e.txt with this in them")
    parser.add_argument("--unchecked", action="store_true", help="do not run the tests without any fault first")
    args = parser.parse_args()

    if args.only:
        args.places, args.n = [args.only.rpartition(":")[0]], 0
    again = None
    if args.again:
        again = set(re.findall(r"^survived +(.*?)(?:  \d+ s)?$", args.again.read_text(), re.M))
        args.n = 0
    tree = args.tree.resolve()
    places = sources_of(tree, args.places or ROOMS)
    rng = random.Random(args.s)
    rows = []
    for i, (place, paths) in enumerate(places):
        faults = [f for p in paths for f in faults_of(str(p.relative_to(tree)), p.read_text())]
        if args.only:
            faults = [f for f in faults if f.line == int(args.only.rpartition(":")[2])]
        if again is not None:
            faults = [f for f in faults if said(f) in again]
        if args.n:
            rng.shuffle(faults)
        share = (args.n * (i + 1) // len(places) - args.n * i // len(places)) or len(faults)
        rows.append((place, faults, share))
    if args.list:
        for place, faults, share in rows:
            for f in faults[:share]:
                print(said(f))
        return 0

    build = Build(tree, args.work)
    e2e = [] if args.no_e2e else read_e2e(tree / "misc/fast-e2e.txt", args.e2e or "")
    if args.e2e and not e2e:
        sys.exit(f"misc/mutate.sh: no line of misc/fast-e2e.txt has '{args.e2e}' in it")
    runner = Runner(build, e2e)
    scratch = build.work / f"run-{os.getpid()}"
    scratch.mkdir()
    if tree.is_relative_to("/tmp"):
        sys.exit("misc/mutate.sh: the tree may not be in /tmp, where tests write")
    status, out = in_sandbox(scratch, runner.cache, ["true"], LIMIT_S, {})
    if status != 0:
        sys.exit(f"misc/mutate.sh: cannot make name spaces of its own, which needs root: {out}")
    if not args.unchecked:
        runner.check_clean(scratch)
    numbers = itertools.count(1)
    total = {"noticed": 0, "survived": 0}
    survivors = []

    known = read_log(args.resume) if args.resume else {}

    def examine(fault):
        if known.get(said(fault)):
            line = known[said(fault)].pop(0)
            say(line)
            return fault, next(what for what in VERDICTS if line.startswith(what))
        work = scratch / str(next(numbers))
        work.mkdir()
        started = time.monotonic()
        try:
            what, by = runner.verdict(fault, work)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        say(f"{what:12} {said(fault)}" + (f"  [{by}]" if by else "") + f"  {time.monotonic() - started:.0f} s")
        return fault, what

    for place, faults, share in rows:
        counts = dict.fromkeys(VERDICTS, 0)
        queue = iter(faults)
        with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
            running = set()
            while True:
                counted = counts["noticed"] + counts["survived"]
                # Start no more faults than are still wanted, so that all runs with one seed examine
                # the same faults.
                for fault in itertools.islice(queue, max(0, min(args.j, share - counted) - len(running))):
                    running.add(pool.submit(examine, fault))
                if not running:
                    break
                done, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
                for future in done:
                    fault, what = future.result()
                    counts[what] += 1
                    if what == "survived":
                        survivors.append(fault)
        for key in total:
            total[key] += counts[key]
        print(f"{place}: " + ", ".join(f"{n} {key}" for key, n in counts.items()), flush=True)
    shutil.rmtree(scratch, ignore_errors=True)
    if survivors:
        print("survivors:")
    for fault in sorted(survivors, key=lambda f: (f.path, f.start)):
        print(f"  {said(fault)}")
    all_counted = sum(total.values())
    if all_counted:
        print(f"noticed: {total['noticed']} of {all_counted}, {100 * total['noticed'] // all_counted} % (seed {args.s})")
    return 0


sys.exit(main())
