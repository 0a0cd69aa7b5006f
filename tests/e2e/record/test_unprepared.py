"""record -P on programs that were not compiled for tracing: their machine code is patched."""

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

import trees
from data import Recording
from programs import SOURCES, Variant, build, program, programs
from test_attach import called, record_briefly, record_until
from test_hostile import OTHERS, PATHS, hostile
from test_paths import ELSEWHERE
from tools import PEER, run, utrail

PLAIN = Variant("gcc", "none", "O2")
ROOMS = SOURCES / "rooms"

SIBLINGS = """
#include <setjmp.h>
#include <stdio.h>
#define FUNC __attribute__((noipa))
static jmp_buf back;
FUNC int leaf(int x) { return 3 * x + 1; }
FUNC static int hidden(int x) { return leaf(x) + leaf(x + 1); }
FUNC void leap(int x) { if (x) longjmp(back, x); }
FUNC int jumps(int x) { if (!setjmp(back)) leap(x); return leaf(x); }
int main(void)
{
	int sum = hidden(1);
	sum += jumps(2);
	printf("%d\\n", sum);
	return 0;
}
"""
CALLS = "main{hidden{leaf{}leaf{}}jumps{leap{}leaf{}}}"


def compile_to(name, text, *options):
    with open(f"{name}.c", "w") as file:
        file.write(text)
    subprocess.run(["gcc", "-O2", f"{name}.c", "-o", name, *options], check=True)


def record(command, *options, err=""):
    """Check that the program has the same output and status with and without recording."""
    plain = run(*command)
    traced = utrail("record", *options, *command)
    assert (traced.status, traced.out) == (plain.status, plain.out), traced.err
    assert re.fullmatch(err, traced.err[len(plain.err):]), traced.err


def tree(tid=None):
    """The tree of the first task, without library calls."""
    (calls, *_) = trees.of_replay(utrail("replay", "--no-libcall", "--no-event", "-f", "tid").must().out)[0].values()
    return calls


def peer_agrees():
    """Check that the peer shows the same lines."""
    if not PEER:
        return
    options = ["replay", "-f", "none", "--no-event", "--no-libcall"]
    text = subprocess.run([PEER, *options], capture_output=True, text=True, check=True).stdout
    ours = utrail(*options).must().out
    assert [x.strip() for x in text.splitlines()] == [x.strip() for x in ours.splitlines()]


@pytest.fixture
def siblings(workdir):
    compile_to("siblings", SIBLINGS)


def test_same_tree_as_with_pg(siblings):
    record(["./siblings"], "-P", ".")
    assert tree() == CALLS
    peer_agrees()
    compile_to("siblings", SIBLINGS, "-pg")
    utrail("record", "./siblings").must()
    assert tree() == CALLS


@pytest.mark.parametrize("options", [["--no-libcall"], ["-t", "1us"], ["-a"]], ids=" ".join)
def test_with_other_options(siblings, options):
    record(["./siblings"], "-P", ".", *options)
    assert "main" in utrail("replay").must().out


def test_depth(siblings):
    record(["./siblings"], "-P", ".", "-D", "2", "--no-libcall")
    assert tree() == "main{hidden{}jumps{}}"


def test_stripped_functions_have_names(siblings):
    """Functions of a stripped program are named by their addresses in the file, so that filters can
    name them. main() is found by the program's first instructions."""
    subprocess.run(["strip", "siblings"], check=True)
    record(["./siblings"], "-P", ".", "--no-libcall")
    calls = tree()
    assert re.sub(r"fun_[0-9a-f]+", "f", calls).startswith("main{f{f{}f{}}f{f{}f{}}}"), calls
    peer_agrees()
    leaf = re.findall(r"fun_[0-9a-f]+", calls)[1]
    record(["./siblings"], "-P", leaf)
    assert tree() == f"{leaf}{{}}" * 3
    record(["./siblings"], "-P", ".", "-N", leaf)
    assert leaf not in tree()


