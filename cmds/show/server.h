/*
 * A server on the loopback address, for programs of the user who runs the command. The gate decides
 * which requests are admitted. The server_answer function of the caller answers the admitted
 * requests. Only server.c uses libmicrohttpd, which mhd.h loads.
 */
#ifndef UTRAIL_CMDS_SHOW_SERVER_H
#define UTRAIL_CMDS_SHOW_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "cmds/show/gate.h"
#include "utils/base/containers/strbuf.h"
#include "utils/base/err.h"

struct MHD_Connection;

/*
 * The words of a request after the question mark. They are valid only while the request is
 * answered.
 */
struct server_query {
	struct MHD_Connection *connection;
};

/*
 * server_query_word(): returns the word @name of the query, or NULL when the query has no such
 * word.
 * server_query_number(): returns the word as a number, or @otherwise when the query has no such
 * word or the word is no number.
 */
const char *server_query_word(const struct server_query *query, const char *name);
uint64_t server_query_number(const struct server_query *query, const char *name,
			     uint64_t otherwise);

/* True when the browser has closed the connection. In this case no answer is needed. */
bool server_is_gone(const struct server_query *query);

/*
 * An answer. Starts as zeros, with @fd as -1. The server takes ownership of @body, or of @fd if @fd
 * is not -1. If @status is 0, @fd must be -1.
 *
 * @status: the status code of HTTP; 0 means that the path is unknown (404)
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

/*
 * Makes an answer for a path that begins with a slash. Several threads may call the function at the
 * same time.
 */
typedef void server_answer(void *self, const char *path, const struct server_query *query,
			   struct server_reply *reply);

struct server;

/*
 * Listen at 127.0.0.1. Sets gate->port. Returns the listening socket (with FD_CLOEXEC), or a
 * negative errno with @err.
 *
 * @port: the port, or 0 for any free port
 */
int server_listen(unsigned port, struct gate *gate, struct uft_err *err);

/*
 * Serve requests in new threads until server_stop(). @fd comes from server_listen(). This function
 * takes ownership of @fd, even on failure. Returns NULL with @err on failure.
 */
struct server *server_start(int fd, struct gate *gate, server_answer *answer, void *self,
			    struct uft_err *err);

/*
 * Close connections that have been open for several seconds and have not shown gate.token. Call
 * this function once a second.
 */
void server_tick(struct server *server);

void server_stop(struct server *server);

#endif
