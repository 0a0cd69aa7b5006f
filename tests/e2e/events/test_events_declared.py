"""Recording events that a program declares (libutrail-trace): nested in the calls, with the text of
a log's line, in every format."""

import csv
import datetime
import io
import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

import tools
from tools import peer, utrail

TOP = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("UTRAIL_BUILD", TOP / "build"))
LIBRARY = BUILD / "trace/library/libutrail-trace.a"

SHOP = r"""
#include <fstrace.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static fstrace_event_t *sold, *quiet;

__attribute__((noinline)) void sell(int nr, const char *what)
{
	FSTRACE(sold, nr, what);
	FSTRACE_NO_ARGS(quiet);
}

__attribute__((noinline)) void open_shop(void)
{
	for (int i = 0; i < 3; i++)
		sell(i, i == 1 ? "a box" : NULL);
}

int main(int argc, char *argv[])
{
	fstrace_t *trace = fstrace_open("shop", -1);

	sold = fstrace_declare(trace, "SHOP-SOLD", "NR=%d WHAT=%s");
	quiet = fstrace_declare(trace, "SHOP-QUIET", "");
	if (argc > 1)
		fstrace_select_regex(trace, argv[1], NULL);
	open_shop();
	if (argc > 2 && fork() == 0) {
		sell(77, "child");
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	return fstrace_close(trace);
}
"""


@pytest.fixture
def shop(workdir):
    Path("shop.c").write_text(SHOP)
    subprocess.run(["gcc", "-O1", "-pg", f"-I{TOP / 'trace/include'}", "shop.c", "-o", "shop", str(LIBRARY), "-pthread"], check=True)
    return "./shop"


def record(*args):
    result = utrail("record", *args)
    assert result.status == 0, result.err
    return result


TEXTS = ["NR=0 WHAT=%00", "NR=1 WHAT=a+box", "NR=2 WHAT=%00"]


def test_nested_in_calls(shop):
    """Each event is in the call that made it, and the program's log does not have it."""
    assert record("--no-libcall", "--trace-include", "SOLD", shop).err == ""
    shown = utrail("replay", "-f", "none", "-N", "^_", "--no-sched").must().out
    lines = [line.strip() for line in shown.splitlines()]
    assert [line for line in lines if line.startswith("/*")] == [f"/* trace:SHOP-SOLD ({text}) */" for text in TEXTS]
    at = lines.index("open_shop() {")
    assert lines[at + 1:at + 4] == ["sell() {", f"/* trace:SHOP-SOLD ({TEXTS[0]}) */", "} /* sell */"]
    assert not Path("shop.log").exists()


def test_library_is_not_the_program(shop):
    """Calls that libutrail-trace makes for an event are no calls of the program, also when the
    library is linked into it."""
    record("--trace-include", "SOLD", shop)
    shown = utrail("replay", "-f", "none", "-F", "open_shop", "--no-sched").must().out
    lines = [line.strip() for line in shown.splitlines()]
    inside = [line for text in TEXTS for line in ("sell() {", f"/* trace:SHOP-SOLD ({text}) */", "} /* sell */")]
    assert lines == ["open_shop() {", *inside, "} /* open_shop */"]


def test_shared_library_is_not_the_program(shop):
    """Functions of the shared library, which are library calls, are not shown for an event. Nor are
    those that FSTRACE_DECL() runs before main()."""
    folder = LIBRARY.parent
    subprocess.run(
        ["gcc", "-O0", "-pg", f"-I{TOP / 'trace/include'}", "shop.c", "-o", "shop-shared", f"-L{folder}", "-lutrail-trace", f"-Wl,-rpath,{folder}",
         "-pthread"], check=True)
    record("--trace-include", "SOLD", "./shop-shared")
    shown = utrail("replay", "-f", "none", "--no-sched").must().out
    assert "fstrace_specify" not in shown and "fstrace_log" not in shown
    assert [line.strip() for line in shown.splitlines() if "SHOP-SOLD" in line] == [f"/* trace:SHOP-SOLD ({text}) */" for text in TEXTS]


