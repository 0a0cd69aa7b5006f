/*
 * Calls of compact blocks on their way to a view: payloads, and damaged blocks with correct
 * checksums.
 */
#include "tests/unit/lib/unit.h"

#include <unistd.h>

#include "tests/unit/lib/read/recording.h"
#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/format/calls/compact_tokens.h"
#include "utils/format/header.h"
#include "utils/pipeline/recording/compact_file.h"
#include "utils/pipeline/sources/compact_cursor.h"

#define TID 100

static struct recording rec;
static struct pipeline_config config;
/* The specifications of payloads as record -A and -R write them; NULL: none. */
static const char *argspec;
static const char *retspec;
/* The time of the first event of the last run(), and that at which its recording begins. */
static uint64_t event_ns;
static uint64_t begin_ns;
/* ENTRY and EXIT are written with their depths. */
static bool shows_depths;

static int setup(void **state)
{
	recording_init(&rec);
	pipeline_config_init(&config);
	config.order = PIPELINE_BY_TASK;
	return 0;
}

static int teardown(void **state)
{
	recording_deinit(&rec);
	return 0;
}

/* Writes ENTRY and EXIT with the bytes of their payloads, in hex; LOST as "!N". */
static int write_events(void *self, const struct event_span *span, struct uft_err *err)
{
	if (span->nr && event_ns == UINT64_MAX)
		event_ns = span->events[0].time_ns;
	for (size_t i = 0; i < span->nr; i++) {
		const struct event *event = &span->events[i];

		if (event->type == EVENT_LOST) {
			strbuf_addf(self, "!%d ", (int)event->addr);
			continue;
		}
		strbuf_addf(self, "%s%c", event->func->name, event->type ? '}' : '{');
		for (size_t k = 0; event->data && k < event->data_len; k++)
			strbuf_addf(self, "%02x", event->data[k]);
		if (shows_depths)
			strbuf_addf(self, "%u", event->depth);
		strbuf_addch(self, ' ');
	}
	return 0;
}

/* Writes the events to @out. Returns whether damage was reported. */
static bool run(struct strbuf *out)
{
	const struct view view = { write_events, out };
	struct trace_data data;
	struct pipeline pipe;
	bool is_broken;

	recording_finish(&rec);
	strbuf_reset(out);
	event_ns = UINT64_MAX;
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	if (argspec) {
		arg_book_close(&data.args);
		data.info.argspec = strdup(argspec);
		data.info.retspec = strdup(retspec);
		assert_int_equal(arg_book_open(&data.args, &data, NULL), 0);
	}
	assert_int_equal(pipeline_open(&pipe, &data, &config, NULL), 0);
	assert_int_equal(pipeline_run(&pipe, &view, NULL), 0);
	is_broken = pipe.broken.code;
	begin_ns = pipe.first_ns;
	pipeline_close(&pipe);
	data_close(&data);
	return is_broken;
}

/* Read the whole file, and the head of its first block. */
static void read_file(struct strbuf *file, struct compact_head *head)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%d.cdat", rec.dir, TID);
	assert_int_equal(file_read_all(path, 1 << 20, file, NULL), 0);
	assert_true(compact_head_decode((uint8_t *)file->data, head));
}

/*
 * Replace @len bytes of tokens at @at in the first block by those of @put, and correct the
 * checksums.
 */
static void change_tokens(size_t at, size_t len, const char *put)
{
	struct strbuf file cleanup_strbuf = { 0 };
	struct strbuf body cleanup_strbuf = { 0 };
	struct strbuf out cleanup_strbuf = { 0 };
	uint8_t bytes[COMPACT_HEAD_BYTES];
	struct compact_head head;
	char name[32];

	read_file(&file, &head);

	const char *old = file.data + COMPACT_HEAD_BYTES;
	size_t end = COMPACT_HEAD_BYTES + head.body_len;

	assert_true(at + len <= head.tokens_len);
	strbuf_add(&body, old, at);
	strbuf_addstr(&body, put);
	strbuf_add(&body, old + at + len, head.body_len - at - len);
	head.tokens_len = head.tokens_len - len + strlen(put);
	head.body_len = body.len;
	head.sum = compact_sum((uint8_t *)body.data, body.len);
	compact_head_encode(&head, bytes);
	strbuf_add(&out, bytes, sizeof(bytes));
	strbuf_add(&out, body.data, body.len);
	strbuf_add(&out, file.data + end, file.len - end);
	snprintf(name, sizeof(name), "%d.cdat", TID);
	recording_add_file(&rec, name, out.data, out.len);
}

