/* Calls of kernel functions (see kernel_graph.h). */
#include "utils/format/kernel/kernel_graph.h"

#include "utils/base/compiler.h"
#include "utils/format/kernel/kernel_dat.h"

static bool find_address_field(struct text format, const char *name, struct kernel_field *field)
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
		/* Linux 6.13 and later, with the option funcgraph-retaddr. */
		{ "fgraph_retaddr_entry", KERNEL_GRAPH_ENTRY },
		{ "funcgraph_exit", KERNEL_GRAPH_EXIT },
	};

	*graph = (struct kernel_graph){ 0 };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (text_is(event, names[i].name))
			graph->kind = names[i].kind;
	}
	if (!graph->kind || !find_address_field(format, "func", &graph->func)) {
		graph->kind = KERNEL_GRAPH_NONE;
		return false;
	}
	find_address_field(format, "depth", &graph->depth);
	if (graph->func.size == 8 && graph->depth.size == 4)
		graph->plain_bytes = MAX(graph->func.offset + 8U, graph->depth.offset + 4U);
	return true;
}
