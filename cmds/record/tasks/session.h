/* A process image has a session. A session has a module map, and symbol files of the modules. */
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
 * A process image, with its session id.
 *
 * @map: the map of the image's modules. Only the control thread changes the map. After
 *       process_publish() was called for the image's process, other threads may save the map until
 *       the image is announced. During this time the map does not change
 * @stack: the address range of the stack, for a line of the map file. Set when the image is
 *         announced. Under tasks.lock
 * @announced: the map and the SESS and TASK lines have been written. They are written at the first
 *             record of the image, or when the image calls dlopen(3). Under tasks.lock
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
 * All images. The list starts with the newest image. Only the control thread uses the list. Any
 * thread that announces a process uses the image of this process, under tasks.lock.
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

/*
 * Make an image of process @pid, and add the image to @sessions. @sessions owns the image. Returns
 * NULL when memory is short.
 *
 * @exe: the path of the program that the process runs; the image gets a copy of the path
 */
struct image *image_create(struct sessions *sessions, pid_t pid, const char *exe);

/* Add a module to the map of the session. Returns 0 or -ENOMEM. */
int image_add_module(struct image *s, const struct control_module *m);

/*
 * Save the symbols of one more module in two cases: the module's functions can have records, or
 * calls from the module to functions of libraries are recorded. Otherwise, do nothing.
 */
int sessions_save_module(struct sessions *sessions, const char *path, struct uft_err *err);

/*
 * Save the symbols of a module that dlopen(3) has loaded. If values are captured, also add the
 * module to the map file: uftrace shows values only for modules in the map.
 */
int image_save_late(struct sessions *sessions, struct image *s, const struct control_module *m,
		    struct uft_err *err);

/*
 * Store the build id of each module in s->map, if the build id is known. Call this function after
 * all modules of the new image were added to s->map.
 */
void image_identify_modules(struct sessions *sessions, struct image *s);

/*
 * Set s->stack to the address range that /proc/PID/maps shows for the stack of process @os_pid,
 * which runs the image. If @pidfd is negative, if the process has ended, or if no line for the
 * stack can be read from /proc/PID/maps, s->stack gets the usual range.
 */
void image_note_stack(struct image *s, pid_t os_pid, int pidfd);

/*
 * Write the map, and the range of the stack, to the map file. Other threads may read @s meanwhile.
 */
int image_save_map(const struct image *s, struct store *store, struct uft_err *err);

/* Write the symbol files of the modules that can have records. */
int image_save_symbols(struct sessions *sessions, const struct image *s, struct uft_err *err);

#endif
