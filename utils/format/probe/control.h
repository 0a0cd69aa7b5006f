/*
 * Messages between a probe and the recorder over a Unix SOCK_SEQPACKET socket; both run on one
 * machine, so host byte order.
 */
#ifndef UTRAIL_FORMAT_CONTROL_H
#define UTRAIL_FORMAT_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/format/probe/plan.h"

/*
 *  probe                                     recorder
 *  HELLO (who, why, the secret)        ->
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
 *  when a language's function is called for the first time (libmcount/python):
 *  HELLO, CALLABLE                     ->
 *                                      <-    CALLABLE_IS + descriptor (plan), if it is wanted
 *  at any time after HELLO:
 *  STATUS                              ->
 *                                      <-    STATUS_IS
 *  while READY is being worked at, about once a second:
 *                                      <-    WORKING (optional)
 *
 * HELLO is the first message of each connection. The probe closes the connection after the
 * exchange, so that it keeps no descriptor that the program could close or replace. The socket is
 * in the abstract name space (unix(7)), so no file remains. One message per packet.
 *
 * Either end may send messages that the other does not know. A receiver ignores a message of
 * unknown type if it is CONTROL_OPTIONAL; otherwise it answers ERROR and the conversation is over:
 * the probe stops and the program runs on. A message may be longer than its receiver knows; the
 * bytes after the known members are ignored. doc/internals/add-a-control-message.md describes the
 * use of that.
 *
 * Any process on the machine can find and connect to it. Only processes that the recorder started,
 * and their descendants, know the secret: it is in UTRAIL_SOCKET, after the socket's name
 * ("name:secret in hex"), and in each HELLO. Other processes get no answer. After the secret, ":"
 * and five digits are the number of system call filters (seccomp) that a program starts with;
 * without them there are none. A process proves its other statements about itself by its token,
 * which came with WELCOME and which only its forked children share (doc/internals/trust.md).
 */
#define CONTROL_MAGIC	0x7554
#define CONTROL_VERSION 7
#define CONTROL_MSG_MAX 8192 /* bytes, with the header */

#define CONTROL_ENV_SOCKET "UTRAIL_SOCKET"
#define CONTROL_NAME_SIZE  64 /* of the socket, with its NUL */

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
	CONTROL_ERROR = 7, /* that message was not understood, or was refused; from either end */
	CONTROL_STATUS = 8,
	CONTROL_STATUS_IS = 9,

	CONTROL_SET_PLAN = 12,
	/* The answer takes a while: the files of a large program are being read */
	CONTROL_WORKING = 13,
	CONTROL_DECLARE = 14,
	CONTROL_DECLARED = 15,
	CONTROL_CALLABLE = 16,
	CONTROL_CALLABLE_IS = 17,

	/* Numbers that are given, for what is not built yet: */
	/* A command asks the recorder to attach to a running process */
	CONTROL_ATTACH = 10,
	CONTROL_DETACH = 11, /* the recorder asks a probe to stop recording its program */

	CONTROL_TESTS = 0x8000, /* from here on: for tests, never given to a message */
};

enum control_flags {
	CONTROL_OPTIONAL = 1U << 0, /* a receiver that does not know the type may skip it */
	CONTROL_ANSWER = 1U << 1,   /* @seq is that of the message that it answers */
};

/*
 * The first eight bytes are the same in all versions, so that each end can recognize the other's
 * version. Versions before 6 had 32 bits of version, no flags, and nothing more.
 *
 * @version: CONTROL_VERSION of the sender
 * @flags: unknown bits are ignored; a fact that must not be ignored has a type of its own
 * @len: of the whole message, equal to the packet's
 * @seq: each end counts its own messages on a connection, from 1
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
	CONTROL_EXEC = 1,   /* a fresh process image: a session of its own */
	CONTROL_FORK = 2,   /* a forked child: goes on in its parent's session */
	CONTROL_DLOPEN = 3, /* a known process has loaded more modules */
	CONTROL_ENDING = 6, /* a known process is about to be killed by a signal: CRASH follows */
	CONTROL_STEER = 8,  /* a known process asks for the newest plan */
	CONTROL_EVENTS = 9, /* a known process declares an event: DECLARE follows */
	CONTROL_NAMES = 10, /* a known process names functions: CALLABLEs follow */

	/* Executed images that cannot be traced; nothing follows. */
	CONTROL_NO_ADDRESS_SPACE = 4, /* ulimit -v */
	CONTROL_SHADOW_STACK = 5,     /* returns are checked by the CPU */
	CONTROL_OTHER_LIBC = 7,	      /* not glibc */
	CONTROL_IN_VALGRIND = 11,     /* whose reports would have other backtraces */
};

