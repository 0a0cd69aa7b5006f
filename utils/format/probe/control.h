/*
 * Messages between a probe and the recorder over a Unix SOCK_SEQPACKET socket. The probe and the
 * recorder run on one machine, so messages have the byte order of this machine.
 */
#ifndef UTRAIL_FORMAT_CONTROL_H
#define UTRAIL_FORMAT_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/format/probe/plan.h"

/*
 *  probe                                     recorder
 *  HELLO (process, kind, secret)       ->
 *  MODULE, once per loaded object      ->
 *  READY                               ->
 *                                      <-    WELCOME + descriptors (control page, arena, plan)
 *  later, after a dlopen:
 *  HELLO, MODULE (new ones), READY     ->
 *                                      <-    PLAN + descriptor (plan of the new modules)
 *  with PLAN_STEERABLE, when control_page.plan_generation has changed:
 *  HELLO, READY                        ->
 *                                      <-    SET_PLAN + descriptor (plan for all known modules)
 *  when a signal ends the program, with PLAN_CRASH_REPORT:
 *  HELLO, CRASH                        ->
 *  when the program declares an event (libutrail-trace):
 *  HELLO, DECLARE                      ->
 *                                      <-    DECLARED
 *  when a function of Python is called for the first time (libmcount/python):
 *  HELLO, CALLABLE                     ->
 *                                      <-    CALLABLE_IS, perhaps + descriptor (plan)
 *  at any time after HELLO:
 *  STATUS                              ->
 *                                      <-    STATUS_IS
 *  while the recorder works on READY, about once a second:
 *                                      <-    WORKING (optional)
 *
 * - HELLO is the first message of each connection. A packet has one message.
 * - The probe closes the connection after each exchange, because the program could close or replace
 *   the descriptor of an open connection.
 * - The socket is in the abstract name space (unix(7)), so no file remains.
 * - A receiver ignores an unknown message that has CONTROL_OPTIONAL. The receiver answers other
 *   unknown messages with ERROR, which ends the conversation. The program runs on without the
 *   probe.
 * - A receiver ignores bytes after the members that it knows
 *   (doc/internals/add-a-control-message.md).
 * - UTRAIL_SOCKET is "name:secret" or "name:secret:filters". The secret is in hex. "filters" has
 *   five decimal digits: the number of system call filters (seccomp) that a program has at its
 *   start.
 * - A sender without the secret gets no answer. The token of WELCOME proves that a process was
 *   welcomed, or is the forked child of such a process (doc/internals/trust.md).
 */
#define CONTROL_MAGIC	0x7554
#define CONTROL_VERSION 7
#define CONTROL_MSG_MAX 8192 /* the most bytes of a message with its header */

#define CONTROL_ENV_SOCKET "UTRAIL_SOCKET"
#define CONTROL_NAME_SIZE  64 /* the most bytes of the socket's name, with the NUL */

#define CONTROL_SECRET_BYTES   16
#define CONTROL_FILTERS_DIGITS 5
#define CONTROL_ADDRESS_SIZE                                    \
	(CONTROL_NAME_SIZE + 1 + 2 * CONTROL_SECRET_BYTES + 1 + \
	 CONTROL_FILTERS_DIGITS) /* with its NUL */

enum control_type {
	CONTROL_HELLO = 1,
	CONTROL_MODULE = 2,
	CONTROL_READY = 3,
	CONTROL_WELCOME = 4,
	CONTROL_PLAN = 5,
	CONTROL_CRASH = 6,
	CONTROL_ERROR = 7, /* sent by either end: a message was not understood, or was refused */
	CONTROL_STATUS = 8,
	CONTROL_STATUS_IS = 9,

	CONTROL_SET_PLAN = 12,
	CONTROL_WORKING = 13, /* the answer takes a while, for example for a large program */
	CONTROL_DECLARE = 14,
	CONTROL_DECLARED = 15,
	CONTROL_CALLABLE = 16,
	CONTROL_CALLABLE_IS = 17,

	/* Numbers that are reserved for messages that are not implemented yet. */
	/* A command asks the recorder to attach to a running process */
	CONTROL_ATTACH = 10,
	CONTROL_DETACH = 11, /* the recorder asks a probe to stop recording its program */

	CONTROL_TESTS = 0x8000, /* numbers from here are for tests only */
};

