/*
 * Records of the kernel's function_graph tracer. Their fields are at the places that the kernel's
 * format file states.
 */
#include "tests/unit/lib/unit.h"

#include "utils/format/kernel/kernel_dat.h"
#include "utils/format/kernel/kernel_graph.h"

#define FUNC(offset, size) \
	"\tfield:unsigned long func;\toffset:" #offset ";\tsize:" #size ";\tsigned:0;\n"
#define DEPTH(offset, size) "\tfield:int depth;\toffset:" #offset ";\tsize:" #size ";\tsigned:1;\n"

static bool read_format(const char *event, const char *format, struct kernel_graph *graph)
{
	return kernel_graph_of(text_of(event, strlen(event)), text_of(format, strlen(format)),
			       graph);
}

TEST(formats)
{
	struct kernel_graph graph;

	assert_true(read_format("funcgraph_entry", FUNC(8, 8) DEPTH(16, 4), &graph));
	assert_int_equal(graph.kind, KERNEL_GRAPH_ENTRY);
	assert_int_equal(graph.func.offset, 8);
	assert_int_equal(graph.func.size, 8);
	assert_int_equal(graph.depth.offset, 16);
	assert_int_equal(graph.depth.size, 4);
	assert_true(read_format("fgraph_retaddr_entry", FUNC(8, 8), &graph));
	assert_int_equal(graph.kind, KERNEL_GRAPH_ENTRY);
	assert_int_equal(graph.depth.size, 0);
	assert_true(read_format("funcgraph_exit", FUNC(8, 4) DEPTH(12, 8), &graph));
	assert_int_equal(graph.kind, KERNEL_GRAPH_EXIT);
	assert_int_equal(graph.depth.size, 8);
}

TEST(no_formats)
{
	static const char *const words[][2] = {
		{ "funcgraph_entry", DEPTH(16, 4) },
		{ "funcgraph_entry", FUNC(8, 2) },
		{ "funcgraph_entry", "" },
		{ "funcgraph_entries", FUNC(8, 8) },
		{ "funcgraph", FUNC(8, 8) },
		{ "function", FUNC(8, 8) },
		{ "", FUNC(8, 8) },
	};
	struct kernel_graph graph;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		assert_false(read_format(words[i][0], words[i][1], &graph));
		assert_int_equal(graph.kind, KERNEL_GRAPH_NONE);
	}
}

static bool get(const struct kernel_graph *graph, const void *data, size_t len, bool big,
		struct kernel_call *call)
{
	void *copy = exact_copy(data, len);
	struct kernel_record rec = { .data = copy, .len = len };
	bool is_call = kernel_graph_get(graph, &rec, big, call);

	free(copy);
	return is_call;
}

TEST(records)
{
	static const uint8_t little[] = { 0,	0,    0,    0,	  0x10, 0x20, 0x30, 0x40,
					  0xff, 0xff, 0xff, 0xff, 3,	0,    0,    0 };
	static const uint8_t big[] = { 0,    0,	   0,	 0,    0xff, 0xff, 0xff, 0xff,
				       0x40, 0x30, 0x20, 0x10, 0,    0,	   0,	 3 };
	struct kernel_graph graph = { KERNEL_GRAPH_ENTRY, { 4, 8 }, { 12, 4 } };
	struct kernel_call call;

	assert_true(get(&graph, little, sizeof(little), false, &call));
	assert_int_equal(call.addr, 0xffffffff40302010);
	assert_int_equal(call.depth, 3);
	assert_true(get(&graph, big, sizeof(big), true, &call));
	assert_int_equal(call.addr, 0xffffffff40302010);
	assert_int_equal(call.depth, 3);
	for (size_t len = 0; len < sizeof(little); len++)
		assert_false(get(&graph, little, len, false, &call));

	/*
	 * Without a depth the record ends with the address. Addresses of a kernel may have 32 bits.
	 */
	graph.depth = (struct kernel_field){ 0 };
	assert_true(get(&graph, little, 12, false, &call));
	assert_int_equal(call.depth, KERNEL_DEPTH_UNKNOWN);
	graph.func.size = 4;
	assert_true(get(&graph, little, 8, false, &call));
	assert_int_equal(call.addr, 0xffffffff40302010);
}

