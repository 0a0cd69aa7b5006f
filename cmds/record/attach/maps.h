/* The mappings of another process, and the names in its modules, read from its memory. */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_MAPS_H
#define UTRAIL_CMDS_RECORD_ATTACH_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cmds/record/attach/attached.h"

/* A line of /proc/PID/maps (proc_pid_maps(5)). @path: "" for a mapping without one */
struct mapping {
	uint64_t start;
	uint64_t end;
	bool is_code;
	char *path;
};

/* Starts as { 0 }. */
struct maps {
	struct mapping *lines;
	size_t nr;
};

/* 0 or negative errno. The former content of @maps is freed. */
int maps_read(struct maps *maps, pid_t pid);
void maps_deinit(struct maps *maps);
#define cleanup_maps cleanup(maps_deinit)

/* NULL: nothing is there. */
const struct mapping *maps_find(const struct maps *maps, uint64_t address);

/*
 * The first line of the first module whose file has a name that begins with one of @names,
 * NULL-terminated.
 */
const struct mapping *maps_module(const struct maps *maps, const char *const *names);

/* The executable line of the module that begins with @first, or NULL. */
const struct mapping *maps_code(const struct maps *maps, const struct mapping *first);

/*
 * The address of the function or variable @name that the module at @base exports, 0: it does not.
 * It is read from the process' memory, since its file may be gone, replaced, or invisible to us.
 * All values in there are checked.
 */
uint64_t maps_symbol(const struct attached *w, uint64_t base, const char *name);

#endif