struct control_hello {
	struct control_header h;
	int32_t pid;
	int32_t ppid;
	uint32_t kind; /* enum control_hello_kind */
	uint32_t pad;
	uint8_t secret[CONTROL_SECRET_BYTES]; /* at this place in all versions */
	uint8_t token[CONTROL_SECRET_BYTES];  /* of the last WELCOME; zeros before it */
	uint64_t time_ns; /* CONTROL_FORK: the time when fork returned in the child; else 0 */
};
_Static_assert(sizeof(struct control_hello) == 72, "the same for all compilers");
_Static_assert(offsetof(struct control_hello, secret) == 32, "all versions have it there");

/* A loaded object: the first and last byte (exclusive) of its segments, and its path. */
struct control_module {
	struct control_header h;
	uint64_t start;
	uint64_t end;
	uint64_t load_bias; /* to be added to the file's own addresses */
	uint64_t time_ns;   /* before it was loaded; 0 for objects present from the start */
	int32_t tid;	    /* the thread that called dlopen */
	uint32_t has_text;  /* the module has an executable segment */
	char path[];	    /* with its NUL, up to the end of the packet */
};

struct control_ready {
	struct control_header h;
};

struct control_welcome {
	struct control_header h;
	uint8_t token[CONTROL_SECRET_BYTES];
};

/*
 * In the order of the SCM_RIGHTS array of WELCOME; for a fresh image the plan's memfd (plan.h)
 * comes with it.
 */
enum control_welcome_fd {
	CONTROL_FD_PAGE = 0,
	CONTROL_FD_ARENA = 1,
	CONTROL_FD_PLAN = 2,
	CONTROL_FD_MAX = 3,
};

/* It has a descriptor when there is an addition to the plan. */
struct control_plan {
	struct control_header h;
};

/*
 * With one descriptor: an image with settings, which replaces the current plan. It lists no library
 * calls and no points.
 */
struct control_set_plan {
	struct control_header h;
};

/* Frames in a CRASH, innermost first. @addr: as in records; @time_ns: of the entry */
#define CONTROL_CRASH_FRAMES 256

struct control_crash_frame {
	uint64_t addr;
	uint64_t time_ns;
};

/*
 * @code, @address: of siginfo_t; @address is 0 when the signal was sent. @depth: the total number
 *                  of frames
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
 * @texts: its id, its format and, if @has_common, the format in front of that, each with its NUL,
 *         up to the end of the packet
 */
struct control_declare {
	struct control_header h;
	uint32_t has_common;
	uint32_t pad;
	char texts[];
};

/*
 * @event: the number in its records; 0: there is none. @choice: the user's choice for it: below 0
 *         off, above 0 on, 0: none
 */
struct control_declared {
	struct control_header h;
	uint32_t event;
	int32_t choice;
};

/*
 * A function of a language without addresses. Many of these may follow each other.
 *
 * @line: the first of its source, from 1 on; 0: it has none
 * @is_native: it is written in C: a library call for readers
 * @wants_plan: the range of the last answer is not in the plan
 * @nr_args: its parameters
 * @texts: its name and its file, each with its NUL, up to the end of the packet; the file may be ""
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
 * With one descriptor if a plan was wanted and there is any: the additions for @range, as after a
 * dlopen.
 *
 * @addr: its address in records (utils/format/callables.h); 0: it has none, and is not recorded
 * @range: the number of the range of addresses with a rule that @addr is in; 0: it has no rule
 * @values: the recorded values of its calls, as in CALLABLE_RESULT
 */
