/* `sid-<id>.map`: the modules of a session, and their addresses. */
#ifndef UTRAIL_FORMAT_MAP_H
#define UTRAIL_FORMAT_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"

/* The maximum number of hexadecimal digits of a build-id (SHA-1 has 40, SHA-256 has 64). */
#define MAP_BUILD_ID_MAX 64

/*
 * One module, or "[stack]" (doc/formats/tasks.md, "Module maps").
 *
 * @start: the start of the first segment, from which relative addresses are counted
 * @end: the end of the last segment
 * @prot: the protection of the executable segment, "r-xp"
 * @path: owned by the map
 * @build_id: lowercase hex, "" when unknown
 */
struct map_entry {
	uint64_t start;
	uint64_t end;
	char prot[5];
	char *path;
	char build_id[MAP_BUILD_ID_MAX + 1];
};

/* Modules, by address. Starts as { 0 }, ends with module_map_deinit(). */
struct module_map {
	struct map_entry *entries;
	size_t nr;
};

void module_map_deinit(struct module_map *map);
#define cleanup_module_map cleanup(module_map_deinit)

/* Append a copy of @entry, with a copy of its path. Returns 0 or -ENOMEM. */
int module_map_add(struct module_map *map, const struct map_entry *entry);

void module_map_encode(const struct module_map *map, struct strbuf *out);

/*
 * Parse a map file, or a copy of /proc/PID/maps, into the empty @map. Lines without a path are
 * skipped. Consecutive lines of one path become one entry.
 *
 * Returns 0, -EINVAL with the number of the invalid line in @err, or -ENOMEM.
 */
int module_map_decode(const char *text, size_t len, struct module_map *map, struct uft_err *err);

#endif