enum control_flags {
	CONTROL_OPTIONAL = 1U << 0, /* a receiver that does not know the type ignores the message */
	CONTROL_ANSWER = 1U << 1,   /* an answer: @seq is the number of the answered message */
};

/*
 * In all versions, the first six bytes are @magic, @type and the version number. Before version 6,
 * the header had eight bytes, and the last two were 0.
 *
 * @version: CONTROL_VERSION of the sender
 * @flags: receivers ignore unknown bits
 * @len: the length of the message in bytes, including this header. A packet has one message
 * @seq: each end numbers the messages that it sends on a connection, from 1 on. Answers and WORKING
 *       instead have the number of the message to which they belong
 */
struct control_header {
	uint16_t magic;
	uint16_t type; /* enum control_type */
	uint16_t version;
	uint16_t flags; /* enum control_flags */
	uint32_t len;
	uint32_t seq;
};
_Static_assert(sizeof(struct control_header) == 16 && offsetof(struct control_header, version) == 4,
	       "all versions find the version there");

enum control_hello_kind {
	CONTROL_EXEC = 1,   /* a fresh process image, which gets a session of its own */
	CONTROL_FORK = 2,   /* a forked child, which stays in its parent's session */
	CONTROL_DLOPEN = 3, /* a known process has loaded more modules */
	CONTROL_ENDING = 6, /* a known process is about to be killed by a signal: CRASH follows */
	CONTROL_STEER = 8,  /* a known process asks for the newest plan */
	CONTROL_EVENTS = 9, /* a known process declares an event: DECLARE follows */
	CONTROL_NAMES = 10, /* a known process sends the names of functions: CALLABLEs follow */

	/* The probe cannot trace the fresh process image, and sends nothing after this HELLO: */
	CONTROL_NO_ADDRESS_SPACE = 4, /* there is a limit of address space (ulimit -v) */
	CONTROL_SHADOW_STACK = 5,     /* the CPU checks returns */
	CONTROL_OTHER_LIBC = 7,	      /* the libc is not glibc */
	CONTROL_IN_VALGRIND = 11,     /* tracing would change valgrind's backtraces */
};

struct control_hello {
	struct control_header h;
	int32_t pid;
	int32_t ppid;
	uint32_t kind; /* enum control_hello_kind */
	uint32_t pad;
	uint8_t secret[CONTROL_SECRET_BYTES]; /* has this offset in all versions */
	uint8_t token[CONTROL_SECRET_BYTES];  /* of the last WELCOME; zeros before the first */
	uint64_t time_ns; /* CONTROL_FORK: the time when fork returned in the child; else 0 */
};
_Static_assert(sizeof(struct control_hello) == 72, "the same for all compilers");
_Static_assert(offsetof(struct control_hello, secret) == 32, "all versions have it there");

/* A loaded object: its segments are within [@start, @end). */
struct control_module {
	struct control_header h;
	uint64_t start;
	uint64_t end;
	uint64_t load_bias; /* the number to add to the file's own addresses */
	uint64_t time_ns;   /* the time when dlopen was called; 0: present from the start */
	int32_t tid;	    /* the thread that called dlopen */
	uint32_t has_text;  /* the module has an executable segment */
	char path[];	    /* its NUL is the packet's last byte */
};

struct control_ready {
	struct control_header h;
};

struct control_welcome {
	struct control_header h;
	uint8_t token[CONTROL_SECRET_BYTES];
};

/*
 * The descriptors of WELCOME, in the order of its SCM_RIGHTS array. The memfd of the plan (plan.h)
 * is sent only to a new process image (CONTROL_EXEC).
 */
enum control_welcome_fd {
	CONTROL_FD_PAGE = 0,
	CONTROL_FD_ARENA = 1,
	CONTROL_FD_PLAN = 2,
	CONTROL_FD_MAX = 3,
};

/*
 * If the new modules need a plan (plan.h), PLAN has one descriptor: the memfd of this plan. The
 * probe adds this plan to its current plan.
 */
struct control_plan {
	struct control_header h;
};

/*
 * SET_PLAN has one descriptor: the memfd of a new plan (plan.h). The functions, rules, captures,
 * watches and changeable settings of the new plan replace those of the probe's current plan. The
 * new plan has no library calls, no patches and no static probes. So the probe keeps the library
 * calls, patches and static probes of the current plan.
 */
