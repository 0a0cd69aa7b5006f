/* Events that the probe reads, watches and creates itself. */
#include "tests/unit/lib/read/kinds.h"

#include "tests/unit/lib/read/recording.h"
#include "utils/format/bytes.h"

/* Check an event whose payload is @nr numbers of 64 bits. */
static void check(uint64_t id, uint64_t a, uint64_t b, uint64_t c, unsigned nr, const char *text,
		  const char *fields)
{
	for (int big = 0; big < 2; big++) {
		uint8_t bytes[24];

		put_u64(bytes, a, big);
		put_u64(bytes + 8, b, big);
		put_u64(bytes + 16, c, big);
		kind_check_data(id, bytes, 8 * nr, big, text, fields);
	}
}

TEST(what_was_read)
{
	check(EVENT_ID_READ_STATM, 1, 2, 3, 3, "vmsize=1KB vmrss=2KB shared=3KB",
	      "vmsize:u=0x1 vmrss:u=0x2 shared:u=0x3");
	check(EVENT_ID_DIFF_STATM, 1, 2, 3, 3, "vmsize=+1KB vmrss=+2KB shared=+3KB",
	      "vmsize:d=0x1 vmrss:d=0x2 shared:d=0x3");
	check(EVENT_ID_READ_PAGE_FAULT, 1, 2, 0, 2, "major=1 minor=2", "major:u=0x1 minor:u=0x2");
	check(EVENT_ID_DIFF_PAGE_FAULT, 1, 2, 0, 2, "major=+1 minor=+2", "major:d=0x1 minor:d=0x2");
	check(EVENT_ID_READ_PMU_CYCLE, 1, 2, 0, 2, "cycles=1 instructions=2",
	      "cycles:u=0x1 instructions:u=0x2");
	check(EVENT_ID_READ_PMU_CACHE, 1, 2, 0, 2, "refers=1 misses=2",
	      "refers:u=0x1 misses:u=0x2");
	check(EVENT_ID_READ_PMU_BRANCH, 1, 2, 0, 2, "branch=1 misses=2",
	      "branch:u=0x1 misses:u=0x2");
	check(EVENT_ID_CALLSITE, 0x1234, 0, 0, 1, "", "address:a=0x1234");
}

TEST(rates)
{
	check(EVENT_ID_DIFF_PMU_CYCLE, 4, 6, 0, 2, "cycles=+4 instructions=+6 IPC=1.50",
	      "cycles:d=0x4 instructions:d=0x6 IPC:r=1.500");
	check(EVENT_ID_DIFF_PMU_CACHE, 8, 2, 0, 2, "refers=+8 misses=+2 hit=75.00%",
	      "refers:d=0x8 misses:d=0x2 hit:p=75.000");
	check(EVENT_ID_DIFF_PMU_BRANCH, 3, 1, 0, 2, "branch=+3 misses=+1 predict=66.67%",
	      "branch:d=0x3 misses:d=0x1 predict:p=66.667");
	check(EVENT_ID_DIFF_PMU_BRANCH, 1, 1, 0, 2, "branch=+1 misses=+1 predict=0.00%",
	      "branch:d=0x1 misses:d=0x1 predict:p=0.000");
	/* There is no rate of zero. */
	check(EVENT_ID_DIFF_PMU_CYCLE, 0, 6, 0, 2, "cycles=+0 instructions=+6",
	      "cycles:d=0 instructions:d=0x6");
	check(EVENT_ID_DIFF_PMU_CACHE, 0, 0, 0, 2, "refers=+0 misses=+0", "refers:d=0 misses:d=0");
	/* An event that has only one of the two numbers has no rate, either. */
	check(EVENT_ID_DIFF_PMU_CYCLE, 4, 6, 0, 1, "cycles=+4", "cycles:d=0x4");
}

TEST(processors)
{
	kind_check_data(EVENT_ID_WATCH_CPU, "\3\0\0\0", 4, false, "cpu=3", "cpu:i=3");
	kind_check_data(EVENT_ID_WATCH_CPU, "\377\377\377\376", 4, true, "cpu=-2", "cpu:i=-2");
}

/* Variables of all lengths, on machines of 32 and 64 bits. */
TEST(variables)
{
	static const uint8_t bytes[] = { 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x19,
					 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x21 };
	static const struct {
		bool is_64;
		bool big;
		size_t len;
		const char *text;
		const char *fields;
	} rows[] = {
		{ true, false, 8, "", "" },
		{ true, false, 9, "[0x807060504030201]=19",
		  "address:a=0x807060504030201 value:x=0x19" },
		{ true, true, 11, "[0x102030405060708]=191a1b",
		  "address:a=0x102030405060708 value:x=0x191a1b" },
		{ true, false, 16, "[0x807060504030201]=201f1e1d1c1b1a19",
		  "address:a=0x807060504030201 value:x=0x201f1e1d1c1b1a19" },
		{ true, false, 17, "", "" },
		{ false, false, 4, "", "" },
		{ false, false, 5, "[0x4030201]=5", "address:a=0x4030201 value:x=0x5" },
		{ false, true, 12, "[0x1020304]=5060708191a1b1c",
		  "address:a=0x1020304 value:x=0x5060708191a1b1c" },
		{ false, false, 13, "", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct trace_data data = { .header.elf_class = rows[i].is_64
									     ? HEADER_CLASS_64
									     : HEADER_CLASS_32,
						 .is_big_endian = rows[i].big };
		uint8_t *copy = exact_copy(bytes, rows[i].len);
		const struct event event = { .id = EVENT_ID_WATCH_VAR,
					     .data = copy,
					     .data_len = rows[i].len };
		const struct event_context context = { &data, NULL, &event, false };

		kind_check(&context, rows[i].text, rows[i].fields);
		free(copy);
	}
	kind_check_data(EVENT_ID_WATCH_VAR, NULL, 12, false, "", "");
}

/* Names come from the task's session, if a module has a symbol for the address. */
TEST(variables_have_names)
{
	static const struct {
		uint64_t addr;
		const char *text;
	} rows[] = {
		{ 0x401000, "a=7" },	      { 0x40103f, "a=7" },
		{ 0x401040, "b=7" },	      { 0x400000, "[0x400000]=7" },
		{ 0x3fffff, "[0x3fffff]=7" }, { 0x500000, "[0x500000]=7" },
	};
	struct trace_data data;
	struct recording rec;

	recording_init(&rec);
	recording_add_task(&rec, 100, "a{}", 1000);
	recording_finish(&rec);
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint8_t bytes[9];
		const struct event event = {
			.id = EVENT_ID_WATCH_VAR, .time_ns = 1000, .data = bytes, .data_len = 9
		};
		struct event_context context = { &data, &data.tasks[0], &event, false };
		struct strbuf out cleanup_strbuf = { 0 };

		put_u64(bytes, rows[i].addr, false);
		bytes[8] = 7;
		event_kind_put(event_kind_fixed(event.id), &context, &out);
		assert_string_equal(strbuf_str(&out), rows[i].text);
	}
	data_close(&data);
	recording_deinit(&rec);
}
