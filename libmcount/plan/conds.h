/* Conditions of rules (`if:`), which compare a call's arguments. */
#ifndef UTRAIL_LIBMCOUNT_CONDS_H
#define UTRAIL_LIBMCOUNT_CONDS_H

#include "libmcount/hot/probe.h"

/*
 * HOT: true when the condition of a rule holds. The condition has @nr comparisons, in groups. All
 * comparisons of at least one group must hold.
 *
 * @slot: the return slot
 * @regs: the registers, or NULL with -finstrument-functions. With NULL the result is false
 */
bool conds_hold(const struct plan_cond *conds, uint32_t nr, const uint64_t *slot,
		const struct arch_regs *regs);

/* COLD: true when a condition of these rules reads memory of the program. */
bool conds_read_memory(const struct plan_rule *rules, uint32_t nr, const struct plan_cond *conds);

#endif
