#!/usr/bin/python3
"""Programs exactly as Debian ships them: recorded from their start with -P ., and attached to while
they work.

usage: shipped.py [--long] PROGRAM...

Checks for each program:

- under `record -P .` it has the same output and status as untraced
- the same holds when it is attached to twice while it works (`record -p PID -P . --for`)
- for deterministic ones, 200 functions are called exactly as often as breakpoints count
  (breakpoints.c, no code of utrail). Three rounds of work are compared with one, so that calls at
  the start, which depend on the environment, do not count

A program that is not installed is skipped (status 77), with its package's name. --long: more work,
more rounds.
"""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

from tools import BUILD, UTRAIL, environment  # noqa: E402  (the path is set above)

SKIP = 77
HERE = Path(__file__).resolve().parent
LIMIT_S = 300
BYTES_MAX = 4 << 30  # the largest size of a recording
FUNCTIONS = 200
# Functions with more calls take too long with breakpoints.
CALLS_MAX = 20000
# The greatest length of a command line's words.
WORDS_BYTES = 1 << 20
# The number of seconds that a program works: without --long, and with it.
SECONDS = (1.5, 10)
ENV = {"PERL_HASH_SEED": "0", "PERL_PERTURB_KEYS": "0", "PYTHONHASHSEED": "0", "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1",
       "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
       "GIT_AUTHOR_DATE": "1700000000 +0000", "GIT_COMMITTER_DATE": "1700000000 +0000"}

