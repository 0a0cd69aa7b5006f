/*
 * POSIX Trace: streams of events that a process records about itself or about another process. See
 * posix_trace(3).
 *
 * The interface is that of POSIX.1-2017, options TRC, TEF, TRL, TRI and TMO. If earlier issues of
 * POSIX spell a name in another way, this header defines both spellings. Programs in C (C89 or
 * later) and in C++ can include this header.
 */
#ifndef _UTRAIL_POSIX_TRACE_H
#define _UTRAIL_POSIX_TRACE_H

#include <pthread.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* The header <unistd.h>, included above, defines the next four options as missing. */
#undef _POSIX_TRACE
#undef _POSIX_TRACE_EVENT_FILTER
#undef _POSIX_TRACE_INHERIT
#undef _POSIX_TRACE_LOG
#define _POSIX_TRACE		  200809L
#define _POSIX_TRACE_EVENT_FILTER 200809L
#define _POSIX_TRACE_INHERIT	  200809L
#define _POSIX_TRACE_LOG	  200809L

#undef _POSIX_TRACE_EVENT_NAME_MAX
#undef _POSIX_TRACE_NAME_MAX
#undef _POSIX_TRACE_SYS_MAX
#undef _POSIX_TRACE_USER_EVENT_MAX
#define _POSIX_TRACE_EVENT_NAME_MAX 30
#define _POSIX_TRACE_NAME_MAX	    8
#define _POSIX_TRACE_SYS_MAX	    8
#define _POSIX_TRACE_USER_EVENT_MAX 32

/*
 * The limits.
 *
 * - TRACE_EVENT_NAME_MAX: bytes in the name of an event, without the zero byte
 * - TRACE_NAME_MAX: bytes in the name of a stream, and in the text that
 *   posix_trace_attr_getgenversion() gets, with the zero byte
 * - TRACE_SYS_MAX: streams that exist at the same time
 * - TRACE_USER_EVENT_MAX: types of user events of a process, including the type
 *   POSIX_TRACE_UNNAMED_USER_EVENT
 */
#undef TRACE_EVENT_NAME_MAX
#undef TRACE_NAME_MAX
#undef TRACE_SYS_MAX
#undef TRACE_USER_EVENT_MAX
#define TRACE_EVENT_NAME_MAX 255
#define TRACE_NAME_MAX	     255
#define TRACE_SYS_MAX	     64
#define TRACE_USER_EVENT_MAX 512

/* The action when a stream, or a log, is full. */
#define POSIX_TRACE_LOOP       1
#define POSIX_TRACE_UNTIL_FULL 2
#define POSIX_TRACE_FLUSH      3
#define POSIX_TRACE_APPEND     4

#define POSIX_TRACE_CLOSE_FOR_CHILD 1
#define POSIX_TRACE_INHERITED	    2

#define POSIX_TRACE_SUSPENDED	 0
#define POSIX_TRACE_RUNNING	 1
#define POSIX_TRACE_NOT_FULL	 0
#define POSIX_TRACE_FULL	 1
#define POSIX_TRACE_NO_OVERRUN	 0
#define POSIX_TRACE_OVERRUN	 1
#define POSIX_TRACE_NOT_FLUSHING 0
#define POSIX_TRACE_FLUSHING	 1

#define POSIX_TRACE_NOT_TRUNCATED    0
#define POSIX_TRACE_TRUNCATED_RECORD 1
#define POSIX_TRACE_TRUNCATED_READ   2

/* Types of events that every stream has. */
#define POSIX_TRACE_ERROR	       1
#define POSIX_TRACE_START	       2
#define POSIX_TRACE_STOP	       3
#define POSIX_TRACE_OVERFLOW	       4
#define POSIX_TRACE_RESUME	       5
#define POSIX_TRACE_FILTER	       6
#define POSIX_TRACE_FLUSH_START	       7
#define POSIX_TRACE_FLUSH_STOP	       8
#define UTRAIL_TRACE_FUNCTION_ENTRY    9
#define UTRAIL_TRACE_FUNCTION_EXIT     10
#define POSIX_TRACE_UNNAMED_USER_EVENT 64
#define POSIX_TRACE_UNNAMED_USEREVENT  POSIX_TRACE_UNNAMED_USER_EVENT

/* The types that posix_trace_eventset_fill() puts into a set. */
#define POSIX_TRACE_WOPID_EVENTS  1
#define POSIX_TRACE_SYSTEM_EVENTS 2
#define POSIX_TRACE_ALL_EVENTS	  3

/* The operation of posix_trace_set_filter() on the filter. */
#define POSIX_TRACE_SET_EVENTSET 1
#define POSIX_TRACE_ADD_EVENTSET 2
#define POSIX_TRACE_SUB_EVENTSET 3

