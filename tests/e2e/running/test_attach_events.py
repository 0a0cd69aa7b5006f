"""record -p: events of libutrail-trace that were declared before the recording are in the calls
that made them. Afterwards nothing of the recording stays in the program."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from test_attach import record_briefly, record_until
from test_events_declared import BUILD, TOP
from tools import LIMIT_S, UTRAIL, environment, run, utrail, wait_until

FOLDER = BUILD / "trace/library"
HEADERS = [f"-I{TOP}/trace/include/utrail-posix", f"-I{TOP}/trace/include"]
SHARED = [FOLDER / "libutrail-trace.so.1", f"-Wl,-rpath,{FOLDER}"]
WAYS = {
    "shared": ["-pg", *SHARED],
    "fentry": ["-pg", "-mfentry", *SHARED],
    "static": ["-pg", FOLDER / "libutrail-trace.a"],
    "plain": ["-pg"],
    "stripped": ["-pg", FOLDER / "libutrail-trace.a", "-s"],
}

# Each thread writes events all the time: BUSY for a recorder only, SOLD for the program's own log,
# and "tick" of POSIX Trace without a stream.
WRITER = r"""
#include <fstrace.h>
#include <trace.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static fstrace_t *trace;
static fstrace_event_t *sold, *busy;
static trace_event_id_t tick;
static volatile sig_atomic_t is_over;
static int pause_us;

__attribute__((noinline)) void sell(int nr)
{
	if (nr % 1000 == 0)
		FSTRACE(sold, nr, "a box");
	FSTRACE(busy, nr, "a name");
	posix_trace_event(tick, &nr, sizeof(nr));
	posix_trace_event(POSIX_TRACE_UNNAMED_USER_EVENT, "boring", 6);
	if (pause_us)
		usleep(pause_us);
}

__attribute__((noinline)) void *trade(void *sales)
{
	for (int *nr = sales; !is_over; ++*nr)
		sell(*nr);
	return NULL;
}

static void end(int sig)
{
	is_over = 1;
}

int main(int argc, char *argv[])
{
	static int sales[64];
	pthread_t threads[64];
	int nr = atoi(argv[1]), lines = 0;

	pause_us = atoi(argv[2]);
	trace = fstrace_open("log", -1);
	sold = fstrace_declare(trace, "SHOP-SOLD", "NR=%d WHAT=%s");
	busy = fstrace_declare(trace, "SHOP-BUSY", "NR=%d WHO=%s");
	fstrace_select_regex(trace, "SOLD", NULL);
	posix_trace_eventid_open("tick", &tick);
	signal(SIGTERM, end);
	for (int i = 0; i < nr; i++)
		pthread_create(&threads[i], NULL, trade, &sales[i]);
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < nr; i++)
		lines += (sales[i] + 999) / 1000;
	printf("sold %d\n", lines);
	return fstrace_close(trace) ? 1 : 7;
}
"""

CHILD = r"""
static void have_child(int sig)
{
	if (fork() == 0) {
		signal(SIGTERM, SIG_DFL);
		for (int nr = 1;; nr++) {
			if (nr % 1000)
				sell(nr);
		}
	}
}

