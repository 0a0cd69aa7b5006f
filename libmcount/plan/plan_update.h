/*
 * Plans that change while the program runs. A process learns that there is a new plan, and gets it.
 */
#ifndef UTRAIL_LIBMCOUNT_PLAN_UPDATE_H
#define UTRAIL_LIBMCOUNT_PLAN_UPDATE_H

#include "libmcount/hot/probe.h"

/*
 * The probe has neither a thread nor a descriptor to receive news. Instead, the recorder writes a
 * word that hooks read under every plan. The word is arena.news if the plan has PLAN_STEERABLE, and
 * control_page.finished otherwise. The recorder also clears probe_skips, for the entry stubs. After
 * that, one thread asks for the plan (doc/internals/plans.md, "Who asks for a plan").
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
 * HOT on some calls. Acts on the recorder's news. If the recorder has finished, ends tracing.
 * Otherwise, asks for the new plan, which becomes probe.live. If another thread is asking for the
 * plan, this thread does not ask. The caller has set the guard of @t.
 */
void plan_update_obey(struct thread *t);

/*
 * HOT on some calls. Empties @noted, a new entry in a table of calls to skip, if the plan has
 * changed. The new plan may have emptied the table before the entry was written.
 */
void plan_update_check_skip(const struct planned *p, uint64_t *noted);

/*
 * COLD, after the first plan has come; SLOW in a forked child, after it has got an arena of its
 * own. After this call new plans reach the process, if it is steerable.
 */
void plan_update_begin(void);

/*
 * COLD, in a forked child. If the plan is steerable, makes each hook look for a new plan while the
 * child has no arena of its own.
 */
void plan_update_after_fork(void);

#endif