PERL = r"""
for my $r (1..$ARGV[0]) {
    my %h; for my $i (1..300) { $h{"k$i"} = $i * 2 } my $s = 0;
    for (sort keys %h) { $s += $h{$_}; if (/7$/) { $s ^= length } delete $h{$_} if $s % 3 }
    my @a = map { sprintf "%05d", $_ } grep { $_ % 3 } 1..200; push @a, splice @a, 3, 7; @a = reverse @a;
    eval { die { code => $r } }; my $c = $@->{code}; local $_ = "abcabc"; s/b(.)/<$1>/g; tr/a-c/A-C/;
    my $p = pack("NnC*", 1, 2, 3 .. 9); my @u = unpack("NnC*", $p); my $o = bless [1, 2], "Some"; { package Some; sub size { scalar @{$_[0]} } }
    my $code = sub { my $n = shift; $n < 2 ? 1 : $n * __SUB__->($n - 1) }; use feature 'current_sub';
    print join(",", $s, $c, $_, "@a[3..5]", "@u", $o->size, $code->(9), lc uc $_, index($_, "C"), substr($_, 1, 2), join("-", split /c/i, "1c2C3")), "\n";
    my @d = sort { $b <=> $a } map { length } ("a" .. "zz")[0 .. 99]; printf "%s %.3f %x\n", "@d[0..2]", sqrt(2), 255; print wantarray // "u", "\n";
}
"""
PYTHON = r"""
import sys
sys.path[:] = [p for p in sys.path if p.endswith("python3.11") or p.endswith("lib-dynload")]
import collections, functools, itertools, json, re, struct, textwrap
class Shape:
    __slots__ = ("n",)
    def __init__(self, n): self.n = n
    def __eq__(self, other): return self.n == other.n
    def __hash__(self): return hash(self.n)
    def __lt__(self, other): return self.n < other.n
    @property
    def double(self): return self.n * 2
@functools.lru_cache(None)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
for r in range(int(sys.argv[1])):
    d = {str(i): [i, {"x": i * i, "y": None, "z": 1.5}] for i in range(120)}
    s = json.dumps(d, sort_keys=True, indent=1)
    assert json.loads(s) == d
    print(len(s), len(re.findall(r"\d+", s)), sorted(d, key=lambda k: -d[k][0])[:3])
    print(sum(i for i in range(100)), [x for x in map(str, range(5))], fib(60), 2 ** 200 % 97, divmod(-7, 3))
    print(sorted({Shape(i % 7) for i in range(30)})[2].double, collections.Counter("abracadabra").most_common(2))
    try:
        [].pop()
    except IndexError as e:
        print(e)
    print(struct.pack("<IHd", 1, 2, 3.0).hex(), textwrap.fill("word " * 30, 40), bytes(range(9)).decode("latin1").encode("utf-16"))
    print(list(itertools.chain.from_iterable(zip("abc", range(3)))), "%s %r %5.2f" % ("x", "y", 3.14159), f"{r:>5}", "a,b".split(","), "x".join("abc"))
    with open(__file__) as f: print(len(f.readlines()))
"""
RUBY = r"""
Integer(ARGV[0]).times do |r|
  h = Hash[(1..300).map { |i| ["k#{i}", i * 2] }]; s = 0
  h.sort.each { |k, v| s += v; s ^= k.length if k =~ /7$/ }
  begin; raise ArgumentError, "x#{r}"; rescue => e; puts e.message; ensure; s += 1; end
  puts [s, (1..200).select(&:odd?).each_slice(7).map(&:sum).first(4), "abcabc".gsub(/b(.)/) { "<#{$1}>" }, 2**200 % 97].inspect
  puts "%05d %s" % [r, [3, 1, 2].sort_by { |x| -x }.join(",")], (1..Float::INFINITY).lazy.map { |x| x * 2 }.first(3).inspect
  f = Fiber.new { Fiber.yield 1; 2 }; puts f.resume + f.resume; puts catch(:done) { 10.times { |i| throw :done, i if i == 7 } }
  GC.start
end
"""
PHP = r"""
for ($r = 0; $r < (int)$argv[1]; $r++) {
    $h = []; for ($i = 1; $i <= 300; $i++) $h["k$i"] = $i * 2; ksort($h); $s = 0;
    foreach ($h as $k => $v) { $s += $v; if (preg_match('/7$/', $k)) $s ^= strlen($k); }
    try { throw new Exception("x$r"); } catch (Exception $e) { echo $e->getMessage(), "\n"; } finally { $s++; }
    $gen = (function () { foreach ([1, 2, 3] as $x) yield $x * 2; })();
    echo $s, " ", implode(",", iterator_to_array($gen)), " ", json_encode(array_slice($h, 0, 3)), " ", md5("a$r"), "\n";
    usort($h, fn($a, $b) => $b <=> $a); echo implode(",", array_slice($h, 0, 4)), sprintf(" %05.1f", M_PI), "\n";
}
"""
BASH = r"""
f() { local i; for ((i = 0; i < 50; i++)); do x=${x}a; case $x in *b) echo no ;; esac; done; }
for ((r = 0; r < $1; r++)); do
    x=; f; echo ${#x} $((3 ** 5)) "${x:3:5}" "${x//a/bc}" "${x^^}"; a=(1 2 3 "four five"); printf '%s\n' "${a[@]}"; [[ $x =~ a+ ]] && echo yes
    declare -A m=([one]=1 [two]=2); for k in one two; do echo "$k=${m[$k]}"; done; read -r p q <<< "left right"; echo "$q $p"; set -- "$@"
    while IFS=: read -r u v; do echo "$v"; done <<< $'1:2\n3:4'; trap 'echo trapped' USR1; kill -USR1 $$; echo {1..5} ~; test -d / && echo dir; let r2=r+1; unset m
done
"""
# Calls are not counted for programs that fork: a child returns from its parent's calls, and counts
# these, too.
BASH_FORKS = r"""
for ((r = 0; r < $1; r++)); do
    x=$(echo "sub $r"); y=$(printf '%s\n' c b a | sort | tr a-c A-C); echo "$x" $y; (exit 3); echo $?; { sleep 0 & } 2> /dev/null; wait; cat <(echo "from process")
    echo "$r" | while read -r n; do echo "in a pipe $n"; done; coproc C { read -r z; echo "co $z"; }; echo word >&"${C[1]}"; read -r w <&"${C[0]}"; echo "$w"; wait
done
"""
LUA = r"""
for r = 1, tonumber(arg[1]) do
    local h, s = {}, 0
    for i = 1, 300 do h[#h + 1] = ("k%d"):format(i * 7 % 301) end
    table.sort(h)
    for i, k in ipairs(h) do s = s + i; if k:find("7$") then s = s ~ #k end end
    print(s, pcall(error, "x" .. r), ("abcabc"):gsub("b(.)", "<%1>"), 2 ^ 53, 7 // 2, table.concat(h, ",", 1, 3))
    local co = coroutine.wrap(function(a) for i = 1, 3 do a = coroutine.yield(a + i) end end)
    print(co(1), co(2), setmetatable({}, { __index = function(_, k) return k * 2 end })[21], select("#", table.unpack(h)), utf8.char(228), os.time { year = 2020, month = 1, day = 1, hour = 12 })
    local f = load("return ...")
    print(f(r), tostring(nil), math.type(1), string.rep("ab", 3), next({}), rawlen(h)); collectgarbage()
end
"""
SQL = """
CREATE TABLE IF NOT EXISTS t(a INTEGER PRIMARY KEY, b TEXT, c REAL); DELETE FROM t;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO t SELECT i, 'text ' || i, i / 3.0 FROM n;
CREATE INDEX IF NOT EXISTS tb ON t(b); SELECT count(*), sum(c), max(b) FROM t WHERE b LIKE '%7%'; UPDATE t SET c = c * 2 WHERE a % 3 = 0;
SELECT b, c FROM t ORDER BY c DESC LIMIT 5; SELECT a, json_object('x', b) FROM t GROUP BY a % 7; BEGIN; DELETE FROM t WHERE a > 250; ROLLBACK; SELECT count(*) FROM t;
SELECT x.a, y.b FROM t x JOIN t y ON x.a = y.a + 1 WHERE x.a < 6; SELECT printf('%05d', a), substr(b, 2, 3), row_number() OVER (ORDER BY a DESC) FROM t LIMIT 3;
"""
JAVA = """
import java.util.*; import java.util.concurrent.*; import java.util.stream.*;
public class Main {
    interface Shape { double area(); }
    record Circle(double r) implements Shape { public double area() { return Math.PI * r * r; } }
    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    public static void main(String[] args) throws Exception {
        for (int r = 0; r < Integer.parseInt(args[0]); r++) {
            Map<String, Integer> m = new TreeMap<>(); for (int i = 0; i < 20000; i++) m.merge("k" + i % 300, i, Integer::sum);
            System.out.println(m.get("k7") + " " + fib(24) + " " + IntStream.range(0, 100000).parallel().filter(i -> i % 3 == 0).asLongStream().sum());
            try { throw new IllegalStateException("x"); } catch (IllegalStateException e) { System.out.println(e.getMessage() + e.getStackTrace().length); }
            ExecutorService pool = Executors.newFixedThreadPool(4); List<Future<Integer>> all = new ArrayList<>();
            for (int i = 0; i < 8; i++) { int n = i; all.add(pool.submit(() -> fib(15 + n))); } int s = 0; for (var f : all) s += f.get(); pool.shutdown();
            System.out.println(s + " " + Stream.of(new Circle(1), new Circle(2)).mapToDouble(Shape::area).sum()); System.gc();
            try { deep(0); } catch (StackOverflowError e) { System.out.println("deep"); }
        }
    }
    static int deep(int n) { return deep(n + 1) + 1; }
}
"""
NODE = r"""
const crypto = require("crypto"), zlib = require("zlib");
(async () => { for (let r = 0; r < +process.argv[2]; r++) {
    const m = new Map(); for (let i = 0; i < 20000; i++) m.set("k" + i % 300, (m.get("k" + i % 300) || 0) + i);
    const fib = n => n < 2 ? n : fib(n - 1) + fib(n - 2); console.log(m.get("k7"), fib(22), JSON.stringify([...m].slice(0, 2)), "abcabc".replace(/b(.)/g, "<$1>"));
    try { null.x } catch (e) { console.log(e.message, e.stack.split("\n").length > 0) } function* g() { yield* [1, 2, 3] } console.log([...g()], crypto.createHash("sha1").update("a" + r).digest("hex"));
    const z = await new Promise(f => zlib.gzip(Buffer.alloc(9999, "ab"), (e, b) => f(b))); console.log(zlib.gunzipSync(z).length); await new Promise(f => setTimeout(f, 5));
    const deep = n => deep(n + 1) + 1; try { deep(0) } catch (e) { console.log(e.constructor.name) } console.log(await Promise.all([1, 2].map(async x => x * 2)), BigInt(2) ** 70n, new Date(0).toISOString());
} })();
"""
C_SOURCE = "#include <stdio.h>\n" + "".join(
    f"struct s{i} {{ int a; double b[{i + 1}]; }};\nstatic int f{i}(struct s{i} *s, int n) {{ for (int k = 0; k < n; k++) "
    f"s->b[k % {i + 1}] += k * s->a; switch (n % 5) {{ case 0: return f{i - 1 if i else 0}(0, 0); case 3: return n; }} "
    f"return printf(\"%f\\n\", s->b[0]); }}\nint g{i}(int n) {{ struct s{i} s = {{ n, {{ 1.5 }} }}; return f{i}(&s, n); }}\n"
    for i in range(1, 900)
).replace("return f0(0, 0)", "return 0")