def test_what_is_chosen(siblings):
    record(["./siblings"], "-P", "main;leaf")
    assert tree() == "main{leaf{}leaf{}leaf{}}"
    record(["./siblings"], "-P", ".", "-U", "hidden;leap")
    assert tree() == "main{leaf{}leaf{}jumps{leaf{}}}"
    record(["./siblings"], "-P", ".;leav", err="WARN: option '--patch': no function of the program matches 'leav'; the nearest: leaf, leap\n")
    record(["./siblings"], "-P", ".;_start", err="WARN: option '--patch': no function that matches '_start' can be patched: it is of the linker, .*\n")


def test_libraries(workdir):
    """Libraries are named by the rule, both linked ones and those that are loaded later."""
    for lib, target in (("lib", "librooms.so"), ("late", "liblate.so")):
        subprocess.run(["gcc", "-O0", "-shared", "-fPIC", ROOMS / f"{lib}.c", "-o", target], check=True)
    command = ["gcc", "-O0", ROOMS / "rooms.c", "-o", "rooms", "-L.", "-lrooms", "-Wl,-rpath,$ORIGIN"]
    subprocess.run(command, check=True)
    record(["./rooms"], "-P", ".;.@librooms;.@liblate")
    assert tree() == "main{outer{inner{}}lib_outer{lib_inner{}}before_last{last{}}lib_late{}}"
    record(["./rooms"], "-P", ".@librooms.so")
    assert tree() == "lib_outer{lib_inner{}}"
    record(["./rooms"], "-P", "lib_late@liblate")
    assert tree() == "lib_late{}"


@pytest.mark.parametrize("name", ["cplusplus", "exceptions", "threads", "fork", "longjmp", "jumper", "dlopen", "backtrace"])
def test_programs(name):
    exe = build(program(name), PLAIN)
    record([exe], "-P", ".", "--no-libcall")
    recording = Recording("uftrace.data")
    names = {r.name for t in recording.tasks.values() for r in t.records}
    assert "main" in names


def test_found_out_once():
    """Cached facts about a file are used with any rules of -P, until the file, its path or the
    cached facts change."""
    compile_to("siblings", SIBLINGS)
    time.sleep(0.2)  # facts about a file that has just been written are not cached
    kept = Path(os.environ["XDG_CACHE_HOME"]) / "utrail"

    def look(*options, rules=".", file="./siblings"):
        done = utrail("record", "-v", *options, "-P", rules, file).must()
        said = re.search(r"functions chosen: (\d+), patched: (\d+)(.*)", done.err)
        return int(said[1]), int(said[2]), "earlier" in said[3], tree()

    first = look()
    assert not first[2] and first[3] == CALLS
    (file,) = kept.iterdir()
    assert look() == (*first[:2], True, CALLS)
    assert look(rules="leaf;main") == (2, 2, True, "main{leaf{}leaf{}leaf{}}")
    # --no-cache neither reads nor writes the cache.
    assert look("--no-cache") == first
    file.unlink()
    assert look("--no-cache") == first
    assert not list(kept.iterdir())
    assert look() == first
    # Damaged facts are found anew.
    (file,) = kept.iterdir()
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    assert look() == first
    assert look()[2]
    # A copy with the same build id is another file.
    shutil.copy("siblings", "copy")
    time.sleep(0.2)
    assert look(file="./copy") == first
    assert look(file="./copy")[2]
    assert look() == first
    # A folder that all users may write to is not used.
    kept.chmod(0o777)
    assert look() == first


def test_launcher():
    """A small program has its code in a large library: a message names the rule that records the
    library."""
    with open("large.c", "w") as file:
        file.write('__asm__(".text; .skip 2097152, 0x90"); int work(int x) { return 2 * x; }')
    subprocess.run(["gcc", "-shared", "-fPIC", "large.c", "-o", "liblarge.so.1"], check=True)
    compile_to("launcher", "int work(int x); int main(void) { return work(0); }", "./liblarge.so.1")
    said = "'./launcher' has 1 kB of code, its library 'liblarge.so.1' has 2 MB: -P .@liblarge records that one"
    assert said in utrail("record", "-P", ".", "./launcher").must().err
    # There is no message when a rule names the library.
    assert "records that one" not in utrail("record", "-P", ".", "-P", ".@liblarge", "./launcher").must().err
    assert "main{work{}}" == tree()


