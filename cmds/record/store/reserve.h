/*
 * Room on the disk that is reserved before a growing file needs it. ext4 finds a place for each
 * page that is written. When there is one already, a write costs two thirds (tests/bench/whole.py).
 */
#ifndef UTRAIL_CMDS_RECORD_STORE_RESERVE_H
#define UTRAIL_CMDS_RECORD_STORE_RESERVE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Any thread. @len bytes were appended through @fd: reserve room after them, when it is time. The
 * room is never more than the file has already, nor than RESERVE_MAX. Nothing is reserved where the
 * disk gets full.
 * The file's length stays as it is. True when there may be room now that nobody needs in the end:
 * then reserve_release() is to be called. Without that, or after SIGKILL, the room belongs to the
 * file until somebody truncates or removes it.
 */
bool reserve_ahead(int fd, size_t len);

/*
 * Give back what files of the directory @dir_fd have beyond their ends. Nobody appends meanwhile.
 */
void reserve_release(int dir_fd);

/* Bytes at a time. Smaller files reserve nothing. */
#define RESERVE_MIN (1ULL << 20)
#define RESERVE_MAX (32ULL << 20)

#endif
