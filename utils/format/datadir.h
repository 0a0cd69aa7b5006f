/*
 * The names of the files that a data directory consists of: ours, uftrace's, and those that users
 * add to a recording.
 */
#ifndef UTRAIL_FORMAT_DATADIR_H
#define UTRAIL_FORMAT_DATADIR_H

#include <stdbool.h>
#include <stdint.h>

/* What a file is called until it is complete. */
#define DATADIR_TMP(name) "." name ".tmp"

/*
 * What stands for <tid>.dat in a compact recording: its name begins with the task's id, too
 * (doc/internals/compact.md).
 */
#define DATADIR_COMPACT_SUFFIX	  ".cdat"
/* What stands beside <tid>.dat (event_data.h). */
#define DATADIR_EVENT_DATA_SUFFIX ".evt"
/* What processes did (proc_dat.h). */
#define DATADIR_PROCESSES	  "proc.dat"

/*
 * Is @name one of them? Only such files are written into a data directory, and only such files are
 * deleted with it. What is not complete yet (DATADIR_TMP) counts, too.
 */
bool datadir_has_name(const char *name);

/* Is the file of that name for the eyes of the recording's user only? */
bool datadir_is_private(const char *name);

/* Whose records are in the file of that name: "<tid>.dat", or "<tid>.cdat". 0: it is not one. */
int32_t datadir_records_tid(const char *name);
int32_t datadir_compact_tid(const char *name);

#endif