static uint32_t tokens_of_first(void)
{
	struct strbuf file cleanup_strbuf = { 0 };
	struct compact_head head;

	read_file(&file, &head);
	return head.tokens_len;
}

/*
 * The damage is found after half of the block was shown. The rest of the block is lost; all later
 * blocks are shown.
 */
TEST_WITH(damage_behind_good_sums, setup, teardown)
{
	struct strbuf out cleanup_strbuf = { 0 };
	uint32_t len;

	recording_add_task(&rec, TID, "a{b{}b{}b{}}c{d{}d{}d{}}", 1000);
	recording_pack(&rec, TID, 128);
	assert_false(run(&out));
	assert_string_equal(strbuf_str(&out), "a{ b{ b} b{ b} b{ b} a} c{ d{ d} d{ d} d{ d} c} ");
	len = tokens_of_first();
	/* The last token is missing. */
	change_tokens(len - 1, 1, "");
	assert_true(run(&out));
	assert_string_equal(strbuf_str(&out), "a{ b{ b} b{ b} b{ b} !1 c{ d{ d} d{ d} d{ d} c} ");
	recording_pack(&rec, TID, 128);
	/* The last token becomes an unknown escape, then an unknown function. */
	change_tokens(len - 2, 2, "\x1b");
	assert_true(run(&out));
	assert_string_equal(strbuf_str(&out), "a{ b{ b} b{ b} b{ !2 c{ d{ d} d{ d} d{ d} c} ");
	recording_pack(&rec, TID, 128);
	change_tokens(len - 2, 2, "\x2a\x7f");
	assert_true(run(&out));
	assert_string_equal(strbuf_str(&out), "a{ b{ b} b{ b} b{ !2 c{ d{ d} d{ d} d{ d} c} ");
	/*
	 * There is one token more than records: all records are shown, and the damage is reported.
	 */
	recording_pack(&rec, TID, 128);
	change_tokens(len, 0, "\x28");
	assert_true(run(&out));
	assert_string_equal(strbuf_str(&out), "a{ b{ b} b{ b} b{ b} a} c{ d{ d} d{ d} d{ d} c} ");
}

/* Change a byte of block @nr, so that the checksum of the block is wrong. */
static void break_block(unsigned nr)
{
	struct strbuf file cleanup_strbuf = { 0 };
	struct compact_head head;
	size_t at = 0;
	char name[32];

	read_file(&file, &head);
	for (; nr > 0; nr--) {
		at += COMPACT_HEAD_BYTES + head.body_len;
		assert_true(compact_head_decode((uint8_t *)file.data + at, &head));
	}
	file.data[at + COMPACT_HEAD_BYTES] ^= 1;
	snprintf(name, sizeof(name), "%d.cdat", TID);
	recording_add_file(&rec, name, file.data, file.len);
}

/* If the first block is damaged, the recording begins with the next one, and not at time 0. */
TEST_WITH(damage_of_the_first_block, setup, teardown)
{
	struct strbuf out cleanup_strbuf = { 0 };

	recording_add_task(&rec, TID, "a{b{}b{}b{}}c{d{}d{}d{}}", 1000);
	recording_pack(&rec, TID, 128);
	assert_false(run(&out));
	assert_int_equal(begin_ns, 1000);
	break_block(0);
	assert_true(run(&out));
	assert_string_equal(strbuf_str(&out), "!8 c{ d{ d} d{ d} d{ d} c} ");
	assert_int_equal(event_ns, 1080);
	assert_int_equal(begin_ns, 1080);
	/* A damage that only the decoder finds has the same result. */
	recording_pack(&rec, TID, 128);
	change_tokens(0, 1, "\x1b");
	assert_true(run(&out));
	assert_non_null(strstr(strbuf_str(&out), "c{ d{ d} d{ d} d{ d} c} "));
	assert_true(event_ns >= 1000 && event_ns <= 1080);
	assert_int_equal(begin_ns, event_ns);
}

