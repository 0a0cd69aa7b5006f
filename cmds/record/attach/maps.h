/*
 * The mappings of another process, and the symbols that the modules of this process export. The
 * mappings are read from /proc/PID/maps, and the symbols from the memory of the process.
 */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_MAPS_H
#define UTRAIL_CMDS_RECORD_ATTACH_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cmds/record/attach/attached.h"

/* A line of /proc/PID/maps (proc_pid_maps(5)). @path: "" if the mapping has no path */
struct mapping {
	uint64_t start;
	uint64_t end;
	bool is_code;
	char *path;
};

/* The mappings of a process, sorted by address. The struct starts as { 0 }. */
struct maps {
	struct mapping *lines;
	size_t nr;
};

/*
 * Free the former content of @maps. Then read the mappings of @pid into @maps. Returns 0 or a
 * negative errno.
 */
int maps_read(struct maps *maps, pid_t pid);
void maps_deinit(struct maps *maps);
#define cleanup_maps cleanup(maps_deinit)

/* Returns the mapping that contains @address, or NULL. */
const struct mapping *maps_find(const struct maps *maps, uint64_t address);

/*
 * Finds the first module whose file name begins with one of @names (maps_is_named()). Returns the
 * first mapping of this module, or NULL.
 */
const struct mapping *maps_module(const struct maps *maps, const char *const *names);

/* True when the file name of @path begins with one of @names. The list @names ends with NULL. */
bool maps_is_named(const char *path, const char *const *names);

/* Returns the mapping of the code of the module whose first mapping is @first, or NULL. */
const struct mapping *maps_code(const struct maps *maps, const struct mapping *first);

/*
 * Returns the address of the function or variable @name that the module at @base exports, or 0. The
 * symbols are read from the memory of the process, because the file may be gone or replaced. All
 * values from the memory are checked.
 */
uint64_t maps_symbol(const struct attached *w, uint64_t base, const char *name);

#endif
