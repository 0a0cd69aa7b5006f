/*
 * Calls of kernel functions, as written by its function_graph tracer: records of kernel-cpu<N>.dat
 * that are no tracepoints.
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

/* A field of a record: its offset and size in bytes; size 0: such kernels have no such field. */
struct kernel_field {
	uint16_t offset;
	uint16_t size;
};

/*
 * The fields of such a record. Kernels differ: the depth is an int or a long, after the address or
 * at the end, or missing.
 *
 * @plain_bytes: for an address of 64 bits and a depth of 32, the length that contains both; 0:
 *               other sizes
 */
struct kernel_graph {
	enum kernel_graph_kind kind;
	struct kernel_field func;
	struct kernel_field depth;
	uint32_t plain_bytes;
};

/*
 * Parse the @format file of the event @event of the system "ftrace". False when it is something
 * else, or has no function address.
 */
bool kernel_graph_of(struct text event, struct text format, struct kernel_graph *graph);

/*
 * Kernel addresses have this bit, addresses of programs do not (on every machine that utrail reads
 * recordings of). Addresses of 32-bit kernels get it here.
 */
#define KERNEL_ADDR_BIT (1ULL << 63)

/* The depth of calls is not recorded. */
#define KERNEL_DEPTH_UNKNOWN UINT16_MAX

/*
 * @addr: of the function, with KERNEL_ADDR_BIT
 * @depth: number of kernel calls around it
 */
struct kernel_call {
	uint64_t addr;
	uint16_t depth;
};

#endif
