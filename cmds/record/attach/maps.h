/* The mappings of another process, and the names in its modules, read from its memory. */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_MAPS_H
#define UTRAIL_CMDS_RECORD_ATTACH_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cmds/record/attach/attached.h"

/* A line of /proc/PID/maps (proc_pid_maps(5)). @path: "" for a mapping without a path */
struct mapping {
	uint64_t start;
	uint64_t end;
	bool is_code;
	char *path;
};

/* The mappings of a process, by address. Starts as { 0 }. */
struct maps {
	struct mapping *lines;
	size_t nr;
};

/* Read the mappings of @pid; the former content of @maps is freed. Returns 0 or negative errno. */
int maps_read(struct maps *maps, pid_t pid);
void maps_deinit(struct maps *maps);
#define cleanup_maps cleanup(maps_deinit)

/* Returns the mapping that has @address, or NULL. */
const struct mapping *maps_find(const struct maps *maps, uint64_t address);

/* Returns the first line of the first module that is named so (maps_is_named()), or NULL. */
const struct mapping *maps_module(const struct maps *maps, const char *const *names);

/* True when the file name of @path begins with one of @names, a list with NULL at its end. */
bool maps_is_named(const char *path, const char *const *names);

/* Returns the executable line of the module that begins with @first, or NULL. */
const struct mapping *maps_code(const struct maps *maps, const struct mapping *first);

/*
 * Returns the address of the function or variable @name that the module at @base exports; 0: none.
 * Symbols are read from the process' memory, since the file may be gone or replaced. All values in
 * the memory are checked.
 */
uint64_t maps_symbol(const struct attached *w, uint64_t base, const char *name);

#endif
