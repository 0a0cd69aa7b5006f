/* The values of sysconf() for POSIX Trace. */
#include "posix/posix.h"

#include <unistd.h>

long utrail_sysconf(int name)
{
	switch (name) {
	case _SC_TRACE:
	case _SC_TRACE_EVENT_FILTER:
	case _SC_TRACE_INHERIT:
	case _SC_TRACE_LOG:
		return _POSIX_TRACE;
	case _SC_TRACE_EVENT_NAME_MAX:
		return TRACE_EVENT_NAME_MAX;
	case _SC_TRACE_NAME_MAX:
		return TRACE_NAME_MAX;
	case _SC_TRACE_SYS_MAX:
		return TRACE_SYS_MAX;
	case _SC_TRACE_USER_EVENT_MAX:
		return TRACE_USER_EVENT_MAX;
	default:
		return sysconf(name);
	}
}
