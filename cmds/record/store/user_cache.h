/*
 * Files that are cached in the user's cache directory. None of them is essential: a missing,
 * damaged or foreign file is made again.
 */
#ifndef UTRAIL_CMDS_RECORD_STORE_USER_CACHE_H
#define UTRAIL_CMDS_RECORD_STORE_USER_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/cleanup.h"
#include "utils/base/containers/strbuf.h"

/*
 * Limits for one file, and for all together. The file that was used longest ago is removed first.
 */
#define USER_CACHE_FILE_MAX  (128ULL << 20)
#define USER_CACHE_BYTES_MAX (512ULL << 20)

/*
 * Open "utrail" in $XDG_CACHE_HOME, or in ~/.cache, and make it when it is missing. Returns a
 * descriptor, or negative when there is no cache, for one of these reasons:
 *
 * - The recorder has more rights than its user (setuid), or has those of another user just now
 *   (rights_enter()).
 * - $XDG_CACHE_HOME, or without it $HOME, is no absolute path.
 * - The directory, or the directory around it, belongs to another user, or others may write to it.
 */
int user_cache_open(void);

/*
 * Read the file @name of the cache @dir to the empty @out, and note its use. Returns false when
 * there is none, or others could have written it.
 */
bool user_cache_read(int dir, const char *name, struct strbuf *out);

/*
 * Store @len bytes as @name: the file appears whole or not at all. Errors are ignored: then the
 * facts are found out again next time.
 */
void user_cache_write(int dir, const char *name, const void *data, size_t len);

/*
 * Remove leftovers of killed writers. While all files together exceed @max_bytes, remove the file
 * that was used longest ago.
 */
void user_cache_shrink(int dir, unsigned long long max_bytes);

#endif
