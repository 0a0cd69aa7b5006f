/*
 * Decides which requests the server of `utrail show` answers. The decision comes before anything
 * else is done, and needs only the head of a request. The gate uses no sockets.
 */
#ifndef UTRAIL_CMDS_SHOW_GATE_H
#define UTRAIL_CMDS_SHOW_GATE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "utils/base/err.h"

/* The size of a secret in bytes: 128 bits as 32 hexadecimal digits, and a NUL. */
#define GATE_SECRET_BYTES 33

/*
 * The secrets of a server.
 *
 * @token: the first part of every path, except the path that contains @ticket
 * @ticket: `utrail show` passes an address with this ticket to the browser, as an argument. Other
 *         users may see this address in the output of ps(1). The server accepts the ticket once,
 *         and redirects to a path with @token
 * @is_used: the ticket was used
 * @port: the server's port, 1 to 65535
 */
struct gate {
	char token[GATE_SECRET_BYTES];
	char ticket[GATE_SECRET_BYTES];
	atomic_bool is_used;
	unsigned port;
};

/*
 * The head of a request. A header that is missing is NULL.
 *
 * @path: with its leading slash, without the query
 * @is_twice: at least one of the headers occurs more than once
 */
struct gate_request {
	const char *method;
	const char *path;
	const char *host;
	const char *origin;
	const char *site; /* the header Sec-Fetch-Site */
	bool is_twice;
};

enum gate_answer {
	GATE_OPEN,	/* the request is allowed; gate_judge() has set @rest */
	GATE_TICKET,	/* redirect to the path with the token; the ticket is used up */
	GATE_FORBIDDEN, /* 403, for any reason */
	GATE_METHOD,	/* the token is right, but the method is neither GET nor HEAD */
};

/* Make new secrets from random numbers of the kernel. Returns 0, or a negative errno with @err. */
int gate_init(struct gate *gate, struct uft_err *err);

/*
 * Decide how a request is answered. May be called from any thread.
 *
 * @rest: for GATE_OPEN, the part of the request's path after the token, such as "/0/part"
 */
enum gate_answer gate_judge(struct gate *gate, const struct gate_request *request,
			    const char **rest);

#endif
