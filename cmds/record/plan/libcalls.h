/* Decides which library calls are recorded, and finds them in files. */
#ifndef UTRAIL_CMDS_RECORD_PLAN_LIBCALLS_H
#define UTRAIL_CMDS_RECORD_PLAN_LIBCALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/containers/strbuf.h"
#include "utils/format/probe/control.h"

/* True when calls of library function @name are recorded; @flags says how (enum plan_call bits). */
bool libcall_is_hooked(const char *name, uint32_t *flags);

/* True when --nest-libcall records the calls of library @path into other libraries. */
bool libcall_is_nested_module(const char *path);

/*
 * Returns the probe's function that takes the place of function @name (enum plan_hook), or -1.
 * @by_plt: the call goes through a PLT, not only through the GOT
 */
int libcall_hook_of(const char *name, bool by_plt);

/*
 * @all: also calls that only --libcall records
 * @attaches: the probe is loaded after the program, so calls of functions that the probe replaces
 *            are changed, too
 * @smallest_bytes: the least size of a call's code that is recorded
 *
 * Only @all may change within a recording.
 */
struct libcall_choice {
	bool all;
	bool attaches;
	uint64_t smallest_bytes;
};

/*
 * Facts about a file and its libraries. The file is read once for all processes, and again when a
 * program was built anew at the same path. Starts as { 0 }.
 *
 * @calls: struct plan_call_site, relative to the file's start: [0]: calls that are always hooked,
 *         [1]: all calls. Complete if @has_calls
 * @needed: names of the libraries that the file needs, if @has_needed; see strbuf_list_add()
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

/* Forget @links of the file @path when the file has changed. */
void module_links_renew(struct module_links *links, const char *path);

/* Returns the names of the libraries that the file @path needs; none when it cannot be read. */
const struct strbuf *module_links_needed(struct module_links *links, const char *path);

/*
 * Plan the calls of module @m into libraries. @links: facts about its file, or NULL. With @links,
 * the file is read only for the first of its processes.
 */
void libcalls_plan(struct libcall_choice choice, struct module_links *links,
		   const struct control_module *m, struct strbuf *out);

#endif