def say(text):
    print(text, flush=True)


@dataclass
class Program:
    """A program and its work.

    @exe: path, or a name in $PATH. @package: the one that has the program
    @argv(rounds): its arguments; the text "FILE" stands for a file with @source
    @options: for record, besides -P . @counted: compare its calls with breakpoints
    @object: the library whose functions are counted, by ldd's name; otherwise those of the program
    @outputs: files that must be the same, besides the printed text
    @rounds: rounds of work, short and long; (): as many as take SECONDS
    """

    exe: str
    package: str
    argv: Callable
    source: str = ""
    suffix: str = ""
    options: tuple = ()
    counted: bool = False
    object: str = ""
    outputs: tuple = ()
    rounds: tuple = ()
    clean: Callable = lambda text: text
    prepare: Optional[Callable] = None
    stdin: str = ""


def without_times(text):
    """The output of CPython's test runner without times."""
    return re.sub(r"\d+(\.\d+)? (ms|sec|min)\b.*|0:0\d:\d\d( load avg: \S+)?|\(\d+m?s\)|== .*|load avg: [\d.]+", "", text)


def make_repository(folder):
    env = environment(**ENV)
    subprocess.run(["git", "init", "-q", "-b", "main", "repo"], cwd=folder, env=env, check=True)
    for i in range(12):
        for k in range(6):
            (folder / "repo" / f"f{k}").write_text("".join(f"line {n} of {k}, {i * (n % 7 == 0)}\n" for n in range(80)))
        subprocess.run(["git", "add", "."], cwd=folder / "repo", env=env, check=True)
        subprocess.run(["git", "commit", "-qm", f"change {i}"], cwd=folder / "repo", env=env, check=True)


