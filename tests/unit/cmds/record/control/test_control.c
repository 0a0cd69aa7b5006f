/*
 * Conversations: which peers are answered, which statements are believed, and how limits work. The
 * peers are this process and its children.
 */
#include "tests/unit/lib/record/talking.h"

#include <sys/mman.h>
#include <sys/wait.h>

static unsigned nr_open(const struct recorder *rec)
{
	return rec->channel.talks.strangers.nr + rec->channel.talks.believed.nr;
}

TEST_WITH(a_fresh_image_is_welcome, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct control_hello hello = make_hello(rec, CONTROL_EXEC);
	struct control_welcome welcome;

	assert_int_equal(talk_once(rec, &hello, &welcome), CONTROL_WELCOME);
	assert_non_null(rec->processes.first);
	assert_int_equal(rec->processes.first->os_pid, getpid());
	assert_memory_equal(welcome.token, rec->processes.first->token, sizeof(welcome.token));
	assert_int_equal(nr_open(rec), 0);
	assert_int_equal(rec->channel.talks.module_bytes, 0);
}

TEST_WITH(each_bit_of_the_secret_counts, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;

	for (unsigned bit = 0; bit < 8 * CONTROL_SECRET_BYTES; bit++) {
		struct control_hello hello = make_hello(rec, CONTROL_EXEC);

		hello.secret[bit / 8] ^= 1 << bit % 8;
		assert_int_equal(talk_once(rec, &hello, NULL), 0);
	}
	assert_null(rec->processes.first);
}

TEST_WITH(the_pid_is_the_kernels, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct control_hello hello = make_hello(rec, CONTROL_EXEC);

	hello.pid = getppid();
	assert_int_equal(talk_once(rec, &hello, NULL), 0);
	hello.pid = 0;
	assert_int_equal(talk_once(rec, &hello, NULL), 0);
	assert_null(rec->processes.first);
}

TEST_WITH(without_a_token_nobody_is_known, test_recorder_setup, test_recorder_teardown)
{
	static const enum control_hello_kind kinds[] = {
		CONTROL_FORK, CONTROL_DLOPEN, CONTROL_ENDING, 0, 7, UINT32_MAX
	};
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct control_hello hello = make_hello(rec, CONTROL_EXEC);

	assert_int_equal(talk_once(rec, &hello, NULL), CONTROL_WELCOME);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		hello = make_hello(rec, kinds[i]);
		assert_int_equal(talk_once(rec, &hello, NULL), 0);
	}
	assert_null(rec->processes.first->next);
}

TEST_WITH(later_modules_go_by_the_token, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct control_hello hello = make_hello(rec, CONTROL_EXEC);
	struct control_hello late = make_hello(rec, CONTROL_DLOPEN);
	struct control_welcome first;
	struct control_welcome second;

	assert_int_equal(talk_once(rec, &hello, &first), CONTROL_WELCOME);
	memcpy(late.token, first.token, sizeof(late.token));
	assert_int_equal(talk_once(rec, &late, NULL), CONTROL_PLAN);

	/* Another image of the same process: the token of the former image is no longer valid. */
	assert_int_equal(talk_once(rec, &hello, &second), CONTROL_WELCOME);
	assert_memory_not_equal(first.token, second.token, sizeof(first.token));
	assert_int_equal(talk_once(rec, &late, NULL), 0);
	memcpy(late.token, second.token, sizeof(late.token));
	assert_int_equal(talk_once(rec, &late, NULL), CONTROL_PLAN);
}

/* True when a child that says hello gets an answer of type @type. */
static bool child_is_answered(struct recorder *rec, enum control_hello_kind kind,
			      const uint8_t token[CONTROL_SECRET_BYTES], int type)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct control_hello hello = make_hello(rec, kind);
		int fd = connect_to_recorder(rec);
		_Alignas(8) char packet[CONTROL_MSG_MAX];

		memcpy(hello.token, token, sizeof(hello.token));
		send(fd, &hello, sizeof(hello), MSG_NOSIGNAL);
		send_ready(fd);

		ssize_t len = recv(fd, packet, sizeof(packet), 0);

		_exit((len > 0 ? answer_type(packet, len) : 0) == type ? 0 : 1);
	}
	while (waitpid(pid, &status, WNOHANG) == 0)
		loop_serve(&rec->loop, 1);
	serve_all(rec);
	return status == 0;
}

