/* The names of the files that a data directory consists of: ours, uftrace's, and those that users add to a recording. */
#ifndef UTRAIL_FORMAT_DATADIR_H
#define UTRAIL_FORMAT_DATADIR_H

#include <stdbool.h>

/* What a file is called until it is complete. */
#define DATADIR_TMP(name) "." name ".tmp"

/*
 * Is @name one of them? Only such files are written into a data directory, and only such files are deleted with it. What is not
 * complete yet (DATADIR_TMP) counts, too.
 */
bool datadir_has_name(const char *name);

#endif
