"""Sources that were written for fstrace of F-Secure, and that look like those of F-Secure's
libraries, compile unchanged in each standard without a warning, and run."""

import itertools
import re
import subprocess
from pathlib import Path

import pytest

from tools import BUILD, TOP, utrail

SOURCES = {
    "timer.h": r"""
#ifndef TIMER_H
#define TIMER_H
#include <fstrace.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef struct timer timer_t_;
typedef enum { TIMER_IDLE, TIMER_RUNNING } timer_state_t;
timer_t_ *make_timer(const char *name);
void timer_start(timer_t_ *timer, int delay, const void *data, size_t size);
void timer_stop(timer_t_ *timer);
void destroy_timer(timer_t_ *timer);
uint64_t timer_uid(const timer_t_ *timer);
#ifdef __cplusplus
}
#endif
#endif
""",
    # The source relies on <fstrace.h> to declare malloc() and abort().
    "timer.c": r"""
#include "timer.h"

struct timer {
	uint64_t uid;
	timer_state_t state;
	const char *name;
};

static const char *trace_state(void *pstate)
{
	switch (*(timer_state_t *)pstate) {
	case TIMER_IDLE:
		return "TIMER_IDLE";
	case TIMER_RUNNING:
		return "TIMER_RUNNING";
	default:
		return fstrace_unsigned_repr(*(timer_state_t *)pstate);
	}
}

static void set_state(struct timer *timer, timer_state_t state);

FSTRACE_DECL(TIMER_CREATE, "UID=%64u NAME=%s")
FSTRACE_DECL(TIMER_CREATE_FAILED, "")
FSTRACE_DECL(TIMER_SET_STATE, "UID=%64u OLD=%I NEW=%I")
FSTRACE_DECL(TIMER_START, "UID=%64u DELAY=%d DATA=%B")
FSTRACE_DECL(TIMER_STOP, "UID=%64u")
FSTRACE_DECL(TIMER_STOP_IDLE, "")
FSTRACE_DECL(TIMER_DESTROY, "UID=%64u LINE=%L")
FSTRACE_DECL(TIMER_GONE, "NOTHING-LEFT PERCENT=%%")

static void set_state(struct timer *timer, timer_state_t state)
{
	FSTRACE(TIMER_SET_STATE, timer->uid, trace_state, &timer->state, trace_state, &state);
	timer->state = state;
}

struct timer *make_timer(const char *name)
{
	struct timer *timer = (struct timer *)malloc(sizeof(*timer));

	if (!timer) {
		FSTRACE(TIMER_CREATE_FAILED);
		abort();
	}
	timer->uid = fstrace_get_unique_id();
	timer->state = TIMER_IDLE;
	timer->name = name;
	FSTRACE(TIMER_CREATE, timer->uid, name);
	return timer;
}

void timer_start(struct timer *timer, int delay, const void *data, size_t size)
{
	FSTRACE(TIMER_START, timer->uid, delay, data, (ssize_t)size);
	set_state(timer, TIMER_RUNNING);
}

void timer_stop(struct timer *timer)
{
	if (timer->state == TIMER_IDLE)
		FSTRACE(TIMER_STOP_IDLE);
	else
		FSTRACE(TIMER_STOP, timer->uid);
	set_state(timer, TIMER_IDLE);
}

void destroy_timer(struct timer *timer)
{
	FSTRACE(TIMER_DESTROY, timer->uid);
	free(timer);
	FSTRACE(TIMER_GONE);
}

uint64_t timer_uid(const struct timer *timer)
{
	return timer->uid;
}
""",
    "main.c": r"""
#include "timer.h"

static struct {
	fstrace_event_t *begin, *argument, *end, *missing;
} TRC;

int evaluated;

static fstrace_event_t *chosen(fstrace_event_t *event)
{
	evaluated++;
	return event;
}

#ifdef USES_CPP
#ifdef __cplusplus
extern "C"
#endif
void queue_run(void);
#endif

int main(int argc, char **argv)
{
	fstrace_t *trace = fstrace_open(argv[1], -1);
	timer_t_ *timer;
	int i;

	if (!trace)
		return EXIT_FAILURE;
	TRC.begin = fstrace_declare(trace, "MAIN-BEGIN", "");
	TRC.argument = fstrace_declare(trace, "MAIN-ARGUMENT", "NR=%d VALUE=%s");
	TRC.end = fstrace_declare(trace, "MAIN-END", "ALL");
	fstrace_declare_globals(trace);
	FSTRACE(TRC.begin);
	fstrace_select_regex(trace, ".", "^NONE$");
	FSTRACE(chosen(TRC.begin));
	FSTRACE(TRC.missing);
	FSTRACE(TRC.missing, argc);
	for (i = 2; i < argc; i++)
		FSTRACE(TRC.argument, i, argv[i]);
	timer = make_timer("a b");
	timer_stop(timer);
	timer_start(timer, 7, "\1\377", 2);
	timer_stop(timer);
	destroy_timer(timer);
#ifdef USES_CPP
	queue_run();
#endif
	if (FSTRACE_ENABLED(TRC.end))
		FSTRACE_NO_ARGS(TRC.end);
	fstrace_close(trace);
	return evaluated == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
""",
    "queue.cc": r"""
extern "C" {
#include <fstrace.h>
}
#include <memory>
#include <utility>
#include <vector>

namespace
{

class Job : public fsecure::fstrace::UniqueId
{
      public:
	explicit Job(int priority) : priority_(priority) {}
	int priority() const { return priority_; }

      private:
	int priority_;
};

class Urgent : public Job
{
      public:
	explicit Urgent(bool *gone) : Job(99), gone_(gone) {}
	~Urgent() override { *gone_ = true; }

      private:
	bool *gone_;
};

FSTRACE_DECL(QUEUE_RUN, "");
FSTRACE_DECL(QUEUE_JOB, "UID=%64u SAME=%b PRIORITY=%d")
FSTRACE_DECL(QUEUE_LISTS, "NAMES=%J IDS=%J PLAIN=%J")
FSTRACE_DECL(QUEUE_GONE, "BY-BASE=%b")

} // namespace

extern "C" void queue_run(void);

void queue_run(void)
{
	using fsecure::fstrace::TraceIterator;
	using fsecure::fstrace::UniqueId;
	typedef std::vector<std::string> Names;
	typedef std::vector<uint64_t> Ids;
	Job first(1), copy(first), moved(std::move(copy));
	bool gone = false;
	Names names{ "a,b", "" };
	Ids ids{ 3, UINT64_MAX };
	const char *plain[] = { "x" };
	TraceIterator<Names::iterator> of_names(names.begin(), names.end());
	TraceIterator<Ids> of_ids(ids.begin(), ids.end());
	TraceIterator<const char **> of_plain(plain, plain + 1);

	FSTRACE(QUEUE_RUN);
	FSTRACE(QUEUE_JOB, first.id(), moved.id() == first.id(), moved.priority());
	moved = first;
	FSTRACE(QUEUE_JOB, first.id(), moved.id() == first.id(), first.priority());
	FSTRACE(QUEUE_LISTS, TraceIterator<Names::iterator>::trace, &of_names, TraceIterator<Ids>::trace, &of_ids,
		TraceIterator<const char **>::trace, &of_plain);
	std::unique_ptr<UniqueId>(new Urgent(&gone)).reset();
	FSTRACE(QUEUE_GONE, gone);
}
""",
}
C_EVENTS = """MAIN-BEGIN{blank}
MAIN-ARGUMENT NR=2 VALUE=%25
TIMER-CREATE UID=1 NAME=a+b
TIMER-STOP-IDLE{blank}
TIMER-SET-STATE UID=1 OLD=TIMER_IDLE NEW=TIMER_IDLE
TIMER-START UID=1 DELAY=7 DATA=01ff
TIMER-SET-STATE UID=1 OLD=TIMER_IDLE NEW=TIMER_RUNNING
TIMER-STOP UID=1
TIMER-SET-STATE UID=1 OLD=TIMER_RUNNING NEW=TIMER_IDLE
TIMER-DESTROY UID=1 LINE={line}
TIMER-GONE NOTHING-LEFT PERCENT=%
""".format(blank=" ", line=1 + SOURCES["timer.c"][:SOURCES["timer.c"].index("FSTRACE(TIMER_DESTROY, timer")].count("\n"))
CPP_EVENTS = """QUEUE-RUN{blank}
QUEUE-JOB UID=1 SAME=false PRIORITY=1
QUEUE-JOB UID=1 SAME=false PRIORITY=1
QUEUE-LISTS NAMES=[a%2Cb,] IDS=[3,18446744073709551615] PLAIN=[x]
QUEUE-GONE BY-BASE=true
""".format(blank=" ")
END = "MAIN-END ALL\n"

