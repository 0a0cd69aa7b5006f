"""POSIX Trace as programs use it: the examples of the documentation, with the library as it is
installed, and under utrail record."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from built import HAS_PROBE, HEADERS, LIBRARIES, TOP, UTRAIL

EXAMPLES = TOP / "examples"


@pytest.fixture(autouse=True)
def own_place(tmp_path, monkeypatch):
    place = tmp_path / "place"
    place.mkdir(mode=0o700)
    monkeypatch.setenv("UTRAIL_TRACE_DIR", str(place))
    monkeypatch.setenv("LD_LIBRARY_PATH", str(LIBRARIES))


def build(tmp_path, source, name, *options, library="libutrail-trace.so.1"):
    program = tmp_path / name
    subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", *options, source, f"-I{HEADERS / 'utrail-posix'}", LIBRARIES / library, "-pthread", "-o", program],
                   check=True)
    return program


def run(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, timeout=60).stdout


@pytest.mark.parametrize("library", ["libutrail-trace.so.1", "libutrail-trace.a"])
def test_self(tmp_path, library):
    program = build(tmp_path, EXAMPLES / "posix_self.c", "self", "-std=c99", library=library)
    assert run(program) == "posix_trace_start\nframe done: 1\nframe done: 2\nframe done: 3\nposix_trace_stop\n"
    left = {path.name for path in (tmp_path / "place").iterdir()}
    assert left <= {"lock"}


TARGET = r"""
#include <trace.h>
#include <unistd.h>

int main(void)
{
	trace_event_id_t id;
	int nr;

	posix_trace_eventid_open("tick", &id);
	write(1, "ready\n", 6);
	for (nr = 0;; nr++) {
		posix_trace_event(id, &nr, sizeof(nr));
		posix_trace_event(POSIX_TRACE_UNNAMED_USER_EVENT, "boring", 6);
		usleep(1000);
	}
}
"""


def test_controller_and_analyzer(tmp_path):
    """A program is recorded by another one that only knows its pid. A third one reads the log."""
    (tmp_path / "target.c").write_text(TARGET)
    target = build(tmp_path, tmp_path / "target.c", "target", "-Wno-unused-result")
    controller = build(tmp_path, EXAMPLES / "posix_controller.c", "controller")
    analyzer = build(tmp_path, EXAMPLES / "posix_analyzer.c", "analyzer")
    with subprocess.Popen([target], stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        # On a busy machine the target may have no CPU for seconds.
        for seconds in ("1", "30"):
            run(controller, str(process.pid), seconds, tmp_path / "log")
            lines = run(analyzer, tmp_path / "log").splitlines()
            if any(re.match("tick ", line) for line in lines):
                break
        process.kill()
    ticks = [int.from_bytes(bytes.fromhex(line.split()[1]), sys.byteorder) for line in lines if re.match("tick ", line)]
    assert ticks and ticks == list(range(ticks[0], ticks[0] + len(ticks)))
    assert lines[0].startswith("posix_trace_start")
    assert f"{len(ticks)} times tick" in lines
    assert not [line for line in lines if "unnamed" in line]
    if UTRAIL:
        run(UTRAIL, "events", "import", "-d", tmp_path / "data", tmp_path / "log")
        export(tmp_path / "data", tmp_path / "again")
        assert run(analyzer, tmp_path / "again").splitlines() == lines


def export(data, log, *options):
    with open(log, "wb") as out:
        subprocess.run([UTRAIL, "events", "export", "--as=posix", *options, "-d", data], check=True, stdout=out)


def test_analyzer_of_what_is_no_log(tmp_path):
    analyzer = build(tmp_path, EXAMPLES / "posix_analyzer.c", "analyzer")
    done = subprocess.run([analyzer, analyzer], text=True, capture_output=True)
    assert done.returncode == 1 and "Invalid argument" in done.stderr


SHOP = r"""
#include <trace.h>

static trace_event_id_t id;

__attribute__((noinline)) void sell(int nr)
{
	posix_trace_event(id, &nr, sizeof(nr));
}