/* A record cannot have the depth that means "unknown", nor a depth that is too large. */
TEST(depths)
{
	static const struct {
		uint32_t depth;
		bool is_call;
	} rows[] = { { 0, true },	    { 49, true },	{ UINT16_MAX - 1, true },
		     { UINT16_MAX, false }, { 0x10000, false }, { UINT32_MAX, false } };
	struct kernel_graph graph = { KERNEL_GRAPH_EXIT, { 0, 4 }, { 4, 4 } };
	struct kernel_call call;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t data[8] = { 1 };

		for (int k = 0; k < 4; k++)
			data[4 + k] = rows[i].depth >> 8 * k;
		assert_int_equal(get(&graph, data, sizeof(data), false, &call), rows[i].is_call);
		if (rows[i].is_call)
			assert_int_equal(call.depth, rows[i].depth);
	}
}

/*
 * The number of bytes that a record needs for both fields, if they have the most common sizes. It
 * is 0 for other sizes.
 */
TEST(plain_records)
{
	static const struct {
		const char *format;
		uint32_t plain_bytes;
	} rows[] = {
		{ FUNC(8, 8) DEPTH(16, 4), 20 },
		{ FUNC(16, 8) DEPTH(8, 4), 24 },
		{ FUNC(8, 8) DEPTH(12, 4), 16 },
		{ FUNC(8, 8) DEPTH(13, 4), 17 },
		{ FUNC(8, 4) DEPTH(16, 4), 0 },
		{ FUNC(8, 8) DEPTH(16, 8), 0 },
		{ FUNC(8, 8), 0 },
		{ FUNC(8, 8) DEPTH(16, 2), 0 },
	};
	struct kernel_graph graph;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct kernel_record rec = { .len = rows[i].plain_bytes };

		assert_true(read_format("funcgraph_entry", rows[i].format, &graph));
		assert_int_equal(graph.plain_bytes, rows[i].plain_bytes);
		assert_int_equal(kernel_graph_is_plain(&graph, &rec), rows[i].plain_bytes > 0);
		rec.len--;
		assert_int_equal(kernel_graph_is_plain(&graph, &rec), false);
	}
}

/* A field must be within its record. Its offset may be larger than the record. */
TEST(places_of_fields)
{
	static const struct {
		struct kernel_field field;
		bool big;
		bool is_good;
		uint64_t value;
	} rows[] = {
		{ { 0, 8 }, false, true, 0x0807060504030201 },
		{ { 0, 8 }, true, true, 0x0102030405060708 },
		{ { 4, 8 }, false, true, 0x0c0b0a0908070605 },
		{ { 5, 8 }, false, false, 0 },
		{ { 8, 4 }, false, true, 0x0c0b0a09 },
		{ { 8, 4 }, true, true, 0x090a0b0c },
		{ { 9, 4 }, false, false, 0 },
		{ { 12, 4 }, false, false, 0 },
		{ { 13, 4 }, false, false, 0 },
		{ { 65535, 8 }, false, false, 0 },
	};
	static const uint8_t data[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t *copy = exact_copy(data, sizeof(data));
		struct kernel_record rec = { .data = copy, .len = sizeof(data) };
		uint64_t value = 0;

		assert_int_equal(kernel_field_get(&rec, rows[i].field, rows[i].big, &value),
				 rows[i].is_good);
		assert_true(value == rows[i].value);
		free(copy);
	}
}

/* Reading a format that does not describe calls removes all facts of an earlier format. */
TEST(formats_one_after_the_other)
{
	struct kernel_graph graph;

	assert_true(read_format("funcgraph_entry", FUNC(8, 8) DEPTH(16, 4), &graph));
	assert_false(read_format("other", FUNC(8, 8) DEPTH(16, 4), &graph));
	assert_int_equal(graph.kind, KERNEL_GRAPH_NONE);
	assert_int_equal(graph.plain_bytes, 0);
	assert_true(read_format("funcgraph_exit", FUNC(8, 8), &graph));
	assert_int_equal(graph.depth.size, 0);
	assert_int_equal(graph.plain_bytes, 0);
}
