/* Serves HTTP on the loopback address (see server.h, doc/internals/show.md). */
#include "cmds/show/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cmds/show/mhd.h"
#include "utils/base/cleanup.h"
#include "utils/base/clock.h"
#include "utils/base/compiler.h"

/* The maximum number of open connections. Each connection has a thread. */
#define CONNECTIONS_MAX 512
/*
 * Strangers are connections that have not shown the token. If there are more than STRANGERS_MAX
 * strangers, the server closes the oldest stranger. The server closes every stranger after
 * STRANGER_S seconds.
 */
#define STRANGERS_MAX	64
#define STRANGER_S	5
/* The number of seconds after which a silent connection is closed. */
#define IDLE_S		60
/* The memory for one connection, in bytes: room for the headers of a request and of an answer. */
#define HEAD_BYTES	(32 * 1024)

/*
 * A connection from a browser.
 *
 * @number: the serial number of the connection
 * @is_known: the connection has shown the token
 * @is_cut: the server has shut down the socket
 */
struct visitor {
	int fd;
	uint64_t number;
	time_t since_s;
	bool is_used;
	bool is_known;
	bool is_cut;
};

struct server {
	struct MHD_Daemon *daemon;
	struct gate *gate;
	server_answer *answer;
	void *self;
	pthread_mutex_t lock; /* protects the members below */
	uint64_t nr_came;
	struct visitor visitors[CONNECTIONS_MAX + 1];
};

int server_listen(unsigned port, struct gate *gate, struct uft_err *err)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(address);
	int fd cleanup_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1;

	/*
	 * Closed connections of an earlier server may still occupy this port (TIME_WAIT). With
	 * SO_REUSEADDR this server can use the port nevertheless.
	 */
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, CONNECTIONS_MAX) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &len) < 0)
		return err_set_errno(err, -errno, "cannot listen at 127.0.0.1, port %u%s", port,
				     port ? "" : " (any)");
	gate->port = ntohs(address.sin_port);
	return take_fd(&fd);
}

static void cut_off(struct visitor *visitor)
{
	visitor->is_cut = true;
	shutdown(visitor->fd, SHUT_RDWR);
}

/*
 * If more than STRANGERS_MAX connections have not shown the token, shuts down the oldest of these
 * connections.
 */
static void cut_oldest(struct server *server)
{
	struct visitor *oldest = NULL;
	size_t strangers = 0;

	for (size_t i = 0; i < ARRAY_SIZE(server->visitors); i++) {
		struct visitor *visitor = &server->visitors[i];

		if (!visitor->is_used || visitor->is_known || visitor->is_cut)
			continue;
		strangers++;
		if (!oldest || visitor->number < oldest->number)
			oldest = visitor;
	}
	if (strangers > STRANGERS_MAX)
		cut_off(oldest);
}

static void note_connection(void *self, struct MHD_Connection *connection, void **context,
			    enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *info = mhd.get_connection_info(
		connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct server *server = self;

	pthread_mutex_lock(&server->lock);
	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (*context)
			((struct visitor *)*context)->is_used = false;
	} else {
		for (size_t i = 0; i < ARRAY_SIZE(server->visitors) && !*context; i++) {
			if (server->visitors[i].is_used)
				continue;
			server->visitors[i] = (struct visitor){
				.fd = info->connect_fd,
				.number = server->nr_came++,
				.since_s = clock_now_ns(CLOCK_MONOTONIC) / NSEC_PER_SEC,
				.is_used = true,
			};
			*context = &server->visitors[i];
		}
		cut_oldest(server);
	}
	pthread_mutex_unlock(&server->lock);
}

