/* Reads a task's links and files in /proc, and the task's memory. */
#ifndef UTRAIL_CMDS_RECORD_PROC_PATHS_H
#define UTRAIL_CMDS_RECORD_PROC_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/base/containers/strbuf.h"

/* Open the file @name of /proc/<tid>. Returns a descriptor, or -1. */
int paths_open_of(pid_t tid, const char *name, int flags);

/*
 * Read at most @size - 1 bytes of the file @name of /proc/<tid> into @text, and append a NUL.
 * Returns the number of bytes, or a negative value when the file cannot be read.
 */
ssize_t paths_read_of(pid_t tid, const char *name, char *text, size_t size);

/*
 * Read the target of the link @name of /proc/<tid>. The target is a path as the recorder sees it.
 * If the task has called chroot(2), the target contains the path of the task's root. @out is empty
 * if the link cannot be read. All functions in this header empty @out first.
 */
void paths_link(pid_t tid, const char *name, struct strbuf *out);

/* Read the target of any link. Returns false when the link cannot be read. */
bool paths_read_link(const char *link, struct strbuf *out);

/* Read the path of the task's descriptor @fd. Returns false when there is no such descriptor. */
bool paths_of_fd(pid_t tid, int fd, struct strbuf *out);

/* Read @size bytes of the task's memory. Returns false if any of these bytes is unreadable. */
bool paths_memory(pid_t tid, uint64_t addr, void *out, size_t size);

/* Read the string at @addr. Returns false if no NUL can be read within PATH_MAX bytes. */
bool paths_string(pid_t tid, uint64_t addr, struct strbuf *out);

/*
 * Find the directory at which the relative paths of a system call begin. @dirfd: a descriptor of
 * the task, or AT_FDCWD
 */
void paths_directory(pid_t tid, int dirfd, struct strbuf *out);

#endif
