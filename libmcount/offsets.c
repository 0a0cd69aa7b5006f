/*
 * Where the stubs (arch/<isa>/stubs.S) find things in the probe's structs. Compiled to assembly only: libmcount/offsets.py makes
 * #defines of the marked lines, offsets.h in the build directory.
 */
#include "libmcount/planned.h"
#include "libmcount/probe.h"

/* A form that assemblers accept, too, for some compilers look at it. */
#define OFFSET(name, value) __asm__ volatile(".ascii \"->" #name " %c0\"" : : "i"(value))

void offsets(void);

void offsets(void)
{
	OFFSET(THREAD_BUSY, __builtin_offsetof(struct thread, busy));
	OFFSET(THREAD_SKIP, __builtin_offsetof(struct thread, skip));
	OFFSET(SKIPS_MASK, PLANNED_SKIPS - 1);
	OFFSET(THREAD_TOP, __builtin_offsetof(struct thread, top));
	OFFSET(THREAD_NEXT, __builtin_offsetof(struct thread, next));
	OFFSET(FRAME_SLOT, __builtin_offsetof(struct frame, slot));
	OFFSET(FRAME_RET, __builtin_offsetof(struct frame, ret));
	OFFSET(FRAME_BYTES, sizeof(struct frame));
	OFFSET(REGS_BYTES, sizeof(struct arch_regs));
}