def test_dry_run(siblings):
    """--dry-run says what record would do, and records nothing."""
    text = utrail("record", "-P", ".;.@libc.so", "--dry-run", "./siblings").must().out
    assert re.match(r"/.*/siblings: (\d+) of \1 functions would be patched\n +\1  a jump\n/.*/libc.so.6: \d+ of \d+ ", text), text
    assert "the probe calls it itself" in text and not os.path.exists("uftrace.data")
    text = utrail("record", "-v", "-P", "leaf;main", "--dry-run", "./siblings").must().out
    assert re.search(r"2 of 2 .*\n +2  a jump\n +[0-9a-f]+ main: a jump\n +[0-9a-f]+ leaf: a jump\n$", text), text


@pytest.mark.parametrize("flags", [[], ["-fpatchable-function-entry=5"]], ids=["plain", "prepared"])
def test_what_runs_already(workdir, flags):
    """A running program is patched, too. test_attach_patch.py checks that its code is restored."""
    compile_to("ticks", "#include <unistd.h>\n__attribute__((noipa)) void tick(void) { usleep(1000); }\n"
               "int main(void) { for (;;) tick(); }\n", *flags)
    with subprocess.Popen(["./ticks"]) as process:
        try:
            record_briefly(process.pid, "-P", ".", "--for=300ms")
            record_until(lambda: {"tick", "usleep"} <= called(), process.pid, "-P", ".", "--for=300ms")
            assert process.poll() is None
        finally:
            process.kill()


def test_other_languages_are_left_alone(workdir):
    """Programs in languages that cannot be patched are recognised by functions of their run
    times."""
    compile_to("siblings", SIBLINGS + "void caml_call_gc(void) {}\n")
    record(["./siblings"], "-P", ".", err="WARN: the functions of '.*/siblings' are not patched: it is written in OCaml, .*\n")
    assert "leaf" not in utrail("replay").must().out


@pytest.mark.parametrize("options", PATHS, ids=" ".join)
@pytest.mark.parametrize("name", OTHERS)
def test_hostile_programs(name, options):
    prog = hostile(name)
    if not prog.fits(PLAIN):
        pytest.skip("not with this compiler")
    record([build(prog, PLAIN)], "-P", ".", *options, err="(?s).*")
    assert all(task.records for task in Recording("uftrace.data").tasks.values())
    utrail("replay").must()


@pytest.mark.parametrize("how", ["user", "chroot", "env", "network", "secret", "memory"])
def test_caged(workdir, how):
    exe = build(hostile("caged"), PLAIN)
    plain = run(exe, how)
    shutil.rmtree("empty", ignore_errors=True)
    traced = utrail("record", "-P", ".", exe, how)
    assert (traced.status, traced.out) == (plain.status, plain.out), traced.err


@pytest.mark.parametrize("prog", [p for p in programs() if p.fits(PLAIN) and p.name not in ELSEWHERE], ids=lambda p: p.name)
def test_samples(prog):
    """Each sample runs as untraced, also when arguments and return values are recorded."""
    exe = build(prog, PLAIN)
    plain = run(exe)
    traced = utrail("record", "-P", ".", "-a", exe)
    assert (traced.status, sorted(traced.out.splitlines())) == (plain.status, sorted(plain.out.splitlines())), traced.err


SHIPPED = {
    "awk": ["awk", "BEGIN { for (i = 0; i < 500; i++) s += i % 7; print s }"],
    "bash": ["bash", "-c", "f() { echo $(echo $1); }; trap 'echo trapped' USR1; f 1; kill -USR1 $$; exit 3"],
    "find": ["find", "/usr/share/doc", "-maxdepth", "1", "-name", "lib*"],
    "git": ["git", "hash-object", "text"],
    "gzip": ["gzip", "-9nc", "text"],
    "perl": ["perl", "-e", "$h{$_ % 7} .= $_ for 1..500; print length $h{3}, qq(\\n); eval { die 'x' }; print $@"],
    "python3": ["/usr/bin/python3", "-S", "-c", "import re\ntry: 1 / 0\nexcept Exception as e: print(e, re.sub('a', 'b', 'aa'))"],
    "sort": ["sort", "-rn", "text"],
    "sqlite3": ["sqlite3", ":memory:", "create table t(a); insert into t values (1), (2); select sum(a) from t"],
    "xz": ["xz", "-c", "-T2", "text"],
}


