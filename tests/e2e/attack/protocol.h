/*
 * A copy of utils/format/probe/control.h and ring.h for the hostile client. The copy can be changed
 * in order to lie. protocol_test.c does not compile when the copy differs from these headers.
 */
#include <stdint.h>

#define VERSION 7

enum {
	HELLO = 1,
	MODULE,
	READY,
	WELCOME,
	PLAN,
	CRASH,
	ERROR,
	STATUS,
	STATUS_IS,
	DECLARE = 14,
	DECLARED,
	CALLABLE,
	CALLABLE_IS,
	STRANGE = 0x8001
};
enum {
	OPTIONAL = 1,
	ANSWER = 2
};
enum {
	EXEC = 1,
	FORK,
	DLOPEN,
	ENDING = 6,
	EVENTS = 9,
	NAMES
};

struct header {
	uint16_t magic, type, version, flags;
	uint32_t len, seq;
};

struct hello {
	struct header h;
	int32_t pid, ppid;
	uint32_t kind, pad;
	uint8_t secret[16], token[16];
	uint64_t time_ns;
};

/* The hello of version 5. */
struct old_hello {
	uint16_t magic, type;
	uint32_t version;
	int32_t pid, ppid;
	uint32_t kind, pad;
	uint64_t time_ns;
	uint8_t secret[16], token[16];
};

struct error {
	struct header h;
	uint32_t verdict, type;
};

struct status {
	struct header h;
	uint32_t flags, nr_alive;
	uint64_t bytes_written, records_lost;
};

struct declare {
	struct header h;
	uint32_t has_common, pad;
	char texts[8168];
};

struct declared {
	struct header h;
	uint32_t event;
	int32_t choice;
};

struct callable {
	struct header h;
	uint32_t line, is_native, wants_plan, nr_args;
	char texts[8152];
};

struct callable_is {
	struct header h;
	uint64_t addr, values;
	uint32_t range, pad;
};

struct module {
	struct header h;
	uint64_t start, end, load_bias, time_ns;
	int32_t tid;
	uint32_t has_text;
	char path[7900];
};

struct crash {
	struct header h;
	int32_t pid, tid, signal, code;
	uint64_t address, time_ns;
	uint32_t depth, nr_frames;
	uint64_t frames[512];
};

struct welcome_start {
	struct header h;
	uint8_t token[16];
};

struct ring {
	uint32_t state;
	int32_t tid;
	uint64_t start_ns;
	uint32_t payloads, pad1;
	uint64_t pad0[5];
	uint64_t head, lost, lost_told;
	uint32_t waiting, index;
	uint64_t lost_inside, pad2[3];
	uint64_t tail;
};

struct arena {
	uint64_t magic;
	uint32_t nr_rings, nr_segments, segment_bytes, may_skip;
	uint64_t ring_stride;
	uint32_t high_water, threads_untraced, finish_wanted, reads_failed, points_failed;
	uint32_t threads_caged, threads_shared, children_cut_off;
	uint32_t news, events_undeclared, threads_without_payloads;
	uint32_t seals, threads_sealed, talks_sealed, events_nameless, events_cut;
	uint32_t forks_begun, forks_noted, nr_forks, pad2;
	int32_t fork_pids[960];
};