int main(void)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct posix_trace_event_info info;
	int unavailable, nr;
	trace_id_t trid;
	size_t len;

	posix_trace_eventid_open("item sold", &id);
	sell(1);
	posix_trace_create(0, 0, &trid);
	posix_trace_start(trid);
	sell(2);
	posix_trace_trygetnext_event(trid, &info, 0, 0, &len, &unavailable);
	posix_trace_trygetnext_event(trid, &info, &nr, sizeof(nr), &len, &unavailable);
	posix_trace_eventid_get_name(trid, info.posix_event_id, name);
	posix_trace_shutdown(trid);
	posix_trace_event(POSIX_TRACE_UNNAMED_USER_EVENT, 0, 0);
	return nr != 2 || name[0] != 'i';
}
"""


@pytest.mark.skipif(not HAS_PROBE, reason="there is no probe in this build")
@pytest.mark.parametrize("library", ["libutrail-trace.so.1", "libutrail-trace.a"])
def test_recorded(tmp_path, library):
    """Under utrail record, events are in the calls that made them, with a stream and without. If
    there is a stream, it gets them, too."""
    (tmp_path / "shop.c").write_text(SHOP)
    program = build(tmp_path, tmp_path / "shop.c", "shop", "-pg", "-O1", library=library)
    subprocess.run([UTRAIL, "record", "--no-libcall", "--no-sched", "-d", tmp_path / "data", program], check=True)
    shown = run(UTRAIL, "replay", "-d", tmp_path / "data", "-f", "none")
    assert re.findall(r"\S.*", shown) == [
        "main() {", "sell() {", "/* posix:item_sold (DATA=01000000) */", "} /* sell */",
        "sell() {", "/* posix:item_sold (DATA=02000000) */", "} /* sell */",
        "/* posix:unnamed (DATA=) */", "} /* main */"]
    assert "posix:item_sold" in run(UTRAIL, "report", "--events", "-d", tmp_path / "data")
    export(tmp_path / "data", tmp_path / "log")
    analyzer = build(tmp_path, EXAMPLES / "posix_analyzer.c", "analyzer", library=library)
    assert run(analyzer, tmp_path / "log").splitlines() == [
        "item sold 01000000", "item sold 02000000", "posix_trace_unnamed_userevent", "1 times posix_trace_unnamed_userevent",
        "2 times item sold"]
    export(tmp_path / "data", tmp_path / "log", "--calls")
    lines = run(analyzer, tmp_path / "log").splitlines()
    assert [line.split()[0] for line in lines[:8]] == ["utrail_function_entry", "utrail_function_entry", "item", "utrail_function_exit"] + [
        "utrail_function_entry", "item", "utrail_function_exit", "posix_trace_unnamed_userevent"]
    assert b"sell".hex() in run(UTRAIL, "events", "show", tmp_path / "log").splitlines()[1]


FUNCTIONS = r"""
#include <fcntl.h>
#include <trace.h>

__attribute__((noinline)) int inner(int nr)
{
	return nr + 1;
}

__attribute__((noinline)) int outer(int nr)
{
	return inner(nr) + inner(nr);
}

