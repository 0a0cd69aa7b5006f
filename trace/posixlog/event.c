/* The names of the events that every stream has. */
#include "posixlog/event.h"

static const char *const names[PT_NR_SYSTEM] = {
	[PT_ERROR] = "posix_trace_error",
	[PT_START] = "posix_trace_start",
	[PT_STOP] = "posix_trace_stop",
	[PT_OVERFLOW] = "posix_trace_overflow",
	[PT_RESUME] = "posix_trace_resume",
	[PT_FILTER] = "posix_trace_filter",
	[PT_FLUSH_START] = "posix_trace_flush_start",
	[PT_FLUSH_STOP] = "posix_trace_flush_stop",
	[PT_FUNCTION_ENTRY] = "utrail_function_entry",
	[PT_FUNCTION_EXIT] = "utrail_function_exit",
};

const char *pxt_fixed_name(uint32_t id)
{
	if (id == PT_UNNAMED)
		return "posix_trace_unnamed_userevent";
	return id < PT_NR_SYSTEM ? names[id] : NULL;
}
