/* The event that lttng.c writes, declared for LTTng-UST, which includes this file several times. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_event.h"

#if !defined(LTTNG_EVENT_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LTTNG_EVENT_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(bench, event, LTTNG_UST_TP_ARGS(const char *, data),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_array(char, data, data, 16)))

#endif

#include <lttng/tracepoint-event.h>
