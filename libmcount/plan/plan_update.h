/* Plans that change while the program runs: a process learns of a new plan, and gets it. */
#ifndef UTRAIL_LIBMCOUNT_PLAN_UPDATE_H
#define UTRAIL_LIBMCOUNT_PLAN_UPDATE_H

#include "libmcount/hot/probe.h"

/*
 * The probe has no thread and no descriptor for news. So the recorder writes a word that calls
 * under a plan read anyway: arena.news, or control_page.finished without PLAN_STEERABLE. The
 * recorder also clears probe_skips, for the entry stubs. One thread then asks for the plan:
 * doc/internals/plans.md, "Who asks for a plan".
 */

struct planned;

/* HOT: true when the recorder has news. Then call plan_update_obey(), except in an aside. */
static inline bool plan_update_has_news(void)
{
	return unlikely(atomic_load_explicit(probe.news, memory_order_relaxed));
}

/*
 * HOT, rarely; the guard of @t is set. Obeys the recorder's news: tracing ends, or another plan
 * becomes probe.live. Nothing changes if another thread does so now.
 */
void plan_update_obey(struct thread *t);

/*
 * HOT, rarely. Empties @noted, a new entry in a table of calls to skip, if the plan has changed
 * since. The table may have been emptied before the entry came.
 */
void plan_update_check_skip(const struct planned *p, uint64_t *noted);

/* COLD, once there is a plan. SLOW in a forked child, once it has an arena of its own. */
void plan_update_begin(void);

/* COLD, in a forked child. */
void plan_update_after_fork(void);

#endif
