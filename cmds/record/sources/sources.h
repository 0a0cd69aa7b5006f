/* The sources of a recording other than the rings of probes: their needs, and their functions. */
#ifndef UTRAIL_CMDS_RECORD_SOURCES_SOURCES_H
#define UTRAIL_CMDS_RECORD_SOURCES_SOURCES_H

#include <stdint.h>

#include "cmds/record/base/loop.h"
#include "cmds/record/base/settings.h"
#include "cmds/record/store/store.h"

/*
 * An open source; a member of the source's own struct. The loop watches its descriptors, and it
 * writes to the store.
 *
 * @save: write the present data; in a flight recording, the kept data. 0 or the first error.
 * @finish: the same, then end it
 */
struct source {
	int (*save)(struct source *source);
	int (*finish)(struct source *source);
	struct source *next;
};

/*
 * The arguments of opening a source, and the open sources. Only the control thread touches it; @nr
 * does not change once the program runs.
 */
struct sources {
	const struct record_settings *settings;
	struct store *store;
	struct loop *loop;
	struct source *first; /* oldest first */
	unsigned nr;
};

/* @source is open. */
void sources_add(struct sources *sources, struct source *source);

/*
 * For all sources. Return 0 or the first negative errno. None is open after sources_finish(), but
 * they keep their shares.
 */
int sources_save(struct sources *sources);
int sources_finish(struct sources *sources);

/* The most bytes that are kept of each CPU's events: some 50,000 context switches. */
#define SOURCE_KEPT_BYTES_MAX (2ULL << 20)

/*
 * Flight recordings: the bytes that a source keeps for each of @nr_cpus CPUs; and the rest of
 * --max-size for tasks.
 */
uint64_t sources_kept_bytes(const struct record_settings *settings, unsigned nr_cpus);
uint64_t sources_left_bytes(const struct sources *sources);

#endif
