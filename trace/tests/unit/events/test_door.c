/*
 * A recorder that attaches to libutrail-trace while the program runs, and detaches again
 * (events/door.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events/door.h"
#include "events/trace.h"
#include "posix/posix.h"
#include "seam/recorder.h"
#include "tests/unit/lib/unit.h"

#if FST_HAS_DOOR

#define NR_SAID 64

/* The calls that the recorder has got. */
static struct {
	uint32_t next_id;
	int choice;
	char declared[NR_SAID][32]; /* indexed by the event's number */
	uint32_t begun[NR_SAID];
	uint32_t ended[NR_SAID];
	unsigned nr_begun, nr_ended, nr_emitted;
	size_t last_len;
	bool goes_meanwhile;
	bool another_comes_meanwhile;
} seen;

static char folder[] = "/tmp/utrail-door-XXXXXX";

static uint32_t declare(const char *id, const char *format, const char *common)
{
	assert_true(seen.next_id < NR_SAID);
	snprintf(seen.declared[seen.next_id], sizeof(seen.declared[0]), "%s %s", id, format);
	return seen.next_id++;
}

static int choose(uint32_t event, const char *id)
{
	return seen.choice;
}

static bool emit(uint32_t event, const void *payload, size_t len)
{
	seen.nr_emitted++;
	return true;
}

static const struct utrail_trace_recorder recorder;

static int begin(uint32_t event, struct utrail_trace_place *place)
{
	static char room[64];

	if (seen.goes_meanwhile)
		fst_door_close();
	if (seen.another_comes_meanwhile) {
		fst_door_close();
		seen.next_id = 20;
		fst_door_open(&recorder);
	}
	seen.begun[seen.nr_begun++] = event;
	place->at = room;
	place->room = sizeof(room);
	return 1;
}

static bool end(uint32_t event, const struct utrail_trace_place *place, size_t len)
{
	seen.ended[seen.nr_ended++] = event;
	seen.last_len = len;
	return true;
}

static bool watch(bool (*fn)(void), bool is_on)
{
	return true;
}

static const struct utrail_trace_recorder recorder = {
	.abi = UTRAIL_TRACE_ABI,
	.size = sizeof(recorder),
	.declare = declare,
	.choose = choose,
	.emit = emit,
	.begin = begin,
	.end = end,
	.watch = watch,
};

static fstrace_t *trace;
static fstrace_event_t *event;

static int prepare(void **state)
{
	memset(&seen, 0, sizeof(seen));
	seen.next_id = 1;
	seen.choice = 1;
	trace = fstrace_direct(fopen("/dev/null", "w"));
	event = fstrace_declare(trace, "DOOR-EVENT", "NR=%d");
	return trace && event ? 0 : -1;
}

static int finish(void **state)
{
	fst_door_close();
	fclose(trace->stream);
	return fstrace_close(trace);
}

TEST_WITH(what_is_there_is_declared, prepare, finish)
{
	assert_false(event->enabled);
	assert_int_equal(fst_door_open(&recorder), 0);
	assert_string_equal(seen.declared[1], "DOOR-EVENT NR=%d");
	assert_true(event->enabled);
	FSTRACE(event, 7);
	assert_int_equal(seen.nr_begun, 1);
	assert_int_equal(seen.begun[0], 1);
	assert_int_equal(seen.ended[0], 1);
	/* Opening the door twice changes nothing. */
	assert_int_equal(fst_door_open(&recorder), 0);
	assert_int_equal(seen.next_id, 2);
	/* An event that is declared now is declared to the recorder, too. */
	assert_non_null(fstrace_declare(trace, "DOOR-LATER", ""));
	assert_string_equal(seen.declared[2], "DOOR-LATER ");
}

TEST_WITH(a_log_that_is_opened_later_is_recorded, prepare, finish)
{
	fstrace_event_t *later;
	fstrace_t *other;

	assert_int_equal(fst_door_open(&recorder), 0);
	other = fstrace_direct(trace->stream);
	later = fstrace_declare(other, "DOOR-OTHER", "NR=%d");
	FSTRACE(later, 1);
	assert_string_equal(seen.declared[2], "DOOR-OTHER NR=%d");
	assert_int_equal(seen.begun[0], 2);
	fstrace_close(other);
}

