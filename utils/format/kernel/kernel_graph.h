/*
 * Records of calls of kernel functions in kernel-cpu<N>.dat. The kernel's function_graph tracer
 * writes these records, which are not records of tracepoints.
 */
#ifndef UTRAIL_FORMAT_KERNEL_GRAPH_H
#define UTRAIL_FORMAT_KERNEL_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/format/text.h"

enum kernel_graph_kind {
	KERNEL_GRAPH_NONE, /* a record of another kind */
	KERNEL_GRAPH_ENTRY,
	KERNEL_GRAPH_EXIT,
};

/* A field of a record: offset and size in bytes. Size 0: the recorded kernel has no such field. */
struct kernel_field {
	uint16_t offset;
	uint16_t size;
};

/*
 * The fields of a call's record.
 *
 * @depth: the size and the offset depend on the kernel; size 0: the kernel has no such field
 * @plain_bytes: the least length of a record that has an address of 64 bits and a depth of 32 bits;
 *               0: these fields have other sizes
 */
struct kernel_graph {
	enum kernel_graph_kind kind;
	struct kernel_field func;
	struct kernel_field depth;
	uint32_t plain_bytes;
};

/*
 * Parse the format file "events/ftrace/<event>/format". @event is the name of the event, and
 * @format is the text of the file. Returns false if the event is not the entry or the exit of a
 * function, or if its records have no address of the function.
 */
bool kernel_graph_of(struct text event, struct text format, struct kernel_graph *graph);

/*
 * All addresses of the kernel have this bit, and no address of a program has it. Addresses of
 * 32-bit kernels get the bit when they are read.
 */
#define KERNEL_ADDR_BIT (1ULL << 63)

/* The value of a depth that is not recorded. */
#define KERNEL_DEPTH_UNKNOWN UINT16_MAX

/*
 * @addr: the address of the function, with KERNEL_ADDR_BIT
 * @depth: the number of kernel calls that enclose this call
 */
struct kernel_call {
	uint64_t addr;
	uint16_t depth;
};

#endif
