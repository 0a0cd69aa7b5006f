/*
 * Plans that change while the program runs: how a process learns that there is another one, and
 * gets it.
 */
#ifndef UTRAIL_LIBMCOUNT_PLAN_UPDATE_H
#define UTRAIL_LIBMCOUNT_PLAN_UPDATE_H

#include "libmcount/hot/probe.h"

/*
 * The probe has no thread of its own and keeps no descriptor. So the recorder writes a word
 * (arena.news), which calls by a plan look at anyway: without PLAN_STEERABLE it is
 * control_page.finished. One thread then asks for the plan, in the middle of its call; the others
 * go on by the plan that there is. Calls that the entry stubs skip look at nothing but probe_skips,
 * which the recorder makes 0 with the word. doc/internals/plans.md, "Who asks for a plan".
 */

struct planned;

/*
 * HOT: the recorder has something to say. For any state but an aside plan_update_obey() is to be
 * called.
 */
static inline bool plan_update_has_news(void)
{
	return unlikely(atomic_load_explicit(probe.news, memory_order_relaxed));
}

/*
 * HOT, rarely. @t has the guard. Tracing ends, or another plan becomes probe.live, or nothing:
 * another thread is at it.
 */
void plan_update_obey(struct thread *t);

/*
 * HOT, rarely. A call was just noted in a table of those to skip: not if the plan has changed
 * meanwhile, which has emptied the table.
 */
void plan_update_check_skip(const struct planned *p, uint64_t *noted);

/* COLD, once there is a plan; SLOW in a forked child, once it has an arena of its own. */
void plan_update_begin(void);

/* COLD, in a forked child. */
void plan_update_after_fork(void);

#endif
