/*
 * Files in the user's cache directory. None of them is essential: a file is made again if it is
 * missing or damaged, or belongs to another user.
 */
#ifndef UTRAIL_CMDS_RECORD_STORE_USER_CACHE_H
#define UTRAIL_CMDS_RECORD_STORE_USER_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/cleanup.h"
#include "utils/base/containers/strbuf.h"

/* Limits on one file, and on all files together. The least recently used file is removed first. */
#define USER_CACHE_FILE_MAX  (128ULL << 20)
#define USER_CACHE_BYTES_MAX (512ULL << 20)

/*
 * Open the directory "utrail" in $XDG_CACHE_HOME, or in ~/.cache. Make the directory when it is
 * missing. Returns a descriptor, or a negative value when there is no cache. There is no cache if
 * one of these conditions is true:
 *
 * - The recorder has more rights than its user (setuid), or uses the rights of another user at the
 *   moment (rights_enter()).
 * - $XDG_CACHE_HOME is not an absolute path. If $XDG_CACHE_HOME is empty or not set, $HOME is
 *   checked instead.
 * - The directory "utrail" or its parent directory belongs to another user. The same rule applies
 *   to $HOME if $HOME is used.
 * - Other users may write to the directory "utrail".
 */
int user_cache_open(void);

/*
 * Read the file @name of the cache @dir into the empty @out, and set the time of the last use of
 * the file to now. Returns false when there is no such file, when the file is empty or larger than
 * USER_CACHE_FILE_MAX, or when other users could have written the file.
 */
bool user_cache_read(int dir, const char *name, struct strbuf *out);

/*
 * Store @len bytes as the file @name. The file appears whole or not at all. Errors are ignored,
 * since a missing file only costs time.
 */
void user_cache_write(int dir, const char *name, const void *data, size_t len);

/*
 * Remove leftovers of killed writers. While all files together exceed @max_bytes, remove the least
 * recently used file.
 */
void user_cache_shrink(int dir, unsigned long long max_bytes);

#endif
