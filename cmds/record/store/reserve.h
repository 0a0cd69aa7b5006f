/*
 * Disk space that is reserved before a growing file needs it. On ext4 a write to reserved space
 * takes two thirds of the time (tests/bench/whole.py).
 */
#ifndef UTRAIL_CMDS_RECORD_STORE_RESERVE_H
#define UTRAIL_CMDS_RECORD_STORE_RESERVE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Any thread. @len bytes were appended through @fd: reserve space after them when it is time, at
 * most the file's own size and RESERVE_MAX. The file's length does not change. Returns true when
 * space was reserved: then reserve_release() must be called at the end. Without that call the file
 * keeps the space until it is truncated or removed.
 */
bool reserve_ahead(int fd, size_t len);

/* Free the space after all files in the directory @dir_fd. Nothing may append meanwhile. */
void reserve_release(int dir_fd);

/* The least and the most bytes to reserve at a time. Files below the least reserve nothing. */
#define RESERVE_MIN (1ULL << 20)
#define RESERVE_MAX (32ULL << 20)

#endif