struct control_callable_is {
	struct control_header h;
	uint64_t addr;
	uint64_t values;
	uint32_t range;
	uint32_t pad;
};

/*
 * The result of a message. The values from CONTROL_NO_MESSAGE on are those of ERROR; their numbers
 * are the same in all versions.
 */
enum control_verdict {
	CONTROL_TAKEN = 0,
	CONTROL_SKIPPED = 1,	/* of an unknown type, and optional */
	CONTROL_NO_MESSAGE = 2, /* no header, or it is not as long as it says */
	CONTROL_OTHER_VERSION = 3,
	CONTROL_UNKNOWN_TYPE = 4,
	CONTROL_MALFORMED = 5,	  /* shorter than its type, or with invalid values */
	CONTROL_OUT_OF_PLACE = 6, /* not at this point of the conversation */
	CONTROL_TOO_MANY = 7,
	CONTROL_FAILED = 8, /* understood, but the recorder could not do it */
};

/*
 * An answer to the message that it names; the conversation is over. It is never answered itself.
 * The same in all versions.
 */
struct control_error {
	struct control_header h;
	uint32_t verdict; /* enum control_verdict */
	uint32_t type;	  /* of that message */
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
 * The recording as a whole, without data about other processes. @nr_alive: recorded processes that
 * are running
 */
struct control_status_is {
	struct control_header h;
	uint32_t flags; /* enum control_status_flags */
	uint32_t nr_alive;
	uint64_t bytes_written; /* into the .dat files */
	uint64_t records_lost;
};

/*
 * With CONTROL_OPTIONAL and the number of the message that is being processed. The waiting end
 * restarts its timeout.
 */
struct control_working {
	struct control_header h;
};

/* --- the codec (control.c): the same for probe, recorder and tests; no allocation, no libc --- */

/*
 * The format of a type of message.
 *
 * @min_len: it may be longer
 * @is_valid: true when its members are valid; of @len bytes, at least @min_len. NULL: always
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
 * The messages that one end accepts: a row for each known type. States are small numbers of its
 * own; 0 is the end of the conversation.
 *
 * @states: those in which it may come, of CONTROL_IN()
 * @take: called with a valid message, in such a state; returns the next state
 */
#define CONTROL_OVER	  0U
#define CONTROL_IN(state) (1U << (state))

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
 * Process one packet by its row; @state becomes the next state. Any verdict but CONTROL_TAKEN
 * leaves @state unchanged. @len: the packet's; shapes and rows check that @packet contains the
 * members that they read.
 */
enum control_verdict control_take(const struct control_table *table, unsigned *state, void *context,
				  const void *packet, size_t len);

/*
 * Fill in the header of @message. @len: of the whole message; @seq: its own, or for CONTROL_ANSWER
 * that of the answered one
 */
void control_stamp(void *message, enum control_type type, uint32_t flags, size_t len, uint32_t seq);

/* The ERROR that answers @packet, whose header is complete. */
struct control_error control_error_about(const void *packet, enum control_verdict verdict);

/*
 * Parse "name:secret" or "name:secret:filters": the number of bytes of the name, and the secret in
 * @secret. 0 when the format is wrong.
 */
size_t control_address_parse(const char *address, uint8_t secret[CONTROL_SECRET_BYTES]);

/*
 * The number of system call filters that programs start with, from a well-formed @address; and add
 * one, if the address has such a number.
 */
unsigned control_address_filters(const char *address);
void control_address_add_filter(char *address);

/* True when two secrets are equal. The time is independent of the differing bytes. */
bool control_secret_is(const uint8_t a[CONTROL_SECRET_BYTES],
		       const uint8_t b[CONTROL_SECRET_BYTES]);

/*
 * The version of a packet whose sender knows @secret and sends HELLO in another version than ours;
 * 0 for all others.
 */
unsigned control_other_version(const void *packet, size_t len,
			       const uint8_t secret[CONTROL_SECRET_BYTES]);

#endif
