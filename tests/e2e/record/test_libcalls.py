"""Library calls in every layout that linkers make: each call is recorded once, under its name, at
its caller."""

import os
import re
import shutil
import subprocess
from collections import Counter
from itertools import product

import pytest

from data import ENTRY, EXIT, Recording
from programs import SOURCES, in_turn
from tools import run, utrail

HERE = SOURCES / "libcalls"
GLIBC = tuple(int(n) for n in os.confstr("CS_GNU_LIBC_VERSION").split()[1].split(".")[:2])
LINKERS = [name for name in ("bfd", "gold", "lld", "mold") if shutil.which(f"ld.{name}")]
BINDINGS = {
    "lazy": ["-Wl,-z,lazy"],
    "now": ["-Wl,-z,now"],
    "noplt": ["-fno-plt"],
    "cet": ["-Wl,-z,lazy", "-fcf-protection=full"],
    "cet-now": ["-Wl,-z,now", "-fcf-protection=full"],
    "nopie": ["-Wl,-z,lazy", "-no-pie", "-fno-pie"],
    "nopie-now": ["-Wl,-z,now", "-no-pie", "-fno-pie"],
}
METHODS = {"pg": "-pg", "cyg": "-finstrument-functions"}
TREE = "calls{lib_one{}lib_two{}lib_back{back{lib_one{}}}lib_ifunc{}impl{}lib_nested{}}"


def compiled(*args):
    subprocess.run(["gcc", "-O2", "-g", *map(str, args)], check=True)


@pytest.fixture(scope="module")
def made_libraries(tmp_path_factory):
    home = tmp_path_factory.mktemp("libraries")
    deep, lib = home / "libdeep.so", home / "liblib.so"
    compiled("-shared", "-fPIC", HERE / "deep.c", "-o", deep)
    compiled("-shared", "-fPIC", "-Wl,-z,lazy", HERE / "lib.c", f"-L{home}", "-ldeep", "-Wl,-rpath,$ORIGIN", "-o", lib)
    return deep, lib


@pytest.fixture
def libraries(workdir, made_libraries):
    """Copies of the libraries, since some tests replace them."""
    for library in made_libraries:
        shutil.copy(library, workdir)


def program(name, *flags):
    compiled(*flags, HERE / f"{name}.c", "-L.", "-llib", "-Wl,-rpath,$ORIGIN", "-pthread", "-o", name)
    return f"./{name}"


def tree(task, names):
    """The calls of these functions, library calls too, as text."""
    text = []
    for r in task.records:
        if r.name in names:
            text.append(r.name + "{" if r.kind == ENTRY else "}")
    return "".join(text)


LAYOUTS = [(*layout, method) for layout, method in in_turn(list(product(LINKERS, BINDINGS)), list(METHODS))]


@pytest.mark.parametrize("linker, binding, method", LAYOUTS)
def test_layout(libraries, linker, binding, method):
    exe = program("calls", METHODS[method], f"-fuse-ld={linker}", *BINDINGS[binding])
    plain = run(exe).must()
    assert utrail("record", "--no-event", exe).must().out == plain.out
    (task,) = Recording("uftrace.data").tasks.values()
    names = {"main", "calls", "back", "impl", "lib_one", "lib_two", "lib_back", "lib_ifunc", "lib_nested"}
    assert tree(task, names) == "main{" + TREE * 3 + "}"
    # No library call has another function's name.
    seen = Counter(r.name for r in task.records if r.kind == ENTRY and r.is_libcall and r.name.startswith("lib_"))
    assert seen == {"lib_one": 6, "lib_two": 3, "lib_back": 3, "lib_ifunc": 3, "lib_nested": 3}
    replayed = utrail("replay", "-f", "none").must().out
    assert replayed.count("lib_ifunc();") == 3 and replayed.count("lib_back() {") == 3