static void know_visitor(struct server *server, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = mhd.get_connection_info(
		connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct visitor *visitor = info ? info->socket_context : NULL;

	if (!visitor)
		return;
	pthread_mutex_lock(&server->lock);
	visitor->is_known = true;
	pthread_mutex_unlock(&server->lock);
}

void server_tick(struct server *server)
{
	time_t latest_s = clock_now_ns(CLOCK_MONOTONIC) / NSEC_PER_SEC - STRANGER_S;

	pthread_mutex_lock(&server->lock);
	for (size_t i = 0; i < ARRAY_SIZE(server->visitors); i++) {
		struct visitor *visitor = &server->visitors[i];

		if (visitor->is_used && !visitor->is_known && !visitor->is_cut &&
		    visitor->since_s < latest_s)
			cut_off(visitor);
	}
	pthread_mutex_unlock(&server->lock);
}

const char *server_query_word(const struct server_query *query, const char *name)
{
	return mhd.lookup_connection_value(query->connection, MHD_GET_ARGUMENT_KIND, name);
}

uint64_t server_query_number(const struct server_query *query, const char *name, uint64_t otherwise)
{
	const char *text = server_query_word(query, name);
	char *end;

	if (!text || *text < '0' || *text > '9')
		return otherwise;
	errno = 0;

	uint64_t number = strtoull(text, &end, 10);

	return *end || errno ? otherwise : number;
}

bool server_is_gone(const struct server_query *query)
{
	const union MHD_ConnectionInfo *info = mhd.get_connection_info(
		query->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct pollfd poll_fd = { .fd = info ? info->connect_fd : -1, .events = POLLRDHUP };

	return poll(&poll_fd, 1, 0) > 0 && (poll_fd.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

/* Stores the value of the header @name if the gate checks this header. */
static enum MHD_Result note_header(void *self, enum MHD_ValueKind kind, const char *name,
				   const char *value)
{
	struct gate_request *request = self;
	const char **found = strcasecmp(name, "host") == 0	       ? &request->host
			     : strcasecmp(name, "origin") == 0	       ? &request->origin
			     : strcasecmp(name, "sec-fetch-site") == 0 ? &request->site
								       : NULL;

	if (found) {
		request->is_twice |= *found != NULL;
		*found = value ? value : "";
	}
	return MHD_YES;
}

/*
 * Adds the headers that all answers have. The headers forbid browsers to cache the answer, to guess
 * the answer's type, to show the answer in a frame, and to send the answer's URL to other servers.
 */
static void add_headers(struct MHD_Response *response, const char *type)
{
	bool is_page = strncmp(type, "text/html", 9) == 0;

	mhd.add_response_header(response, "Content-Type", type);
	mhd.add_response_header(response, "Cache-Control", "no-store");
	mhd.add_response_header(response, "X-Content-Type-Options", "nosniff");
	mhd.add_response_header(response, "X-Frame-Options", "DENY");
	mhd.add_response_header(response, "Referrer-Policy", "no-referrer");
	mhd.add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
	/*
	 * For an HTML page, this header has only a part of the Content-Security-Policy. The page
	 * itself contains the other part, with the checksums of the scripts.
	 */
	mhd.add_response_header(response, "Content-Security-Policy",
				is_page ? "frame-ancestors 'none'; base-uri 'none'; "
					  "form-action 'none'"
					: "default-src 'none'; frame-ancestors 'none'");
}

/*
 * Sends the response and releases it. If @response is NULL, there was not enough memory, and the
 * connection ends.
 */
static enum MHD_Result send_response(struct MHD_Connection *connection, unsigned status,
				     const char *type, struct MHD_Response *response)
{
	if (!response)
		return MHD_NO;
	add_headers(response, type);

	enum MHD_Result ret = mhd.queue_response(connection, status, response);

	mhd.destroy_response(response);
	return ret;
}

static enum MHD_Result send_word(struct MHD_Connection *connection, unsigned status,
				 const char *text)
{
	struct MHD_Response *response = mhd.create_response_from_buffer(strlen(text), (void *)text,
									MHD_RESPMEM_PERSISTENT);

	/* After a refusal, the browser does not need the connection any more. */
	if (response && status != MHD_HTTP_SEE_OTHER)
		mhd.add_response_header(response, "Connection", "close");
	if (response && status == MHD_HTTP_METHOD_NOT_ALLOWED)
		mhd.add_response_header(response, "Allow", "GET, HEAD");
	return send_response(connection, status, "text/plain; charset=utf-8", response);
}

static enum MHD_Result send_reply(struct MHD_Connection *connection, struct server_reply *reply)
{
	struct MHD_Response *response;

	if (strbuf_oom(&reply->body)) {
		strbuf_deinit(&reply->body);
		return send_word(connection, MHD_HTTP_INTERNAL_SERVER_ERROR,
				 "There is not enough memory for the answer.\n");
	}
	if (!reply->status) {
		strbuf_deinit(&reply->body);
		return send_word(connection, MHD_HTTP_NOT_FOUND, "There is no such thing.\n");
	}
	if (reply->fd >= 0) {
		response = mhd.create_response_from_fd64(reply->len, reply->fd);
		if (!response)
			close(reply->fd);
	} else {
		response = mhd.create_response_from_buffer(reply->body.len, reply->body.data,
							   MHD_RESPMEM_MUST_FREE);
		if (!response)
			strbuf_deinit(&reply->body);
	}
	return send_response(connection, reply->status, reply->type, response);
}

static enum MHD_Result redirect(struct server *server, struct MHD_Connection *connection)
{
	struct MHD_Response *response = mhd.create_response_from_buffer(0, "",
									MHD_RESPMEM_PERSISTENT);
	char where[GATE_SECRET_BYTES + 8];

	snprintf(where, sizeof(where), "/%s/0/", server->gate->token);
	if (response)
		mhd.add_response_header(response, "Location", where);
	return send_response(connection, MHD_HTTP_SEE_OTHER, "text/plain; charset=utf-8", response);
}

/*
 * Takes a request. Called when the head of the request is complete, before its body. The body is
 * never read. After the answer to a request with a body, libmicrohttpd closes the connection.
 */
static enum MHD_Result take_request(void *self, struct MHD_Connection *connection, const char *path,
				    const char *method, const char *version, const char *upload,
				    size_t *upload_size, void **context)
{
	struct server *server = self;
	struct gate_request request = { .method = method, .path = path };
	struct server_query query = { connection };
	struct server_reply reply = { .fd = -1 };
	const char *rest;

	mhd.get_connection_values(connection, MHD_HEADER_KIND, note_header, &request);
	switch (gate_judge(server->gate, &request, &rest)) {
	case GATE_FORBIDDEN:
		return send_word(connection, MHD_HTTP_FORBIDDEN, "Forbidden.\n");
	case GATE_METHOD:
		return send_word(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET.\n");
	case GATE_TICKET:
		know_visitor(server, connection);
		return redirect(server, connection);
	case GATE_OPEN:
		break;
	}
	know_visitor(server, connection);
	server->answer(server->self, rest, &query, &reply);
	return send_reply(connection, &reply);
}

/*
 * Drops the messages of libmicrohttpd about broken requests, because these messages do not concern
 * the user.
 */
static void say_nothing(void *self, const char *format, va_list arguments)
{
}

struct server *server_start(int fd, struct gate *gate, server_answer *answer, void *self,
			    struct uft_err *err)
{
	const unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION |
			       MHD_USE_POLL | MHD_USE_ERROR_LOG;
	struct server *server;

	if (mhd_load(err) < 0) {
		close(fd);
		return NULL;
	}
	server = calloc(1, sizeof(*server));
	if (server) {
		server->gate = gate;
		server->answer = answer;
		server->self = self;
		pthread_mutex_init(&server->lock, NULL);
		server->daemon = mhd.start_daemon(
			flags, 0, NULL, NULL, take_request, server, MHD_OPTION_EXTERNAL_LOGGER,
			say_nothing, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
			MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
			IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEAD_BYTES,
			MHD_OPTION_NOTIFY_CONNECTION, note_connection, server, MHD_OPTION_END);
	}
	if (server && server->daemon)
		return server;
	err_set_errno(err, server && errno ? -errno : -ENOMEM, "cannot serve the page");
	close(fd);
	free(server);
	return NULL;
}

void server_stop(struct server *server)
{
	/* stop_daemon() also closes the listening socket. */
	mhd.stop_daemon(server->daemon);
	pthread_mutex_destroy(&server->lock);
	free(server);
}