struct control_set_plan {
	struct control_header h;
};

/* The maximum number of frames in a CRASH. The innermost frame comes first. */
#define CONTROL_CRASH_FRAMES 256

/* @addr: the function's address in records; @time_ns: the time when the call began */
struct control_crash_frame {
	uint64_t addr;
	uint64_t time_ns;
};

/*
 * @code, @address: of siginfo_t; @address is 0 when a process has sent the signal
 * @depth: number of the thread's frames. A frame is a call that was entered and has not returned
 */
struct control_crash {
	struct control_header h;
	int32_t pid;
	int32_t tid;
	int32_t signal;
	int32_t code;
	uint64_t address;
	uint64_t time_ns;
	uint32_t depth;
	uint32_t nr_frames;
	struct control_crash_frame frames[CONTROL_CRASH_FRAMES];
};
_Static_assert(sizeof(struct control_crash) <= CONTROL_MSG_MAX, "it fits a packet");

/*
 * @texts: the event's id, the event's format and, if @has_common, the common format. Each text ends
 *         with a NUL. The last NUL is the packet's last byte
 */
struct control_declare {
	struct control_header h;
	uint32_t has_common;
	uint32_t pad;
	char texts[];
};

/*
 * @event: the event's number in records; 0: the event has no number
 * @choice: the user's choice for the event; below 0: off, above 0: on, 0: none
 */
struct control_declared {
	struct control_header h;
	uint32_t event;
	int32_t choice;
};

/*
 * A function of a language whose functions have no addresses, such as Python.
 *
 * @line: the first line of the function's source, counted from 1; 0: the function has no source
 * @is_native: the function is written in C. Readers show calls of the function as library calls
 * @wants_plan: true: the probe asks for the plan of the function's range of addresses. The probe
 *              knows the range from an earlier answer (control_callable_is.range), but the probe's
 *              plan has no entries for the range yet
 * @nr_args: the number of the function's parameters
 * @texts: the function's name, and then its file or "". Each text ends with a NUL. The last NUL is
 *         the packet's last byte
 */
struct control_callable {
	struct control_header h;
	uint32_t line;
	uint32_t is_native;
	uint32_t wants_plan;
	uint32_t nr_args;
	char texts[];
};

/*
 * The answer to CALLABLE. If control_callable.wants_plan is true, and the plan for @range has
 * entries, the answer has a descriptor: a memfd with this plan.
 *
 * @addr: the function's address in records (utils/format/callables.h); 0: the function is not
 *         recorded
 * @values: the values to record for a call of the function, as bits (CALLABLE_RESULT)
 * @range: the number of the range of addresses that contains @addr. All functions of the range have
 *         the same entries in plans. 0: the function needs no entry in plans
 */
struct control_callable_is {
	struct control_header h;
	uint64_t addr;
	uint64_t values;
	uint32_t range;
	uint32_t pad;
};

/*
 * The result of processing a message. In an ERROR message, the result is at least
 * CONTROL_NO_MESSAGE. The values from CONTROL_NO_MESSAGE on are the same in all versions.
 */
enum control_verdict {
	CONTROL_TAKEN = 0,
	CONTROL_SKIPPED = 1,	/* the message has an unknown type, but is optional */
	CONTROL_NO_MESSAGE = 2, /* no header, or a wrong length in the header */
	CONTROL_OTHER_VERSION = 3,
	CONTROL_UNKNOWN_TYPE = 4,
	CONTROL_MALFORMED = 5,	  /* too short for its type, or has invalid values */
	CONTROL_OUT_OF_PLACE = 6, /* not allowed at this point of the conversation */
	CONTROL_TOO_MANY = 7,
	CONTROL_FAILED = 8, /* the message is valid, but the recorder could not execute it */
};

/*
 * The answer that ends a conversation. An ERROR is never answered. The struct is the same in all
 * versions.
 */
struct control_error {
	struct control_header h;
	uint32_t verdict; /* enum control_verdict */
	uint32_t type;	  /* type of the answered message */
};
_Static_assert(sizeof(struct control_error) == 24, "the same in all versions");

struct control_status {
	struct control_header h;
};

enum control_status_flags {
	CONTROL_STATUS_FULL = 1U << 0,	   /* --max-size was reached: nothing more is written */
	CONTROL_STATUS_FINISHED = 1U << 1, /* the end of the recording was requested */
	CONTROL_STATUS_FAILED = 1U << 2,   /* the recorder could not write a file */
};

