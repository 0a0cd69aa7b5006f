/*
 * Disk space that is reserved before a growing file needs it. On ext4 a write to reserved space
 * takes two thirds of the time of a write to space that is not reserved (tests/bench/whole.py).
 */
#ifndef UTRAIL_CMDS_RECORD_STORE_RESERVE_H
#define UTRAIL_CMDS_RECORD_STORE_RESERVE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Reserve space after the @len bytes that were just appended through @fd. Any thread may call this
 * function. No space is reserved if the file is small or not on ext4, if the file has unused space
 * from an earlier call, or if the disk is nearly full. The new space is at most the file's size,
 * and at most RESERVE_MAX. The length of the file stays as it is.
 *
 * Returns true when space was reserved. After the last append, the caller must then call
 * reserve_release(). Otherwise the file keeps the space until the file is truncated or removed.
 */
bool reserve_ahead(int fd, size_t len);

/*
 * Free the reserved space of all files in the directory @dir_fd. The caller must make sure that no
 * file in the directory grows during the call. A growing file could lose its new bytes.
 */
void reserve_release(int dir_fd);

/*
 * The minimum and maximum number of bytes to reserve at a time. A file smaller than the minimum
 * gets no reserved space.
 */
#define RESERVE_MIN (1ULL << 20)
#define RESERVE_MAX (32ULL << 20)

#endif