HEADERS = TOP / "trace/include"
LIBRARY = BUILD / "trace/library"
WARNINGS = "-Wall", "-Wextra", "-pedantic", "-Werror"
C = [f"{family}{year}" for year in ("99", "11", "17", "23") for family in ("c", "gnu")]
CPP = [f"{family}++{year}" for year in ("11", "14", "17", "20") for family in ("c", "gnu")]
OLDER_NAME = {"c23": "c2x", "gnu23": "gnu2x"}


def standard(compiler, name):
    known = subprocess.run([compiler, f"-std={name}", "-fsyntax-only", "-x", "c", "/dev/null"], stderr=subprocess.PIPE, check=False)
    return f"-std={name if known.returncode == 0 else OLDER_NAME[name]}"


@pytest.fixture
def sources(workdir):
    for name, text in SOURCES.items():
        Path(name).write_text(text)


def compile_all(compiler, options, *names):
    for name in names:
        said = subprocess.run([compiler, *options, *WARNINGS, f"-I{HEADERS}", "-c", name, "-o", f"{name}.o"],
                              stderr=subprocess.PIPE, text=True, check=False)
        assert (said.returncode, said.stderr) == (0, ""), f"{compiler} {options} {name}"
    return [f"{name}.o" for name in names]


def link(compiler, objects):
    subprocess.run([compiler, "-o", "program", *objects, f"-L{LIBRARY}", "-l:libutrail-trace.so.1", f"-Wl,-rpath,{LIBRARY}"], check=True)