TEST_WITH(a_child_has_its_parents_token, test_recorder_setup, test_recorder_teardown)
{
	static const uint8_t none[CONTROL_SECRET_BYTES];
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct control_hello hello = make_hello(rec, CONTROL_EXEC);
	struct control_welcome welcome;

	assert_int_equal(talk_once(rec, &hello, &welcome), CONTROL_WELCOME);

	const struct process *parent = rec->processes.first;

	assert_true(child_is_answered(rec, CONTROL_FORK, none, 0));
	assert_ptr_equal(rec->processes.first, parent);
	assert_true(child_is_answered(rec, CONTROL_FORK, welcome.token, CONTROL_WELCOME));
	assert_ptr_equal(rec->processes.first->parent, parent);
	assert_ptr_equal(rec->processes.first->session, parent->session);
	/* The child has not reported itself, but loads a library. */
	assert_true(child_is_answered(rec, CONTROL_DLOPEN, welcome.token, CONTROL_PLAN));
	/* A running process cannot report itself as its own child. */
	hello = make_hello(rec, CONTROL_FORK);
	memcpy(hello.token, welcome.token, sizeof(hello.token));
	assert_int_equal(talk_once(rec, &hello, NULL), 0);
}

/*
 * A process with a token gets the newest plan of its image, as often as it asks. If the recording
 * cannot be steered, it gets none.
 */
TEST_WITH(the_newest_plan_goes_by_the_token, test_recorder_setup, test_recorder_teardown)
{
	static const uint8_t none[CONTROL_SECRET_BYTES];
	struct test_recorder *t = *state;
	struct recorder *rec = &t->rec;
	struct control_hello hello = make_hello(rec, CONTROL_EXEC);
	struct steer_change off = { .flags = STEER_OFF };
	struct control_welcome welcome;

	assert_int_equal(talk_once(rec, &hello, &welcome), CONTROL_WELCOME);
	assert_false(child_is_answered(rec, CONTROL_STEER, welcome.token, CONTROL_SET_PLAN));
	assert_int_equal(steering_change(&rec->steering, &off, NULL, NULL), -EOPNOTSUPP);

	t->settings.is_steerable = t->settings.has_agent = true;
	assert_int_equal(talk_once(rec, &hello, &welcome), CONTROL_WELCOME);

	struct process *proc = rec->processes.first;

	assert_int_equal(proc->nr_kept_modules, 1);
	assert_int_equal(atomic_load(&proc->arena->news), 0);
	atomic_store(&proc->arena->may_skip, 1);
	assert_int_equal(steering_change(&rec->steering, &off, NULL, NULL), 0);
	assert_int_equal(atomic_load(&rec->control->plan_generation), 1);
	assert_int_equal(atomic_load(&proc->arena->news), 1);
	assert_int_equal(atomic_load(&proc->arena->may_skip), 0);
	assert_int_equal(proc->plan_generation, 0);
	assert_false(child_is_answered(rec, CONTROL_STEER, none, CONTROL_SET_PLAN));
	assert_int_equal(proc->plan_generation, 0);
	/* A child that has not reported itself asks with its parent's token. */
	for (int i = 0; i < 2; i++)
		assert_true(child_is_answered(rec, CONTROL_STEER, welcome.token, CONTROL_SET_PLAN));
	assert_int_equal(proc->plan_generation, 1);
}

TEST_WITH(what_comes_too_early_ends_it, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct control_hello hello = make_hello(rec, CONTROL_EXEC);
	int fd = connect_to_recorder(rec);

	send_ready(fd);
	serve_all(rec);
	assert_int_equal(take_answer(fd, NULL), 0);
	close(fd);
	fd = connect_to_recorder(rec);
	send_module(fd, "/bin/true");
	serve_all(rec);
	assert_int_equal(take_answer(fd, NULL), 0);
	close(fd);
	/* A second HELLO ends the conversation with an error. */
	fd = connect_to_recorder(rec);
	send(fd, &hello, sizeof(hello), 0);
	send(fd, &hello, sizeof(hello), 0);
	serve_all(rec);
	assert_int_equal(take_answer(fd, NULL), CONTROL_ERROR);
	assert_int_equal(take_answer(fd, NULL), 0);
	close(fd);
	assert_int_equal(nr_open(rec), 0);
	assert_null(rec->processes.first);
}

