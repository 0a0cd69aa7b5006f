/* The sources of a recording other than the rings of probes. */
#ifndef UTRAIL_CMDS_RECORD_SOURCES_SOURCES_H
#define UTRAIL_CMDS_RECORD_SOURCES_SOURCES_H

#include <stdint.h>

#include "cmds/record/base/loop.h"
#include "cmds/record/base/settings.h"
#include "cmds/record/store/store.h"

/*
 * An open source, a member of the source's own struct. It writes to the store.
 *
 * @save: write the present data, or in a flight recording the kept data. Returns 0 or the first
 *        error
 * @finish: save, and end the source. Returns the same as @save
 */
struct source {
	int (*save)(struct source *source);
	int (*finish)(struct source *source);
	struct source *next;
};

/*
 * The arguments of opening a source, and the open sources. Only the control thread touches them.
 * @nr does not change once the program runs.
 */
struct sources {
	const struct record_settings *settings;
	struct store *store;
	struct loop *loop;
	struct source *first; /* a list, the oldest first */
	unsigned nr;
};

/* Add @source, which is open. */
void sources_add(struct sources *sources, struct source *source);

/*
 * Save or finish all sources. Return 0 or the first negative errno. No source is open after
 * sources_finish(); each keeps its share of --max-size.
 */
int sources_save(struct sources *sources);
int sources_finish(struct sources *sources);

/* The most bytes of events that are kept of each CPU: some 50,000 context switches. */
#define SOURCE_KEPT_BYTES_MAX (2ULL << 20)

/*
 * For flight recordings. sources_kept_bytes(): the bytes that a source keeps for each of @nr_cpus
 * CPUs. sources_left_bytes(): the rest of --max-size, which is for tasks.
 */
uint64_t sources_kept_bytes(const struct record_settings *settings, unsigned nr_cpus);
uint64_t sources_left_bytes(const struct sources *sources);

#endif
