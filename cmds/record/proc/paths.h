/* Names of files as a task means them, and what is in its memory. All are read while it stands still. */
#ifndef UTRAIL_CMDS_RECORD_PROC_PATHS_H
#define UTRAIL_CMDS_RECORD_PROC_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/base/strbuf.h"

/* The file @name of /proc/<tid>: a descriptor or -1. */
int paths_open_of(pid_t tid, const char *name, int flags);

/* Where that link of /proc/<tid> leads, as we see it: behind chroot(2) with the way there. Nothing when it cannot be had. @out is emptied first, here and below. */
void paths_link(pid_t tid, const char *name, struct strbuf *out);

/* The same of its descriptor @fd. False: it has no such descriptor. */
bool paths_of_fd(pid_t tid, int fd, struct strbuf *out);

/* @size bytes of its memory; false when they are not there. */
bool paths_memory(pid_t tid, uint64_t addr, void *out, size_t size);

/* The string at @addr, PATH_MAX bytes with its NUL at most. False when there is none. */
bool paths_string(pid_t tid, uint64_t addr, struct strbuf *out);

/* @name as the task gave it, made absolute by what it is relative to (@dirfd: a descriptor or AT_FDCWD) and nothing more. */
void paths_given(pid_t tid, int dirfd, const char *name, struct strbuf *out);

/* The file itself, all links followed, those of the last name, too. Nothing when there is none. */
void paths_target(pid_t tid, int dirfd, const char *name, struct strbuf *out);

/* The place of the name: its directory with all links followed, and the last name as it is. What cannot be found is as paths_given() has it. */
void paths_place(pid_t tid, int dirfd, const char *name, struct strbuf *out);

#endif