TEST_WITH(a_crash_is_told_once, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct recorder *rec = &t->rec;
	struct control_hello hello = make_hello(rec, CONTROL_EXEC);
	struct control_hello ending = make_hello(rec, CONTROL_ENDING);
	struct control_crash crash = { .pid = 1 };
	struct control_welcome welcome;

	assert_int_equal(talk_once(rec, &hello, &welcome), CONTROL_WELCOME);
	memcpy(ending.token, welcome.token, sizeof(ending.token));
	for (int i = 0; i < 3; i++) {
		int fd = connect_to_recorder(rec);

		t->settings.reports_crashes = i > 0;
		send(fd, &ending, sizeof(ending), 0);
		send_message(fd, CONTROL_CRASH, &crash, sizeof(crash));
		serve_all(rec);
		close(fd);
		assert_true(i > 0 ? rec->channel.crashes != NULL : rec->channel.crashes == NULL);
	}
}

TEST_WITH(who_is_silent_gives_way, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct control_hello hello = make_hello(rec, CONTROL_EXEC);
	int silent[64];

	/* A single process cannot take all places for strangers. */
	for (size_t i = 0; i < ARRAY_SIZE(silent); i++) {
		silent[i] = connect_to_recorder(rec);
		serve_all(rec);
		assert_true(rec->channel.talks.strangers.nr <= 8);
	}
	/* The silent peers are forgotten when they hang up, and another peer is answered. */
	for (size_t i = 0; i < ARRAY_SIZE(silent); i++)
		close(silent[i]);
	serve_all(rec);
	assert_int_equal(nr_open(rec), 0);
	assert_int_equal(talk_once(rec, &hello, NULL), CONTROL_WELCOME);

	/* The stranger that has been silent for the longest time is turned away first. */
	rec->channel.talks.max = 2;
	for (size_t i = 0; i < 3; i++) {
		silent[i] = connect_to_recorder(rec);
		send(silent[i], &hello, sizeof(hello), 0);
		serve_all(rec);
		if (i == 1) {
			send_module(silent[0], "/bin/true");
			serve_all(rec);
		}
	}
	assert_int_equal(rec->channel.talks.believed.nr, 2);
	assert_int_equal(rec->channel.talks.nr_dropped, 1);
	assert_int_equal(take_answer(silent[0], NULL), -1);
	assert_int_equal(take_answer(silent[1], NULL), 0);
	assert_int_equal(take_answer(silent[2], NULL), -1);
	for (size_t i = 0; i < 3; i++)
		close(silent[i]);
	serve_all(rec);
	assert_int_equal(nr_open(rec), 0);
}

TEST_WITH(too_many_modules_are_left_out, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct control_hello hello = make_hello(rec, CONTROL_EXEC);
	int fd = connect_to_recorder(rec);

	send(fd, &hello, sizeof(hello), 0);
	for (unsigned i = 0; i < 66000; i++) {
		send_module(fd, "?");
		serve_all(rec);
	}
	assert_int_equal(rec->channel.talks.nr_modules_left_out, 66000 - 65536);
	send_ready(fd);
	serve_all(rec);
	assert_int_equal(take_answer(fd, NULL), CONTROL_WELCOME);
	assert_int_equal(rec->channel.talks.module_bytes, 0);
	close(fd);
}

TEST_WITH(nobody_is_waited_for_at_the_end, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct control_hello hello = make_hello(rec, CONTROL_EXEC);
	int fd = connect_to_recorder(rec);

	send(fd, &hello, sizeof(hello), 0);
	send_module(fd, "/bin/true");
	connect_to_recorder(rec);
	serve_all(rec);
	assert_int_equal(nr_open(rec), 2);
	/* The teardown closes the two connections. LeakSanitizer finds memory that is not freed. */
}

/* --- each message in each state --- */

enum where {
	STRANGER,
	REPORTING,
	ENDING,
	SERVED,
	STEERED,
	DECLARING,
	NR_WHERE
};

