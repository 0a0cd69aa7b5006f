/* Growing lists of arguments. A word @FILE stands for the arguments in FILE, a response file. */
#ifndef UTRAIL_BUILDDB_ARGUMENTS_H
#define UTRAIL_BUILDDB_ARGUMENTS_H

#include <stddef.h>

#include "utils/base/cleanup.h"
#include "utils/base/containers/strbuf.h"
#include "utils/base/containers/words.h"

/*
 * Append a copy of the @len bytes of @text, which have no NUL. Returns 0 or -ENOMEM. Do not use
 * words_push() on the same @args: words_push() allocates less memory than arguments_add() expects.
 */
int arguments_add(struct words *args, const char *text, size_t len);

/* Remove the first @nr arguments, which must exist. */
void arguments_drop(struct words *args, size_t nr);

/*
 * @nr_tried: number of attempts to read a file, including failed attempts
 * @nr_bytes: number of bytes that were read
 * @nr_unread: number of words "@FILE" that remain because the file was not read
 */
struct arguments_read {
	size_t nr_tried;
	size_t nr_bytes;
	size_t nr_unread;
};

/*
 * The source of response files. @read appends the file @name, of at most @max bytes, to @text. It
 * returns 0, or -ENOMEM, which ends the work. After any other negative errno, the word @FILE
 * remains.
 */
struct arguments_source {
	int (*read)(struct arguments_source *source, const char *name, size_t max,
		    struct strbuf *text);
};

/*
 * Replace each @FILE by the words of the file, as gcc and clang do. Files may name other files. The
 * word @FILE of an unreadable file remains. Returns 0 or -ENOMEM.
 */
int arguments_expand_from(struct words *args, struct arguments_source *source,
			  struct arguments_read *read);

/*
 * Like arguments_expand_from(), but reads the response files from the file system. File names are
 * relative to @cwd.
 */
int arguments_expand(struct words *args, const char *cwd, struct arguments_read *read);

/* Read a regular file as arguments_source.read must read it. @name is relative to @cwd. */
int arguments_read_file(const char *cwd, const char *name, size_t max, struct strbuf *text);

#endif
