/* The questions that each type of event answers: its row, its fields and its text. */
#include "tests/unit/lib/read/kinds.h"

static const uint8_t bytes[] = { 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0x81, 0x82,
				 0x83, 0x84, 0x85, 0x86, 0x87, 'a',  'b',  'c',	 0,    'd' };

/* Check the text of an event with these fields, and with the first @len of the bytes. */
static void check(const struct event_field *fields, size_t nr, size_t len, bool big, bool is_raw,
		  const char *text)
{
	const struct event_kind kind = { .id = 1, .name = "x", .fields = fields, .nr_fields = nr };
	const struct trace_data data = { .is_big_endian = big };
	uint8_t *copy = exact_copy(bytes, len);
	const struct event event = { .data = copy, .data_len = len };
	const struct event_context context = { &data, NULL, &event, is_raw };
	struct strbuf out cleanup_strbuf = { 0 };

	event_kind_put(&kind, &context, &out);
	assert_string_equal(strbuf_str(&out), text);
	free(copy);
}

TEST(numbers_of_all_sizes)
{
	static const struct event_field fields[] = {
		{ "a", FIELD_HEX, 1 },
		{ "b", FIELD_HEX, 2 },
		{ "c", FIELD_HEX, 4 },
		{ "d", FIELD_HEX, 8 },
	};

	check(fields, 4, 15, false, false, "a=0xf1 b=0xf3f2 c=0xf7f6f5f4 d=0x87868584838281f8");
	check(fields, 4, 15, true, false, "a=0xf1 b=0xf2f3 c=0xf4f5f6f7 d=0xf881828384858687");
	/* A missing field is not shown. */
	check(fields, 4, 14, false, false, "a=0xf1 b=0xf3f2 c=0xf7f6f5f4");
	check(fields, 4, 7, false, false, "a=0xf1 b=0xf3f2 c=0xf7f6f5f4");
	check(fields, 4, 6, false, false, "a=0xf1 b=0xf3f2");
	check(fields, 4, 0, false, false, "");
}

TEST(numbers_with_a_sign)
{
	static const struct event_field fields[] = {
		{ "a", FIELD_INT, 1 },
		{ "b", FIELD_INT, 2 },
		{ "c", FIELD_INT, 4 },
		{ "d", FIELD_INT, 8 },
	};

	check(fields, 4, 15, false, false, "a=-15 b=-3086 c=-134810124 d=-8681104427521506824");
}

TEST(how_values_are_written)
{
	static const struct event_field fields[] = {
		{ "u", FIELD_UINT, 1, "KB" }, { "d", FIELD_DIFF, 1 }, { "i", FIELD_INT, 1, "%" },
		{ "x", FIELD_HEX, 1 },	      { "a", FIELD_ADDR, 1 },
	};

	check(fields, 5, 5, false, false, "u=241KB d=-14 i=-13% x=0xf4 a=0xf5");
	check(fields, 5, 5, false, true, "u=241KB d=-14 i=-13% x=0xf4 a=0xf5");
}

TEST(texts_end_at_their_nul_or_with_their_bytes)
{
	static const struct event_field fields[] = {
		{ "n", FIELD_HEX, 8 },	{ "m", FIELD_HEX, 4 },	{ "k", FIELD_HEX, 2 },
		{ "o", FIELD_HEX, 1 },	{ "t", FIELD_TEXT, 2 }, { "u", FIELD_TEXT, 2 },
		{ "rest", FIELD_TEXT },
	};

	check(fields + 4, 3, 4, false, true, "t=\"\xf1\xf2\" u=\"\xf3\xf4\" rest=\"\"");
	check(fields, 7, 20, false, false,
	      "n=0xf8f7f6f5f4f3f2f1 m=0x84838281 k=0x8685 o=0x87 t=\"ab\" u=\"c\" rest=\"d\"");
	check(fields, 6, 18, false, false,
	      "n=0xf8f7f6f5f4f3f2f1 m=0x84838281 k=0x8685 o=0x87 t=\"ab\"");
}

/*
 * A number that takes no bytes of the payload gets its value from the kind's get(). This kind has
 * no get() of its own, so the number is not shown.
 */
TEST(a_number_without_a_place_has_none)
{
	static const struct event_field fields[] = { { "a", FIELD_UINT }, { "b", FIELD_UINT, 1 } };

	check(fields, 2, 1, false, false, "b=241");
}

TEST(without_a_payload_there_is_nothing)
{
	static const struct event_field fields[] = { { "t", FIELD_TEXT } };
	const struct event_kind kind = { .fields = fields, .nr_fields = 1 };
	const struct event event = { .data_len = 0 };
	const struct event_context context = { NULL, NULL, &event, false };
	struct event_value value;

	assert_false(event_kind_get(&kind, &context, 0, &value));
}

static bool get_ratio(const struct event_kind *kind, const struct event_context *context,
		      size_t index, struct event_value *out)
{
	*out = (struct event_value){ .type = kind->fields[index].type, .ratio = 1.005 + index };
	return index != 1;
}

static void put_own(const struct event_kind *kind, const struct event_context *context,
		    struct strbuf *out)
{
	strbuf_addstr(out, "own");
}