int main(int argc, char *argv[])
{
	trace_attr_t attr;
	trace_id_t trid;
	int nr;

	posix_trace_attr_init(&attr);
	utrail_trace_attr_setfunctions(&attr, 1);
	if (posix_trace_create_withlog(0, &attr, open(argv[argc - 1], O_RDWR | O_CREAT | O_TRUNC, 0600), &trid))
		return 1;
	posix_trace_start(trid);
	nr = outer(3);
	posix_trace_shutdown(trid);
	return nr != 8;
}
"""
CALLS = ["entry outer", "entry inner", "exit inner", "entry inner", "exit inner", "exit outer"]


def functions_of(analyzer, program, log):
    """The events that an analyzer without knowledge of utrail sees: "entry NAME" and "exit NAME"."""
    names = {int(line.split()[0], 16): line.split()[2] for line in run("nm", "--defined-only", program).splitlines()}
    found = re.findall("^utrail_function_(entry|exit) ([0-9a-f]{16})", run(analyzer, log), re.M)
    return [f"{what} {names[int.from_bytes(bytes.fromhex(data), sys.byteorder)]}" for what, data in found]


def test_functions(tmp_path):
    """The calls of a program with -finstrument-functions and the shared library are in its stream,
    without a recorder."""
    (tmp_path / "calls.c").write_text(FUNCTIONS)
    options = ["-finstrument-functions", "-no-pie"]
    program = build(tmp_path, tmp_path / "calls.c", "calls", *options)
    analyzer = build(tmp_path, EXAMPLES / "posix_analyzer.c", "analyzer")
    run(program, tmp_path / "log")
    assert functions_of(analyzer, program, tmp_path / "log") == CALLS
    static = build(tmp_path, tmp_path / "calls.c", "static", *options, library="libutrail-trace.a")
    run(static, tmp_path / "log")
    assert functions_of(analyzer, static, tmp_path / "log") == []
    if not HAS_PROBE:
        return
    # The program calls the probe's hooks, with the shared library and with the static one.
    for each in (program, static):
        subprocess.run([UTRAIL, "record", "--no-libcall", "--no-sched", "-d", tmp_path / "data", each, tmp_path / "log"], check=True)
        assert "inner();" in run(UTRAIL, "replay", "-d", tmp_path / "data", "-f", "none", "-F", "outer")


def test_choices_have_their_points():
    """Each name that the man page has after "Tests:" is the name of a POINT() in these files."""
    points = {name for path in Path(__file__).parent.glob("*.c") for name in re.findall(r"^POINT(?:_WITH_ATTR)?\((\w+)\)", path.read_text(), re.M)}
    page = (TOP / "man/posix_trace.3.in").read_text().replace("\\:", "")
    named = [name for names in re.findall(r"^Tests:\n([a-z_0-9,\s]+)\.$", page, re.M) for name in re.split(r",\s", names)]
    assert len(named) >= 25 and set(named) <= points


VICTIMS = range(64000, 65000)
STRANGER = 65533
CREATE = r"""
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <trace.h>
#include <unistd.h>

int main(int argc, char *argv[])
{
	trace_id_t trid;
	int error = posix_trace_create(argc > 1 ? atoi(argv[1]) : 0, NULL, &trid);

	puts(error ? strerror(error) : "created");
	fflush(stdout);
	if (argc > 2)
		pause();
	return error ? 1 : posix_trace_shutdown(trid) != 0;
}
"""


@pytest.fixture
def shared_folder():
    """A folder that other users may enter. They may not enter those of tmp_path: each pytest that
    begins makes the folder around them private again."""
    with tempfile.TemporaryDirectory(prefix="utrail-", dir="/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def folders_of(user):
    return sorted(Path("/dev/shm").glob(f"utrail-{user}-*"))


def take_name(thing, target):
    """Make @thing at the path of a user's folder. Returns the number of the user, and the path. Two
    tests that run at the same time get different users."""
    for user in VICTIMS:
        path = Path(f"/dev/shm/utrail-{user}")
        try:
            if folders_of(user):
                continue
            if thing == "file":
                path.touch(exist_ok=False)
            elif thing == "link":
                path.symlink_to(target)
            else:
                path.mkdir()
                path.chmod(0o777 if thing == "open-folder" else 0o700)
        except FileExistsError:
            continue
        return user, path
    raise AssertionError("no user is free")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be two other users")
@pytest.mark.parametrize("thing", ["folder", "file", "link", "open-folder"])
def test_a_stranger_has_the_name(shared_folder, monkeypatch, thing):
    """Another user has made /dev/shm/utrail-UID. Streams are made all the same, and other processes
    of the streams' user find them."""
    monkeypatch.delenv("UTRAIL_TRACE_DIR")
    (shared_folder / "create.c").write_text(CREATE)
    program = build(shared_folder, shared_folder / "create.c", "create", library="libutrail-trace.a")
    program.chmod(0o755)
    victim, taken = take_name(thing, shared_folder)
    as_victim = ["setpriv", "--reuid", str(victim), "--regid", str(victim), "--clear-groups"]
    try:
        os.lchown(taken, STRANGER, STRANGER)
        with subprocess.Popen([*as_victim, program, "0", "wait"], stdout=subprocess.PIPE, text=True) as first:
            try:
                assert first.stdout.readline() == "created\n"
                assert run(*as_victim, program, str(first.pid)) == "created\n"
                assert len(folders_of(victim)) == 1
                assert len([p for p in folders_of(victim)[0].iterdir() if p.name.startswith("s-")]) == 1
            finally:
                first.kill()  # after a failure, too: the end of the block waits for it
        # The next process removes the files of a killed one.
        assert run(*as_victim, program) == "created\n"
        assert not [p for p in folders_of(victim)[0].iterdir() if p.name.startswith(("s-", "p-"))]
        if taken.is_dir() and not taken.is_symlink():
            assert not list(taken.iterdir())
    finally:
        for path in folders_of(victim):
            shutil.rmtree(path)
        if taken.is_dir() and not taken.is_symlink():
            taken.rmdir()
        else:
            taken.unlink()


