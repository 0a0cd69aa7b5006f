/* Plans that change while the program runs: a process learns of a new plan, and gets it. */
#ifndef UTRAIL_LIBMCOUNT_PLAN_UPDATE_H
#define UTRAIL_LIBMCOUNT_PLAN_UPDATE_H

#include "libmcount/hot/probe.h"

/*
 * The probe has no thread of its own and keeps no descriptor. So the recorder writes a word
 * (arena.news), which calls under a plan read anyway. Without PLAN_STEERABLE that word is
 * control_page.finished. One thread then asks for the plan, in the middle of its call; the others
 * go on with the present plan. Calls that the entry stubs skip only look at probe_skips, which the
 * recorder sets to 0 together with the word. doc/internals/plans.md, "Who asks for a plan".
 */

struct planned;

/*
 * HOT: true when the recorder has news. In any state but an aside plan_update_obey() must be called
 * then.
 */
static inline bool plan_update_has_news(void)
{
	return unlikely(atomic_load_explicit(probe.news, memory_order_relaxed));
}

/*
 * HOT, rarely. @t has the guard. Tracing ends, or another plan becomes probe.live, or nothing
 * changes, since another thread does it.
 */
void plan_update_obey(struct thread *t);

/*
 * HOT, rarely. A call was just noted in a table of calls to skip: undo that if the plan has changed
 * meanwhile, which has emptied the table.
 */
void plan_update_check_skip(const struct planned *p, uint64_t *noted);

/* COLD, once there is a plan; SLOW in a forked child, once it has an arena of its own. */
void plan_update_begin(void);

/* COLD, in a forked child. */
void plan_update_after_fork(void);

#endif