PROGRAMS = {
    "perl": Program("perl", "perl", lambda r: ["FILE", str(r)], PERL, counted=True),
    "python3.11": Program("/usr/bin/python3.11", "python3.11", lambda r: ["-S", "-E", "-B", "FILE", str(r)], PYTHON, ".py", counted=True),
    "python3.11-tests": Program(
        "/usr/bin/python3.11", "libpython3.11-testsuite",
        lambda r: ["-B", "-m", "test", "-u", "none", "test_generators", "test_exceptions", "test_dict", "test_threading"][: 6 if r < 100 else 99],
        clean=without_times, rounds=(1, 100)),
    "ruby": Program("ruby", "ruby", lambda r: ["--disable-gems", "FILE", str(r)], RUBY, ".rb", ("-P", ".@libruby")),
    "php": Program("php", "php-cli", lambda r: ["-n", "FILE", str(r)], "<?php" + PHP, ".php", counted=True),
    "bash": Program("bash", "bash", lambda r: ["FILE", str(r)], BASH, counted=True),
    "bash-forks": Program("bash", "bash", lambda r: ["FILE", str(r)], BASH_FORKS),
    "git": Program("git", "git", lambda r: ["-C", "repo", "log", "-p", "--stat", "--all", "-n", str(3 * r)], prepare=make_repository, counted=True),
    "git-gc": Program("git", "git", lambda r: ["-C", "repo", "gc", "-q", "--prune=now"], prepare=make_repository, rounds=(1, 1)),
    "git-clone": Program("git", "git", lambda r: ["clone", "-q", "--no-local", "--bare", "repo", "copy"], prepare=make_repository, rounds=(1, 1)),
    "cc1": Program("/usr/lib/gcc/x86_64-linux-gnu/12/cc1", "gcc-12", lambda r: ["-quiet", "-O2", "-w", "FILE", "-o", "out.s"], C_SOURCE, ".c",
                   outputs=("out.s",), rounds=(1, 1)),
    # Calls are not counted: Lua's hashes depend on the time of day.
    "lua": Program("lua5.4", "lua5.4", lambda r: ["FILE", str(r)], LUA),
    "sqlite3": Program("sqlite3", "sqlite3", lambda r: ["-batch", ":memory:"] + [SQL] * r, counted=True, object="libsqlite3.so.0", options=("-P", ".@libsqlite3")),
    "node": Program("node", "nodejs", lambda r: ["FILE", str(r)], NODE, ".js", rounds=(5, 30)),
    "java": Program("java", "default-jdk-headless", lambda r: ["FILE", str(r)], JAVA, ".java", ("-P", ".@libjvm"), rounds=(2, 10)),
    "ripgrep": Program("rg", "ripgrep", lambda r: ["--sort", "path", "-c", "-e", "struct [a-z_]+ \\{"] + ["/usr/include"] * min(r, 20), rounds=(2, 20)),
}


