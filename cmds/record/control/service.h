/* Takes the requests of other commands to a running recorder (utils/format/probe/request.h). */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_SERVICE_H
#define UTRAIL_CMDS_RECORD_CONTROL_SERVICE_H

#include "cmds/record/base/loop.h"
#include "cmds/record/base/settings.h"
#include "cmds/record/control/steering.h"
#include "cmds/record/sources/sources.h"
#include "cmds/record/sources/writer.h"
#include "cmds/record/store/store.h"
#include "utils/base/err.h"
#include "utils/format/probe/request.h"

struct client;

/*
 * The socket for other commands. Only the control thread touches it. Members above the empty line
 * are set before service_listen().
 *
 * @program_fd: a pidfd of the program, as soon as there is one
 * @service_fd: -1: no request can come
 * @secret: as in the file REQUEST_DOOR_NAME; "" when the socket has its usual name
 * @trouble: the reason why there is no socket, or why it has another name than usual
 * @is_busy: a client is served, or service_hold() holds the recording; other clients wait
 */
struct service {
	const struct record_settings *settings;
	struct loop *loop;
	struct store *store;
	struct sources *sources;
	struct writers *writers;
	struct steering *steering;
	struct processes *processes;
	const int *program_fd;

	struct served served;
	int service_fd;
	char secret[REQUEST_SECRET_CHARS + 1];
	struct uft_err trouble;
	struct client *clients;
	bool is_busy;
};

/* Open the socket. When that fails, @trouble gets the reason, and the recording goes on. */
void service_listen(struct service *svc);

/*
 * Keep clients from changing what is recorded until service_release(), also while the loop is
 * served. Returns false when another change is being made.
 */
bool service_hold(struct service *svc);
void service_release(struct service *svc);

/* Close the socket and all connections: a client that still waits sees that there is no answer. */
void service_close(struct service *svc);

/* Save a flight recording as it is now. Returns 0 or negative errno; -EOPNOTSUPP: another kind. */
int service_save(struct service *svc, unsigned *nr_tasks);

#endif
