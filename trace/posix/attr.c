/* Gets and sets attributes of trace streams. The program keeps the attributes in a trace_attr_t. */
#include "posix/posix.h"

#include <errno.h>
#include <string.h>

#define VERSION	    "utrail-1"
#define STREAM_SIZE (256 << 10)
#define LOG_SIZE    (1 << 20)
#define DATA_SIZE   256

_Static_assert(sizeof(struct pxt_attr) <= sizeof(trace_attr_t), "there is room for it");

void pxt_attr_defaults(struct pxt_attr *attr)
{
	struct timespec resolution = { 0, 1 };

	clock_getres(CLOCK_MONOTONIC, &resolution);
	*attr = (struct pxt_attr){
		.magic = PT_ATTR_MAGIC,
		.inherited = POSIX_TRACE_CLOSE_FOR_CHILD,
		.log_policy = POSIX_TRACE_LOOP,
		.stream_size = STREAM_SIZE,
		.log_size = LOG_SIZE,
		.max_data = DATA_SIZE,
		.clock_ns = (uint64_t)resolution.tv_sec * PT_NS_PER_SECOND +
			    (uint64_t)resolution.tv_nsec,
		.version = VERSION,
	};
}

struct pxt_attr *pxt_attr_of(const trace_attr_t *attr)
{
	struct pxt_attr *own = (struct pxt_attr *)attr;

	return own && own->magic == PT_ATTR_MAGIC ? own : NULL;
}

int posix_trace_attr_init(trace_attr_t *attr)
{
	if (!attr)
		return EINVAL;
	memset(attr, 0, sizeof(*attr));
	pxt_attr_defaults((struct pxt_attr *)attr);
	return 0;
}

int posix_trace_attr_destroy(trace_attr_t *attr)
{
	if (!pxt_attr_of(attr))
		return EINVAL;
	memset(attr, 0, sizeof(*attr));
	return 0;
}

int posix_trace_attr_getgenversion(const trace_attr_t *attr, char *version)
{
	if (!pxt_attr_of(attr) || !version)
		return EINVAL;
	strcpy(version, pxt_attr_of(attr)->version);
	return 0;
}

int posix_trace_attr_getname(const trace_attr_t *attr, char *name)
{
	if (!pxt_attr_of(attr) || !name)
		return EINVAL;
	strcpy(name, pxt_attr_of(attr)->name);
	return 0;
}

/* Stores at most TRACE_NAME_MAX - 1 bytes of @name, and a zero byte. Longer names are truncated. */
int posix_trace_attr_setname(trace_attr_t *attr, const char *name)
{
	struct pxt_attr *own = pxt_attr_of(attr);
	size_t len;

	if (!own || !name)
		return EINVAL;
	len = strnlen(name, TRACE_NAME_MAX - 1);
	memset(own->name, 0, sizeof(own->name));
	memcpy(own->name, name, len);
	return 0;
}

int posix_trace_attr_getcreatetime(const trace_attr_t *attr, struct timespec *created)
{
	if (!pxt_attr_of(attr) || !created)
		return EINVAL;
	*created = pxt_timespec(pxt_attr_of(attr)->created_ns);
	return 0;
}

int posix_trace_attr_getclockres(const trace_attr_t *attr, struct timespec *resolution)
{
	if (!pxt_attr_of(attr) || !resolution)
		return EINVAL;
	*resolution = pxt_timespec(pxt_attr_of(attr)->clock_ns);
	return 0;
}

/* A function of <trace.h> that reads one member of the attributes. */
#define GETTER(function, type, member)                                        \
	int function(const trace_attr_t *restrict attr, type *restrict value) \
	{                                                                     \
		if (!pxt_attr_of(attr) || !value)                             \
			return EINVAL;                                        \
		*value = (type)pxt_attr_of(attr)->member;                     \
		return 0;                                                     \
	}

GETTER(posix_trace_attr_getinherited, int, inherited)
GETTER(utrail_trace_attr_getfunctions, int, functions)
GETTER(posix_trace_attr_getlogfullpolicy, int, log_policy)
GETTER(posix_trace_attr_getstreamsize, size_t, stream_size)
GETTER(posix_trace_attr_getlogsize, size_t, log_size)
GETTER(posix_trace_attr_getmaxdatasize, size_t, max_data)

int posix_trace_attr_setinherited(trace_attr_t *attr, int inherited)
{
	if (!pxt_attr_of(attr) ||
	    (inherited != POSIX_TRACE_CLOSE_FOR_CHILD && inherited != POSIX_TRACE_INHERITED))
		return EINVAL;
	pxt_attr_of(attr)->inherited = (uint16_t)inherited;
	return 0;
}

int utrail_trace_attr_setfunctions(trace_attr_t *attr, int is_on)
{
	if (!pxt_attr_of(attr) || (is_on != 0 && is_on != 1))
		return EINVAL;
	pxt_attr_of(attr)->functions = (uint16_t)is_on;
	return 0;
}

/*
 * If no policy is set, the policy depends on the function that will make the stream. In this case
 * the result is the policy of posix_trace_create().
 */
int posix_trace_attr_getstreamfullpolicy(const trace_attr_t *restrict attr, int *restrict policy)
{
	const struct pxt_attr *own = pxt_attr_of(attr);

	if (!own || !policy)
		return EINVAL;
	*policy = own->stream_policy ? (int)own->stream_policy : POSIX_TRACE_LOOP;
	return 0;
}

int posix_trace_attr_setstreamfullpolicy(trace_attr_t *attr, int policy)
{
	if (!pxt_attr_of(attr) || policy < POSIX_TRACE_LOOP || policy > POSIX_TRACE_FLUSH)
		return EINVAL;
	pxt_attr_of(attr)->stream_policy = (uint32_t)policy;
	return 0;
}

int posix_trace_attr_setlogfullpolicy(trace_attr_t *attr, int policy)
{
	if (!pxt_attr_of(attr) || (policy != POSIX_TRACE_LOOP && policy != POSIX_TRACE_UNTIL_FULL &&
				   policy != POSIX_TRACE_APPEND))
		return EINVAL;
	pxt_attr_of(attr)->log_policy = (uint32_t)policy;
	return 0;
}
