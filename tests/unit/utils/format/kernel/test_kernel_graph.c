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