static int connect_in(struct recorder *rec, enum where where)
{
	struct control_hello hello = make_hello(rec, CONTROL_EXEC);
	struct control_hello ending = make_hello(rec, where == STEERED	   ? CONTROL_STEER
						      : where == DECLARING ? CONTROL_EVENTS
									   : CONTROL_ENDING);
	struct control_welcome welcome;
	int fd;

	assert_int_equal(talk_once(rec, &hello, &welcome), CONTROL_WELCOME);
	memcpy(ending.token, welcome.token, sizeof(ending.token));
	fd = connect_to_recorder(rec);
	if (where != STRANGER)
		send(fd, where == ENDING || where >= STEERED ? &ending : &hello, sizeof(hello), 0);
	if (where == SERVED)
		send_ready(fd);
	serve_all(rec);
	if (where == SERVED)
		assert_int_equal(take_answer(fd, NULL), CONTROL_WELCOME);
	return fd;
}

/* Sends the shortest message of type @type, with zeros as its content. */
static void say_empty(int fd, enum control_type type, uint32_t flags, uint32_t seq)
{
	static const struct control_shape *const shapes[] = {
		&control_module_shape,	    &control_crash_shape,     &control_welcome_shape,
		&control_plan_shape,	    &control_error_shape,     &control_hello_shape,
		&control_status_shape,	    &control_status_is_shape, &control_working_shape,
		&control_declare_shape,	    &control_declared_shape,  &control_callable_shape,
		&control_callable_is_shape,
	};
	static char packet[CONTROL_MSG_MAX];
	size_t len = sizeof(struct control_header);

	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		if (shapes[i]->type == type)
			len = shapes[i]->min_len;
	}
	memset(packet, 0, sizeof(packet));
	control_stamp(packet, type, flags, len, seq);
	send(fd, packet, len, MSG_NOSIGNAL);
}

/*
 * Returns the outcome. '.': the conversation goes on. 'x': the recorder hangs up. 'W', 'S', 'P': an
 * answer. A digit: ERROR with this verdict, then the recorder hangs up.
 */
static char outcome(struct recorder *rec, int fd)
{
	char what;

	serve_all(rec);
	switch (take_answer(fd, NULL)) {
	case -1:
		return '.';
	case 0:
		return 'x';
	case CONTROL_WELCOME:
		what = 'W';
		break;
	case CONTROL_STATUS_IS:
		what = 'S';
		break;
	case CONTROL_SET_PLAN:
		what = 'P';
		break;
	case CONTROL_ERROR:
		assert_int_equal(last.h.seq, 77);
		assert_int_equal(take_answer(fd, NULL), 0);
		return '0' + last.error.verdict;
	default:
		return '?';
	}
	assert_int_equal(last.h.seq, 77);
	assert_int_equal(take_answer(fd, NULL), -1);
	return what;
}

