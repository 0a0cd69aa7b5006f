/* Events of POSIX Trace, in streams and in logs. The ids and flags equal those in <trace.h>. */
#ifndef UTRAIL_POSIXTRACE_EVENT_H
#define UTRAIL_POSIXTRACE_EVENT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Ids of three kinds of events: system events, the unnamed user event, and named user events. A set
 * of events is an array of bits: bit N stands for the event with the id N.
 */
enum {
	PT_ERROR = 1,
	PT_START,
	PT_STOP,
	PT_OVERFLOW,
	PT_RESUME,
	PT_FILTER,
	PT_FLUSH_START,
	PT_FLUSH_STOP,
	PT_FUNCTION_ENTRY,
	PT_FUNCTION_EXIT,
	PT_NR_SYSTEM,
	PT_UNNAMED = 64,
	PT_FIRST_NAMED,
	PT_NR_NAMED = 511,
	PT_END_NAMED = PT_FIRST_NAMED + PT_NR_NAMED,
	PT_NR_IDS = 1024,
};

#define PT_NAME_MAX	 255 /* maximum bytes of an event's name, without the zero byte */
#define PT_STREAM_NAME	 255 /* maximum bytes of a stream's name, with the zero byte */
#define PT_DATA_MAX	 (512u << 10)
#define PT_SYSTEM_DATA	 256 /* maximum bytes of a system event's data: two sets of events */
#define PT_SIZE_MAX	 (1u << 30)
#define PT_NS_PER_SECOND 1000000000

enum {
	PT_TRUNCATED = 1,
};

/*
 * @time_ns: nanoseconds since 1970
 * @address: the address of the code that has made the event
 * @thread: the pthread_t
 * @len: the bytes of recorded data
 * @flags: PT_TRUNCATED: the event had more data
 */
struct pxt_event {
	uint64_t time_ns;
	uint64_t address;
	uint64_t thread;
	uint32_t pid;
	uint32_t id;
	uint32_t len;
	uint32_t flags;
};

/*
 * The attributes of a stream. This struct is stored in a program's trace_attr_t, in the stream
 * itself, and in a log. The struct has no padding.
 *
 * @magic: PT_ATTR_MAGIC while the attributes are valid
 * @functions: not 0 if the stream wants entries and exits of functions
 * @stream_policy: 0: the default, which depends on whether there is a log
 */
#define PT_ATTR_MAGIC 0x52545441

struct pxt_attr {
	uint32_t magic;
	uint16_t inherited;
	uint16_t functions;
	uint32_t stream_policy;
	uint32_t log_policy;
	uint64_t stream_size;
	uint64_t log_size;
	uint64_t max_data;
	uint64_t clock_ns;
	uint64_t created_ns;
	char version[64];
	char name[PT_STREAM_NAME + 1];
};

_Static_assert(sizeof(struct pxt_attr) == 56 + 64 + 256, "the same in programs of 32 and 64 bits");

/* The status of a stream, stored in the header of the stream's log. */
struct pxt_status {
	uint32_t is_running;
	uint32_t is_full;
	uint32_t is_overrun;
	uint32_t flush_error;
	uint32_t is_log_overrun;
	uint32_t is_log_full;
	uint64_t lost;
};

/* Returns the name of a system event or of PT_UNNAMED. Returns NULL for any other id. */
const char *pxt_fixed_name(uint32_t id);

#endif