def logged():
    subprocess.run(["./program", "log", "%"], check=True)
    text = Path("log.log").read_text()
    Path("log.log").unlink()
    bodies = "".join(line.split(" ", 2)[2] for line in text.splitlines(keepends=True))
    return re.sub(r"UID=\d+", "UID=1", bodies)


@pytest.mark.parametrize("compiler, name", itertools.product(("gcc", "clang"), C))
def test_c(sources, compiler, name):
    link(compiler, compile_all(compiler, [standard(compiler, name), "-O1"], "main.c", "timer.c"))
    assert logged() == C_EVENTS + END


@pytest.mark.parametrize("compiler, name", itertools.product(("g++", "clang++"), CPP))
def test_cpp(sources, compiler, name):
    """main.c compiles as C++, too, and links with an object that gcc has compiled from C."""
    objects = compile_all(compiler, [f"-std={name}", "-DUSES_CPP", "-x", "c++"], "main.c", "queue.cc")
    link(compiler, objects + compile_all("gcc", ["-std=c99"], "timer.c"))
    assert logged() == C_EVENTS + CPP_EVENTS + END


def test_recorded(sources):
    """With a recorder, the recording has the same events as the log."""
    objects = compile_all("gcc", ["-std=c11", "-DUSES_CPP"], "main.c", "timer.c") + compile_all("g++", ["-std=c++11"], "queue.cc")
    link("g++", objects)
    utrail("record", "-d", "data", "--force", "--trace-include", ".", "./program", "log", "%").must()
    text = utrail("events", "export", "--as=fstrace", "-d", "data").must().out
    bodies = re.sub(r"UID=\d+", "UID=1", "".join(line.split(" ", 2)[2] for line in text.splitlines(keepends=True)))
    # The recorder chooses events before the program does, so the recording may begin with events
    # that the log lacks.
    assert bodies.endswith(C_EVENTS + CPP_EVENTS + END), bodies
