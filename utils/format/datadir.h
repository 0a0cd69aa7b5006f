/*
 * The names of the files of a data directory: files of utrail, files of uftrace, and files that
 * users add.
 */
#ifndef UTRAIL_FORMAT_DATADIR_H
#define UTRAIL_FORMAT_DATADIR_H

#include <stdbool.h>
#include <stdint.h>

/* The name that a file has until it is complete. */
#define DATADIR_TMP(name) "." name ".tmp"

/* <tid>.cdat replaces <tid>.dat in a compact recording (doc/internals/compact.md). */
#define DATADIR_COMPACT_SUFFIX	  ".cdat"
/* <tid>.evt is beside <tid>.dat (event_data.h). */
#define DATADIR_EVENT_DATA_SUFFIX ".evt"
/* The acts of processes (proc_dat.h). */
#define DATADIR_PROCESSES	  "proc.dat"

/*
 * True when @name is the name of a file of a data directory, or the temporary name DATADIR_TMP() of
 * such a file. utrail creates only files with these names in a data directory. When utrail replaces
 * a data directory, only files with these names are deleted.
 */
bool datadir_has_name(const char *name);

/* True when only the owner of the recording may read the file @name. */
bool datadir_is_private(const char *name);

/*
 * datadir_records_tid() returns the tid in a name "<tid>.dat". datadir_compact_tid() returns the
 * tid in a name "<tid>.cdat". Both functions return 0 for other names.
 */
int32_t datadir_records_tid(const char *name);
int32_t datadir_compact_tid(const char *name);

#endif
