/*
 * Unit tests of cmds/record/control/control.c: events that programs declare, programs that cannot
 * be traced, and a recorder without descriptors.
 */
#include "tests/unit/lib/record/talking.h"

#include <sys/resource.h>

#include "cmds/record/control/talk.h"
#include "utils/format/event_data.h"
#include "utils/format/event_ids.h"

/* This process is recorded; @token is its token. */
struct declaring {
	struct test_recorder *t;
	struct recorder *rec;
	uint8_t token[CONTROL_SECRET_BYTES];
};

static struct declaring begin(void **state)
{
	struct declaring d = { *state, &((struct test_recorder *)*state)->rec };
	struct control_hello hello = make_hello(d.rec, CONTROL_EXEC);
	struct control_welcome welcome = { 0 };

	assert_int_equal(talk_once(d.rec, &hello, &welcome), CONTROL_WELCOME);
	memcpy(d.token, welcome.token, sizeof(d.token));
	return d;
}

static int hello_again(struct declaring *d, enum control_hello_kind kind)
{
	struct control_hello hello = make_hello(d->rec, kind);
	int fd = connect_to_recorder(d->rec);

	memcpy(hello.token, d->token, sizeof(hello.token));
	send(fd, &hello, sizeof(hello), MSG_NOSIGNAL);
	serve_all(d->rec);
	return fd;
}

/*
 * Declares an event. @texts: all but the last one end with a NUL. Returns the answer's type; its
 * content is in last.declared.
 */
static int declare(struct declaring *d, const char *texts, size_t len, bool has_common)
{
	union {
		struct control_declare m;
		char bytes[sizeof(struct control_declare) + 128];
	} packet = { .m = { .has_common = has_common } };
	int fd = hello_again(d, CONTROL_EVENTS);
	int type;

	memcpy(packet.m.texts, texts, len);
	send_message(fd, CONTROL_DECLARE, &packet, sizeof(packet.m) + len);
	serve_all(d->rec);
	type = take_answer(fd, NULL);
	close(fd);
	serve_all(d->rec);
	return type;
}

#define DECLARE(d, texts, has_common) declare(d, texts, sizeof(texts), has_common)

static const struct control_declared *declared(void)
{
	return (const struct control_declared *)&last;
}

TEST_WITH(an_event_that_is_declared_has_a_number, test_recorder_setup, test_recorder_teardown)
{
	struct declaring d = begin(state);
	char *text;

	assert_false(d.rec->processes.first->has_declared);
	assert_int_equal(DECLARE(&d, "one\0%d", false), CONTROL_DECLARED);
	assert_int_equal(declared()->event, EVENT_ID_USER);
	assert_int_equal(declared()->choice, 0);
	assert_true(d.rec->processes.first->has_declared);
	assert_int_equal(DECLARE(&d, "two\0%s\0%u ", true), CONTROL_DECLARED);
	assert_int_equal(declared()->event, EVENT_ID_USER + 1);
	/* An event that is declared again keeps its number. */
	assert_int_equal(DECLARE(&d, "one\0%d", false), CONTROL_DECLARED);
	assert_int_equal(declared()->event, EVENT_ID_USER);
	text = test_recorder_file(d.t, EVENT_DEFS_FILE);
	assert_non_null(strstr(text, "\nDECLARED: 1000000 fstrace one %00 %25d\n"
				     "DECLARED: 1000001 fstrace two %25u+ %25s\n"));
	free(text);
	assert_int_equal(d.rec->channel.talks.nr_refused, 0);
}

TEST_WITH(the_user_has_his_say_of_it, test_recorder_setup, test_recorder_teardown)
{
	struct declaring d = begin(state);
	struct pattern pattern cleanup_pattern = { 0 };

	assert_int_equal(pattern_init(&pattern, MATCH_GLOB, "app-*", 5, NULL), 0);
	d.rec->steering.now.trace_include = &pattern;
	assert_int_equal(DECLARE(&d, "app-one\0", false), CONTROL_DECLARED);
	assert_int_equal(declared()->event, EVENT_ID_USER);
	assert_true(declared()->choice > 0);
	assert_int_equal(DECLARE(&d, "other\0", false), CONTROL_DECLARED);
	assert_true(declared()->choice < 0);
	d.rec->steering.now.trace_include = NULL;
}

/* A session cannot choose an event that has no number. */
TEST_WITH(an_event_without_a_number_is_told_so, test_recorder_setup, test_recorder_teardown)
{
	struct declaring d = begin(state);
	struct pattern pattern cleanup_pattern = { 0 };
	size_t nr = d.rec->planner.points.nr_events;

	assert_int_equal(pattern_init(&pattern, MATCH_GLOB, "*", 1, NULL), 0);
	d.rec->steering.now.trace_include = &pattern;
	d.rec->planner.points.nr_events = EVENT_USER_MAX;
	assert_int_equal(DECLARE(&d, "one\0%d", false), CONTROL_DECLARED);
	d.rec->planner.points.nr_events = nr;
	d.rec->steering.now.trace_include = NULL;
	assert_int_equal(declared()->event, 0);
	assert_int_equal(declared()->choice, 0);
	assert_int_equal(d.rec->planner.declared.nr_refused, 1);
}

