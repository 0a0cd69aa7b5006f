/*
 * The names of the files of a data directory: ours, uftrace's, and those that users add to a
 * recording.
 */
#ifndef UTRAIL_FORMAT_DATADIR_H
#define UTRAIL_FORMAT_DATADIR_H

#include <stdbool.h>
#include <stdint.h>

/* The name of a file until it is complete. */
#define DATADIR_TMP(name) "." name ".tmp"

/*
 * The file that replaces <tid>.dat in a compact recording: its name begins with the task's id, too
 * (doc/internals/compact.md).
 */
#define DATADIR_COMPACT_SUFFIX	  ".cdat"
/* The file beside <tid>.dat (event_data.h). */
#define DATADIR_EVENT_DATA_SUFFIX ".evt"
/* The acts of processes (proc_dat.h). */
#define DATADIR_PROCESSES	  "proc.dat"

/*
 * True when @name is the name of a file of a data directory. Only files with such names are written
 * into it, and only these are deleted with it. Unfinished files (DATADIR_TMP) count, too.
 */
bool datadir_has_name(const char *name);

/* True when only the recording's user may read the file @name. */
bool datadir_is_private(const char *name);

/*
 * Find the task whose records are in the file @name: "<tid>.dat", or "<tid>.cdat". 0: it is another
 * file.
 */
int32_t datadir_records_tid(const char *name);
int32_t datadir_compact_tid(const char *name);

#endif