/*
 * The state of the whole recording. @nr_alive: number of recorded processes that are running
 */
struct control_status_is {
	struct control_header h;
	uint32_t flags; /* enum control_status_flags */
	uint32_t nr_alive;
	uint64_t bytes_written; /* bytes written to the .dat files */
	uint64_t records_lost;
};

/*
 * WORKING has CONTROL_OPTIONAL, and the @seq of the message that is being processed. The
 * receiver restarts its timeout.
 */
struct control_working {
	struct control_header h;
};

/*
 * --- the codec (control.c), which probe and recorder share; it does not allocate, and uses only
 * strlen(3) of libc ---
 */

/*
 * The format of a type of message.
 *
 * @min_len: the least length
 * @is_valid: is called with @len >= @min_len, and returns true when the members of the message are
 *            valid; NULL: the members are always valid
 */
struct control_shape {
	uint16_t type;
	uint16_t min_len;
	const char *name;
	bool (*is_valid)(const void *message, size_t len);
};

extern const struct control_shape control_hello_shape;
extern const struct control_shape control_module_shape;
extern const struct control_shape control_ready_shape;
extern const struct control_shape control_welcome_shape;
extern const struct control_shape control_plan_shape;
extern const struct control_shape control_set_plan_shape;
extern const struct control_shape control_declare_shape;
extern const struct control_shape control_declared_shape;
extern const struct control_shape control_callable_shape;
extern const struct control_shape control_callable_is_shape;
extern const struct control_shape control_crash_shape;
extern const struct control_shape control_error_shape;
extern const struct control_shape control_status_shape;
extern const struct control_shape control_status_is_shape;
extern const struct control_shape control_working_shape;

/*
 * The probe and the recorder each number their own states of a conversation, from 1 to at most 31.
 * CONTROL_OVER is the state after the last message of the conversation.
 */
#define CONTROL_OVER	  0U
#define CONTROL_IN(state) (1U << (state))

/*
 * The way in which one end accepts a type of message.
 *
 * @states: the states in which the message may come, as bits of CONTROL_IN()
 * @take: is called with a valid message in one of these states; returns the next state
 */
struct control_row {
	const struct control_shape *shape;
	uint32_t states;
	unsigned (*take)(void *context, const void *message, size_t len);
};

struct control_table {
	const struct control_row *rows;
	size_t nr;
};

/*
 * Process the message in @packet, which has @len bytes. The row of @table for the message's type
 * gives the states in which the message may come, and the function that takes the message. If the
 * result is CONTROL_TAKEN, *@state becomes the next state. With any other result, *@state does not
 * change.
 */
enum control_verdict control_take(const struct control_table *table, unsigned *state, void *context,
				  const void *packet, size_t len);

/*
 * Fill in the header of @message, which has @len bytes.
 *
 * @seq: the number of @message. Answers and WORKING instead have the number of the message to which
 *       they belong
 */
void control_stamp(void *message, enum control_type type, uint32_t flags, size_t len, uint32_t seq);

/* Make the ERROR that answers @packet, whose header is complete. */
struct control_error control_error_about(const void *packet, enum control_verdict verdict);

/*
 * Parse "name:secret" or "name:secret:filters". Returns the number of bytes of the name, with the
 * secret in @secret, or 0 if the format is wrong.
 */
size_t control_address_parse(const char *address, uint8_t secret[CONTROL_SECRET_BYTES]);

/*
 * In a well-formed @address, the number of system call filters may follow the secret. Returns this
 * number, or 0 if no number follows. control_address_add_filter() adds 1 to the number, and does
 * nothing if no number follows.
 */
unsigned control_address_filters(const char *address);
void control_address_add_filter(char *address);

/*
 * True when two secrets are equal. The duration of the comparison does not depend on the bytes that
 * differ.
 */
bool control_secret_is(const uint8_t a[CONTROL_SECRET_BYTES],
		       const uint8_t b[CONTROL_SECRET_BYTES]);

/*
 * Returns the version of a packet if the packet is a HELLO, its version is not ours, and its sender
 * knows @secret. Returns 0 for all other packets.
 */
unsigned control_other_version(const void *packet, size_t len,
			       const uint8_t secret[CONTROL_SECRET_BYTES]);

#endif