/*
 * Payloads are shown with their calls if the specifications of their functions are known. Otherwise
 * blocks are decoded to records.
 */
TEST_WITH(payloads, setup, teardown)
{
	const uint64_t a = recording_addr("a"), b = recording_addr("b");
	static const uint64_t words[] = { 7, 0x4241000200000009ULL };
	struct strbuf file cleanup_strbuf = { 0 };
	struct strbuf plain cleanup_strbuf = { 0 };
	struct strbuf out cleanup_strbuf = { 0 };
	uint64_t now_ns = 1000;

	recording_add_task(&rec, TID, "", 1000);
	rec.features = FEAT_ARGUMENT | FEAT_RETVAL;
	/* The fast path is taken only when the first call is known. */
	recording_put(&rec, &file, now_ns, record_data(RECORD_ENTRY, 0, recording_addr("c")));
	recording_put(&rec, &file, now_ns += 10, record_data(RECORD_EXIT, 0, recording_addr("c")));
	for (int i = 0; i < 20; i++) {
		recording_put(&rec, &file, now_ns += 10,
			      record_data(RECORD_ENTRY, 0, a) | RECORD_MORE);
		strbuf_add(&file, &words[1], 8);
		for (int k = 0; k < i % 3; k++) {
			recording_put(&rec, &file, now_ns += 10,
				      record_data(RECORD_ENTRY, 1, b) | RECORD_MORE);
			strbuf_add(&file, &words[0], 8);
			/* One payload is longer than its specification. */
			if (i == 17 && k == 1)
				strbuf_add(&file, &words[0], 8);
			recording_put(&rec, &file, now_ns += 10, record_data(RECORD_EXIT, 1, b));
		}
		recording_put(&rec, &file, now_ns += 10,
			      record_data(RECORD_EXIT, 0, a) | RECORD_MORE);
		strbuf_add(&file, &words[0], 8);
	}
	recording_add_file(&rec, "100.dat", file.data, file.len);
	argspec = "a@arg1/u32,arg2/s;b@arg1/u64";
	retspec = "a@retval/u64";
	run(&plain);
	recording_pack(&rec, TID, COMPACT_RAW_MAX);
	run(&out);
	assert_string_equal(strbuf_str(&out), strbuf_str(&plain));
	assert_non_null(strstr(strbuf_str(&out), "a{0900000002004142 b{0700000000000000 b} "));
	argspec = NULL;
	retspec = NULL;
}

/* After lost calls, the depth is that of the next record, also if it ends a call. */
TEST_WITH(depths_after_damage, setup, teardown)
{
	static const struct {
		const char *tree;
		const char *whole;
		const char *damaged;
	} rows[] = {
		{ "a{b{b{b{}}c{}}}", "a{0 b{1 b{2 b{3 b}3 b}2 c{2 c}2 b}1 a}0 ",
		  "a{0 b{1 b{2 b{3 !4 b}1 a}0 " },
		{ "a{b{b{b{}}}}c{}", "a{0 b{1 b{2 b{3 b}3 b}2 b}1 a}0 c{0 c}0 ",
		  "a{0 b{1 b{2 b{3 !4 c{0 c}0 " },
		{ "a{b{}b{c{d{e{f{}}}}}}",
		  "a{0 b{1 b}1 b{1 c{2 d{3 e{4 f{5 f}5 e}4 d}3 c}2 b}1 a}0 ",
		  "a{0 b{1 b}1 b{1 !4 f}5 e}4 d}3 c}2 b}1 a}0 " },
	};

	shows_depths = true;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct strbuf out cleanup_strbuf = { 0 };

		recording_add_task(&rec, TID, rows[i].tree, 1000);
		recording_pack(&rec, TID, 64);
		assert_false(run(&out));
		assert_string_equal(strbuf_str(&out), rows[i].whole);
		break_block(1);
		assert_true(run(&out));
		assert_string_equal(strbuf_str(&out), rows[i].damaged);
		strbuf_reset(&rec.task_txt);
		strbuf_addstr(&rec.task_txt, "SESS timestamp=0.000000100 pid=100 "
					     "sid=0123456789abcdef exename=\"/x/prog\"\n");
	}
	shows_depths = false;
}