TEST_WITH(all_is_as_before_when_it_has_gone, prepare, finish)
{
	fstrace_event_t *text = fstrace_declare(trace, "DOOR-TEXT", "");

	fstrace_select_event(text, 1);
	assert_int_equal(fst_door_open(&recorder), 0);
	assert_int_equal(fst_door_close(), 0);
	assert_false(event->enabled);
	assert_true(text->enabled);
	FSTRACE(event, 7);
	FSTRACE_NO_ARGS(text);
	assert_non_null(fstrace_declare(trace, "DOOR-LATER", ""));
	assert_int_equal(seen.nr_begun + seen.nr_emitted, 0);
	assert_int_equal(seen.next_id, 3);
}

TEST_WITH(the_next_one_has_its_own_numbers, prepare, finish)
{
	const struct fst_recorded *recorded;

	assert_int_equal(fst_door_open(&recorder), 0);
	recorded = atomic_load(&event->impl->recorded);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(fst_door_close(), 0);
		seen.next_id = 20 + i;
		assert_int_equal(fst_door_open(&recorder), 0);
		FSTRACE(event, 7);
		assert_int_equal(seen.begun[i], 20 + i);
		assert_int_equal(seen.ended[i], 20 + i);
	}
	/*
	 * When the recorder comes again, no memory is needed: the event's entry is the former one.
	 */
	assert_ptr_equal(atomic_load(&event->impl->recorded), recorded);
}

TEST_WITH(a_new_common_format_needs_a_new_declaration, prepare, finish)
{
	assert_int_equal(fst_door_open(&recorder), 0);
	assert_int_equal(fst_door_close(), 0);
	fstrace_set_common_format(trace, "PID=%P");
	assert_int_equal(seen.next_id, 2);
	assert_int_equal(fst_door_open(&recorder), 0);
	assert_int_equal(seen.next_id, 3);
	assert_ptr_equal(atomic_load(&event->impl->recorded)->common, atomic_load(&trace->common));
}

TEST_WITH(an_event_is_not_recorded_with_a_former_common_format, prepare, finish)
{
	fstrace_event_t *text = fstrace_declare(trace, "DOOR-TEXT", "");

	fstrace_select_event(text, 1);
	assert_int_equal(fst_door_open(&recorder), 0);
	FSTRACE(event, 7);
	assert_int_equal(seen.nr_begun, 1);
	/* The first declaration, that of DOOR-EVENT, is refused. */
	seen.next_id = 0;
	fstrace_set_common_format(trace, "PID=%P");
	assert_int_equal(seen.next_id, 2);
	assert_false(event->enabled);
	assert_true(text->enabled);
	FSTRACE(event, 7);
	assert_int_equal(seen.nr_begun + seen.nr_emitted, 1);
	/* With another common format the event is declared again. */
	seen.next_id = 30;
	fstrace_set_common_format(trace, NULL);
	assert_true(event->enabled);
	FSTRACE(event, 7);
	assert_int_equal(seen.nr_begun, 2);
	assert_int_equal(seen.begun[1], 30);
}

TEST_WITH(who_has_begun_comes_to_the_end, prepare, finish)
{
	assert_int_equal(fst_door_open(&recorder), 0);
	seen.goes_meanwhile = true;
	FSTRACE(event, 7);
	assert_int_equal(seen.nr_begun, 1);
	assert_int_equal(seen.nr_ended, 1);
	FSTRACE(event, 8);
	assert_int_equal(seen.nr_begun, 1);
}

/* The number that one recorder gives to an event may mean another event to the next recorder. */
TEST_WITH(who_has_begun_with_the_next_one_says_nothing, prepare, finish)
{
	trace_event_id_t id;

	assert_int_equal(posix_trace_eventid_open("word", &id), 0);
	assert_int_equal(fst_door_open(&recorder), 0);
	seen.another_comes_meanwhile = true;
	FSTRACE(event, 7);
	assert_int_equal(seen.nr_ended, 1);
	assert_true(seen.last_len == SIZE_MAX);
	seen.last_len = 0;
	seen.next_id = 1;
	fst_door_close();
	assert_int_equal(fst_door_open(&recorder), 0);
	posix_trace_event(id, "a", 1);
	assert_int_equal(seen.nr_ended, 2);
	assert_true(seen.last_len == SIZE_MAX);
	seen.another_comes_meanwhile = false;
	FSTRACE(event, 7);
	posix_trace_event(id, "a", 1);
	assert_int_equal(seen.nr_ended, 4);
	assert_int_equal(seen.ended[2], 20);
	assert_true(seen.last_len < SIZE_MAX);
}

