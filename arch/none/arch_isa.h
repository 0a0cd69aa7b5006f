/*
 * Machines without a probe: the recorder's sources compile, and `record` reports that it cannot
 * record.
 */
#ifndef UTRAIL_ARCH_NONE_ISA_H
#define UTRAIL_ARCH_NONE_ISA_H

#include <setjmp.h>
#include <stdint.h>
#include <ucontext.h>

static inline uint64_t arch_counter_read(void)
{
	return 0;
}

static inline uint64_t arch_jmp_buf_sp(const struct __jmp_buf_tag *env)
{
	return 0;
}

static inline uint64_t arch_context_sp(const ucontext_t *context)
{
	return 0;
}

#endif