def test_why_there_is_no_stream(tmp_path, monkeypatch):
    (tmp_path / "create.c").write_text(CREATE)
    program = build(tmp_path, tmp_path / "create.c", "create", library="libutrail-trace.a")
    monkeypatch.setenv("UTRAIL_TRACE_DIR", str(program))
    result = subprocess.run([program], stdout=subprocess.PIPE, text=True, timeout=60)
    assert (result.stdout, result.returncode) == ("Not a directory\n", 1)


KILLED = r"""
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd = open(argv[1], O_CREAT | O_TRUNC | O_WRONLY, 0600), nr;
	size_t bytes = 256 << 20;
	char *memory = malloc(bytes);
	trace_event_id_t id;
	trace_id_t trid;

	memset(memory, 1, bytes);
	posix_trace_eventid_open("tick", &id);
	if (posix_trace_create_withlog(0, NULL, fd, &trid) || posix_trace_start(trid))
		return 1;
	for (nr = 0; nr < 50; nr++)
		posix_trace_event(id, &nr, sizeof(nr));
	if (argc > 2)
		return 0;
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
"""


def keeper_of(log):
    """Returns the folder in /proc of the keeper that has the log open."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "comm").read_text() == "utrail-keeper\n" and str(log) in [os.readlink(fd) for fd in (process / "fd").iterdir()]:
                return process
        except OSError:
            continue
    return None


def wait_until(condition, what):
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError(what)


def is_closed(log):
    """True when the header of the log has the flag is_closed (posixlog/log.h)."""
    return log.read_bytes()[40:44] == b"\1\0\0\0"


@pytest.mark.parametrize("library", ["libutrail-trace.so.1", "libutrail-trace.a"])
@pytest.mark.parametrize("options", [[], ["-static"]])
def test_killed(tmp_path, library, options):
    """The log of a killed program is completed, even if the log was moved. Its keeper has kept only
    three descriptors and little memory of the program."""
    if options and library.endswith(".so.1"):
        pytest.skip("a static program has no shared library")
    log, moved = tmp_path / "log", tmp_path / "moved"
    (tmp_path / "killed.c").write_text(KILLED)
    program = build(tmp_path, tmp_path / "killed.c", "killed", "-Wl,-z,lazy", *options, library=library)
    analyzer = build(tmp_path, EXAMPLES / "posix_analyzer.c", "analyzer")
    with subprocess.Popen([program, log], stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        wait_until(lambda: keeper_of(log), "there is a keeper")
        keeper = keeper_of(log)
        wait_until(lambda: len(list((keeper / "fd").iterdir())) == 3 and (keeper / "cmdline").read_bytes().rstrip(b"\0") == b"utrail-keeper",
                   "it has three descriptors, and its name")
        wait_until(lambda: int((keeper / "statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE") < 64 << 20, "it has little memory")
        assert os.getsid(int(keeper.name)) != os.getsid(0)
        log.rename(moved)
        moved.chmod(0o400)
        process.kill()
        # No process has the other end of the pipe any more.
        assert process.stdout.read() == ""
    wait_until(lambda: is_closed(moved), "the log is whole")
    assert run(analyzer, moved).splitlines()[-1] == "50 times tick"
    wait_until(lambda: {path.name for path in (tmp_path / "place").iterdir()} <= {"lock"}, "nothing is left")


def test_main_returns(tmp_path):
    (tmp_path / "killed.c").write_text(KILLED)
    program = build(tmp_path, tmp_path / "killed.c", "killed")
    analyzer = build(tmp_path, EXAMPLES / "posix_analyzer.c", "analyzer")
    run(program, tmp_path / "log", "returns")
    assert is_closed(tmp_path / "log")
    assert run(analyzer, tmp_path / "log").splitlines()[-1] == "50 times tick"


@pytest.mark.skipif(not HAS_PROBE, reason="there is no probe in this build")
def test_killed_while_it_is_recorded(tmp_path):
    """The recorder does not wait for the keeper, which is no task of the program's."""
    (tmp_path / "killed.c").write_text(KILLED.replace("for (;;)", "kill(getpid(), SIGKILL);\n\tfor (;;)"))
    program = build(tmp_path, tmp_path / "killed.c", "killed", "-pg")
    analyzer = build(tmp_path, EXAMPLES / "posix_analyzer.c", "analyzer")
    done = subprocess.run([UTRAIL, "record", "-d", tmp_path / "data", program, tmp_path / "log"], capture_output=True, timeout=60)
    assert done.returncode == 128 + 9
    wait_until(lambda: is_closed(tmp_path / "log"), "the log is whole")
    assert run(analyzer, tmp_path / "log").splitlines()[-1] == "50 times tick"
    assert len(re.findall("^TASK|^FORK", (tmp_path / "data/task.txt").read_text(), re.M)) == 1