TEST(a_row_may_do_it_by_itself)
{
	static const struct event_field fields[] = { { "r", FIELD_RATIO },
						     { "none", FIELD_RATIO },
						     { "p", FIELD_PERCENT, 0, "!" } };
	struct event_kind kind = { .fields = fields, .nr_fields = 3, .get = get_ratio };
	const struct event event = { 0 };
	const struct event_context context = { NULL, NULL, &event, false };
	struct strbuf out cleanup_strbuf = { 0 };

	event_kind_put(&kind, &context, &out);
	assert_string_equal(strbuf_str(&out), "r=1.00 p=3.00%!");
	kind.put = put_own;
	strbuf_reset(&out);
	event_kind_put(&kind, &context, &out);
	assert_string_equal(strbuf_str(&out), "own");
}

/* One value in the form for each reader: people, the dump, probes, a log, and JSON. */
TEST(a_value_for_each_reader)
{
	static const char nasty[] = { 'a', '"', '\n' };
	static const struct {
		struct event_value value;
		const char *forms[VALUE_JSON + 1];
	} rows[] = {
		{ { .type = FIELD_UINT, .number = 7 }, { "7", "7", "7", "7", "7" } },
		{ { .type = FIELD_INT, .number = -7 }, { "-7", "-7", "-7", "-7", "-7" } },
		{ { .type = FIELD_DIFF, .number = 7 }, { "+7", "7", "+7", "7", "7" } },
		{ { .type = FIELD_DIFF, .number = -7 }, { "-7", "-7", "-7", "-7", "-7" } },
		{ { .type = FIELD_HEX, .number = 31 },
		  { "0x1f", "0x1f", "0x1f", "1f", "\"0x1f\"" } },
		{ { .type = FIELD_ADDR }, { "0", "0", "0", "0", "\"0\"" } },
		{ { .type = FIELD_RATIO, .ratio = 0.5 },
		  { "0.50", "0.50", "0.50", "0.5000", "0.5000" } },
		{ { .type = FIELD_PERCENT, .ratio = 12.5 },
		  { "12.50%", "12.50%", "12.50%", "12.5000", "12.5000" } },
		{ { .type = FIELD_TEXT, .text = { nasty, nasty + sizeof(nasty) } },
		  { "\"a\"\n\"", "\"a\"\n\"", "a\"\n", "a\"\n", "\"a\\\"\\n\"" } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		for (enum value_form form = VALUE_SHOWN; form <= VALUE_JSON; form++) {
			struct strbuf out cleanup_strbuf = { 0 };

			event_value_put(&rows[i].value, form, &out);
			assert_string_equal(strbuf_str(&out), rows[i].forms[form]);
		}
	}
}

/* Each number has a row: its own, or that of its range. */
TEST(rows_by_number)
{
	static const struct {
		uint64_t id;
		const char *name;
	} rows[] = {
		{ 0, "kernel_event:0" },
		{ EVENT_ID_BUILTIN - 1, "kernel_event:99999" },
		{ EVENT_ID_BUILTIN, "builtin_event:100000" },
		{ EVENT_ID_READ_STATM, "read:proc/statm" },
		{ EVENT_ID_CALLSITE, "callsite" },
		{ EVENT_ID_CALLSITE + 1, "builtin_event:100014" },
		{ EVENT_ID_LINUX, "builtin_event:200000" },
		{ EVENT_ID_SCHED_IN, "linux:sched-in" },
		{ EVENT_ID_PROC_RENAME_FAILED, "proc:rename-failed" },
		{ EVENT_ID_PROC_CLONE_FAILED + 1, "builtin_event:300023" },
		{ EVENT_ID_LIMIT_DEPTH, "limit:max-stack" },
		{ EVENT_ID_LIMIT_DEPTH + 1, "builtin_event:400002" },
		{ EVENT_ID_USER - 1, "builtin_event:999999" },
		{ EVENT_ID_USER, "user_event:1000000" },
		{ EVENT_ID_COUNTER - 1, "user_event:1998999" },
		{ EVENT_ID_COUNTER, "counter:1999000" },
		{ EVENT_ID_COUNTER + 1, "counter:1999001" },
		{ EVENT_ID_EXTERN_DATA - 1, "counter:1999999" },
		{ EVENT_ID_EXTERN_DATA, "external-data" },
		{ EVENT_ID_BEYOND, "user_event:2000001" },
		{ UINT64_MAX, "user_event:18446744073709551615" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct strbuf out cleanup_strbuf = { 0 };

		event_kind_put_name(event_kind_fixed(rows[i].id), rows[i].id, &out);
		assert_string_equal(strbuf_str(&out), rows[i].name);
	}
	assert_ptr_equal(event_kind_fixed(EVENT_ID_COUNTER + 2), &event_kinds_counter[0]);
	assert_ptr_equal(event_kind_fixed(EVENT_ID_COUNTER + 3), &event_kinds_counter[1]);
	assert_true(event_id_is_of_kernel(5));
	assert_false(event_id_is_of_kernel(EVENT_ID_BUILTIN));
	assert_true(event_kind_fixed(EVENT_ID_USER)->flags & EVENT_KIND_BY_NAME);
	assert_false(event_kind_fixed(EVENT_ID_BUILTIN)->flags & EVENT_KIND_BY_NAME);
	assert_false(event_kind_fixed(3)->flags & EVENT_KIND_BY_NAME);
	assert_int_equal(event_kind_fixed(EVENT_ID_CALLSITE)->flags, EVENT_KIND_OF_CALL);
	assert_int_equal(event_kind_fixed(EVENT_ID_WATCH_VAR)->flags, EVENT_KIND_OF_TRIGGER);
}