/* The program has looked at the event while there was a recorder, and logs it afterwards. */
TEST_WITH(nobody_gets_what_comes_too_late, prepare, finish)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *memory = open_memstream(&text, &bytes);
	FILE *before = trace->stream;

	trace->stream = memory;
	assert_int_equal(fst_door_open(&recorder), 0);
	assert_int_equal(fst_door_close(), 0);
	fstrace_log(event, 7);
	trace->stream = before;
	fclose(memory);
	assert_int_equal(bytes, 0);
	free(text);
	assert_int_equal(seen.nr_begun + seen.nr_emitted, 0);
}

static const char *come_within(void *arg)
{
	*(int *)arg = fst_door_open(&recorder);
	return "";
}

static const char *go_within(void *arg)
{
	*(int *)arg = fst_door_close();
	return "";
}

/* Functions of the program are called under the library's lock. */
TEST_WITH(nobody_waits_for_a_lock, prepare, finish)
{
	fstrace_event_t *calls = fstrace_declare(trace, "DOOR-CALLS", "WHAT=%I");
	int ret = 0;

	fstrace_select_event(calls, 1);
	FSTRACE(calls, come_within, &ret);
	assert_int_equal(ret, -EAGAIN);
	assert_int_equal(seen.next_id, 1);
	assert_int_equal(fst_door_open(&recorder), 0);
	FSTRACE(calls, go_within, &ret);
	assert_int_equal(ret, -EAGAIN);
	/* Although the door could not be closed at once, the recorder gets no event. */
	seen.nr_begun = 0;
	FSTRACE(event, 7);
	assert_int_equal(seen.nr_begun, 0);
	assert_int_equal(fst_door_close(), 0);
	assert_false(event->enabled);
}

/*
 * The former recorder could not wait for the lock, so the library still has the event numbers that
 * this recorder has given.
 */
TEST_WITH(the_next_one_does_not_get_numbers_of_one_that_was_in_a_hurry, prepare, finish)
{
	fstrace_event_t *calls = fstrace_declare(trace, "DOOR-CALLS", "WHAT=%I");
	int ret = 0;

	fstrace_select_event(calls, 1);
	assert_int_equal(fst_door_open(&recorder), 0);
	FSTRACE(calls, go_within, &ret);
	assert_int_equal(ret, -EAGAIN);
	seen.next_id = 20;
	seen.nr_begun = 0;
	assert_int_equal(fst_door_open(&recorder), 0);
	FSTRACE(event, 7);
	assert_int_equal(seen.begun[0], 20);
}

TEST_WITH(one_of_another_version_is_sent_away, prepare, finish)
{
	struct utrail_trace_recorder other = recorder;

	assert_int_equal(fst_door_open(NULL), -EINVAL);
	other.abi++;
	assert_int_equal(fst_door_open(&other), -EINVAL);
	other = recorder;
	other.size--;
	assert_int_equal(fst_door_open(&other), -EINVAL);
	assert_int_equal(seen.next_id, 1);
}

TEST_WITH(names_of_posix_trace_are_declared, prepare, finish)
{
	trace_event_id_t id;

	assert_int_equal(posix_trace_eventid_open("word", &id), 0);
	posix_trace_event(id, "a", 1);
	assert_int_equal(fst_door_open(&recorder), 0);
	assert_string_equal(seen.declared[2], "posix:unnamed DATA=%B");
	assert_string_equal(seen.declared[3], "posix:word DATA=%B");
	posix_trace_event(id, "a", 1);
	assert_int_equal(seen.nr_begun, 1);
	assert_int_equal(seen.begun[0], 3);
	assert_int_equal(posix_trace_eventid_open("later", &id), 0);
	assert_string_equal(seen.declared[4], "posix:later DATA=%B");
	assert_int_equal(fst_door_close(), 0);
	posix_trace_event(id, "a", 1);
	assert_int_equal(seen.nr_begun, 1);
}

int main(void)
{
	char lock[64];
	int status;
	pid_t pid;

	if (!mkdtemp(folder))
		return 1;
	/*
	 * When the process ends, the library removes its own files, except the lock of the folder.
	 */
	pid = fork();
	if (pid == 0) {
		setenv("UTRAIL_TRACE_DIR", folder, 1);
		return unit_run();
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		return 1;
	snprintf(lock, sizeof(lock), "%s/lock", folder);
	return unlink(lock) < 0 || rmdir(folder) < 0;
}

#else

/* 77 is Meson's "skipped". */
int main(void)
{
	puts("skipped: utrail attaches on x86_64 only");
	return 77;
}

#endif
