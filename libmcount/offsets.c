/*
 * The stubs need the offsets of members of the probe's structs. The compiler makes assembly of this
 * file, but the assembly is not linked. libmcount/offsets.py finds the lines with "->" in the
 * assembly, and makes offsets.h from these lines.
 */
#include "libmcount/hot/callers.h"
#include "libmcount/hot/planned.h"
#include "libmcount/hot/probe.h"

/* The OFFSET lines are valid assembly, since some compilers check them. */
#define OFFSET(name, value) __asm__ volatile(".ascii \"->" #name " %c0\"" : : "i"(value))

void offsets(void);

void offsets(void)
{
	OFFSET(THREAD_BUSY, __builtin_offsetof(struct thread, busy));
	OFFSET(THREAD_HAS_ASIDE_RECORDS, __builtin_offsetof(struct thread, has_aside_records));
	OFFSET(THREAD_AT, __builtin_offsetof(struct thread, at));
	OFFSET(THREAD_END, __builtin_offsetof(struct thread, end));
	OFFSET(THREAD_FAST_LIMIT, __builtin_offsetof(struct thread, fast_limit));
	OFFSET(THREAD_DROP_LIMIT, __builtin_offsetof(struct thread, drop_limit));
	OFFSET(THREAD_HELD_LIMIT, __builtin_offsetof(struct thread, held_limit));
	OFFSET(THREAD_ADMITTED, __builtin_offsetof(struct thread, admitted));
	OFFSET(THREAD_PLANNED, __builtin_offsetof(struct thread, planned));
	OFFSET(PLANNED_IN, __builtin_offsetof(struct planned, now.in));
	OFFSET(PLANNED_PASS, __builtin_offsetof(struct planned, pass));
	OFFSET(PLANNED_SKIP_OUTSIDE, __builtin_offsetof(struct planned, skip_outside));
	OFFSET(THREAD_ALONE_SLOT, __builtin_offsetof(struct thread, alone_slot));
	OFFSET(THREAD_THRESHOLD, __builtin_offsetof(struct thread, threshold_ns));
	OFFSET(THREAD_FAST_BASE, __builtin_offsetof(struct thread, fast_base));
	OFFSET(THREAD_WRITTEN, __builtin_offsetof(struct thread, written));
	OFFSET(THREAD_RING, __builtin_offsetof(struct thread, ring));
	OFFSET(THREAD_BASE_COUNTER, __builtin_offsetof(struct thread, base_counter));
	OFFSET(THREAD_BASE_NS, __builtin_offsetof(struct thread, base_ns));
	OFFSET(THREAD_MULT, __builtin_offsetof(struct thread, mult));
	OFFSET(THREAD_REFIT_TICKS, __builtin_offsetof(struct thread, refit_ticks));
	OFFSET(THREAD_LAST_NS, __builtin_offsetof(struct thread, last_ns));
	OFFSET(THREAD_POSITION, __builtin_offsetof(struct thread, position));
	OFFSET(THREAD_LOW, __builtin_offsetof(struct thread, low));
	OFFSET(THREAD_CALLS, __builtin_offsetof(struct thread, calls));
	OFFSET(PLACE_ALONE, __builtin_offsetof(struct planned_place, alone));
	OFFSET(CALLS_MASK, (PLANNED_CALLS - 1) * PLANNED_PLACE_BYTES);
	OFFSET(THREAD_TOP, __builtin_offsetof(struct thread, top));
	OFFSET(THREAD_NEXT, __builtin_offsetof(struct thread, next));
	OFFSET(FRAME_SLOT, __builtin_offsetof(struct frame, slot));
	OFFSET(FRAME_RET, __builtin_offsetof(struct frame, ret));
	OFFSET(FRAME_DATA, __builtin_offsetof(struct frame, data));
	OFFSET(FRAME_TIME, __builtin_offsetof(struct frame, time_ns));
	OFFSET(FRAME_BYTES, sizeof(struct frame));
	OFFSET(PROBE_TRACING, __builtin_offsetof(struct probe, tracing));
	OFFSET(PROBE_IS_ON, __builtin_offsetof(struct probe, is_on));
	OFFSET(PROBE_PLAIN, __builtin_offsetof(struct probe, plain));
	OFFSET(RING_HEAD, __builtin_offsetof(struct ring, head));
	OFFSET(RECORD_BYTES, sizeof(struct record));
	OFFSET(RECORD_EXIT_BIT, RECORD_EXIT);
	OFFSET(RECORD_DEPTH_ONE, 1 << RECORD_DEPTH_SHIFT);
	OFFSET(RECORD_ADDR_SHIFT, RECORD_ADDR_SHIFT);
	OFFSET(CALLERS_BYTES, __builtin_offsetof(struct callers, bytes));
	OFFSET(CALLERS_AT, __builtin_offsetof(struct callers, pages));
	OFFSET(CALLERS_PAGE_SHIFT, CALLERS_PAGE_SHIFT);
	OFFSET(CALLERS_MASK, CALLERS_PAGES - 1);
	OFFSET(REALIGN_MAX, REALIGN_MAX);
	OFFSET(REGS_BYTES, sizeof(struct arch_regs));
}