def test_other_readers(shop):
    """Debian's uftrace knows nothing of payloads: it shows the events by their names, and reads the
    directory without an error."""
    record("--no-libcall", "--trace-include", "SOLD", shop)
    result = peer("replay", "-d", "uftrace.data", "-f", "none")
    assert result.status == 0 and "unknown" not in result.err, result.err
    assert result.out.count("/* trace:SHOP-SOLD */") == 3


def test_both_consumers(shop):
    """The log has the events that the program chose, the recording those that the user chose, with
    the same text."""
    record("--trace-include", ".", "--trace-exclude", "QUIET", shop, "SOLD|QUIET")
    log = Path("shop.log").read_text().splitlines()
    assert [line.split(" ", 3)[3] for line in log if "SOLD" in line] == TEXTS
    assert sum("SHOP-QUIET" in line for line in log) == 3
    shown = utrail("replay", "-f", "none").must().out
    assert [text in shown for text in TEXTS] == [True] * 3
    assert "SHOP-QUIET" not in shown


def test_the_programs_choice(shop):
    """Without an option, the recording has the events that the program has chosen."""
    record(shop, "QUIET")
    shown = utrail("replay", "-f", "none").must().out
    assert shown.count("/* trace:SHOP-QUIET */") == 3 and "SOLD" not in shown


def test_chosen_as_events(shop):
    assert record("-E", "trace:SHOP-S.*", shop).err == ""
    assert utrail("replay", "-f", "none").must().out.count("trace:SHOP-SOLD (") == 3


def test_forked_child(shop):
    """A child's events are in the child's own file."""
    record("--trace-include", "SOLD", shop, "NONE", "fork")
    shown = utrail("replay", "-f", "tid", "-N", "^_").must().out
    (line,) = [line for line in shown.splitlines() if "NR=77" in line]
    (first,) = [line for line in shown.splitlines() if "NR=0" in line]
    assert line.split("]")[0] != first.split("]")[0]
    assert len(list(Path("uftrace.data").glob("*.evt"))) == 2


@pytest.mark.parametrize("option", [["--compact"], ["--flight", "1m"], ["-b", "4k"]])
def test_ways_to_record(shop, option):
    record(*option, "--trace-include", "SOLD", shop)
    shown = utrail("replay", "-f", "none").must().out
    assert [text in shown for text in TEXTS] == [True] * 3


def test_exporters(shop):
    record("--no-libcall", "--trace-include", "SOLD", shop)
    lines = [json.loads(line) for line in utrail("dump", "--format=jsonl").must().out.splitlines()]
    assert [line["data"] for line in lines if line.get("event") == "trace:SHOP-SOLD"] == TEXTS
    chrome = json.loads(utrail("dump", "--chrome").must().out)["traceEvents"]
    assert [event["args"] for event in chrome if event["name"] == "trace:SHOP-SOLD"] == [{"NR": 0}, {"NR": 1, "WHAT": "a box"}, {"NR": 2}]
    for name in ("perfetto", "firefox", "html", "sqlite", "callgrind", "pprof"):
        if name == "sqlite" and "sqlite" not in utrail("--version").out.split():
            continue
        command = [tools.UTRAIL, "dump", f"--format={name}"]
        assert b"SHOP-SOLD" in subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout, name
    raw = utrail("dump").must().out
    assert raw.count("trace:SHOP-SOLD(f424") == 3 and all(text in raw for text in TEXTS)


