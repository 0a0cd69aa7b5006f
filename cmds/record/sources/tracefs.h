/* Finds the kernel's tracefs, lists the kernel's events, and reads and writes files in tracefs. */
#ifndef UTRAIL_CMDS_RECORD_SOURCES_TRACEFS_H
#define UTRAIL_CMDS_RECORD_SOURCES_TRACEFS_H

#include <stddef.h>

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/text.h"

/*
 * Open tracefs, at its own mount point or in debugfs. /proc/self/mounts has the mount points.
 * Returns a descriptor, or a negative errno with a text in @err. If the cause has a known remedy,
 * the text names the remedy.
 */
int tracefs_open(struct uft_err *err);

/*
 * Append the content of a file below the directory @dir_fd to @out. Returns 0 or a negative errno.
 */
int tracefs_read(int dir_fd, const char *name, struct strbuf *out, struct uft_err *err);

/*
 * Write @text to a file below @dir_fd. If the file is a list, @text is appended to its entries.
 * Returns 0 or a negative errno.
 */
int tracefs_write(int dir_fd, const char *name, const char *text, struct uft_err *err);

/*
 * Async-signal-safe. Open the list @name below @dir_fd for writing, and delete all entries of the
 * list. Returns a descriptor or a negative errno.
 */
int tracefs_open_empty(int dir_fd, const char *name);

/*
 * Append the names of all tracepoints to @out. The names have the kernel's order, and the form
 * "system:event". A newline follows each name. Returns 0, or a negative errno with a text in @err,
 * as tracefs_open() does.
 */
int tracefs_list_events(struct strbuf *out, struct uft_err *err);

/*
 * Remove the first name from @names, and set @name to the removed name. @name is not a copy, but
 * points into the memory of @names. Skips lines without a ':', which are not names. Returns false
 * when @names has no more names.
 */
bool tracefs_next_event(struct text *names, struct text *name);

#endif
