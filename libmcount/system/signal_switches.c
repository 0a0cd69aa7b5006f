/* The signals of --signal (see signal_switches.h). */
#include "libmcount/system/signal_switches.h"

#include "libmcount/system/fault.h"
#include "libmcount/hot/hot.h"
#include "libmcount/hot/planned.h"

static uint64_t all_signals(void)
{
	return probe.plan.signals_on | probe.plan.signals_off | probe.plan.signals_finish;
}

void signal_switches_begin(void)
{
	uint64_t mask = all_signals();

	for (int sig = 1; sig <= 64; sig++) {
		if (mask & MASK_BIT(sig))
			fault_watch_signal(sig);
	}
}

bool signal_switches_have(int sig)
{
	return all_signals() & MASK_BIT(sig);
}

/*
 * Writes the ENTRYs of open calls, as the triggers trace_off and finish do. Inside of a hook
 * nothing is written, since the hook may have begun to write.
 */
static void show_open_calls(void)
{
	struct thread *t = self;

	if (!t || t->busy || !t->planned || !probe.is_on || !probe.tracing)
		return;
	guard_take(t);
	planned_write_entries(t, t->top);
	guard_barrier();
	t->busy = 0;
}

static __thread bool end_is_due __attribute__((tls_model("initial-exec")));

void signal_switches_obey(int sig, bool has_handler)
{
	if (!probe.ready)
		return;
	if (probe.plan.signals_on & MASK_BIT(sig))
		__atomic_store_n(&probe.is_on, true, __ATOMIC_RELAXED);
	if ((probe.plan.signals_off | probe.plan.signals_finish) & MASK_BIT(sig))
		show_open_calls();
	if (probe.plan.signals_off & MASK_BIT(sig))
		__atomic_store_n(&probe.is_on, false, __ATOMIC_RELAXED);
	if (!(probe.plan.signals_finish & MASK_BIT(sig)))
		return;
	end_is_due = true;
	if (!has_handler)
		signal_switches_end();
}

void signal_switches_end(void)
{
	if (!end_is_due)
		return;
	end_is_due = false;
	probe_finish();
}