def test_payloads_are_missing_or_damaged(shop):
    """Events without a good payload have no text; all other data is shown."""
    record("--no-libcall", "--trace-include", "SOLD", shop)
    (data,) = Path("uftrace.data").glob("*.evt")
    whole = data.read_bytes()
    for content in (b"", whole[:20], whole[:-1], b"\xff" * len(whole), whole[:14] + b"\xff\xff" + whole[16:], bytes(len(whole))):
        data.write_bytes(content)
        assert utrail("replay", "-f", "none").must().out.count("trace:SHOP-SOLD") == 3
    data.unlink()
    assert utrail("replay", "-f", "none").must().out.count("/* trace:SHOP-SOLD */") == 3
    for content in (b"", b"DECLARED: 1000000 fstrace X %00 %q\n", b"\0" * 100, b"DECLARED: 1000000 fstrace X %00 %s%s%s\n"):
        Path("uftrace.data/events.def").write_bytes(content)
        data.write_bytes(whole)
        assert utrail("replay", "-f", "none").must().out.count("trace:SHOP-SOLD") == 3


def test_events_alone(shop):
    """`events list` counts the events. `events show` prints each event, and with --path also the
    calls around it. `events export` writes the events in formats of other programs."""
    record("--no-libcall", "--trace-include", "SOLD", shop)
    lines = utrail("events", "list").must().out.splitlines()
    assert [line.split() for line in lines if "trace:" in line] == [
        ["3", lines[1].split()[1], "29", "trace:SHOP-SOLD", "NR=%d", "WHAT=%s"], ["0", "0.0", "0", "trace:SHOP-QUIET"]]
    shown = utrail("events", "show").must().out.splitlines()
    assert [re.sub(r"^\d+\.\d{9} \[ *\d+\] ", "", line) for line in shown] == [f"trace:SHOP-SOLD {text}" for text in TEXTS]
    shown = utrail("events", "show", "--path", "-F", "sell").must().out.splitlines()
    assert [line.partition("trace:")[2] for line in shown] == [f"SHOP-SOLD {text} <- sell" for text in TEXTS]
    path = utrail("events", "show", "--path").must().out.splitlines()[1]
    assert path.endswith(f"trace:SHOP-SOLD {TEXTS[1]} <- sell <- open_shop <- main")
    rows = list(csv.reader(io.StringIO(utrail("events", "export", "--as=csv").must().out)))
    assert rows[0] == ["time", "pid", "tid", "event", "text"] and [row[3:] for row in rows[1:]] == [["trace:SHOP-SOLD", text] for text in TEXTS]
    events = json.loads(utrail("events", "export", "--as=json").must().out)
    assert [event["args"] for event in events] == [{"NR": 0}, {"NR": 1, "WHAT": "a box"}, {"NR": 2}]
    assert [event["text"] for event in events] == TEXTS
    assert json.loads(utrail("events", "export", "--as=json", "-E", "no:such").out) == []


def test_exported_log(shop):
    """The exported log is equal to the one that the program wrote. Records without a payload are
    left out, with a message."""
    record("--trace-include", ".", shop, "SOLD|QUIET")
    log = Path("shop.log").read_text().splitlines()
    exported = utrail("events", "export", "--as=fstrace").must().out
    assert [line[26:] for line in exported.splitlines()] == [line[26:] for line in log]
    assert all(abs(ahead(ours) - ahead(theirs)) < 60 for ours, theirs in zip(exported.splitlines(), log))
    Path("exported.log").write_text(exported)
    assert utrail("events", "check", "exported.log").must().out == "0 of 6 lines in 1 files are wrong\n"
    (data,) = Path("uftrace.data").glob("*.evt")
    data.unlink()
    result = utrail("events", "export", "--as=fstrace").must()
    assert result.out == "" and result.err == (
        "WARN: 6 events are left out of fstrace: the program has not declared them, or their values are missing\n")


def ahead(line):
    return datetime.datetime.fromisoformat(line[:26]).timestamp()


