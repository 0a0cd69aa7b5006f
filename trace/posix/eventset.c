/* Sets of types of events. */
#include <errno.h>
#include <string.h>

#include "posix/posix.h"

static bool is_type(trace_event_id_t id)
{
	return id < PT_END_NAMED && (id >= PT_UNNAMED || pxt_fixed_name(id));
}

int posix_trace_eventset_add(trace_event_id_t id, trace_event_set_t *set)
{
	if (!set || !is_type(id))
		return EINVAL;
	set->utrail_bits[id / 32] |= 1u << id % 32;
	return 0;
}

int posix_trace_eventset_del(trace_event_id_t id, trace_event_set_t *set)
{
	if (!set || !is_type(id))
		return EINVAL;
	set->utrail_bits[id / 32] &= ~(1u << id % 32);
	return 0;
}

int posix_trace_eventset_empty(trace_event_set_t *set)
{
	if (!set)
		return EINVAL;
	memset(set, 0, sizeof(*set));
	return 0;
}

/*
 * POSIX_TRACE_WOPID_EVENTS makes an empty set, because all system events have a process.
 * POSIX_TRACE_ALL_EVENTS includes events that are not named yet.
 */
int posix_trace_eventset_fill(trace_event_set_t *set, int what)
{
	uint32_t end = what == POSIX_TRACE_ALL_EVENTS ? PT_END_NAMED : PT_NR_SYSTEM;

	if (!set || what < POSIX_TRACE_WOPID_EVENTS || what > POSIX_TRACE_ALL_EVENTS)
		return EINVAL;
	memset(set, 0, sizeof(*set));
	if (what == POSIX_TRACE_WOPID_EVENTS)
		return 0;
	for (uint32_t id = 0; id < end; id++) {
		if (is_type(id))
			set->utrail_bits[id / 32] |= 1u << id % 32;
	}
	return 0;
}

int posix_trace_eventset_ismember(trace_event_id_t id, const trace_event_set_t *restrict set,
				  int *restrict ismember)
{
	if (!set || !ismember || !is_type(id))
		return EINVAL;
	*ismember = set->utrail_bits[id / 32] >> id % 32 & 1;
	return 0;
}