"""


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    made = {}

    def make(way, source=WRITER):
        if (way, source) not in made:
            folder = tmp_path_factory.mktemp("events")
            (folder / "writer.c").write_text(source)
            flags = [word for word in WAYS[way] if str(word).startswith("-pg") or word == "-mfentry"]
            libraries = [word for word in WAYS[way] if word not in flags]
            run("gcc", "-O2", *flags, *HEADERS, folder / "writer.c", "-o", folder / "writer", *libraries, "-pthread").must()
            made[way, source] = folder / "writer"
        return made[way, source]

    return make


class Writer:
    def __init__(self, exe, folder, threads=2, pause_us=1000):
        folder.mkdir(mode=0o700, exist_ok=True)
        self.proc = subprocess.Popen([exe, str(threads), str(pause_us)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                     env=environment(UTRAIL_TRACE_DIR=folder))
        assert self.proc.stdout.readline() == "ready\n"
        self.pid = self.proc.pid

    def maps_probe(self):
        return re.search(r"/libmcount[^/]*$", Path(f"/proc/{self.pid}/maps").read_text(), re.M)

    def end(self):
        """End the program, and check that its log has only its own events, and its output nothing
        else."""
        self.proc.terminate()
        out, err = self.proc.communicate(timeout=LIMIT_S)
        lines = [line for line in Path("log.log").read_text().splitlines() if " SHOP-" in line]
        assert (out, err, self.proc.returncode) == (f"sold {len(lines)}\n", "", 7)
        assert all(re.fullmatch(r"\S+ \S+ SHOP-SOLD NR=\d+ WHAT=a\+box", line) for line in lines), lines[:3]


@pytest.fixture
def start(programs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    running = []

    def begin(way, **kw):
        running.append(Writer(programs(way), tmp_path / "place", **kw))
        return running[-1]

    yield begin
    for writer in running:
        writer.proc.kill()
        writer.proc.wait()


INSIDE = r"""^ *sell\(\) \{
(?: */\* trace:SHOP-SOLD \(NR=\d+ WHAT=a\+box\) \*/
)? */\* trace:SHOP-BUSY \(NR=\d+ WHO=a\+name\) \*/
 */\* posix:tick \(DATA=[0-9a-f]{8}\) \*/
 */\* posix:unnamed \(DATA=626f72696e67\) \*/
"""


def replay():
    return utrail("replay", "-f", "none", "--no-libcall").out


@pytest.mark.parametrize("way", ["shared", "fentry", "static"])
def test_events_are_in_their_calls(start, way):
    writer = start(way)
    options = "--for=200ms", "--trace-include", "SHOP|posix"
    for _ in range(2):
        record_briefly(writer.pid, *options)
        assert not writer.maps_probe()
    record_until(lambda: re.search(INSIDE, replay(), re.M), writer.pid, *options)
    writer.end()


def test_without_symbols(start):
    """A stripped program: the library is found by its note, and the program's functions have no
    names."""
    writer = start("stripped")
    wanted = {"trace:SHOP-BUSY", "posix:tick", "posix:unnamed"}
    options = "--for=200ms", "--trace-include", "SHOP|posix"
    record_briefly(writer.pid, *options)
    record_until(lambda: wanted <= set(utrail("events", "list").out.split()), writer.pid, *options)
    assert not writer.maps_probe()
    writer.end()


def test_without_a_word_the_program_chooses(start):
    """Without an option the program chooses: SHOP-SOLD is in its log and in the recording,
    SHOP-BUSY in neither."""
    writer = start("shared", threads=1, pause_us=0)
    record_until(lambda: {"trace:SHOP-SOLD", "posix:tick"} <= set(replay().split()), writer.pid, "--for=50ms")
    writer.end()
    assert "SHOP-BUSY" not in replay()


def test_it_comes_and_goes_while_threads_write(start):
    writer = start("shared", threads=4, pause_us=0)
    rounds = recorded = 0
    while rounds < 50 or recorded <= 25:
        rounds += 1
        assert rounds < 2000, "too few recordings have events"
        result = utrail("record", "-p", writer.pid, "--for=5ms", "--trace-include", "SHOP|posix", "-b", "64k").must()
        assert "probe stays" not in result.err and "not all events" not in result.err
        assert not writer.maps_probe()
        recorded += any(Path("uftrace.data").glob("*.evt"))
    writer.end()


def test_it_ends_while_it_is_recorded(start):
    writer = start("shared", threads=4, pause_us=0)
    recorder = subprocess.Popen([UTRAIL, "record", "-p", str(writer.pid), "--trace-include", "SHOP|posix"], env=environment())
    wait_until(lambda: any(Path("uftrace.data").glob("*.evt")))
    writer.end()
    assert recorder.wait(timeout=LIMIT_S) == 0


def test_the_next_recorder_comes_after_one_that_was_killed(start):
    writer = start("shared", threads=4, pause_us=100)
    recorder = subprocess.Popen([UTRAIL, "record", "-p", str(writer.pid), "--trace-include", "SHOP|posix"], env=environment())
    wait_until(lambda: any(Path("uftrace.data").glob("*.evt")))
    recorder.kill()
    recorder.wait()
    record_until(lambda: re.search(INSIDE, replay(), re.M), writer.pid, "--for=200ms", "--trace-include", "SHOP|posix")
    assert not writer.maps_probe()
    writer.end()


PLUGIN = r"""
#include <fstrace.h>

static fstrace_event_t *event;

void begin(void)
{
	event = fstrace_declare(fstrace_open("plugin", -1), "PLUGIN-DID", "NR=%d");
}

void work(int nr)
{
	FSTRACE(event, nr);
}
"""

HOST = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	void (*begin)(void), (*work)(int);
	void *plugin;

	puts("ready");
	fflush(stdout);
	while (access("go", F_OK) < 0)
		usleep(1000);
	plugin = dlopen("./plugin.so", RTLD_NOW);
	begin = (void (*)(void))dlsym(plugin, "begin");
	work = (void (*)(int))dlsym(plugin, "work");
	begin();
	for (int i = 0; i < 10; i++)
		work(i);
	return dlclose(plugin);
}
"""


def test_a_library_that_comes_later(workdir):
    """A plugin with its own copy of the library, which is loaded while the program is recorded."""
    for name, source, words in ("plugin", PLUGIN, ["-shared", "-fPIC", "-o", "plugin.so"]), ("host", HOST, ["-pg", "-o", "host"]):
        Path(f"{name}.c").write_text(source)
        library = [FOLDER / "libutrail-trace.a", "-Wl,-Bsymbolic"] if name == "plugin" else []
        run("gcc", "-O2", *HEADERS, f"{name}.c", *words, *library, "-pthread").must()
    host = subprocess.Popen(["./host"], stdout=subprocess.PIPE, env=environment())
    host.stdout.readline()
    recorder = subprocess.Popen([UTRAIL, "record", "-p", str(host.pid), "--trace-include", "PLUGIN"], env=environment())
    wait_until(lambda: any(Path("uftrace.data").glob("*.dat")))
    Path("go").touch()
    assert host.wait(timeout=LIMIT_S) == 0
    assert recorder.wait(timeout=LIMIT_S) == 0
    assert [line.split()[-1] for line in utrail("events", "show").must().out.splitlines()] == [f"NR={i}" for i in range(10)]


def test_other_events_are_chosen_while_it_is_recorded(start):
    writer = start("shared")
    recorder = subprocess.Popen([UTRAIL, "record", "-p", str(writer.pid), "-g", "--trace-include", "posix"], env=environment())
    events = lambda: set(re.findall(r" (SHOP-\S+|trace:SHOP-\S+) ", utrail("events", "show").must().out))  # noqa: E731
    wait_until(lambda: any(Path("uftrace.data").glob("*.evt")))
    utrail("control", "uftrace.data", "trace-include", "BUSY").must()
    wait_until(lambda: "trace:SHOP-BUSY" in events())
    recorder.terminate()
    assert recorder.wait(timeout=LIMIT_S) == 0
    writer.end()


def test_a_program_without_the_library_is_told_nothing(tmp_path, programs):
    source = '#include <unistd.h>\n#include <stdio.h>\nint main(void) { puts("ready"); fflush(stdout); for (;;) usleep(100); }\n'
    writer = Writer(programs("plain", source), tmp_path / "place")
    try:
        record_briefly(writer.pid, "--for=200ms", f"-d{tmp_path}/data")
        assert not writer.maps_probe() and not list((tmp_path / "place").iterdir())
    finally:
        writer.proc.kill()
        writer.proc.communicate()


def test_a_child_is_recorded_and_left_with_its_parent(tmp_path, programs, monkeypatch):
    """A child that is forked while its parent is recorded."""
    monkeypatch.chdir(tmp_path)
    source = WRITER.replace("	signal(SIGTERM, end);", "	signal(SIGTERM, end);\n	signal(SIGUSR1, have_child);").replace(
        "static void end(int sig)", CHILD + "static void end(int sig)")
    writer = Writer(programs("shared", source), tmp_path / "place", threads=1, pause_us=100)
    recorder = subprocess.Popen([UTRAIL, "record", "-p", str(writer.pid), "--trace-include", "SHOP|posix"], env=environment())
    wait_until(lambda: any(Path("uftrace.data").glob("*.evt")))
    writer.proc.send_signal(signal.SIGUSR1)
    children = lambda: [pid for task in Path(f"/proc/{writer.pid}/task").iterdir()  # noqa: E731
                        for pid in (task / "children").read_text().split()]
    child, = wait_until(children)
    try:
        # The file is there before the child's first call has ended.
        shown = lambda: utrail("replay", "-f", "none", "--no-libcall", f"--tid={child}").out  # noqa: E731
        wait_until(lambda: re.search(INSIDE, shown(), re.M))
        recorder.send_signal(signal.SIGINT)
        assert recorder.wait(timeout=LIMIT_S) == 0
        for pid in (writer.pid, child):
            assert not re.search(r"/libmcount[^/]*$", Path(f"/proc/{pid}/maps").read_text(), re.M)
        assert re.search(INSIDE, shown(), re.M)
        os.kill(int(child), 0)
    finally:
        os.kill(int(child), signal.SIGTERM)
    writer.end()