SELLER = r"""
#include <fstrace.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static fstrace_event_t *sold, *rang;
static volatile int nr_rings;

static void ring(int nr)
{
	FSTRACE(rang, nr_rings);
	nr_rings++;
}

/* Sells for ever, or some times while a bell rings, or declares an event that is too long. */
int main(int argc, char *argv[])
{
	static char format[9000];
	const struct itimerval often = { { 0, 200 }, { 0, 200 } };
	fstrace_set_lock_path("lock"); /* a killed process leaves this stream */
	fstrace_t *trace = fstrace_open("seller", -1);

	sold = fstrace_declare(trace, "SOLD", "NR=%d");
	if (argc == 1) {
		for (int nr = 0;; nr++) {
			FSTRACE(sold, nr);
			dprintf(1, "%d %d\n", getpid(), nr);
		}
	}
	if (argv[1][0] == 'l') {
		memset(format, 'x', sizeof(format) - 1);
		fstrace_declare(trace, "LONG", format);
		return 0;
	}
	rang = fstrace_declare(trace, "RANG", "NR=%d");
	signal(SIGALRM, ring);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int nr = 0; nr < 10000 || nr_rings < 5; nr++)
		FSTRACE(sold, nr);
	return 0;
}
"""


@pytest.fixture
def seller(workdir):
    Path("seller.c").write_text(SELLER)
    subprocess.run(["gcc", "-O1", "-pg", f"-I{TOP / 'trace/include'}", "seller.c", "-o", "seller", str(LIBRARY), "-pthread"], check=True)
    return "./seller"


def numbers(name):
    shown = utrail("replay", "-f", "none").must().out
    return [int(number) for number in re.findall(rf"/\* trace:{name} \(NR=(\d+)\)", shown)]


def test_the_program_is_killed(seller):
    """Events before SIGKILL are recorded with their texts, though the ring has gone round."""
    command = [str(tools.UTRAIL), "record", "-b", "4k", "--no-libcall", "--trace-include", ".", seller]
    with subprocess.Popen(command, env=tools.environment(), stdout=subprocess.PIPE, text=True) as proc:
        for line in proc.stdout:
            pid, said = map(int, line.split())
            if said == 3000:
                os.kill(pid, signal.SIGKILL)
            last = said
    found = numbers("SOLD")
    assert found == list(range(len(found))) and len(found) > last >= 3000


def test_in_handlers(seller):
    """Events of a signal handler, which may interrupt another event."""
    record("--trace-include", ".", seller, "ring")
    sold, rang = numbers("SOLD"), numbers("RANG")
    assert sold == list(range(len(sold))) and len(sold) >= 10000
    assert len(rang) >= 5 and rang == sorted(set(rang))


def test_too_long(seller):
    result = utrail("record", seller, "long").must()
    assert result.err == ("WARN: 1 event that the program declares is not recorded: its name and format are longer than 8192 bytes, or the "
                          "program could not tell the recorder (a seccomp filter, or no descriptor left?)\n")


MAIN = r"""
#include <dlfcn.h>

int main(int argc, char *argv[])
{
	void *shop = dlopen("./shop.so", RTLD_NOW);
	int (*run)(int argc, char *argv[]) = shop ? dlsym(shop, "main") : 0;

	return run ? run(argc, argv) : 1;
}
"""


@pytest.mark.parametrize("way", ["no-pie", "shared", "dlopen"])
def test_ways_to_link(workdir, way):
    """The library finds the probe however it is linked: into a program at a fixed address, as a
    shared library, and by a plugin."""
    Path("shop.c").write_text(SHOP)
    Path("main.c").write_text(MAIN)
    gcc = ["gcc", "-O1", "-pg", f"-I{TOP / 'trace/include'}"]
    shared = [f"-L{LIBRARY.parent}", "-lutrail-trace", f"-Wl,-rpath,{LIBRARY.parent}"]
    if way == "dlopen":
        subprocess.run([*gcc, "-shared", "-fPIC", "shop.c", "-o", "shop.so", *shared], check=True)
        subprocess.run([*gcc, "main.c", "-o", "shop"], check=True)
    elif way == "shared":
        subprocess.run([*gcc, "shop.c", "-o", "shop", *shared], check=True)
    else:
        subprocess.run([*gcc, "-no-pie", "shop.c", "-o", "shop", str(LIBRARY), "-pthread"], check=True)
    record("--trace-include", "SOLD", "./shop")
    shown = utrail("replay", "-f", "none").must().out
    assert [text in shown for text in TEXTS] == [True] * 3