LOADER = r"""
#include <dlfcn.h>
#include <pthread.h>

static void *loaded;

static void *load(void *path)
{
	pthread_cancel(pthread_self());
	loaded = dlopen(path, RTLD_NOW);
	pthread_testcancel();
	return NULL;
}

int main(int argc, char *argv[])
{
	pthread_t thread;
	void *result = NULL;

	pthread_create(&thread, NULL, load, argv[argc - 1]);
	pthread_join(thread, &result);
	return !loaded || result != PTHREAD_CANCELED;
}
"""


def test_loaded_by_a_thread_that_is_to_be_cancelled(tmp_path):
    """A thread that was cancelled in the constructor would leave the dynamic linker's lock locked."""
    (tmp_path / "loader.c").write_text(LOADER)
    subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", tmp_path / "loader.c", "-pthread", "-o", tmp_path / "loader"], check=True)
    run(tmp_path / "loader", LIBRARIES / "libutrail-trace.so.1")


PLUGIN = r"""
#include <fcntl.h>
#include <trace.h>

int write_log(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	trace_event_id_t id;
	trace_id_t trid;

	if (posix_trace_create_withlog(0, NULL, fd, &trid) || posix_trace_start(trid) || posix_trace_eventid_open("tick", &id))
		return 1;
	posix_trace_event(id, "", 0);
	return 0;
}
"""

LATE_LOADER = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>

static void *load(void *words)
{
	char **argv = words;
	void *plugin = dlopen(argv[1], RTLD_NOW);
	int (*write_log)(const char *path);

	*(void **)&write_log = plugin ? dlsym(plugin, "write_log") : NULL;
	return (void *)(intptr_t)(!write_log || write_log(argv[2]));
}

int main(int argc, char *argv[])
{
	pthread_t thread;
	void *result = NULL;

	if (argc > 3) {
		pthread_create(&thread, NULL, load, argv);
		pthread_join(thread, &result);
	} else {
		result = load(argv);
	}
	if (result)
		return 1;
	pthread_exit(NULL);
}
"""


@pytest.mark.parametrize("loader", [(), ("thread",)])
def test_process_ends_although_the_library_came_late(tmp_path, loader):
    """Only the thread that flushes is left after main() has called pthread_exit()."""
    (tmp_path / "plugin.c").write_text(PLUGIN)
    plugin = build(tmp_path, tmp_path / "plugin.c", "plugin.so", "-shared", "-fPIC")
    (tmp_path / "late.c").write_text(LATE_LOADER)
    subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", tmp_path / "late.c", "-pthread", "-o", tmp_path / "late"], check=True)
    analyzer = build(tmp_path, EXAMPLES / "posix_analyzer.c", "analyzer")
    run(tmp_path / "late", plugin, tmp_path / "log", *loader)
    assert is_closed(tmp_path / "log")
    assert run(analyzer, tmp_path / "log").splitlines()[-1] == "1 times tick"
