/*
 * Handles the requests that other commands send to a running recorder
 * (utils/format/probe/request.h).
 */
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
 * The recorder's socket for requests of other utrail commands. Only the control thread uses the
 * struct. Members above the empty line are set before service_listen().
 *
 * @program_fd: a pidfd of the program, when the program exists
 * @service_fd: the socket; -1: no request can come
 * @pause_fd: a timer. When no descriptor is free, new connections wait until the timer expires
 * @secret: the secret in the file REQUEST_DOOR_NAME; "" when the socket has its usual name
 * @trouble: the reason why there is no socket, or why the socket does not have its usual name
 * @is_busy: a client is being served, or service_hold() holds the recording. Other clients wait,
 *           unless they send REQUEST_HAS_PID or REQUEST_PROVE
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
	struct served pause;
	int pause_fd;
	char secret[REQUEST_SECRET_CHARS + 1];
	struct uft_err trouble;
	struct client *clients;
	bool is_busy;
};

/* Open the socket. If this fails, @trouble gets the reason, and the recording goes on. */
void service_listen(struct service *svc);

/*
 * Prevent clients from changing the settings until service_release(), even while the event loop
 * runs. Returns false when a client is being served, or when the service is already held.
 */
bool service_hold(struct service *svc);
void service_release(struct service *svc);

/*
 * Close all connections, and remove the file REQUEST_DOOR_NAME. A client that still waits learns
 * that no answer will come. The caller closes the socket.
 */
void service_close(struct service *svc);

/*
 * Save a flight recording in its current state. Returns 0 or a negative errno. If the recording is
 * not a flight recording, this errno is -EOPNOTSUPP.
 */
int service_save(struct service *svc, unsigned *nr_tasks);

#endif