def test_wrong_options(shop):
    for option in ("--trace-include", "--trace-exclude"):
        result = utrail("record", option, "a(", shop)
        assert result.status == 2 and f"option '{option}'" in result.err
    assert "option '--trace-include': no event that the program declares matches" in record("--trace-include", "NOPE", shop).err
    assert "the program declares no events" in record("--trace-include", "X", "-F", "main", "--force", "/bin/true").err


CHOSEN = r"""
#include <fstrace.h>
#include <stdio.h>
#include <unistd.h>

static fstrace_event_t *a, *b;

int main(int argc, char *argv[])
{
	fstrace_t *trace = fstrace_open("chosen", -1);
	char c;

	a = fstrace_declare(trace, "SHOP-A", "N=%d");
	b = fstrace_declare(trace, "SHOP-B", "N=%d");
	printf("%d\n", getpid());
	fflush(stdout);
	/* Each letter from standard input makes both events, with its number. */
	while (read(0, &c, 1) == 1) {
		FSTRACE(a, c);
		FSTRACE(b, c);
		printf("%d%d\n", FSTRACE_ENABLED(a), FSTRACE_ENABLED(b));
		fflush(stdout);
	}
	return fstrace_close(trace);
}
"""


@pytest.mark.parametrize("hooks", ["-pg", "-O1"])
def test_chosen_while_it_runs(workdir, hooks):
    """`utrail control` chooses events of a program with hooks, and of one without."""
    Path("chosen.c").write_text(CHOSEN)
    subprocess.run(["gcc", hooks, f"-I{TOP / 'trace/include'}", "chosen.c", "-o", "chosen", str(LIBRARY), "-pthread"], check=True)
    proc = subprocess.Popen(
        [str(tools.UTRAIL), "record", "-g", "--force", "--no-libcall", "--no-sched", "./chosen"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=tools.environment(),
    )
    proc.stdout.readline()

    def say(letter):
        proc.stdin.write(letter)
        proc.stdin.flush()
        return proc.stdout.readline().strip()

    assert say("A") == "00"
    control = lambda *words: utrail("control", "uftrace.data", *words)  # noqa: E731
    assert "events: 1 on, 1 off\n" in control("trace-include", "P-A$").must().out
    assert say("B") == "10"
    assert "events: 2 on, 0 off\n" in control("trace-include", "SHOP").must().out
    assert say("C") == "11"
    assert "events: 1 on, 1 off\n" in control("trace-exclude", "P-A").must().out
    assert say("D") == "01"
    for words, why in [
        (["trace-include", "NOTHING"], "no declared event matches 'NOTHING'; the nearest: "),
        (["trace-exclude", "("], "'trace-exclude'"),
        (["trace-include", "P-A", "filter", "("], "'(': column 1: "),
    ]:
        result = control(*words)
        assert result.status and why in result.err, (words, result.err)
        assert say("E") == "01"
    status = control("status").must().out
    assert "trace-include: SHOP\n" in status and "trace-exclude: P-A\n" in status
    out, err = proc.communicate(timeout=60)
    assert (out, err, proc.returncode) == ("", "", 0)
    shown = utrail("events", "show").must().out
    letters = [(m[1], chr(int(m[2]))) for m in re.finditer(r"(SHOP-[AB]).*?N=(\d+)", shown)]
    assert letters == [("SHOP-A", "B"), ("SHOP-A", "C"), ("SHOP-B", "C"), ("SHOP-B", "D"), *[("SHOP-B", "E")] * 3]
    assert not Path("chosen.log").exists()
