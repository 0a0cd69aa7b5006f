/*
 * A server on the loopback address, for programs of the same user: it gives what a function of the
 * caller's makes, to those whom the gate lets in. libmicrohttpd speaks HTTP, and only server.c
 * knows of it.
 */
#ifndef UTRAIL_CMDS_SHOW_SERVER_H
#define UTRAIL_CMDS_SHOW_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmds/show/gate.h"
#include "utils/base/containers/strbuf.h"
#include "utils/base/err.h"

struct MHD_Connection;

/* The words after the question mark; valid during the answer only. */
struct server_query {
	struct MHD_Connection *connection;
};

/* A word of the query, NULL: it is not there. And a number: @otherwise if it is none. */
const char *server_query_word(const struct server_query *query, const char *name);
uint64_t server_query_number(const struct server_query *query, const char *name,
			     uint64_t otherwise);

/* Has the one who asks gone? Then an answer that takes long need not be made. */
bool server_is_gone(const struct server_query *query);

/*
 * An answer. Starts as zeros; what it has belongs to the server afterwards.
 *
 * @status: of HTTP
 * @type: of the content, a literal
 * @body: the content; or @fd: a file that is it, of @len bytes from its beginning on; -1: none
 */
struct server_reply {
	unsigned status;
	const char *type;
	struct strbuf body;
	int fd;
	uint64_t len;
};

/* Makes an answer to a path that begins with a slash; called by several threads at once. */
typedef void server_answer(void *self, const char *path, const struct server_query *query,
			   struct server_reply *reply);

struct server;

/*
 * Listen at 127.0.0.1. @port: 0: one that is free. gate->port is set. Returns the descriptor, which
 * no program inherits, or a negative errno with @err.
 */
int server_listen(unsigned port, struct gate *gate, struct uft_err *err);

/*
 * Serve with threads of its own until server_stop(). Takes @fd of server_listen() in any case. NULL
 * with @err.
 */
struct server *server_start(int fd, struct gate *gate, server_answer *answer, void *self,
			    struct uft_err *err);

/* Once a second: connections that have not shown the token for too long are cut. */
void server_tick(struct server *server);

void server_stop(struct server *server);

#endif
