/* Conditions of rules, `if:`: what must hold of a call's arguments. */
#ifndef UTRAIL_LIBMCOUNT_CONDS_H
#define UTRAIL_LIBMCOUNT_CONDS_H

#include "libmcount/hot/probe.h"

/*
 * HOT: the @nr comparisons of a rule: alternatives of some that must hold together. @slot: the
 * return slot. Without @regs, where nobody tells arguments (-finstrument-functions), none holds.
 * Strings are read as capture.h reads them.
 */
bool conds_hold(const struct plan_cond *conds, uint32_t nr, const uint64_t *slot,
		const struct arch_regs *regs);

/* COLD: true when one of these rules' conditions reads memory of the program. */
bool conds_read_memory(const struct plan_rule *rules, uint32_t nr, const struct plan_cond *conds);

#endif