def skip(reason):
    say(f"skipped: {reason}")
    sys.exit(SKIP)


class Run:
    """A run of @program in a folder of its own."""

    def __init__(self, name, program, is_long):
        self.name, self.program, self.is_long = name, program, is_long
        self.exe = shutil.which(program.exe)
        if not self.exe:
            skip(f"{program.exe} is not installed (apt-get install {program.package})")
        self.exe = os.path.realpath(self.exe)
        if self.exe.endswith(("pyenv", "shims")) or not open(self.exe, "rb").read(4) == b"\x7fELF":
            skip(f"{self.exe} is a script of this machine's owner, and not Debian's {program.package}")

        self.rounds = program.rounds[is_long] if program.rounds else self.enough()
        self.rounds_recorded = self.that_fit(self.rounds) if is_long and not program.rounds else self.rounds

    def enough(self):
        """The number of rounds that take long enough for attaching."""
        rounds = 4
        while True:
            began = time.monotonic()
            self.once(rounds=rounds)
            took = time.monotonic() - began
            most = self.most_rounds()
            if took > SECONDS[self.is_long] / 3 or rounds > 100_000 or rounds >= most:
                return min(max(rounds, int(rounds * SECONDS[self.is_long] / took)), most)
            rounds = min(4 * rounds, most)

    def that_fit(self, rounds):
        """The number of rounds, limited to a recording of BYTES_MAX: ruby alone makes some GB a
        second."""
        few = min(rounds, 4)
        self.begin()
        try:
            self.finish(self.start([*map(str, record_words(self)), "--no-libcall", "-d", "data", "--", *self.words(few)]))
            recorded = sum(path.stat().st_size for path in (self.folder / "data").iterdir())
        finally:
            self.end()
        return max(few, min(rounds, few * BYTES_MAX // recorded))

    def most_rounds(self):
        """The largest number of rounds: some programs get their work on the command line, whose
        length the kernel limits (execve(2))."""
        bytes_each = sum(map(len, self.words(2))) - sum(map(len, self.words(1)))
        return WORDS_BYTES // bytes_each if bytes_each > 1 else 1 << 30

    def begin(self):
        self.folder = Path(tempfile.mkdtemp(prefix=f"shipped-{self.name}-", dir=BUILD))
        if self.program.source:
            self.file = self.folder / ("Main" + self.program.suffix if self.program.suffix == ".java" else "work" + self.program.suffix)
            self.file.write_text(self.program.source)
        if self.program.prepare:
            self.program.prepare(self.folder)
        return self.folder

    def end(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def words(self, rounds):
        return [self.exe, *(str(self.file) if word == "FILE" else word for word in self.program.argv(rounds))]

    def start(self, command, **kw):
        return subprocess.Popen(command, cwd=self.folder, env=environment(**ENV), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True, **kw)

    def finish(self, proc):
        """(status, printed text, content of output files), and the text on stderr"""
        try:
            out, err = proc.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(proc.pid, signal.SIGKILL)
            sys.exit(f"{self.name}: not done after {LIMIT_S} s: {proc.args}")
        files = tuple((self.folder / name).read_bytes() for name in self.program.outputs)
        out = self.program.clean(out.replace(str(self.folder), "FOLDER"))
        return (proc.returncode, out, files), err

    def once(self, before=(), rounds=None):
        self.begin()
        try:
            return self.finish(self.start([*map(str, before), *self.words(rounds or self.rounds)]))
        finally:
            self.end()


def compare(run, what, bare, result, err):
    if result == bare:
        return
    say(f"{run.name}, {what}: status {bare[0]}, recorded {result[0]}\n--- bare\n{bare[1][-1500:]}\n--- recorded\n{result[1][-1500:]}\n--- utrail\n{err[-1500:]}")
    sys.exit(1)


def record_words(run):
    return [UTRAIL, "record", "-P", ".", *run.program.options]


def check_start(run, bare):
    if run.rounds_recorded != run.rounds:
        bare, _ = run.once(rounds=run.rounds_recorded)
    result, err = run.once([*record_words(run), "--no-libcall", "-d", "data", "--"], rounds=run.rounds_recorded)
    compare(run, "started", bare, result, err)


def is_over_soon(proc):
    """True when the process ends within a minute. (Threads may end a moment before the process can
    be waited for.)"""
    try:
        proc.wait(60)
    except subprocess.TimeoutExpired:
        return False
    return True


def check_attached(run, bare):
    """Check that the program goes on while a recorder attaches and detaches: twice, unless the
    program ends before that."""
    run.begin()
    try:
        proc = run.start(run.words(run.rounds))
        times = 0
        while times < 2 and proc.poll() is None:
            time.sleep(0.05)
            command = [*record_words(run), "--no-libcall", "-d", "data", "-p", proc.pid, "--for", "0.2s", "--force"]
            utrail = subprocess.run(list(map(str, command)), cwd=run.folder, env=environment(), stdin=subprocess.DEVNULL, capture_output=True,
                                    text=True, errors="replace", timeout=LIMIT_S)
            # The program may have ended before the recorder attached, or may be ending.
            if utrail.returncode and not (proc.poll() is not None or "it has ended" in utrail.stderr and is_over_soon(proc)):
                sys.exit(f"{run.name}, attached: {utrail.stderr}")
            times += utrail.returncode == 0
        result, err = run.finish(proc)
    finally:
        run.end()
    compare(run, "attached", bare, result, err)
    return times


# --- counts ---------------------------------------------------------------------------------------------------


def counted_object(run):
    """The path of the file whose functions are counted."""
    if not run.program.object:
        return run.exe
    out = subprocess.run(["ldd", run.exe], capture_output=True, text=True, check=True).stdout
    return os.path.realpath(re.search(re.escape(run.program.object) + r" => (\S+)", out)[1])


def our_counts(run, rounds):
    """Two dictionaries of the object's functions by name: the number of calls, and the address."""
    run.begin()
    try:
        run.finish(run.start([*map(str, record_words(run)), "--no-libcall", "-d", "data", "--", *run.words(rounds)]))
        text = subprocess.run([str(UTRAIL), "report", "-d", "data", "-f", "call", "--no-event"], cwd=run.folder, capture_output=True, text=True,
                              check=True, env=environment()).stdout
        counts = {line.split(None, 1)[1]: int(line.split()[0]) for line in text.splitlines()[2:] if line.strip()}
        path = counted_object(run)
        places = {}
        for sym in (run.folder / "data").glob("*.sym"):
            lines = sym.read_text(errors="replace").splitlines()
            named = [os.path.realpath(line.split(": ", 1)[1]) for line in lines[:5] if line.startswith("# path name: ")]
            if named != [path]:
                continue
            for line in lines:
                words = line.split(None, 2)
                if len(words) == 3 and words[1] in ("T", "t", "W", "w") and not line.startswith("#"):
                    places.setdefault(words[2], []).append(words[0])
        return counts, {name: at[0] for name, at in places.items() if len(at) == 1}
    finally:
        run.end()


def file_offsets(path, addresses):
    """The offset of each function in the file @path. @addresses are those of a .sym file: they
    begin at 0 with the first segment."""
    out = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True, check=True).stdout
    loads = [[int(word, 16) for word in line.split()[1:6]] for line in out.splitlines() if line.split()[:1] == ["LOAD"]]
    found = {}
    for name, text in addresses.items():
        at = int(text, 16) + loads[0][1]
        for offset, start, _, size, _ in loads:
            if start <= at < start + size:
                found[name] = at - start + offset
    return found


def breakpoint_counts(run, rounds, path, offsets):
    run.begin()
    try:
        command = [str(counter()), "counts", path, ",".join(f"{at:x}" for at in offsets.values()), *run.words(rounds)]
        run.finish(run.start(command))
        lines = (run.folder / "counts").read_text().split("\n")
        by_offset = {int(line.split()[0], 16): int(line.split()[1]) for line in lines if line}
        return {name: by_offset[at] for name, at in offsets.items()}
    finally:
        run.end()


def counter():
    tool = BUILD / "shipped-breakpoints"
    source = HERE / "breakpoints.c"
    if not tool.exists() or tool.stat().st_mtime < source.stat().st_mtime:
        # Tests that run at the same time may all make it.
        with tempfile.TemporaryDirectory(dir=BUILD) as folder:
            subprocess.run(["gcc", "-O1", str(source), "-o", f"{folder}/new"], check=True)
            os.replace(f"{folder}/new", tool)
    return tool


def check_counts(run):
    one, places = our_counts(run, 1)
    three, _ = our_counts(run, 3)
    names = [n for n in three if n in places and 0 < three[n] < CALLS_MAX]
    path = counted_object(run)
    chosen = sorted(names, key=lambda n: (three[n] == one.get(n, 0), random.Random(n).random()))[:FUNCTIONS]
    offsets = file_offsets(path, {n: places[n] for n in chosen})
    theirs_one = breakpoint_counts(run, 1, path, offsets)
    theirs_three = breakpoint_counts(run, 3, path, offsets)
    wrong = [
        (n, three[n] - one.get(n, 0), theirs_three[n] - theirs_one[n])
        for n in offsets
        if three[n] - one.get(n, 0) != theirs_three[n] - theirs_one[n]
    ]
    if wrong:
        sys.exit(f"{run.name}: {len(wrong)} of {len(offsets)} functions have other counts (ours, breakpoints): {wrong[:20]}")
    if len(offsets) < FUNCTIONS:
        say(f"{run.name}: it calls no more than {len(offsets)} functions that can be counted")
    return len(offsets)


def check(name, is_long):
    run = Run(name, PROGRAMS[name], is_long)
    bare, _ = run.once()
    again, _ = run.once()
    if bare != again:
        sys.exit(f"{name}: it does not do the same twice without utrail, so nothing can be compared")
    check_start(run, bare)
    times = check_attached(run, bare)
    counted = check_counts(run) if run.program.counted else 0
    say(f"{name}: the same started and attached to ({times} times)" + (f", {counted} functions counted" if counted else ""))


def main():
    words = [word for word in sys.argv[1:] if word != "--long"]
    if words == ["--list"]:
        print("\n".join(PROGRAMS))
        return
    for name in words or PROGRAMS:
        check(name, "--long" in sys.argv)


if __name__ == "__main__":
    main()
