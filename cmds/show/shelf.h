/*
 * The recordings that `utrail show` can show: the recording that the options name, and recordings
 * in the same folder.
 */
#ifndef UTRAIL_CMDS_SHOW_SHELF_H
#define UTRAIL_CMDS_SHOW_SHELF_H

#include <pthread.h>
#include <stdatomic.h>

#include "cmds/opts.h"
#include "cmds/show/parts/parts.h"
#include "cmds/show/server.h"
#include "utils/pipeline/recording/data.h"

/*
 * A recording. A member is made at the first request that needs the member, and stays until
 * shelf_close().
 *
 * @name: the name that the page shows. For the recording that the options name: the path as the
 *        user gave it. For any other recording: the name of its directory, without a path
 * @lock: protects the members after it
 * @is_open: @data is open
 * @page: a nameless file that contains the whole page; -1: not made yet
 * @page_bytes: the size of the page
 * @failure: the reason why the recording cannot be shown
 * @parts: the reading of the recording in parts; NULL: the page gets the whole recording, or
 *         reading has not begun
 */
struct shown {
	char *dir;
	char *name;
	pthread_mutex_t lock;
	bool is_open;
	struct trace_data data;
	int page;
	uint64_t page_bytes;
	struct uft_err failure;
	_Atomic(struct parts *) parts;
};

/*
 * All recordings. Number 0 is the recording that the options name. shelf_open() fills in the
 * struct. shelf_close() closes the recordings, and frees the memory that the struct owns.
 */
struct shelf {
	const struct opts *opts;
	struct shown *all;
	size_t nr;
};

/*
 * Open the recording that the options name. Find at most 100 other recordings in the parent
 * directory of this recording, and sort the other recordings by name. Returns 0, CMD_NO_DATA or a
 * negative error with @err.
 */
int shelf_open(struct shelf *shelf, const struct opts *opts, struct uft_err *err);

/*
 * Stop the computation of sums (parts_stop()). Requests for these sums get an error. Call this
 * function while the server still runs. If the server is making a page that contains a whole
 * recording, this work goes on.
 */
void shelf_stop(struct shelf *shelf);
void shelf_close(struct shelf *shelf);

/*
 * Make an answer (see server_answer). @self is a struct shelf. The paths are described in
 * doc/internals/show.md.
 */
void shelf_answer(void *self, const char *path, const struct server_query *query,
		  struct server_reply *reply);

#endif
