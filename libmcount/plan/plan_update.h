/*
 * Gives a running process a new plan. Hooks notice that the recorder has news, and a thread of the
 * program then asks the recorder for the new plan.
 */
#ifndef UTRAIL_LIBMCOUNT_PLAN_UPDATE_H
#define UTRAIL_LIBMCOUNT_PLAN_UPDATE_H

#include "libmcount/hot/probe.h"

/*
 * The probe has neither a thread nor a descriptor to receive news. Instead, the recorder writes a
 * word that hooks read while probe.plain is false. If the plan has PLAN_STEERABLE, the word is
 * arena.news. Otherwise, the word is control_page.finished.
 *
 * With PLAN_STEERABLE, the recorder also clears probe_skips, because the stubs and the fast paths
 * of hooks read probe_skips in place of the word. If there is a new plan, one thread then asks for
 * the plan (doc/internals/plans.md, "Who asks for a plan").
 */

struct planned;

/*
 * HOT: true when the recorder has news. In this case the caller calls plan_update_obey(). The only
 * exception is a hook that records its function call in an aside (aside.h).
 */
static inline bool plan_update_has_news(void)
{
	return unlikely(atomic_load_explicit(probe.news, memory_order_relaxed));
}

/*
 * WARM. Acts on the recorder's news. If the recorder has finished, ends tracing. Otherwise, asks
 * for the new plan, which becomes probe.live. If another thread is asking for the plan, this thread
 * does not ask. The caller has set the guard of @t.
 */
void plan_update_obey(struct thread *t);

/*
 * WARM. @noted is a new entry in a table of calls to skip. Each change of the plan empties the
 * table, but perhaps the table was emptied before @noted was written. So if the plan has changed,
 * this function empties @noted.
 */
void plan_update_check_skip(const struct planned *p, uint64_t *noted);

/*
 * COLD when called after the process has received its first plan. SLOW when called in a forked
 * child that has received an arena of its own. If the plan is steerable, new plans reach the
 * process after this call.
 */
void plan_update_begin(void);

/*
 * COLD, in a forked child. If the plan is steerable, each hook looks for a new plan from now on,
 * until the child has an arena of its own.
 */
void plan_update_after_fork(void);

#endif
