/* Decides which library calls are recorded, and finds them in files. */
#ifndef UTRAIL_CMDS_RECORD_PLAN_LIBCALLS_H
#define UTRAIL_CMDS_RECORD_PLAN_LIBCALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/containers/strbuf.h"
#include "utils/format/probe/control.h"

/*
 * True when calls of the library function @name are recorded. @flags gets bits of enum plan_call.
 */
bool libcall_is_hooked(const char *name, uint32_t *flags);

/* True when --nest-libcall records the calls from the library @path to other libraries. */
bool libcall_is_nested_module(const char *path);

/*
 * Returns the enum plan_hook of the probe's replacement for calls of the function @name. Returns -1
 * when these calls stay unchanged.
 *
 * @by_plt: the call goes through a PLT, and not only through the GOT
 */
int libcall_hook_of(const char *name, bool by_plt);

/*
 * @all: include calls that only --libcall records
 * @attaches: the probe is loaded after the program, so the probe cannot interpose library
 *            functions. Instead, if the probe has a replacement for a function, the probe
 *            redirects the calls to this function
 * @smallest_bytes: the minimum plt_entry.size of a recorded call. Calls that are always hooked
 *                  (PLAN_CALL_LANDING) have no minimum
 *
 * Only @all may change within a recording.
 */
struct libcall_choice {
	bool all;
	bool attaches;
	uint64_t smallest_bytes;
};

/*
 * Facts about a file and its libraries. The file is read once for all processes. A changed file is
 * read again. The struct starts as { 0 }.
 *
 * @calls: lists of struct plan_call_site, relative to the file's start. [0] has the calls that are
 *         always hooked, [1] has all calls. A list is complete if @has_calls
 * @needed: the names of the libraries that the file needs (strbuf_list_add()), if @has_needed
 * @device, @inode, @size, @mtime_ns, @ctime_ns: the identity of the file that was read
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

/* Forget @links if the file @path has changed. */
void module_links_renew(struct module_links *links, const char *path);

/* Returns the names of the libraries that the file @path needs, or an empty list on failure. */
const struct strbuf *module_links_needed(struct module_links *links, const char *path);

/*
 * Plan the calls from module @m into libraries.
 *
 * @links: facts about the file of the module, or NULL. With @links, the file is read only once for
 *         all processes
 */
void libcalls_plan(struct libcall_choice choice, struct module_links *links,
		   const struct control_module *m, struct strbuf *out);

#endif
