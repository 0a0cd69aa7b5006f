/* Finds the kernel's tracefs and its events, and reads and writes its small files. */
#ifndef UTRAIL_CMDS_RECORD_SOURCES_TRACEFS_H
#define UTRAIL_CMDS_RECORD_SOURCES_TRACEFS_H

#include <stddef.h>

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/text.h"

/*
 * Open tracefs, which /proc/self/mounts names: at its own mount point, or in debugfs. Returns a
 * descriptor, or negative errno with a text that gives a remedy.
 */
int tracefs_open(struct uft_err *err);

/* Append a whole file below the directory @dir_fd to @out. Returns 0 or negative errno. */
int tracefs_read(int dir_fd, const char *name, struct strbuf *out, struct uft_err *err);

/*
 * Write @text to a file below @dir_fd. A file that is a list keeps its entries, and @text is added
 * to them. Returns 0 or negative errno.
 */
int tracefs_write(int dir_fd, const char *name, const char *text, struct uft_err *err);

/* Open a list below @dir_fd and empty it. A descriptor or negative errno. Async-signal-safe. */
int tracefs_open_empty(int dir_fd, const char *name);

/*
 * Append the names of all tracepoints, "system:event" and a newline each, in the kernel's order.
 * Returns 0 or negative errno with a text that gives a remedy.
 */
int tracefs_list_events(struct strbuf *out, struct uft_err *err);

/* Take the next name from the front of @names. Returns false at the end. */
bool tracefs_next_event(struct text *names, struct text *name);

#endif
