/* Messages between a probe and the recorder over a Unix SOCK_SEQPACKET socket; both run on one machine, so host byte order. */
#ifndef UTRAIL_FORMAT_CONTROL_H
#define UTRAIL_FORMAT_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#include "utils/format/plan.h"

/*
 *  probe                                     recorder
 *  HELLO (who, why, the secret)        ->
 *  MODULE, once per loaded object      ->
 *  READY                               ->
 *                                      <-    WELCOME + descriptors (control page, arena, plan)
 *  later, after a dlopen:
 *  HELLO, MODULE (new ones), READY     ->
 *                                      <-    PLAN + descriptor (plan of the new modules)
 *  when a signal ends the program, with PLAN_CRASH_REPORT:
 *  HELLO, CRASH                        ->
 *
 * Each conversation has a connection of its own, closed at its end: the probe keeps no descriptor
 * that the program could close or replace. One message per packet; the packet's length is the
 * message's. The socket lives in the abstract name space (unix(7)), so nothing is left behind.
 *
 * Everybody on the machine can find and connect to it. Only who was started by the recorder, or by somebody who was, knows the
 * secret: it is in UTRAIL_SOCKET, behind the socket's name ("name:secret in hex"), and in each HELLO. What a process may say of
 * itself beyond that rests on its token, which WELCOME has brought and which only its forked children share
 * (doc/internals/trust.md).
 */
#define CONTROL_MAGIC	0x7554
#define CONTROL_VERSION 6
#define CONTROL_MSG_MAX 8192 /* bytes, with the header */

#define CONTROL_ENV_SOCKET "UTRAIL_SOCKET"
#define CONTROL_NAME_SIZE  64 /* of the socket, with its NUL */

#define CONTROL_SECRET_BYTES 16
#define CONTROL_ADDRESS_SIZE (CONTROL_NAME_SIZE + 1 + 2 * CONTROL_SECRET_BYTES) /* with its NUL */

enum control_type {
	CONTROL_HELLO = 1,
	CONTROL_MODULE = 2,
	CONTROL_READY = 3,
	CONTROL_WELCOME = 4,
	CONTROL_PLAN = 5,
	CONTROL_CRASH = 6,
};

struct control_header {
	uint16_t magic;
	uint16_t type; /* enum control_type */
	uint32_t version;
};

enum control_hello_kind {
	CONTROL_EXEC = 1,   /* a fresh process image: a session of its own */
	CONTROL_FORK = 2,   /* a forked child: goes on in its parent's session */
	CONTROL_DLOPEN = 3, /* a known process has loaded more modules */
	CONTROL_ENDING = 6, /* a known process is about to die of a signal: CRASH follows */

	/* Fresh images that cannot be traced; nothing follows. */
	CONTROL_NO_ADDRESS_SPACE = 4, /* ulimit -v */
	CONTROL_SHADOW_STACK = 5,     /* returns are checked by the CPU */
	CONTROL_OTHER_LIBC = 7,	      /* not glibc */
};

struct control_hello {
	struct control_header h;
	int32_t pid;
	int32_t ppid;
	uint32_t kind; /* enum control_hello_kind */
	uint32_t pad;
	uint64_t time_ns; /* CONTROL_FORK: when the fork returned in the child; else 0 */
	uint8_t secret[CONTROL_SECRET_BYTES];
	uint8_t token[CONTROL_SECRET_BYTES]; /* of the last WELCOME; zeros before it */
};
_Static_assert(sizeof(struct control_hello) == 64, "the same for all compilers");

/* A loaded object: the first and last byte (exclusive) of its segments, and its path. */
struct control_module {
	struct control_header h;
	uint64_t start;
	uint64_t end;
	uint64_t load_bias; /* what is added to the file's own addresses */
	uint64_t time_ns;   /* before it was loaded; 0 when it was there from the start */
	int32_t tid;	    /* who called dlopen */
	uint32_t has_text;  /* it has an executable segment */
	char path[];	    /* with its NUL, up to the end of the packet */
};

struct control_ready {
	struct control_header h;
};

struct control_welcome {
	struct control_header h;
	uint8_t token[CONTROL_SECRET_BYTES];
};

/* In the order of the SCM_RIGHTS array of WELCOME; the plan's memfd (plan.h) comes with that of a fresh image. */
enum control_welcome_fd {
	CONTROL_FD_PAGE = 0,
	CONTROL_FD_ARENA = 1,
	CONTROL_FD_PLAN = 2,
	CONTROL_FD_MAX = 3,
};

/* With one descriptor when there is anything to add. */
struct control_plan {
	struct control_header h;
};

/* Frames in a CRASH, innermost first. @addr: as in records; @time_ns: of the entry */
#define CONTROL_CRASH_FRAMES 256

struct control_crash_frame {
	uint64_t addr;
	uint64_t time_ns;
};

/* @code, @address: of siginfo_t; @address is 0 when the signal was sent. @depth: how many frames there are in all */
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

static inline struct control_header control_header(enum control_type type)
{
	return (struct control_header){ CONTROL_MAGIC, (uint16_t)type, CONTROL_VERSION };
}

static inline int control_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Take "name:secret" apart: the bytes of the name, and the secret in @secret. 0 when it is not of that form. No libc: the probe
 * does this in any process.
 */
static inline size_t control_address_parse(const char *address,
					   uint8_t secret[CONTROL_SECRET_BYTES])
{
	size_t len = 0;
	const char *hex;

	while (address[len] && address[len] != ':' && len < CONTROL_NAME_SIZE)
		len++;
	if (len >= CONTROL_NAME_SIZE || address[len] != ':')
		return 0;
	hex = address + len + 1;
	for (size_t i = 0; i < CONTROL_SECRET_BYTES; i++) {
		int high = control_hex_digit(hex[2 * i]);
		int low = high < 0 ? -1 : control_hex_digit(hex[2 * i + 1]);

		if (low < 0)
			return 0;
		secret[i] = high << 4 | low;
	}
	return hex[2 * CONTROL_SECRET_BYTES] ? 0 : len;
}

/* Whether two secrets are the same, in the same time wherever they differ. */
static inline int control_secret_is(const uint8_t a[CONTROL_SECRET_BYTES],
				    const uint8_t b[CONTROL_SECRET_BYTES])
{
	unsigned differ = 0;

	for (size_t i = 0; i < CONTROL_SECRET_BYTES; i++)
		differ |= a[i] ^ b[i];
	return differ == 0;
}

/*
 * What kind of message a packet of @len bytes is; 0 when it is none: wrong magic or version,
 * too short for its type, or a path without its NUL.
 */
static inline int control_check(const void *packet, size_t len)
{
	const struct control_header *h = packet;

	if (len < sizeof(*h) || h->magic != CONTROL_MAGIC || h->version != CONTROL_VERSION)
		return 0;
	switch (h->type) {
	case CONTROL_HELLO:
		return len == sizeof(struct control_hello) ? h->type : 0;
	case CONTROL_MODULE:
		if (len <= sizeof(struct control_module) || ((const char *)packet)[len - 1] != '\0')
			return 0;
		return h->type;
	case CONTROL_READY:
		return len == sizeof(struct control_ready) ? h->type : 0;
	case CONTROL_WELCOME:
		return len == sizeof(struct control_welcome) ? h->type : 0;
	case CONTROL_CRASH: {
		const struct control_crash *crash = packet;

		return len == sizeof(*crash) && crash->nr_frames <= CONTROL_CRASH_FRAMES ? h->type
											 : 0;
	}
	case CONTROL_PLAN:
		return len == sizeof(struct control_plan) ? h->type : 0;
	}
	return 0;
}

#endif
