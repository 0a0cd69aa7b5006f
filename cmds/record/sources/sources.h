/* The sources of a recording, except for the rings of probes. */
#ifndef UTRAIL_CMDS_RECORD_SOURCES_SOURCES_H
#define UTRAIL_CMDS_RECORD_SOURCES_SOURCES_H

#include <stdint.h>

#include "cmds/record/base/loop.h"
#include "cmds/record/base/settings.h"
#include "cmds/record/store/store.h"

/*
 * The common part of all sources. The struct of each source, for example struct perf, has this
 * struct as a member.
 *
 * @save: write the current data. In a flight recording, write the newest data, which the source has
 *        kept. Returns 0 or the first negative errno
 * @finish: save, and end the source. Returns the same values as @save
 */
struct source {
	int (*save)(struct source *source);
	int (*finish)(struct source *source);
	struct source *next;
};

/*
 * The arguments for opening a source, and the open sources. Only the control thread uses them. @nr
 * does not change after the program has started.
 */
struct sources {
	const struct record_settings *settings;
	struct store *store;
	struct loop *loop;
	struct source *first; /* a list, which starts with the oldest source */
	unsigned nr;
};

/* Add @source. The source must be open. */
void sources_add(struct sources *sources, struct source *source);

/*
 * sources_save() saves all sources. sources_finish() finishes all sources. Each function returns 0
 * or the first negative errno. After sources_finish() no source is open, but sources_left_bytes()
 * still subtracts the shares of the finished sources from --max-size.
 */
int sources_save(struct sources *sources);
int sources_finish(struct sources *sources);

/*
 * The maximum number of bytes of events that a source keeps for each CPU. This number is enough for
 * 50,000 context switches.
 */
#define SOURCE_KEPT_BYTES_MAX (2ULL << 20)

/*
 * For flight recordings. sources_kept_bytes() returns the number of bytes that a source keeps for
 * each of @nr_cpus CPUs. sources_left_bytes() returns the number of bytes of --max-size that the
 * sources leave to tasks.
 */
uint64_t sources_kept_bytes(const struct record_settings *settings, unsigned nr_cpus);
uint64_t sources_left_bytes(const struct sources *sources);

#endif
