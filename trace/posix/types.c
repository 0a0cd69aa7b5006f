/* Types of events: ids and names, for traced processes and for readers. */
#include "posix/posix.h"

#include <errno.h>
#include <string.h>

int posix_trace_eventid_open(const char *restrict name, trace_event_id_t *restrict id)
{
	if (!name || !id)
		return EINVAL;
	if (strlen(name) > TRACE_EVENT_NAME_MAX)
		return ENAMETOOLONG;
	*id = pxt_join() ? pxt_names_open(pxt_process.names, name) : PT_UNNAMED;
	pxt_recorded_declare(*id, name);
	return 0;
}

int posix_trace_trid_eventid_open(trace_id_t trid, const char *restrict name,
				  trace_event_id_t *restrict id)
{
	struct pxt_handle *handle;

	if (!name || !id)
		return EINVAL;
	handle = pxt_handle_get(trid, PT_ACTIVE);
	if (!handle)
		return EINVAL;
	if (strlen(name) > TRACE_EVENT_NAME_MAX) {
		pxt_handle_put(handle);
		return ENAMETOOLONG;
	}
	*id = pxt_names_open(handle->names, name);
	pxt_handle_put(handle);
	return 0;
}

static const char *name_of(struct pxt_handle *handle, uint32_t id, char text[PT_NAME_MAX + 1])
{
	if (handle->kind == PT_LOG)
		return pxt_log_name(handle, id, text);
	return pxt_names_get(handle->names, id, text);
}

int posix_trace_eventid_get_name(trace_id_t trid, trace_event_id_t id, char *name)
{
	PXT_NO_CANCEL;
	struct pxt_handle *handle = name ? pxt_handle_get(trid, PT_ANY) : NULL;
	char text[PT_NAME_MAX + 1];
	bool is_known;

	if (!handle)
		return EINVAL;
	is_known = name_of(handle, id, text) != NULL;
	if (is_known)
		strcpy(name, text);
	pxt_handle_put(handle);
	return is_known ? 0 : EINVAL;
}

int posix_trace_eventid_equal(trace_id_t trid, trace_event_id_t one, trace_event_id_t other)
{
	(void)trid;
	return one == other;
}

int posix_trace_eventtypelist_getnext_id(trace_id_t trid, trace_event_id_t *restrict id,
					 int *restrict unavailable)
{
	PXT_NO_CANCEL;
	struct pxt_handle *handle = id && unavailable ? pxt_handle_get(trid, PT_ANY) : NULL;
	char text[PT_NAME_MAX + 1];

	if (!handle)
		return EINVAL;
	*unavailable = 1;
	pthread_mutex_lock(&handle->controls);
	for (uint32_t next = handle->list_at; next < PT_END_NAMED; next++) {
		if (!name_of(handle, next, text)) {
			/*
			 * Names get consecutive ids, from PT_FIRST_NAMED on. If the id @next has no
			 * name, no later id has a name.
			 */
			if (next >= PT_FIRST_NAMED)
				break;
			continue;
		}
		handle->list_at = next + 1;
		*id = next;
		*unavailable = 0;
		break;
	}
	pthread_mutex_unlock(&handle->controls);
	pxt_handle_put(handle);
	return 0;
}

int posix_trace_eventtypelist_rewind(trace_id_t trid)
{
	struct pxt_handle *handle = pxt_handle_get(trid, PT_ANY);

	if (!handle)
		return EINVAL;
	pthread_mutex_lock(&handle->controls);
	handle->list_at = 0;
	pthread_mutex_unlock(&handle->controls);
	pxt_handle_put(handle);
	return 0;
}
