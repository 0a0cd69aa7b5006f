/*
 * Sessions: one for each process image, with its module map and the symbol files of modules that
 * can be traced.
 */
#ifndef UTRAIL_CMDS_RECORD_TASKS_SESSION_H
#define UTRAIL_CMDS_RECORD_TASKS_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cmds/record/plan/plan.h"
#include "cmds/record/store/store.h"
#include "utils/base/err.h"
#include "utils/format/probe/control.h"
#include "utils/format/probe/map.h"

/*
 * A process image, with a session id.
 *
 * @map: the map of its modules. Only the control thread changes it, but not from the publication of
 *       the image's process until the image is announced: other threads may save it
 * @stack: the line for its stack, once it is announced. Under tasks.lock
 * @announced: its map, and its SESS and TASK lines are written, because of its first record. Under
 *             tasks.lock
 */
struct image {
	char sid[SID_LEN + 1];
	pid_t pid;
	uint64_t time_ns;
	char *exe;
	struct module_map map;
	struct map_entry stack;
	bool announced;
	struct image *next;
};

/*
 * All images, the newest first. Only the control thread touches them, except for @announced.
 *
 * @has_debug: there are .dbg files
 */
struct sessions {
	const struct record_settings *settings;
	struct store *store;
	struct planner *planner;
	struct image *first;
	bool has_debug;
};

void sessions_deinit(struct sessions *sessions);

/* Make an image of process @pid that runs @exe; it belongs to @sessions. NULL without memory. */
struct image *image_create(struct sessions *sessions, pid_t pid, const char *exe);

/* Note a module in the session's map. Returns 0 or -ENOMEM. */
int image_add_module(struct image *s, const struct control_module *m);

/* Save the symbols of a further module, if it can have records. */
int sessions_save_module(struct sessions *sessions, const char *path, struct uft_err *err);

/* Save a module that was loaded late: its symbols, and the data that readers of arguments need. */
int image_save_late(struct sessions *sessions, struct image *s, const struct control_module *m,
		    struct uft_err *err);

/* Put all known build ids into the map, once it has all modules of the new image. */
void image_identify_modules(struct sessions *sessions, struct image *s);

/*
 * Note the stack's line in /proc/PID/maps of process @os_pid, which runs the image; the usual
 * addresses if @pidfd shows that the process has ended.
 */
void image_note_stack(struct image *s, pid_t os_pid, int pidfd);

/* Write the file of the map, with the stack. Other threads may read @s meanwhile. */
int image_save_map(const struct image *s, struct store *store, struct uft_err *err);

/* Write the symbol files of the modules that can have records. */
int image_save_symbols(struct sessions *sessions, const struct image *s, struct uft_err *err);

#endif