TEST_WITH(one_event_is_declared_at_a_time, test_recorder_setup, test_recorder_teardown)
{
	struct declaring d = begin(state);
	union {
		struct control_declare m;
		char bytes[sizeof(struct control_declare) + 8];
	} packet = { 0 };
	int fd = hello_again(&d, CONTROL_EVENTS);

	memcpy(packet.m.texts, "one\0%d", 7);
	send_message(fd, CONTROL_DECLARE, &packet, sizeof(packet.m) + 7);
	serve_all(d.rec);
	assert_int_equal(take_answer(fd, NULL), CONTROL_DECLARED);
	send_message(fd, CONTROL_DECLARE, &packet, sizeof(packet.m) + 7);
	serve_all(d.rec);
	assert_int_equal(take_answer(fd, NULL), CONTROL_ERROR);
	assert_int_equal(take_answer(fd, NULL), 0);
	close(fd);
	assert_int_equal(d.rec->channel.talks.nr_refused, 1);
	assert_int_equal(d.rec->channel.talks.believed.nr, 0);
}

TEST_WITH(without_a_token_nothing_is_declared, test_recorder_setup, test_recorder_teardown)
{
	struct declaring d = begin(state);

	d.token[0] ^= 1;
	assert_int_equal(DECLARE(&d, "one\0%d", false), 0);
	assert_false(d.rec->processes.first->has_declared);
	assert_int_equal(d.rec->planner.declared.nr, 0);
}

TEST_WITH(who_cannot_be_traced_is_counted_by_the_reason, test_recorder_setup,
	  test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct control *ctl = &rec->channel;
	static const enum control_hello_kind kinds[] = { CONTROL_NO_ADDRESS_SPACE,
							 CONTROL_SHADOW_STACK, CONTROL_OTHER_LIBC,
							 CONTROL_IN_VALGRIND };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		for (size_t times = 0; times < i + 1; times++) {
			struct control_hello hello = make_hello(rec, kinds[i]);

			assert_int_equal(talk_once(rec, &hello, NULL), 0);
		}
		assert_int_equal(ctl->declined, 1);
		assert_int_equal(ctl->protected, i >= 1 ? 2 : 0);
		assert_int_equal(ctl->other_libc, i >= 2 ? 3 : 0);
		assert_int_equal(ctl->in_valgrind, i >= 3 ? 4 : 0);
	}
	assert_int_equal(ctl->talks.believed.nr, 0);
	assert_int_equal(ctl->talks.strangers.nr, 0);
	assert_null(rec->processes.first);
}

TEST_WITH(a_status_has_what_there_is, test_recorder_setup, test_recorder_teardown)
{
	struct declaring d = begin(state);
	struct control_status ask;
	int fd = hello_again(&d, CONTROL_DLOPEN);

	for (unsigned i = 0; i < 3; i++) {
		atomic_store(&d.rec->store->is_full, i == 0);
		atomic_store(&d.rec->control->finished, i == 1);
		atomic_store(&d.rec->store->error, i == 2 ? -EIO : 0);
		atomic_store(&d.rec->store->taken, 1234567 + i);
		atomic_store(&d.rec->writers.records_lost, 77);
		send_message(fd, CONTROL_STATUS, &ask, sizeof(ask));
		serve_all(d.rec);
		assert_int_equal(take_answer(fd, NULL), CONTROL_STATUS_IS);
		assert_int_equal(last.status.flags, i == 0   ? CONTROL_STATUS_FULL
						    : i == 1 ? CONTROL_STATUS_FINISHED
							     : CONTROL_STATUS_FAILED);
		assert_int_equal(last.status.nr_alive, d.rec->alive.nr_followed);
		assert_int_equal(last.status.bytes_written, 1234567 + i);
		assert_int_equal(last.status.records_lost, 77);
	}
	atomic_store(&d.rec->store->error, 0);
	close(fd);
	serve_all(d.rec);
}

/*
 * Without descriptors no connection is accepted. Waiting connections are accepted when there are
 * descriptors again.
 */
TEST_WITH(without_descriptors_it_pauses, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	int fd = connect_to_recorder(rec);
	struct rlimit before, none;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ 3, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	/* The first connection makes the listening socket readable once. */
	assert_int_equal(loop_serve(&rec->loop, 5000), 1);
	assert_int_equal(rec->channel.talks.strangers.nr, 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	/* First the pause ends; then the waiting connection is accepted. */
	assert_int_equal(loop_serve(&rec->loop, 5000), 1);
	assert_int_equal(rec->channel.talks.strangers.nr, 0);
	assert_int_equal(loop_serve(&rec->loop, 5000), 1);
	assert_int_equal(rec->channel.talks.strangers.nr, 1);
	close(fd);
	serve_all(rec);
	assert_int_equal(rec->channel.talks.strangers.nr, 0);
}

/* Without a free descriptor, a silent connection is closed to make room for a new one. */
TEST_WITH(without_descriptors_a_stranger_gives_way, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	int old = connect_to_recorder(rec);
	struct rlimit before, few;
	int fresh;

	serve_all(rec);
	assert_int_equal(rec->channel.talks.strangers.nr, 1);
	fresh = connect_to_recorder(rec);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	/* All descriptors below the limit are in use; one of them is the stranger's. */
	few = (struct rlimit){ rec->channel.talks.strangers.oldest->fd + 1, before.rlim_max };

	int used[256];
	unsigned nr = 0;

	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	while (nr < ARRAY_SIZE(used) && (used[nr] = dup(0)) >= 0)
		nr++;
	assert_int_equal(loop_serve(&rec->loop, 5000), 1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	while (nr > 0)
		close(used[--nr]);
	assert_int_equal(rec->channel.talks.strangers.nr, 1);
	assert_int_equal(take_answer(old, NULL), 0);
	assert_int_equal(take_answer(fresh, NULL), -1);
	close(old);
	close(fresh);
	serve_all(rec);
}
