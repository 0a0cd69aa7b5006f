/*
 * Records entries and exits of functions as system events. A stream gets these events only if its
 * attributes request function events (utrail_trace_attr_setfunctions()).
 *
 * Programs that are compiled with -finstrument-functions call __cyg_profile_func_enter() and
 * __cyg_profile_func_exit(). In the shared library, these are second names of the two functions at
 * the end of this file (library/meson.build). The static library does not define these names,
 * because they would take precedence over the same names in the probe. Then the probe would see no
 * calls.
 */
#include "posix/posix.h"

/* HOT. Records a function event in the same way as posix_trace_event() records a user event. */
static inline void put_function_event(uint32_t id, void *function, void *call_site)
{
	const struct utrail_trace_function data = { function, call_site };
	struct pxt_registry *registry = atomic_load_explicit(&pxt_process.registry,
							     memory_order_acquire);
	unsigned long attached = 0;

	for (unsigned int nr = 0; nr < PT_ATTACHED_WORDS; nr++)
		attached |= atomic_load_explicit(&registry->attached[nr], memory_order_relaxed);
	if (PT_UNLIKELY(attached) && pxt_join())
		pxt_record(id, &data, sizeof(data), function);
}

void utrail_trace_function_entry(void *function, void *call_site)
{
	put_function_event(PT_FUNCTION_ENTRY, function, call_site);
}

void utrail_trace_function_exit(void *function, void *call_site)
{
	put_function_event(PT_FUNCTION_EXIT, function, call_site);
}
