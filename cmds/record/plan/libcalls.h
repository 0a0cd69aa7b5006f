/* Decides which library calls are recorded, and finds them in files. */
#ifndef UTRAIL_CMDS_RECORD_PLAN_LIBCALLS_H
#define UTRAIL_CMDS_RECORD_PLAN_LIBCALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/containers/strbuf.h"
#include "utils/format/probe/control.h"

/* True when calls of library function @name are recorded; @flags says how (enum plan_call bits). */
bool libcall_is_hooked(const char *name, uint32_t *flags);

/* True when the calls that library @path makes into others are recorded with --nest-libcall. */
bool libcall_is_nested_module(const char *path);

/*
 * The probe's own function that a program calls by that name, enum plan_hook; -1: none. @by_plt:
 * not through the GOT alone
 */
int libcall_hook_of(const char *name, bool by_plt);

/*
 * @all: also calls that only --libcall records
 * @attaches: the probe comes after the program, and has its own functions called, too
 * @smallest_bytes: of a call's code; smaller ones are left out
 *
 * The last two are the same in all of a recording.
 */
struct libcall_choice {
	bool all;
	bool attaches;
	uint64_t smallest_bytes;
};

/*
 * Facts of a file about libraries, so that it is read once and not for each process. A program may
 * be built anew at the same path while it is recorded (conftest): then they are forgotten. Starts
 * as { 0 }, ends with module_links_deinit().
 *
 * @calls: struct plan_call_site, relative to the file's start: those that are always hooked, and
 *         all of them. Complete if @has_calls
 * @needed: names of the libraries that it needs, if @has_needed; see strbuf_list_add()
 * @device, @inode, @size, @mtime_ns, @ctime_ns: the file that was read
 */
struct module_links {
	struct strbuf calls[2];
	bool has_calls[2];
	struct strbuf needed;
	bool has_needed;
	uint64_t device;
	uint64_t inode;
	uint64_t size;
	uint64_t mtime_ns;
	uint64_t ctime_ns;
};

void module_links_deinit(struct module_links *links);

/* Forget what is not true any more of the file @path, to which they belong. */
void module_links_renew(struct module_links *links, const char *path);

/* The names of the libraries that the file @path needs: none, when it cannot be read. */
const struct strbuf *module_links_needed(struct module_links *links, const char *path);

/*
 * Plan the calls of module @m into libraries. @links: of the same file, or NULL; with them, it is
 * read for the first of its processes only.
 */
void libcalls_plan(struct libcall_choice choice, struct module_links *links,
		   const struct control_module *m, struct strbuf *out);

#endif