@pytest.mark.parametrize("name", SHIPPED)
def test_programs_as_they_were_shipped(workdir, name):
    command = SHIPPED[name]
    exe = shutil.which(command[0], path="/usr/bin:/bin")
    if not exe:
        pytest.skip(f"{command[0]} is not installed")
    with open("text", "w") as file:
        file.writelines(f"{i * 7919 % 997} line {i}\n" for i in range(2000))
    warning = r"WARN: functions of Python's own interpreter are patched .*\n" if name == "python3" else ""
    record([os.path.realpath(exe), *command[1:]], "-P", ".", err=warning)
    assert re.search(r"\bfun_|main", utrail("report").must().out)


def test_event_where_a_function_begins(workdir):
    """A function and an event need the same bytes: the function gets them, and a message reports
    the event."""
    (workdir / "both.c").write_text(
        "#include <stdio.h>\n#include <sys/sdt.h>\nint all;\n"
        "__attribute__((noipa)) int first(int x) { DTRACE_PROBE(both, first); return x * 3 + 1; }\n"
        "__attribute__((noipa)) int later(int x) { all += x; DTRACE_PROBE(both, later); return all * 5; }\n"
        'int main(void) { int sum = 0; for (int i = 0; i < 4; i++) sum += first(i) + later(i); printf("%d\\n", sum); return 0; }\n'
    )
    run("gcc", "-O2", "both.c", "-o", "both").must()
    plain = run("./both").must().out
    traced = utrail("record", "-P", ".", "-E", "both:*", "./both").must()
    assert traced.out == plain
    assert re.search(r"some events of '.*both' are not recorded, where they lie in the first bytes of a function", traced.err)
    shown = utrail("replay", "--no-libcall").must().out
    assert shown.count("later") >= 4 and "both:first" not in shown
    assert utrail("record", "-P", "main", "-E", "both:*", "./both").must().err == ""
    assert utrail("replay").must().out.count("both:first") == 4


def test_without_the_disassembler(workdir):
    """libcapstone is loaded when code is to be read. Without it a message says so, the program
    runs, and commands that need no code work."""
    (workdir / "one.c").write_text("int main(void) { return 7; }\n")
    run("gcc", "one.c", "-o", "one").must()
    (workdir / "lib").mkdir()
    for version in (4, 5, 6):
        (workdir / f"lib/libcapstone.so.{version}").touch()
    env = {"LD_LIBRARY_PATH": str(workdir / "lib")}
    traced = utrail("record", "-P", ".", "./one", env=env)
    assert traced.status == 7
    assert re.search(r"WARN: cannot patch '.*/one': cannot load capstone, which reads machine code: .*libcapstone.so.*; install it", traced.err)
    assert utrail("--version", env=env).must().err == ""


SPAWNS = """
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
extern char **environ;
int main(void)
{
	char *argv[] = { "true", NULL };
	int bad = 0;
	for (int i = 0; i < 8; i++) {
		pid_t pid;
		int status = 1;
		posix_spawn_file_actions_t actions;
		posix_spawn_file_actions_init(&actions);
		posix_spawn_file_actions_adddup2(&actions, 1, 2);
		bad += posix_spawnp(&pid, "true", &actions, NULL, argv, environ) != 0;
		printf("%d\\n", pid);
		posix_spawn_file_actions_destroy(&actions);
		bad += waitpid(pid, &status, 0) != pid || status;
	}
	return bad;
}
"""


def test_library_of_spawned_children(workdir):
    """A child that runs in its parent's memory calls the C library: these calls are recorded as the
    child's, without loss."""
    compile_to("spawns", SPAWNS)
    traced = utrail("record", "--no-event", "--no-libcall", "-P", ".", "-P", ".@libc.so.6", "./spawns").must()
    assert "lost" not in traced.err
    children = [int(line) for line in traced.out.split()]
    recording = Recording("uftrace.data")
    assert recording.lost == 0
    seen = {tid: {r.name for r in task.records} for tid, task in recording.tasks.items()}
    # The first child is left out: only by its exec does the probe learn that there are other stacks
    # than the thread's.
    for tid in children[1:]:
        assert tid in seen, (children, sorted(seen))
        assert "execve" in seen[tid] and "dup2" in seen[tid], (tid, sorted(seen[tid]))
