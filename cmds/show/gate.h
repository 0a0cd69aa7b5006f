/*
 * Judges who may ask the server of `utrail show` for what, by the head of a request alone, before
 * anything else is looked at. Knows no sockets.
 */
#ifndef UTRAIL_CMDS_SHOW_GATE_H
#define UTRAIL_CMDS_SHOW_GATE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "utils/base/err.h"

/* 128 bits in hexadecimal digits, and the NUL. */
#define GATE_SECRET_BYTES 33

/*
 * @token: the first part of the path of all that is given
 * @ticket: stands in the address that a browser is started with, where other users may see it
 *          (ps): it is good for one redirection to the address with the token
 * @is_used: the ticket was
 * @port: of the server, 1 to 65535
 */
struct gate {
	char token[GATE_SECRET_BYTES];
	char ticket[GATE_SECRET_BYTES];
	atomic_bool is_used;
	unsigned port;
};

/*
 * A request, as far as it says something of itself. NULL: the header is not there.
 *
 * @path: with its leading slash, without the query
 * @is_twice: one of the headers is there more than once
 */
struct gate_request {
	const char *method;
	const char *path;
	const char *host;
	const char *origin;
	const char *site; /* Sec-Fetch-Site */
	bool is_twice;
};

enum gate_answer {
	GATE_OPEN,	/* see the rest of the path */
	GATE_TICKET,	/* redirect to the token; the ticket is used up */
	GATE_FORBIDDEN, /* 403, whatever the reason */
	GATE_METHOD,	/* the token is right, but all that is allowed is GET and HEAD */
};

/* New secrets from the kernel. 0 or a negative errno with @err. */
int gate_init(struct gate *gate, struct uft_err *err);

/*
 * @rest: of GATE_OPEN: what follows the token, as "/0/part"; it points into the request's path.
 * Any thread.
 */
enum gate_answer gate_judge(struct gate *gate, const struct gate_request *request,
			    const char **rest);

#endif
