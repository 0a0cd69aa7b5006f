/* The records of one task as a source, and the time of its next record. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/lib/read/events.h"
#include "tests/unit/lib/read/recording.h"
#include "utils/base/compiler.h"
#include "utils/format/bytes.h"
#include "utils/format/counter_record.h"
#include "utils/pipeline/sources/src_user.h"

/* Check the time of the next record, which is in the buffer. */
TEST(the_next_time)
{
	static const uint64_t times[] = { 1000, 1010, 2020 };
	struct src_user_plan plan = src_user_plan(1);
	struct recording rec;
	struct trace_data data;
	struct src_user src;
	struct event event;

	recording_init(&rec);
	recording_add_task(&rec, 100, "a{b{ c{", 1000);
	recording_finish(&rec);
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_int_equal(src_user_open(&src, &data, 100, &plan, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		/* Before the first record is read, the source does not know its time. */
		if (i)
			assert_int_equal(source_next_ns(&src.source), times[i]);
		assert_int_equal(source_read(&src.source, &event, 1, UINT64_MAX, NULL), 1);
		assert_int_equal(event.time_ns, times[i]);
	}
	assert_int_equal(source_read(&src.source, &event, 1, UINT64_MAX, NULL), 0);
	assert_true(source_next_ns(&src.source) == UINT64_MAX);
	src_user_close(&src);
	data_close(&data);
	recording_deinit(&rec);
}

/* --- records made by hand --- */

#define ALL UINT64_MAX

struct scene {
	struct recording rec;
	struct strbuf bytes;
	struct trace_data data;
	struct src_user src;
};

static void begin(struct scene *s)
{
	*s = (struct scene){ 0 };
	recording_init(&s->rec);
	recording_add_task(&s->rec, 100, "", 1000);
}

static void put(struct scene *s, uint64_t time_ns, enum record_type type, unsigned depth,
		uint64_t addr)
{
	recording_put(&s->rec, &s->bytes, time_ns, record_data(type, depth, addr));
}

static void put_more(struct scene *s, uint64_t time_ns, enum record_type type, unsigned depth,
		     uint64_t addr, const void *payload, size_t len)
{
	recording_put(&s->rec, &s->bytes, time_ns, record_data(type, depth, addr) | RECORD_MORE);
	strbuf_add(&s->bytes, payload, len);
}

/* Write an EVENT with its payload: the length, and that many bytes, padded. */
static void put_event(struct scene *s, uint64_t time_ns, uint64_t id, const void *payload,
		      size_t len)
{
	uint8_t head[2];

	put_more(s, time_ns, RECORD_EVENT, 0, id, "", 0);
	put_u16(head, len, s->rec.big);
	strbuf_add(&s->bytes, head, 2);
	strbuf_add(&s->bytes, payload, len);
	while (s->bytes.len % 8)
		strbuf_addch(&s->bytes, '\0');
}

static void open_records(struct scene *s)
{
	struct src_user_plan plan = src_user_plan(1);

	recording_finish(&s->rec);
	recording_add_file(&s->rec, "100.dat", s->bytes.data, s->bytes.len);
	assert_int_equal(data_open(&s->data, s->rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_int_equal(src_user_open(&s->src, &s->data, 100, &plan, NULL), 0);
}

static void end(struct scene *s)
{
	src_user_close(&s->src);
	assert_int_equal(s->src.fd, -1);
	data_close(&s->data);
	recording_deinit(&s->rec);
	strbuf_deinit(&s->bytes);
}

/*
 * Check all events, each with the length of its payload in brackets, and then the text of the error
 * without the quoted file name at its beginning.
 */
static void check(struct scene *s, size_t max, uint64_t until_ns, const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };
	struct event events[64];
	ssize_t nr;

	while ((nr = src_user_read(&s->src, events, max, until_ns, &err)) > 0) {
		for (ssize_t i = 0; i < nr; i++) {
			events[i].func = NULL;
			events[i].total_ns = events[i].self_ns = 0;
			events_put(&events[i], 1, &out);
			if (events[i].data)
				strbuf_addf(&out, "[%u]", events[i].data_len);
		}
	}
	if (nr < 0) {
		assert_int_equal(nr, -EBADMSG);
		strbuf_addf(&out, " error%s", strchr(err.text + 1, '\'') + 1);
	}
	assert_string_equal(strbuf_str(&out), expected);
}

TEST(records_of_all_types)
{
	for (unsigned big = 0; big < 2; big++) {
		struct scene s;

		begin(&s);
		s.rec.big = big;
		put(&s, 1000, RECORD_ENTRY, 0, 0x401004);
		put(&s, 1010, RECORD_ENTRY, 1, 0x401044);
		put(&s, 1005, RECORD_EXIT, 1, 0x401044);
		put(&s, 0, RECORD_LOST, 0, 7);
		put(&s, 1020, RECORD_EVENT, 1, 1000007);
		put_event(&s, 1030, 100001, "abcdefgh", 8);
		put_event(&s, 1040, 100001, "", 0);
		put(&s, 1050, RECORD_EXIT, 0, 0x401004);
		open_records(&s);
		check(&s, 64, 1029, "-{@1000.0 -{@1010.1 -}@1005.1B !@1005.0 *@1020.1");
		check(&s, 64, ALL, "*@1030.0[8] *@1040.0[0] -}@1050.0");
		assert_true(s.src.at_end);
		assert_int_equal(source_next_ns(&s.src.source), ALL);
		end(&s);
	}
}

/*
 * A loss has the time of the event before it. If it is the first event, it has the time of the one
 * after it.
 */
TEST(times_of_losses)
{
	struct scene s;

	begin(&s);
	put(&s, 0, RECORD_LOST, 0, 7);
	put(&s, 1010, RECORD_ENTRY, 0, 0x401004);
	put(&s, 0, RECORD_LOST, 0, 7);
	open_records(&s);
	check(&s, 64, 1009, "");
	check(&s, 64, ALL, "!@1010.0 -{@1010.0 !@1010.0");
	end(&s);
	begin(&s);
	put(&s, 0, RECORD_LOST, 0, 7);
	open_records(&s);
	check(&s, 64, ALL, "!@0.0");
	end(&s);
	begin(&s);
	put(&s, 0, RECORD_LOST, 0, 7);
	put(&s, 0, RECORD_LOST, 0, 8);
	put(&s, 1010, RECORD_ENTRY, 0, 0x401004);
	open_records(&s);
	check(&s, 64, ALL, "!@1010.0 !@1010.0 -{@1010.0");
	end(&s);
}

/* A loss does not get its time from bytes that are no record. */
TEST(a_loss_before_damage)
{
	struct event event;
	struct scene s;

	begin(&s);
	put(&s, 0, RECORD_LOST, 0, 7);
	put(&s, 1010, RECORD_ENTRY, 0, 0x401004);
	/* The magic of the second record becomes wrong. */
	s.bytes.data[sizeof(struct record) + offsetof(struct record, data)] ^=
		1 << RECORD_MAGIC_SHIFT;
	open_records(&s);
	assert_int_equal(src_user_read(&s.src, &event, 1, ALL, NULL), 1);
	assert_int_equal(event.type, EVENT_LOST);
	assert_int_equal(event.time_ns, 0);
	end(&s);
}

TEST(as_many_as_were_asked_for)
{
	struct scene s;

	begin(&s);
	for (unsigned i = 0; i < 5; i++)
		put(&s, 1000 + i, RECORD_ENTRY, i, 0x401004);
	open_records(&s);
	check(&s, 2, 1003, "-{@1000.0 -{@1001.1 -{@1002.2 -{@1003.3");
	assert_int_equal(src_user_offset(&s.src), 64);
	check(&s, 1, ALL, "-{@1004.4");
	end(&s);
}

/* Only the records between two offsets of the file are read. */
TEST(a_part_of_a_file)
{
	struct scene s;

	begin(&s);
	for (unsigned i = 0; i < 5; i++)
		put(&s, 1000 + i, RECORD_ENTRY, i, 0x401004);
	open_records(&s);
	src_user_limit(&s.src, 16, 64, 5000);
	check(&s, 9, ALL, "-{@1001.1B -{@1002.2 -{@1003.3");
	end(&s);
}

/* Values of counters, which take as many records as they need. */
TEST(counters)
{
	static const uint64_t values[] = { 5, 1ULL << 24, 1ULL << 48 };
	uint32_t id = EVENT_ID_COUNTER + 1;
	struct scene s;

	begin(&s);
	for (unsigned v = 0; v < ARRAY_SIZE(values); v++) {
		unsigned nr = counter_pieces(values[v]);

		for (unsigned i = 0; i < nr; i++)
			recording_put(&s.rec, &s.bytes, 1000 + v,
				      counter_piece(id, values[v], i, nr));
	}
	/*
	 * A second piece with another time, counter or type, or with a payload, does not belong to
	 * the value of the first piece.
	 */
	for (unsigned i = 0; i < 4; i++) {
		recording_put(&s.rec, &s.bytes, 1100 + i * 10, counter_piece(id, 1ULL << 24, 0, 2));
		if (i == 0)
			recording_put(&s.rec, &s.bytes, 1101, counter_piece(id, 1ULL << 24, 1, 2));
		if (i == 1)
			recording_put(&s.rec, &s.bytes, 1110,
				      counter_piece(id + 2, 1ULL << 24, 1, 2));
		if (i == 2)
			put(&s, 1120, RECORD_ENTRY, 0, 0x401004);
		if (i == 3)
			put_event(&s, 1130, 100001, "abcd", 4);
	}
	recording_put(&s.rec, &s.bytes, 1200, counter_piece(id, 1ULL << 24, 0, 2));
	open_records(&s);
	check(&s, 64, ALL,
	      "*@1000.0[16] *@1001.0[32] *@1002.0[48] *@1100.0[16] *@1101.0[16] *@1110.0[16] "
	      "*@1110.0[16] *@1120.0[16] -{@1120.0 *@1130.0[16] *@1130.0[4] *@1200.0[16]");
	end(&s);
}

/* The length of the arguments is unknown. They end at the next record that fits the stack. */
TEST(arguments_without_a_specification)
{
	static const struct {
		enum record_type first;
		unsigned depth;
		enum record_type type;
		unsigned next_depth;
		uint64_t addr;
		uint64_t time_ns;
		bool follows;
	} rows[] = {
		{ RECORD_ENTRY, 3, RECORD_ENTRY, 4, 0x401044, 1000, true },
		{ RECORD_ENTRY, 3, RECORD_ENTRY, 3, 0x401044, 1000, false },
		{ RECORD_ENTRY, 3, RECORD_ENTRY, 4, 0x401044, 999, false },
		{ RECORD_ENTRY, 3, RECORD_EXIT, 3, 0x401004, 1000, true },
		{ RECORD_ENTRY, 3, RECORD_EXIT, 3, 0x401044, 1000, false },
		{ RECORD_ENTRY, 3, RECORD_EXIT, 2, 0x401004, 1000, false },
		{ RECORD_EXIT, 3, RECORD_ENTRY, 3, 0x401044, 1000, true },
		{ RECORD_EXIT, 3, RECORD_ENTRY, 4, 0x401044, 1000, false },
		{ RECORD_EXIT, 3, RECORD_EXIT, 2, 0x401044, 1000, true },
		{ RECORD_EXIT, 3, RECORD_EXIT, 3, 0x401044, 1000, false },
		{ RECORD_EXIT, 3, RECORD_LOST, 0, 7, 0, true },
		{ RECORD_EXIT, 3, RECORD_LOST, 0, 7, 1, false },
		{ RECORD_EXIT, 3, RECORD_LOST, 1, 7, 0, false },
		{ RECORD_EXIT, 3, RECORD_EVENT, 9, 100001, 1000, true },
		{ RECORD_ENTRY, 3, RECORD_ENTRY, 4, 0x401044, 1000 + 31536000000000000, true },
		{ RECORD_ENTRY, 3, RECORD_ENTRY, 4, 0x401044, 1001 + 31536000000000000, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct event events[9];
		struct scene s;

		begin(&s);
		put_more(&s, 1000, rows[i].first, rows[i].depth, 0x401004, "abcdefghijklmnop", 16);
		put(&s, rows[i].time_ns, rows[i].type, rows[i].next_depth, rows[i].addr);
		open_records(&s);
		assert_int_equal(src_user_read(&s.src, events, 9, ALL, NULL), 1 + rows[i].follows);
		assert_null(events[0].data);
		assert_true(s.src.has_unknown_payload);
		end(&s);
	}
}

/* The length of the arguments comes from the user's specification. */
TEST(arguments_with_a_specification)
{
	struct scene s;

	begin(&s);
	put_more(&s, 1000, RECORD_ENTRY, 0, 0x401004, "\1\0\0\0\2\0\0\0\3\0\0\0\0\0\0\0", 16);
	put_more(&s, 1010, RECORD_EXIT, 0, 0x401004, "\1\0\0\0\0\0\0\0", 8);
	/* After this length comes no record, so the length is wrong. */
	put_more(&s, 1020, RECORD_ENTRY, 0, 0x401004, "\1\0\0\0\2\0\0\0\3\0\0\0\0\0\0\0abcdefgh",
		 24);
	put(&s, 1030, RECORD_EXIT, 0, 0x401004);
	/* The payload of the file's last record. */
	put_more(&s, 1040, RECORD_ENTRY, 0, 0x401004, "\1\0\0\0\2\0\0\0\3\0\0\0\0\0\0\0", 16);
	open_records(&s);
	arg_book_close(&s.data.args);
	s.data.info.argspec = strdup("a@arg1/i32,arg2/i32,arg3/i32");
	s.data.info.retspec = strdup("a@retval/i32");
	assert_int_equal(arg_book_open(&s.data.args, &s.data, NULL), 0);
	check(&s, 64, 1015, "-{@1000.0[12] -}@1010.0[4]");
	assert_false(s.src.has_unknown_payload);
	check(&s, 64, ALL, "-{@1020.0 -}@1030.0 -{@1040.0[12]");
	assert_true(s.src.has_unknown_payload);
	end(&s);
}

/*
 * A long payload ends shortly before the end of the buffer, at it, or after it. The record after
 * the payload is needed to check the length.
 */
TEST(long_arguments_at_the_end_of_a_buffer)
{
	const struct src_user_plan plan = { .buffer_bytes = SRC_USER_MIN_BUFFER };
	const unsigned most = SRC_USER_MIN_BUFFER / sizeof(struct record);
	char payload[1016] = { 0 };

	memset(payload, 'x', sizeof(payload));
	for (unsigned before = most - 70; before < most - 60; before++) {
		struct event events[64];
		unsigned nr_read = 0;
		struct scene s;
		ssize_t nr;

		begin(&s);
		put_u16((uint8_t *)payload, sizeof(payload) - 2, s.rec.big);
		for (unsigned i = 0; i < before; i++)
			put(&s, 1000 + i, RECORD_ENTRY, i, 0x401044);
		put_more(&s, 2000, RECORD_ENTRY, before, 0x401004, payload, sizeof(payload));
		for (unsigned i = 0; i < 20; i++)
			put(&s, 2001 + i, RECORD_ENTRY, before + 1 + i, 0x401044);
		open_records(&s);
		src_user_close(&s.src);
		assert_int_equal(src_user_open(&s.src, &s.data, 100, &plan, NULL), 0);
		arg_book_close(&s.data.args);
		s.data.info.argspec = strdup("a@arg1/s");
		assert_int_equal(arg_book_open(&s.data.args, &s.data, NULL), 0);
		while ((nr = src_user_read(&s.src, events, 64, ALL, NULL)) > 0) {
			for (ssize_t i = 0; i < nr; i++, nr_read++)
				assert_int_equal(events[i].data_len,
						 nr_read == before ? sizeof(payload) : 0);
		}
		assert_int_equal(nr, 0);
		assert_int_equal(nr_read, before + 21);
		assert_false(s.src.has_unknown_payload);
		end(&s);
	}
}

TEST(damage_is_told_with_its_place)
{
	struct scene s;

	begin(&s);
	put(&s, 1000, RECORD_ENTRY, 0, 0x401004);
	recording_put(&s.rec, &s.bytes, 0x1234, 0x5678);
	for (unsigned i = 0; i < 100; i++)
		put(&s, 1000, RECORD_ENTRY, 0, 0x401004);
	open_records(&s);
	check(&s, 64, ALL,
	      "-{@1000.0 error is damaged at offset 16: expected a record, found "
	      "0000000000001234 0000000000005678");
	assert_true(s.src.at_end);
	end(&s);
	/* The stated length of an event's payload is impossible. */
	for (unsigned len = 1021; len < 1025; len++) {
		struct event events[9];
		char payload[1024] = { 0 };

		begin(&s);
		put_event(&s, 1000, 100001, payload, len);
		for (unsigned i = 0; i < 100; i++)
			put(&s, 1000, RECORD_ENTRY, 0, 0x401004);
		open_records(&s);
		assert_int_equal(src_user_read(&s.src, events, 1, ALL, NULL),
				 len <= 1022 ? 1 : -EBADMSG);
		end(&s);
	}
}

/* A program was killed while it wrote a record. */
TEST(files_that_are_cut)
{
	for (size_t cut = 1; cut < 40; cut++) {
		struct scene s;

		begin(&s);
		put(&s, 1000, RECORD_ENTRY, 0, 0x401004);
		put_event(&s, 1010, 100001, "abcdefghijklmn", 14);
		s.bytes.len -= MIN(cut, (size_t)31);
		open_records(&s);
		check(&s, 64, ALL, "-{@1000.0");
		assert_true(s.src.at_end);
		end(&s);
	}
}

/* Blocks at the end were never written. */
TEST(zeros_at_the_end_are_the_end)
{
	struct scene s;

	begin(&s);
	put(&s, 1000, RECORD_ENTRY, 0, 0x401004);
	strbuf_addchars(&s.bytes, '\0', 300000);
	open_records(&s);
	check(&s, 64, ALL, "-{@1000.0");
	end(&s);
	begin(&s);
	put(&s, 1000, RECORD_ENTRY, 0, 0x401004);
	strbuf_addchars(&s.bytes, '\0', 300000);
	strbuf_addch(&s.bytes, 'x');
	open_records(&s);
	check(&s, 64, ALL,
	      "-{@1000.0 error is damaged at offset 16: expected a record, found "
	      "0000000000000000 0000000000000000");
	end(&s);
}

/* The file is longer than a buffer, and has payloads of all lengths. */
TEST(long_files)
{
	struct src_user_plan plan = { .buffer_bytes = SRC_USER_MIN_BUFFER };
	struct event events[7];
	unsigned nr_read = 0;
	char payload[1022];
	struct scene s;

	begin(&s);
	for (unsigned i = 0; i < 400; i++) {
		memset(payload, i, sizeof(payload));
		put_event(&s, 1000 + 2 * i, 100001, payload, i * 7 % 1023);
		put(&s, 1001 + 2 * i, RECORD_ENTRY, 0, 0x401004);
	}
	open_records(&s);
	for (unsigned keeps = 0; keeps < 2; keeps++) {
		src_user_close(&s.src);
		plan.keeps_open = keeps;
		assert_int_equal(src_user_open(&s.src, &s.data, 100, &plan, NULL), 0);
		nr_read = 0;
		for (ssize_t nr;
		     (nr = src_user_read(&s.src, events, 7, ALL, NULL)) > 0 || !s.src.at_end;) {
			assert_int_equal(s.src.fd >= 0, keeps);
			for (ssize_t i = 0; i < nr; i++, nr_read++) {
				assert_int_equal(events[i].time_ns, 1000 + nr_read);
				if (nr_read % 2)
					continue;
				assert_int_equal(events[i].data_len, nr_read / 2 * 7 % 1023);
				for (unsigned k = 0; k < events[i].data_len; k++)
					assert_int_equal(events[i].data[k], (uint8_t)(nr_read / 2));
			}
		}
		assert_int_equal(nr_read, 800);
	}
	assert_int_equal(src_user_offset(&s.src), s.bytes.len);
	end(&s);
}

TEST(how_memory_is_shared)
{
	assert_int_equal(src_user_plan(0).buffer_bytes, SRC_USER_MAX_BUFFER);
	assert_int_equal(src_user_plan(1).buffer_bytes, SRC_USER_MAX_BUFFER);
	assert_int_equal(src_user_plan(192).buffer_bytes, SRC_USER_MAX_BUFFER);
	assert_int_equal(src_user_plan(193).buffer_bytes, 126976);
	assert_int_equal(src_user_plan(6144).buffer_bytes, SRC_USER_MIN_BUFFER);
	assert_int_equal(src_user_plan(1000000).buffer_bytes, SRC_USER_MIN_BUFFER);
	assert_null(src_user_plan(5).blocks);
	assert_false(src_user_plan(1U << 31).keeps_open);
}

TEST(a_descriptor_may_be_handed_on)
{
	struct event event;
	struct scene s;
	int fd;

	begin(&s);
	put(&s, 1000, RECORD_ENTRY, 0, 0x401004);
	put(&s, 1001, RECORD_EXIT, 0, 0x401004);
	open_records(&s);
	assert_int_equal(src_user_take_fd(&s.src), -1);
	s.src.keeps_open = true;
	assert_int_equal(src_user_read(&s.src, &event, 1, ALL, NULL), 1);
	fd = src_user_take_fd(&s.src);
	assert_true(fd >= 0);
	assert_int_equal(s.src.fd, -1);
	s.src.fd = fd;
	s.src.keeps_open = false;
	assert_int_equal(src_user_take_fd(&s.src), -1);
	src_user_release(&s.src);
	assert_int_equal(s.src.fd, -1);
	assert_null(s.src.buf);
	end(&s);
}

TEST(a_file_that_is_not_there)
{
	struct uft_err err = { 0 };
	struct event event;
	struct scene s;
	char path[96];

	begin(&s);
	put(&s, 1000, RECORD_ENTRY, 0, 0x401004);
	open_records(&s);
	snprintf(path, sizeof(path), "%s/100.dat", s.rec.dir);
	unlink(path);
	assert_int_equal(src_user_read(&s.src, &event, 1, ALL, &err), -ENOENT);
	assert_non_null(strstr(err.text, path));
	end(&s);
}

/* Descriptor 0 is as good as any other: a command may run with its standard input closed. */
TEST(a_descriptor_may_be_zero)
{
	struct event event;
	struct scene s;
	int kept = dup(0);

	begin(&s);
	put(&s, 1000, RECORD_ENTRY, 0, 0x401004);
	put(&s, 1001, RECORD_EXIT, 0, 0x401004);
	open_records(&s);
	s.src.keeps_open = true;
	close(0);
	assert_int_equal(src_user_read(&s.src, &event, 1, ALL, NULL), 1);
	assert_int_equal(s.src.fd, 0);
	assert_int_equal(src_user_take_fd(&s.src), 0);
	assert_int_equal(s.src.fd, -1);
	assert_int_equal(src_user_take_fd(&s.src), -1);
	/* A release closes the descriptor. */
	s.src.fd = 0;
	src_user_release(&s.src);
	assert_int_equal(s.src.fd, -1);
	assert_int_equal(fcntl(0, F_GETFD), -1);
	if (kept >= 0) {
		assert_int_equal(dup2(kept, 0), 0);
		close(kept);
	}
	end(&s);
}

/*
 * A record announces a payload that the file does not have. The record is the cut end of the file
 * if fewer bytes follow than the longest payload takes. Otherwise it is damage.
 */
TEST(damage_or_the_end_of_a_cut_file)
{
	for (size_t after = 1000; after <= 1048; after += 8) {
		bool is_end = after < 1024;
		struct uft_err err = { 0 };
		struct event event;
		struct scene s;

		begin(&s);
		put(&s, 1000, RECORD_ENTRY, 0, 0x401004);
		put_more(&s, 1010, RECORD_EVENT, 0, 100001, "\377\3", 2);
		strbuf_addchars(&s.bytes, 'x', after - 2);
		open_records(&s);
		assert_int_equal(src_user_read(&s.src, &event, 1, ALL, &err), 1);
		assert_int_equal(src_user_read(&s.src, &event, 1, ALL, &err),
				 is_end ? 0 : -EBADMSG);
		assert_int_equal(err.code, is_end ? 0 : -EBADMSG);
		assert_true(s.src.at_end);
		assert_int_equal(source_next_ns(&s.src.source), ALL);
		end(&s);
	}
	/* A record with a wrong magic is damage, even at the end. */
	for (size_t after = 0; after < 16; after += 8) {
		struct event event;
		struct scene s;

		begin(&s);
		recording_put(&s.rec, &s.bytes, 1010, 5);
		strbuf_addchars(&s.bytes, 'x', after);
		open_records(&s);
		assert_int_equal(src_user_read(&s.src, &event, 1, ALL, NULL), -EBADMSG);
		end(&s);
	}
}

/* At most 16 losses are skipped to find a time for the first one. */
TEST(times_of_many_losses)
{
	for (unsigned nr = 14; nr < 20; nr++) {
		struct event events[32];
		struct scene s;

		begin(&s);
		for (unsigned i = 0; i < nr; i++)
			put(&s, 0, RECORD_LOST, 0, 7);
		put(&s, 1010, RECORD_ENTRY, 0, 0x401004);
		put(&s, 1020, RECORD_EXIT, 0, 0x401004);
		open_records(&s);
		assert_int_equal(src_user_read(&s.src, events, 32, ALL, NULL), nr + 2);
		for (unsigned i = 0; i < nr; i++)
			assert_int_equal(events[i].time_ns, i + 16 < nr ? 0 : 1010);
		end(&s);
	}
}

/* The next time is that of the next record, or the last time known. */
TEST(next_times_without_a_record)
{
	struct event event;
	struct scene s;

	begin(&s);
	put(&s, 1000, RECORD_ENTRY, 0, 0x401004);
	put(&s, 0, RECORD_LOST, 0, 7);
	put(&s, 1020, RECORD_EXIT, 0, 0x401004);
	open_records(&s);
	assert_int_equal(source_next_ns(&s.src.source), 0);
	s.data.tasks[0].first_ns = 77;
	assert_int_equal(source_next_ns(&s.src.source), 77);
	src_user_limit(&s.src, 16, ALL, 900);
	assert_int_equal(source_next_ns(&s.src.source), 900);
	src_user_limit(&s.src, 0, ALL, 0);
	assert_int_equal(src_user_read(&s.src, &event, 1, ALL, NULL), 1);
	/* The loss is next. It has the time of the record before it. */
	assert_int_equal(source_next_ns(&s.src.source), 1000);
	assert_int_equal(src_user_last_ns(&s.src), 1000);
	assert_int_equal(src_user_read(&s.src, &event, 1, ALL, NULL), 1);
	assert_int_equal(source_next_ns(&s.src.source), 1020);
	assert_int_equal(src_user_read(&s.src, &event, 1, ALL, NULL), 1);
	assert_int_equal(src_user_read(&s.src, &event, 1, ALL, NULL), 0);
	assert_int_equal(source_next_ns(&s.src.source), ALL);
	end(&s);
}

/* A source at the end of its file goes on when the file has grown, but not after damage. */
TEST(a_file_that_has_grown)
{
	for (unsigned damaged = 0; damaged < 2; damaged++) {
		struct event event;
		struct scene s;
		char path[128];
		FILE *file;

		begin(&s);
		put(&s, 1000, RECORD_ENTRY, 0, 0x401004);
		open_records(&s);
		assert_int_equal(src_user_read(&s.src, &event, 1, ALL, NULL), 1);
		assert_int_equal(src_user_read(&s.src, &event, 1, ALL, NULL), 0);
		assert_true(s.src.at_end && s.src.file_ended);
		put(&s, 1010, RECORD_EXIT, 0, 0x401004);
		snprintf(path, sizeof(path), "%s/100.dat", s.rec.dir);
		file = fopen(path, "a");
		assert_int_equal(fwrite(s.bytes.data + 16, 1, 16, file), 16);
		fclose(file);
		s.src.is_damaged = damaged;
		s.src.place.space = (struct addr_space *)&s;
		assert_int_equal(source_more(&s.src.source, NULL), 0);
		assert_null(s.src.place.space);
		assert_int_equal(s.src.at_end, damaged);
		assert_int_equal(s.src.file_ended, damaged);
		if (!damaged) {
			assert_int_equal(src_user_read(&s.src, &event, 1, ALL, NULL), 1);
			assert_int_equal(event.time_ns, 1010);
			assert_int_equal(event.type, EVENT_EXIT);
		}
		end(&s);
	}
}

/* The buffer must hold the longest payload, and the records before and after it. */
TEST(when_a_buffer_is_filled)
{
	static const struct {
		bool file_ended;
		bool is_whole;
		size_t len;
		bool wants;
	} rows[] = {
		{ false, false, 1055, true }, { false, false, 1056, false },
		{ true, false, 0, false },    { true, false, 1055, false },
		{ false, true, 15, true },    { false, true, 16, false },
		{ true, true, 15, false },
	};
	static uint8_t bytes[2048];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct src_user src = {
			.file_ended = rows[i].file_ended,
			.is_whole = rows[i].is_whole,
			.buf = bytes,
			.at = 100,
			.len = 100 + rows[i].len,
		};
		struct plain_records records;

		assert_int_equal(src_user_wants_refill(&src), rows[i].wants);
		assert_int_equal(src_user_plain(&src, ALL, &records), !rows[i].wants);
		/* Payloads that are lent take too much memory. */
		src.beside.lent_bytes = (1 << 20) + 1;
		assert_true(src_user_wants_refill(&src));
		assert_false(src_user_plain(&src, ALL, &records));
	}
}

/* Calls are taken one by one up to an offset, or as far as all payloads would fit. */
TEST(plain_records_of_a_buffer)
{
	static const struct {
		bool file_ended;
		size_t len;
		uint64_t offset; /* in the file, whose byte 5000 is the first one in the buffer */
		size_t bytes;
	} rows[] = {
		{ false, 2000, ALL, 960 }, { false, 1060, ALL, 20 },  { false, 2000, 5960, 960 },
		{ false, 2000, 5032, 47 }, { false, 2000, 5000, 15 }, { true, 2000, ALL, 2000 },
		{ true, 32, ALL, 32 },	   { true, 32, 5000, 15 },    { true, 32, 5016, 31 },
		{ true, 32, 5032, 32 },
	};
	static uint8_t bytes[2048];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct plain_records records = { 0 };
		struct src_user src = {
			.file_ended = rows[i].file_ended,
			.buf = bytes,
			.at = 8,
			.len = 8 + rows[i].len,
			.next_offset = 5000 + rows[i].len,
			.last_ns = 321,
		};

		assert_true(src_user_plain(&src, rows[i].offset, &records));
		assert_ptr_equal(records.at, bytes + 8);
		assert_int_equal(records.end - records.at, rows[i].bytes);
		assert_int_equal(records.last_ns, 321);
		src.is_swapped = true;
		assert_false(src_user_plain(&src, ALL, &records));
		src.is_swapped = false;
		src.at_end = true;
		assert_false(src_user_plain(&src, ALL, &records));
		src.at_end = false;
		src.buf = NULL;
		assert_false(src_user_plain(&src, ALL, &records));
	}
}

/* Files stay open if the limit of descriptors leaves 64 for other purposes. */
TEST(descriptors_that_are_spared)
{
	struct rlimit before;
	struct rlimit low;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	low = before;
	low.rlim_cur = 100;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	assert_true(src_user_plan(1).keeps_open);
	assert_true(src_user_plan(36).keeps_open);
	assert_false(src_user_plan(37).keeps_open);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}
