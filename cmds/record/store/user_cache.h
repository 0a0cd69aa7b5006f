/*
 * Files that are kept for the next time, in the user's cache directory. Nothing in it matters: a
 * file that is missing, damaged or a stranger's is made again.
 */
#ifndef UTRAIL_CMDS_RECORD_STORE_USER_CACHE_H
#define UTRAIL_CMDS_RECORD_STORE_USER_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/cleanup.h"
#include "utils/base/containers/strbuf.h"

/* No file is larger, and all together are not. The file that was used longest ago goes first. */
#define USER_CACHE_FILE_MAX  (128ULL << 20)
#define USER_CACHE_BYTES_MAX (512ULL << 20)

/*
 * Open "utrail" in $XDG_CACHE_HOME, or in ~/.cache: a descriptor of the directory, which is made
 * when it is not there; below 0: there is no cache. There is none when
 *
 *  - we have more rights than the user who has started us (setuid), or look at files as somebody
 *    else just
 *    now (rights_enter())
 *  - neither variable is an absolute path
 *  - the directory around it, or it itself, belongs to somebody else, or it may be written by
 *    others
 */
int user_cache_open(void);

/*
 * Read the file @name of the cache @dir to @out, which is empty. False when there is none, or it is
 * not a file that only we could have written. It counts as used now.
 */
bool user_cache_read(int dir, const char *name, struct strbuf *out);

/*
 * Keep @len bytes as @name: the file appears whole or not at all. An error is not told: then the
 * facts are looked for anew the next time.
 */
void user_cache_write(int dir, const char *name, const void *data, size_t len);

/*
 * Remove files that are not to be kept: those that were used longest ago, while all are more than
 * @max_bytes, and those that killed writers have left.
 */
void user_cache_shrink(int dir, unsigned long long max_bytes);

#endif
