/*
 * A server on the loopback address, for programs of the same user. A function of the caller answers
 * requests that the gate lets in. Only server.c uses libmicrohttpd.
 */
#ifndef UTRAIL_CMDS_SHOW_SERVER_H
#define UTRAIL_CMDS_SHOW_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "cmds/show/gate.h"
#include "utils/base/containers/strbuf.h"
#include "utils/base/err.h"

struct MHD_Connection;

/* The words after the question mark of a request. Valid during the answer only. */
struct server_query {
	struct MHD_Connection *connection;
};

/*
 * server_query_word(): returns a word of the query, or NULL when it is missing.
 * server_query_number(): returns a number, or @otherwise when there is none.
 */
const char *server_query_word(const struct server_query *query, const char *name);
uint64_t server_query_number(const struct server_query *query, const char *name,
			     uint64_t otherwise);

/* True when the reader has gone: then an answer that takes long need not be made. */
bool server_is_gone(const struct server_query *query);

/*
 * An answer. Starts as zeros; the server takes its content.
 *
 * @status: of HTTP
 * @type: the type of the content, a literal
 * @body: the content, if @fd is -1
 * @fd: a file whose first @len bytes are the content
 */
struct server_reply {
	unsigned status;
	const char *type;
	struct strbuf body;
	int fd;
	uint64_t len;
};

/* Makes an answer for a path that begins with a slash. Called by several threads at once. */
typedef void server_answer(void *self, const char *path, const struct server_query *query,
			   struct server_reply *reply);

struct server;

/*
 * Listen at 127.0.0.1. @port: 0: any free port. gate->port is set. Returns the descriptor, which no
 * program inherits, or a negative errno with @err.
 */
int server_listen(unsigned port, struct gate *gate, struct uft_err *err);

/*
 * Serve requests until server_stop(), in threads of its own. Takes @fd of server_listen() in any
 * case. Returns NULL with @err.
 */
struct server *server_start(int fd, struct gate *gate, server_answer *answer, void *self,
			    struct uft_err *err);

/* Call it once a second: it closes connections that have not shown the token for too long. */
void server_tick(struct server *server);

void server_stop(struct server *server);

#endif