#ifdef __cplusplus
extern "C" {
#endif

typedef int trace_id_t;
typedef unsigned int trace_event_id_t;

typedef struct {
	unsigned int utrail_bits[32];
} trace_event_set_t;

typedef union {
	unsigned char utrail_bytes[768];
	void *utrail_pointer;
	double utrail_double;
} trace_attr_t;

struct posix_trace_event_info {
	trace_event_id_t posix_event_id;
	pid_t posix_pid;
	void *posix_prog_address;
	pthread_t posix_thread_id;
	struct timespec posix_timestamp;
	int posix_truncation_status;
};

/* Not in the standard: the data of UTRAIL_TRACE_FUNCTION_ENTRY and _EXIT. */
struct utrail_trace_function {
	void *function;
	void *call_site;
};

struct posix_trace_status_info {
	int posix_stream_status;
	int posix_stream_full_status;
	int posix_stream_overrun_status;
	int posix_stream_flush_status;
	int posix_stream_flush_error;
	int posix_log_overrun_status;
	int posix_log_full_status;
	/*
	 * Not in the standard: the number of events lost since the stream was made or
	 * cleared.
	 */
	unsigned long posix_stream_lost_events;
};

int posix_trace_attr_destroy(trace_attr_t *);
int posix_trace_attr_getclockres(const trace_attr_t *, struct timespec *);
int posix_trace_attr_getcreatetime(const trace_attr_t *, struct timespec *);
int posix_trace_attr_getgenversion(const trace_attr_t *, char *);
int posix_trace_attr_getinherited(const trace_attr_t *__restrict, int *__restrict);
int posix_trace_attr_getlogfullpolicy(const trace_attr_t *__restrict, int *__restrict);
int posix_trace_attr_getlogsize(const trace_attr_t *__restrict, size_t *__restrict);
int posix_trace_attr_getmaxdatasize(const trace_attr_t *__restrict, size_t *__restrict);
int posix_trace_attr_getmaxsystemeventsize(const trace_attr_t *__restrict, size_t *__restrict);
int posix_trace_attr_getmaxusereventsize(const trace_attr_t *__restrict, size_t,
					 size_t *__restrict);
int posix_trace_attr_getname(const trace_attr_t *, char *);
int posix_trace_attr_getstreamfullpolicy(const trace_attr_t *__restrict, int *__restrict);
int posix_trace_attr_getstreamsize(const trace_attr_t *__restrict, size_t *__restrict);
int posix_trace_attr_init(trace_attr_t *);
int posix_trace_attr_setinherited(trace_attr_t *, int);
int posix_trace_attr_setlogfullpolicy(trace_attr_t *, int);
int posix_trace_attr_setlogsize(trace_attr_t *, size_t);
int posix_trace_attr_setmaxdatasize(trace_attr_t *, size_t);
int posix_trace_attr_setname(trace_attr_t *, const char *);
int posix_trace_attr_setstreamfullpolicy(trace_attr_t *, int);
int posix_trace_attr_setstreamsize(trace_attr_t *, size_t);

int posix_trace_clear(trace_id_t);
int posix_trace_close(trace_id_t);
int posix_trace_create(pid_t, const trace_attr_t *__restrict, trace_id_t *__restrict);
int posix_trace_create_withlog(pid_t, const trace_attr_t *__restrict, int, trace_id_t *__restrict);
int posix_trace_flush(trace_id_t);
int posix_trace_get_attr(trace_id_t, trace_attr_t *);
int posix_trace_get_filter(trace_id_t, trace_event_set_t *);
int posix_trace_get_status(trace_id_t, struct posix_trace_status_info *);
int posix_trace_open(int, trace_id_t *);
int posix_trace_rewind(trace_id_t);
int posix_trace_set_filter(trace_id_t, const trace_event_set_t *, int);
int posix_trace_shutdown(trace_id_t);
int posix_trace_start(trace_id_t);
int posix_trace_stop(trace_id_t);

void posix_trace_event(trace_event_id_t, const void *__restrict, size_t);
int posix_trace_eventid_equal(trace_id_t, trace_event_id_t, trace_event_id_t);
int posix_trace_eventid_get_name(trace_id_t, trace_event_id_t, char *);
int posix_trace_eventid_open(const char *__restrict, trace_event_id_t *__restrict);
int posix_trace_trid_eventid_open(trace_id_t, const char *__restrict, trace_event_id_t *__restrict);
int posix_trace_eventtypelist_getnext_id(trace_id_t, trace_event_id_t *__restrict, int *__restrict);
int posix_trace_eventtypelist_rewind(trace_id_t);

int posix_trace_eventset_add(trace_event_id_t, trace_event_set_t *);
int posix_trace_eventset_del(trace_event_id_t, trace_event_set_t *);
int posix_trace_eventset_empty(trace_event_set_t *);
int posix_trace_eventset_fill(trace_event_set_t *, int);
int posix_trace_eventset_ismember(trace_event_id_t, const trace_event_set_t *__restrict,
				  int *__restrict);

int posix_trace_getnext_event(trace_id_t, struct posix_trace_event_info *__restrict,
			      void *__restrict, size_t, size_t *__restrict, int *__restrict);
int posix_trace_timedgetnext_event(trace_id_t, struct posix_trace_event_info *__restrict,
				   void *__restrict, size_t, size_t *__restrict, int *__restrict,
				   const struct timespec *__restrict);
int posix_trace_trygetnext_event(trace_id_t, struct posix_trace_event_info *__restrict,
				 void *__restrict, size_t, size_t *__restrict, int *__restrict);

/*
 * Like sysconf(), and knows _SC_TRACE and the other names of POSIX Trace. The C library's sysconf()
 * returns -1 for these names.
 */
long utrail_sysconf(int);

/*
 * Get or set an attribute of a stream. If the attribute is 1, the stream also gets the entries and
 * exits of functions. The initial value is 0.
 */
int utrail_trace_attr_getfunctions(const trace_attr_t *__restrict, int *__restrict);
int utrail_trace_attr_setfunctions(trace_attr_t *, int);
/*
 * Record the entry or exit of a function. Programs that are compiled with -finstrument-functions
 * and linked with the shared library call these two functions.
 */
void utrail_trace_function_entry(void *, void *);
void utrail_trace_function_exit(void *, void *);

#ifdef __cplusplus
}
#endif

#endif
