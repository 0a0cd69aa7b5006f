/* The requests of other commands to a recorder at work (utils/format/probe/request.h). */
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
 * The door for other commands. Only the control thread touches it. Members above the empty line are
 * set before service_listen().
 *
 * @program_fd: a pidfd of the program, as soon as there is one
 * @service_fd: -1: requests cannot reach us
 * @secret: of REQUEST_DOOR_NAME; "": the door has its usual name
 * @trouble: there is no door, or another one than clients look for first
 * @is_busy: a client is served, or the recording is changed in another way (service_hold());
 * others wait
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

/*
 * Open the door; @trouble tells what is wrong with it. The recording goes on without one: the
 * program is more important.
 */
void service_listen(struct service *svc);

/*
 * Keep all others from changing what is recorded until service_release(), though the loop may be
 * served. False: another change is being made.
 */
bool service_hold(struct service *svc);
void service_release(struct service *svc);

/* A client that still waits for an answer sees that there is none. */
void service_close(struct service *svc);

/* Save a flight recording as it is now. 0 or negative errno; -EOPNOTSUPP when it is none. */
int service_save(struct service *svc, unsigned *nr_tasks);

#endif
