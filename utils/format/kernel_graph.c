/* Calls of the kernel's functions (see kernel_graph.h). */
#include "utils/format/kernel_graph.h"

#include "utils/base/compiler.h"
#include "utils/format/bytes.h"
#include "utils/format/kernel_dat.h"

static bool find(struct text format, const char *name, struct kernel_field *field)
{
	uint32_t offset;
	uint32_t size;

	if (!kernel_format_find_field(format, name, &offset, &size) || (size != 4 && size != 8))
		return false;
	*field = (struct kernel_field){ offset, size };
	return true;
}

bool kernel_graph_of(struct text event, struct text format, struct kernel_graph *graph)
{
	static const struct {
		const char *name;
		enum kernel_graph_kind kind;
	} names[] = {
		{ "funcgraph_entry", KERNEL_GRAPH_ENTRY },
		/* With option funcgraph-retaddr (6.13). */
		{ "fgraph_retaddr_entry", KERNEL_GRAPH_ENTRY },
		{ "funcgraph_exit", KERNEL_GRAPH_EXIT },
	};

	*graph = (struct kernel_graph){ 0 };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct text name = event;

		if (text_word(&name, names[i].name) && !text_left(&name))
			graph->kind = names[i].kind;
	}
	if (!graph->kind || !find(format, "func", &graph->func)) {
		graph->kind = KERNEL_GRAPH_NONE;
		return false;
	}
	find(format, "depth", &graph->depth);
	return true;
}

static bool get(const struct kernel_record *rec, struct kernel_field field, bool big,
		uint64_t *value)
{
	if (field.offset > rec->len || field.size > rec->len - field.offset)
		return false;
	*value = field.size == 8 ? get_u64(rec->data + field.offset, big)
				 : get_u32(rec->data + field.offset, big);
	return true;
}

bool kernel_graph_get(const struct kernel_graph *graph, const struct kernel_record *rec, bool big,
		      struct kernel_call *call)
{
	uint64_t depth = KERNEL_DEPTH_UNKNOWN;
	uint64_t addr;

	if (!get(rec, graph->func, big, &addr) ||
	    (graph->depth.size && !get(rec, graph->depth, big, &depth)) ||
	    depth > KERNEL_DEPTH_UNKNOWN || (graph->depth.size && depth == KERNEL_DEPTH_UNKNOWN))
		return false;
	/* As the kernel itself would have it in 64 bits. */
	if (graph->func.size == 4)
		addr |= 0xffffffffULL << 32;
	call->addr = addr | KERNEL_ADDR_BIT;
	call->depth = depth;
	return true;
}
