/* The event: sources make events from records, stages process them, and views show them. */
#ifndef UTRAIL_PIPELINE_EVENT_H
#define UTRAIL_PIPELINE_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include "utils/format/event_ids.h"
#include "utils/format/kernel/kernel_graph.h"
#include "utils/pipeline/recording/data.h"
#include "utils/pipeline/recording/module.h"

enum event_type {
	EVENT_ENTRY,
	EVENT_EXIT,
	EVENT_LOST,
	EVENT_POINT,	 /* something happened; @id is its enum event_id */
	EVENT_SCHED_OUT, /* the task leaves the CPU */
	EVENT_SCHED_IN,	 /* the task is back on the CPU; @total_ns is its time off the CPU */
	/* Not shown. If a call contains a hidden event, views show the call, but not as a leaf. */
	EVENT_HIDDEN,
	/* Replaces a hidden SCHED_*, and has the task's @cpu (stage_config.wants_cpus). */
	EVENT_ON_CPU,
	EVENT_EXTERN, /* a line of extern.dat, which belongs to no task */
};

enum event_flag {
	EVENT_UNPAIRED = 1U << 0,    /* EXIT, SCHED_IN: the ENTRY or SCHED_OUT was not recorded */
	EVENT_KERNEL_LOST = 1U << 0, /* LOST: the kernel's records are lost, not the program's */
	EVENT_RECURSIVE = 1U << 1,   /* EXIT: an outer call of the same function is open */
	/* EXIT: added for a call that is still open at the end of the records */
	EVENT_UNFINISHED = 1U << 2,
	EVENT_PREEMPTED = 1U << 3, /* SCHED_*: the kernel took the CPU away */
	EVENT_BACKWARDS = 1U << 4, /* the event is earlier than the task's previous record */
	/*
	 * POINT, SCHED_*, a call to a kernel function: the task was outside of all functions of the
	 * program
	 */
	EVENT_OUTSIDE = 1U << 5,
	/*
	 * The call was open before the task's first record. ENTRY: the pipeline has inserted
	 * this ENTRY (stage_config.opens_inherited), and the call's depth is above 0. EXIT: the
	 * task has no earlier ENTRY or EXIT, except those of kernel functions
	 */
	EVENT_INHERITED = 1U << 6,
	/* ENTRY, EXIT: filters have hidden the call, but the call counts as a level of depth */
	EVENT_OFF = 1U << 7,
};

/* The @cpu of a SCHED_* event whose CPU is unknown, or above the supported range. */
#define EVENT_CPU_UNKNOWN UINT16_MAX

/*
 * One event of one task. The events of a task have the order of the task's records. An event has an
 * earlier time than the previous event only if the clock went back, or if the data is broken.
 *
 * @time_ns: a time of the recording's clock
 * @total_ns: EXIT: the time since the entry. If the EXIT has an earlier time than the entry,
 *            @total_ns is negative (see time_abs()). SCHED_IN: the time off the CPU. ENTRY: see
 *            stg_filter.h
 * @self_ns: EXIT: @total_ns less the time of the call's direct children
 * @addr: ENTRY, EXIT: the recorded address; LOST: the number of lost records, 0: unknown
 * @id: all events except ENTRY, EXIT and LOST: the id, see enum event_id
 * @func: ENTRY, EXIT: the function; SCHED_*: a pseudo function; the change of a counter during a
 *        call: the called function, or NULL if it is unknown; other events: NULL
 * @data: the payload, @data_len bytes, valid until the next batch of the task; NULL: none
 * @cpu: SCHED_*, which have no payload: the CPU, or EVENT_CPU_UNKNOWN
 * @depth: the number of calls around the event. This number includes calls that stages drop, but no
 *         calls without a recorded entry
 * @indent: the depth to show: the number of calls around the event, without calls that stages have
 *          dropped. Before stg_indent(), @indent is the depth of the record
 */
struct event {
	uint64_t time_ns;
	uint64_t total_ns;
	uint64_t self_ns;
	union {
		uint64_t addr;
		uint64_t id;
	};
	const struct func *func;
	const uint8_t *data;
	union {
		uint16_t data_len;
		uint16_t cpu;
	};
	uint16_t depth;
	uint16_t indent;
	uint8_t type;
	uint8_t flags;
};
_Static_assert(sizeof(void *) < 8 || sizeof(struct event) == 56, "an event is copied a lot");

/* True for a call of a kernel function; works before @func is known. */
static inline bool event_is_kernel_call(const struct event *event)
{
	return event->type <= EVENT_EXIT && (event->addr & KERNEL_ADDR_BIT);
}

/* Returns the duration to show. A negative duration is shown without its sign, as in uftrace. */
static inline uint64_t time_abs(uint64_t ns)
{
	return (int64_t)ns < 0 ? -ns : ns;
}

/*
 * The approximate number of events in a batch. It is large enough that the fixed work per batch is
 * negligible. The events of a batch still fit into the first-level cache.
 */
#define EVENT_BATCH 512

struct event_span {
	const struct task *task; /* NULL for EVENT_EXTERN */
	const struct event *events;
	size_t nr;
};

/* One event of any task. */
struct task_event {
	const struct task *task;
	const struct event *event;
};

#endif