TEST_WITH(each_message_in_each_state, test_recorder_setup, test_recorder_teardown)
{
	static const struct {
		unsigned type;
		uint32_t flags;
		const char *outcomes; /* by state, STRANGER to DECLARING */
	} messages[] = {
		{ CONTROL_HELLO, 0, "x66666" }, /* without a secret */
		{ CONTROL_MODULE, 0, "x.6666" },
		{ CONTROL_READY, 0, "xW66P6" },
		{ CONTROL_CRASH, 0, "x6x666" },
		{ CONTROL_STATUS, 0, "xSSSSS" },
		{ CONTROL_STATUS, CONTROL_OPTIONAL, "xSSSSS" },
		{ CONTROL_READY, CONTROL_OPTIONAL, "xW66P6" },
		{ CONTROL_ERROR, CONTROL_ANSWER, "xxxxxx" },
		{ CONTROL_DECLARE, 0, "x55555" },  /* without texts */
		{ CONTROL_CALLABLE, 0, "x55555" }, /* without texts */
		/* These messages go from the recorder to a process. */
		{ CONTROL_CALLABLE_IS, CONTROL_ANSWER, "x44444" },
		{ CONTROL_DECLARED, CONTROL_ANSWER, "x44444" },
		{ CONTROL_WELCOME, CONTROL_ANSWER, "x44444" },
		{ CONTROL_PLAN, CONTROL_ANSWER, "x44444" },
		{ CONTROL_STATUS_IS, CONTROL_ANSWER, "x44444" },
		{ CONTROL_SET_PLAN, CONTROL_ANSWER, "x44444" },
		{ CONTROL_WORKING, 0, "x44444" },
		{ CONTROL_WORKING, CONTROL_OPTIONAL, "x....." },
		/* The recorder does not implement these messages yet. */
		{ CONTROL_ATTACH, 0, "x44444" },
		{ CONTROL_DETACH, 0, "x44444" },
		/* The recorder does not know these types. */
		{ 0, 0, "x44444" },
		{ CONTROL_TESTS, 0, "x44444" },
		{ CONTROL_TESTS, CONTROL_OPTIONAL, "x....." },
		{ UINT16_MAX, CONTROL_OPTIONAL, "x....." },
	};
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct record_settings *settings = &((struct test_recorder *)*state)->settings;

	settings->is_steerable = settings->has_agent = true;
	for (size_t i = 0; i < ARRAY_SIZE(messages); i++) {
		for (enum where where = STRANGER; where < NR_WHERE; where++) {
			int fd = connect_in(rec, where);

			say_empty(fd, messages[i].type, messages[i].flags, 77);

			char found = outcome(rec, fd);

			if (found != messages[i].outcomes[where])
				fail_msg("message %u in state %u: '%c'", messages[i].type, where,
					 found);
			close(fd);
			serve_all(rec);
			assert_int_equal(nr_open(rec), 0);
		}
	}
	assert_int_equal(rec->channel.talks.nr_other_version, 0);
}

/*
 * A process is told to wait while the files of a program are read, which may take long. In this
 * test every step sends that message.
 */
TEST_WITH(who_waits_is_told, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct record_settings *settings = &((struct test_recorder *)*state)->settings;
	struct control_hello hello = make_hello(rec, CONTROL_EXEC);
	int fd = connect_to_recorder(rec);
	unsigned nr = 0;

	settings->use_libcalls = true;
	rec->steering.now = *settings;
	rec->steering.now.size_filter = 1;
	rec->channel.working_ms = 0;
	send(fd, &hello, sizeof(hello), 0);
	send_module(fd, "/bin/true");
	send_ready(fd);
	serve_all(rec);
	while (recv(fd, &last, sizeof(last), MSG_DONTWAIT) == sizeof(struct control_working)) {
		assert_int_equal(last.h.type, CONTROL_WORKING);
		assert_int_equal(last.h.flags, CONTROL_OPTIONAL);
		assert_int_equal(last.h.seq, 1);
		nr++;
	}
	assert_true(nr > 0);
	assert_int_equal(last.h.type, CONTROL_WELCOME);
	/* No client waits any longer, so none is told. */
	control_tick(&rec->channel);
	assert_int_equal(take_answer(fd, NULL), -1);
	close(fd);
	serve_all(rec);
}

TEST_WITH(what_is_no_message_ends_it, test_recorder_setup, test_recorder_teardown)
{
	static const struct {
		size_t len;
		uint16_t magic;
		uint16_t version;
		uint32_t said; /* the length that the header states */
		char outcome;
	} packets[] = {
		{ sizeof(struct control_module), 0, 0, sizeof(struct control_module), '5' },
		{ 100, 1, 0, 100, '2' },
		{ 100, 0, 1, 100, '3' },
		{ 100, 0, 0, 99, '2' },
		{ 100, 0, 0, 101, '2' },
		{ CONTROL_MSG_MAX, 0, 0, CONTROL_MSG_MAX, '.' },
		/* These messages are so wrong that no answer is possible. */
		{ sizeof(struct control_header) - 1, 0, 0, 15, 'x' },
		{ CONTROL_MSG_MAX + 1, 0, 0, CONTROL_MSG_MAX + 1, 'x' },
		{ CONTROL_MSG_MAX + 1, 0, 0, CONTROL_MSG_MAX, 'x' },
	};
	struct recorder *rec = &((struct test_recorder *)*state)->rec;

	for (size_t i = 0; i < ARRAY_SIZE(packets); i++) {
		static union {
			struct control_header h;
			char bytes[CONTROL_MSG_MAX + 1];
		} packet;
		int fd = connect_in(rec, REPORTING);

		control_stamp(&packet, CONTROL_MODULE, 0, packets[i].said, 77);
		packet.h.magic += packets[i].magic;
		packet.h.version += packets[i].version;
		send(fd, &packet, packets[i].len, 0);
		assert_int_equal(outcome(rec, fd), packets[i].outcome);
		close(fd);
	}
}

