/* Links and files of a task in /proc, and its memory. */
#ifndef UTRAIL_CMDS_RECORD_PROC_PATHS_H
#define UTRAIL_CMDS_RECORD_PROC_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/base/containers/strbuf.h"

/* The file @name of /proc/<tid>: a descriptor or -1. */
int paths_open_of(pid_t tid, const char *name, int flags);

/*
 * The target of that link of /proc/<tid>, as the recorder sees it: after chroot(2) with the way
 * there. Empty when it cannot be had. @out is emptied first, here and below.
 */
void paths_link(pid_t tid, const char *name, struct strbuf *out);

/* The same of any link. False: it cannot be read. */
bool paths_read_link(const char *link, struct strbuf *out);

/* The same of its descriptor @fd. False: it has no such descriptor. */
bool paths_of_fd(pid_t tid, int fd, struct strbuf *out);

/* @size bytes of its memory; false when they are not there. */
bool paths_memory(pid_t tid, uint64_t addr, void *out, size_t size);

/* The string at @addr, PATH_MAX bytes with its NUL at most. False when there is none. */
bool paths_string(pid_t tid, uint64_t addr, struct strbuf *out);

/* The directory that the names of a call begin at: @dirfd is a descriptor or AT_FDCWD. */
void paths_directory(pid_t tid, int dirfd, struct strbuf *out);

#endif