@pytest.mark.parametrize("binding", ["lazy", "now", "noplt"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("linker", LINKERS)
def test_other_compiler(libraries, linker, binding, compiler):
    """Programs by other compilers: with link-time optimization and without frame pointers, and in
    clang's own layouts."""
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    flags = [*BINDINGS[binding], f"-fuse-ld={linker}", "-finstrument-functions", "-fomit-frame-pointer"]
    if compiler == "gcc":
        flags += ["-fipa-ra"] + (["-flto"] if linker in ("bfd", "gold") else [])
    elif linker == "lld":
        flags.append("-flto")
    command = [compiler, "-O2", "-g", *flags, HERE / "calls.c", "-L.", "-llib", "-Wl,-rpath,$ORIGIN", "-o", "calls"]
    subprocess.run(command, check=True)
    run("./calls").must()
    utrail("record", "--no-event", "./calls").must()
    (task,) = Recording("uftrace.data").tasks.values()
    seen = Counter(r.name for r in task.records if r.kind == ENTRY and r.is_libcall and r.name.startswith("lib_"))
    assert seen == {"lib_one": 6, "lib_two": 3, "lib_back": 3, "lib_ifunc": 3, "lib_nested": 3}


@pytest.mark.parametrize("binding", BINDINGS)
def test_threads_race_through_first_calls(libraries, binding):
    exe = program("race", "-pg", *BINDINGS[binding])
    for _ in range(5):
        utrail("record", "--no-event", exe).must()
        recording = Recording("uftrace.data")
        seen = Counter()
        for task in recording.tasks.values():
            names = [r.name for r in task.records if r.kind == ENTRY and r.name.startswith("f")]
            assert len(set(names)) == len(names) and len(names) in (0, 50)
            seen.update(names)
        assert recording.lost == 0
        assert len(seen) == 50 and set(seen.values()) == {8}


@pytest.mark.parametrize("args", [(), ("now",)], ids=["lazy", "now"])
@pytest.mark.parametrize("is_linked", [True, False], ids=["linked", "opened"])
def test_calls_between_libraries(libraries, is_linked, args):
    """Calls between libraries are recorded only with --nest-libcall. This is true of libraries that
    the program opens late, too."""
    exe = program("calls" if is_linked else "opens", "-pg", "-Wl,--no-as-needed")
    calls = 3 if is_linked else 10
    for options, expected in ((), 0), (("--nest-libcall",), calls), (("-l",), calls), (("--no-libcall",), 0):
        utrail("record", "--no-event", *options, exe, *args).must()
        (task,) = Recording("uftrace.data").tasks.values()
        for name in ("deep_one", "deep_two"):
            for kind in (ENTRY, EXIT):
                assert sum(r.name == name and r.kind == kind for r in task.records) == expected, options


def calls_of_libraries():
    tasks = Recording("uftrace.data").tasks.values()
    seen = Counter(r.name for task in tasks for r in task.records if r.kind == ENTRY)
    return seen["abs"], seen["labs"]


@pytest.mark.parametrize("options", [(), ("-P", "calls_one")], ids=["plain", "patched"])
def test_two_threads_open_libraries(workdir, options):
    """The probe takes up the calls of one library while another thread, in a constructor, holds the
    dynamic linker's lock and waits for the probe."""
    compiled("-shared", "-fPIC", HERE / "nested.c", "-o", "libnested.so")
    compiled("-shared", "-fPIC", "-fno-builtin", "-Wl,-z,lazy", HERE / "calls_one.c", "-o", "libone0.so")
    for i in range(1, 20):
        shutil.copy("libone0.so", f"libone{i}.so")
    compiled("-pg", "-pthread", HERE / "opens_together.c", "-o", "opens_together")
    result = utrail("record", "--no-event", "--nest-libcall", *options, "./opens_together").must()
    assert result.out == "210\n"
    assert calls_of_libraries() == (20, 20)


@pytest.mark.skipif(GLIBC < (2, 35), reason="this glibc does not tell which libraries are complete")
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the library makes a system call of x86_64")
@pytest.mark.parametrize("binding", ["lazy", "now"])
def test_library_that_another_thread_is_loading(workdir, binding):
    """dl_iterate_phdr() shows a library before it is relocated. Only after that its calls are
    recorded."""
    for name, source in ("first", "calls_one.c"), ("second", "calls_one.c"), ("slow", "slow_to_load.c"):
        compiled("-shared", "-fPIC", "-fno-builtin", *BINDINGS[binding], HERE / source, "-o", f"lib{name}.so")
    compiled("-pg", "-pthread", HERE / "opens_unfinished.c", "-o", "opens_unfinished")
    result = utrail("record", "--no-event", "--nest-libcall", "./opens_unfinished").must()
    assert result.out == "6\n"
    assert calls_of_libraries() == (3, 3)


@pytest.mark.parametrize("options", [("--no-pltbind",), ("-D", "3"), ("-t", "1us"), ("--no-libcall",)], ids=" ".join)
@pytest.mark.parametrize("binding", BINDINGS)
def test_options(libraries, binding, options):
    """Options do not change the program's output."""
    exe = program("calls", "-pg", *BINDINGS[binding])
    result = utrail("record", "--no-event", *options, exe).must()
    assert (result.out, result.err) == (run(exe).must().out, "")
    utrail("replay").must()


def test_missing_symbol(libraries):
    """The dynamic linker prints its own error and exits with its status, as without tracing."""
    exe = program("calls", "-pg", "-Wl,-z,lazy")
    compiled("-shared", "-fPIC", HERE / "deep.c", "-o", "liblib.so")
    plain = run(exe)
    traced = utrail("record", exe)
    assert plain.status == traced.status == 127
    assert "lib_one" in plain.err or "lib_ifunc" in plain.err
    assert plain.err.splitlines()[-1] in traced.err


@pytest.mark.parametrize("compiler", [name for name in ("gcc", "clang") if shutil.which(name)])
def test_gprof(workdir, compiler):
    """The profiling runtime of -pg is off under record: it writes no file, and its functions are
    not recorded."""
    run(compiler, "-O1", "-pg", SOURCES / "odd" / "gprof.c", "-o", "prog").must()
    assert run("./prog").must().out == "1 1\n"  # checks that -pg works without record
    (workdir / "gmon.out").unlink()
    for options in ((), ("--no-libcall",), ("--nop",)):
        assert utrail("record", *options, "./prog").must().out == "0 0\n"
        assert not (workdir / "gmon.out").exists()
        if "--nop" not in options:
            shown = utrail("replay", "-f", "none").must().out
            assert "main() {" in shown or "main();" in shown
            assert "mon" not in shown and "_mcleanup" not in shown


JUMPS = """\
main() {
  setjmp(&env) = 0;
  inner(0, 3) {
    leap(0, 3) {
      longjmp(&env, 3);
    } /* leap */
  } /* inner */
  setjmp(&env) = 3;
  _setjmp(&env) = 0;
  inner(1, 1) {
    leap(1, 1) {
      _longjmp(&env, 1);
    } /* leap */
  } /* inner */
  _setjmp(&env) = 1;
  inner(1, 2) {
    leap(1, 2) {
      _longjmp(&env, 2);
    } /* leap */
  } /* inner */
  _setjmp(&env) = 2;
  __sigsetjmp(&sigenv, 1) = 0;
  inner(2, 0) {
    leap(2, 0) {
      siglongjmp(&sigenv, 0);
    } /* leap */
  } /* inner */
  __sigsetjmp(&sigenv, 1) = 1;
  _setjmp(&env) = 0;
  inner(3, -1) {
    leap(3, -1) {
      __longjmp_chk(&env, -1);
    } /* leap */
  } /* inner */
  _setjmp(&env) = -1;
  printf("%d\\n") = 2;
} = 0; /* main */
"""


def bare(match):
    """The replacement for a call's arguments and return value: none are shown."""
    return f"(){match[2]}" if match[2] else ""


@pytest.mark.parametrize("method", METHODS.values())
@pytest.mark.parametrize("binding", ["lazy", "now"])
def test_setjmp_and_longjmp(workdir, binding, method):
    """setjmp() and longjmp() are recorded as calls. setjmp() returns again for each longjmp(),
    which also ends the calls that it jumps over."""
    compiled(*BINDINGS[binding], method, HERE / "jumps.c", "-o", "jumps")
    alone = run("./jumps")
    is_pg = method == METHODS["pg"]
    for options in ((), ("-a",)) if is_pg else ((),):
        result = utrail("record", "--no-event", *options, "./jumps").must()
        assert result.out == alone.out
        text = utrail("replay", "-f", "none", "-F", "main").must().out
        expected = JUMPS if options else re.sub(r"\(.*?\)( = -?\d+)?(;| {)|( = 0;)", bare, JUMPS)
        assert text == expected
        (task,) = Recording("uftrace.data", has_payloads=bool(options)).tasks.values()
        assert sum(r.kind == ENTRY for r in task.records) == sum(r.kind == EXIT for r in task.records)
def test_what_hooks_call_is_not_the_programs(workdir):
    """MemorySanitizer's clock_gettime() replaces libc's and calls other functions: a hook that
    reads the clock must not record those."""
    (workdir / "msan.c").write_text(
        "__attribute__((noinline)) int work(int n) { __asm__ volatile(\"\"); return n + 1; }\n"
        "int main(void) { int s = 0; for (int i = 0; i < 1000; i++) s = work(s); return s != 1000; }\n")
    for flags in (["-finstrument-functions"], ["-fsanitize=memory", "-finstrument-functions"]):
        done = subprocess.run(["clang", *flags, "-g", "-O1", "-o", "msan", "msan.c"], capture_output=True, text=True) if shutil.which("clang") else None
        if not done or done.returncode or run("./msan").status:
            pytest.skip(f"clang {' '.join(flags)} makes no program that runs here")
        result = utrail("record", "--no-event", "-d", "data", "./msan").must()
        assert "lost" not in result.err
        shown = utrail("replay", "-d", "data", "-f", "none", "--no-pager").must().out
        assert "LOST" not in shown
        assert shown.split() == ["main()", "{"] + ["work();"] * 1000 + ["}", "/*", "main", "*/"]


@pytest.fixture
def finders(workdir):
    """The libraries of these tests: libfinder.so comes before libthird.so, and its RUNPATH leads to
    libplug.so."""
    (workdir / "sub").mkdir()
    compiled("-shared", "-fPIC", "-pg", HERE / "plug.c", "-o", "sub/libplug.so")
    compiled("-shared", "-fPIC", HERE / "third.c", "-o", "libthird.so")
    return workdir


FINDER_OPTIONS = [(), ("--nest-libcall",), ("--nest-libcall", "-a"), ("-a",), ("-D", "1"), ("-D", "2", "--nest-libcall"), ("-t", "1s"),
                  ("-e", "--nest-libcall"), ("-N", "finder", "--nest-libcall"), ("-F", "dlsym", "--nest-libcall")]


FINDER_LAYOUTS = [("bfd", "lazy", "pg"), ("bfd", "now", "pg"), ("bfd", "noplt", "cyg"), ("bfd", "cet", "cyg"), ("mold", "lazy", "pg")]


@pytest.mark.parametrize("linker, binding, method", [layout for layout in FINDER_LAYOUTS if layout[0] in LINKERS])
def test_dlopen_and_dlsym_know_their_caller(finders, linker, binding, method):
    """RTLD_NEXT and RUNPATH work as without the probe, though the probe sees the returns of dlsym()
    and dlopen()."""
    flags = [f"-fuse-ld={linker}", *BINDINGS[binding]]
    # The library is compiled for tracing, so that its functions that end in a jump (a tail call)
    # have a frame.
    compiled("-shared", "-fPIC", METHODS[method], *flags, "-Wl,--enable-new-dtags,-rpath,$ORIGIN/sub", HERE / "finder.c", "-o",
             "libfinder.so")
    compiled(METHODS[method], *flags, "-rdynamic", HERE / "finds.c", "-Wl,--no-as-needed", "-L.", "-lfinder", "-lthird",
             "-Wl,-rpath,$ORIGIN", "-o", "finds")
    plain = run("./finds").must().out
    # The compiler decides which calls are jumps, so the untraced output is the reference.
    assert plain.splitlines()[0] == "1 2" and plain.splitlines()[1][0] == "3" and plain.splitlines()[3][0] == "1"
    for options in FINDER_OPTIONS:
        result = utrail("record", "--no-event", *options, "./finds")
        assert (result.status, result.out) == (0, plain), (options, result.err)


@pytest.mark.parametrize("binding", ["lazy", "now"])
def test_dlopen_and_dlsym_take_time(finders, binding):
    """Constructors that dlopen() runs are calls inside it, and the results of dlopen() and dlsym()
    are shown."""
    compiled("-shared", "-fPIC", *BINDINGS[binding], "-Wl,-rpath,$ORIGIN/sub", HERE / "finder.c", "-o", "libfinder.so")
    compiled("-pg", *BINDINGS[binding], "-rdynamic", HERE / "finds.c", "-Wl,--no-as-needed", "-L.", "-lfinder", "-lthird",
             "-Wl,-rpath,$ORIGIN:$ORIGIN/sub", "-o", "finds")
    utrail("record", "--no-event", "-a", "./finds").must()
    (task,) = Recording("uftrace.data", has_payloads=True).tasks.values()
    assert "dlopen{plug_begins{}}" in tree(task, {"dlopen", "plug_begins"})
    shown = utrail("replay", "-f", "none").must().out
    assert re.search(r'dlsym\(.*"which"\) = &which;', shown), shown
    assert re.search(r'dlsym\(.*"no_such"\) = (0|NULL|0x0|nil);', shown, re.I), shown
    assert re.search(r'dlopen\("libplug.so", RTLD_NOW\) {\n +plug_begins\(\);\n +} = 0x[0-9a-f]+; /\* dlopen \*/', shown), shown