/* Questions and unknown messages do no harm, but their number is limited. */
TEST_WITH(what_leads_nowhere_is_limited, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	static const unsigned types[] = { CONTROL_TESTS, CONTROL_STATUS };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		int fd = connect_in(rec, REPORTING);
		int nr = 0;

		do {
			say_empty(fd, types[i], CONTROL_OPTIONAL, 77);
			serve_all(rec);
			if (types[i] == CONTROL_STATUS)
				assert_int_equal(take_answer(fd, NULL), CONTROL_STATUS_IS);
		} while (nr_open(rec) && ++nr < 5000);
		assert_int_equal(nr, 1024);
		assert_int_equal(outcome(rec, fd), '0' + CONTROL_TOO_MANY);
		close(fd);
	}
	assert_int_equal(rec->channel.talks.nr_refused, 2);
}

/* Several requests are open at the same time: each answer names its request. */
TEST_WITH(answers_name_their_requests, test_recorder_setup, test_recorder_teardown)
{
	static const struct {
		unsigned type;
		uint32_t seq;
		int answer;
	} said[] = {
		{ CONTROL_STATUS, 12, CONTROL_STATUS_IS },
		{ CONTROL_STATUS, UINT32_MAX, CONTROL_STATUS_IS },
		{ CONTROL_READY, 13, CONTROL_WELCOME },
		{ CONTROL_STATUS, 12, CONTROL_STATUS_IS },
	};
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	int fd = connect_in(rec, REPORTING);

	atomic_store(&rec->store->taken, 4711);
	atomic_store(&rec->writers.records_lost, 3);
	for (size_t i = 0; i < ARRAY_SIZE(said); i++)
		say_empty(fd, said[i].type, 0, said[i].seq);
	serve_all(rec);
	for (size_t i = 0; i < ARRAY_SIZE(said); i++) {
		assert_int_equal(take_answer(fd, NULL), said[i].answer);
		assert_int_equal(last.h.seq, said[i].seq);
	}
	/* The last request was for the state of the recording. */
	assert_int_equal(last.status.nr_alive, 1);
	assert_int_equal(last.status.flags, 0);
	assert_int_equal(last.status.bytes_written, 4711);
	assert_int_equal(last.status.records_lost, 3);
	atomic_store(&rec->store->is_full, true);
	say_empty(fd, CONTROL_STATUS, 0, 77);
	assert_int_equal(outcome(rec, fd), 'S');
	assert_int_equal(last.status.flags, CONTROL_STATUS_FULL);
	close(fd);
}

/*
 * A HELLO of another version with the right secret is refused, and the version is noted. A
 * stranger, whose secret is wrong, cannot make the recorder note a version.
 */
TEST_WITH(other_versions_are_told, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;

	for (unsigned version = 4; version < 9; version++) {
		for (unsigned wrong = 0; wrong < 2; wrong++) {
			struct control_hello hello = make_hello(rec, CONTROL_EXEC);
			unsigned before = rec->channel.talks.nr_other_version;
			int fd = connect_to_recorder(rec);

			hello.h.seq = 77;
			hello.h.version = version;
			hello.secret[0] ^= wrong;
			send(fd, &hello, sizeof(hello), 0);
			if (version == CONTROL_VERSION)
				assert_int_equal(outcome(rec, fd), wrong ? 'x' : '.');
			else
				assert_int_equal(outcome(rec, fd), wrong ? 'x' : '3');
			assert_int_equal(rec->channel.talks.nr_other_version - before,
					 !wrong && version != CONTROL_VERSION);
			if (rec->channel.talks.nr_other_version > before)
				assert_int_equal(rec->channel.talks.other_version, version);
			close(fd);
			serve_all(rec);
		}
	}
	assert_null(rec->processes.first);
	assert_int_equal(rec->channel.talks.nr_refused, 0);
}