/* A block is opened by the offset of its first byte, if it is good and ends with a record. */
TEST_WITH(blocks_that_are_opened, setup, teardown)
{
	struct compact_cursor *cursor = compact_cursor_create(NULL, false);
	struct compact_file file = { 0 };
	char path[128];
	int fd;

	assert_non_null(cursor);
	recording_add_task(&rec, TID, "a{b{}}c{d{}}", 1000);
	recording_pack(&rec, TID, 64);
	snprintf(path, sizeof(path), "%s/%d.cdat", rec.dir, TID);
	fd = file_open_regular(path, NULL);
	assert_true(fd >= 0);
	assert_int_equal(compact_file_look(&file, fd), 0);
	assert_int_equal(file.nr, 2);
	for (uint64_t raw = 0; raw <= 130; raw++) {
		cursor->raw_end = 77;
		assert_int_equal(compact_cursor_open(cursor, &file, fd, raw),
				 raw == 0 || raw == 64);
		assert_int_equal(cursor->raw_end, raw == 0 ? 64 : raw == 64 ? 128 : 0);
		if (!cursor->raw_end)
			continue;
		assert_int_equal(cursor->at, file.places[raw / 64].at);
		/* The functions have their addresses, and are not named yet. */
		for (unsigned i = 1; i <= 2; i++) {
			const char name[] = { 'a' + 2 * (raw / 64) + i - 1, '\0' };

			assert_int_equal(cursor->named[i].addr, recording_addr(name));
			assert_null(cursor->named[i].func);
			assert_null(cursor->named[i].args);
		}
	}
	cursor->named[1].func = (const struct func *)cursor;
	compact_cursor_forget_names(cursor, (const struct addr_space *)&file);
	assert_null(cursor->named[1].func);
	assert_ptr_equal(cursor->space, &file);
	/* The cursor opens no block whose head was not found, and no damaged block. */
	file.places[0].has_head = false;
	assert_false(compact_cursor_open(cursor, &file, fd, 0));
	file.places[0].has_head = true;
	assert_true(compact_cursor_open(cursor, &file, fd, 0));
	close(fd);
	break_block(0);
	fd = file_open_regular(path, NULL);
	assert_false(compact_cursor_open(cursor, &file, fd, 0));
	assert_int_equal(cursor->raw_end, 0);
	assert_true(compact_cursor_open(cursor, &file, fd, 64));
	close(fd);
	assert_false(compact_cursor_open(cursor, &file, -1, 64));
	compact_cursor_destroy(cursor);
	compact_cursor_destroy(NULL);
	compact_file_deinit(&file);
}

/* A block that ends within a record is not read call by call. */
TEST_WITH(a_block_that_ends_within_a_record, setup, teardown)
{
	struct compact_cursor *cursor = compact_cursor_create(NULL, false);
	struct compact_file file = { 0 };
	char path[128];
	int fd;

	recording_add_task(&rec, TID, "a{b{}}", 1000);
	recording_pack(&rec, TID, 40);
	snprintf(path, sizeof(path), "%s/%d.cdat", rec.dir, TID);
	fd = file_open_regular(path, NULL);
	assert_int_equal(compact_file_look(&file, fd), 0);
	assert_int_equal(file.nr, 2);
	assert_false(compact_cursor_open(cursor, &file, fd, 0));
	assert_int_equal(cursor->raw_end, 0);
	compact_cursor_destroy(cursor);
	compact_file_deinit(&file);
	close(fd);
}
