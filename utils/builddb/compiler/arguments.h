/* A list of arguments that grows, and response files: arguments that stand in a file (@FILE). */
#ifndef UTRAIL_BUILDDB_ARGUMENTS_H
#define UTRAIL_BUILDDB_ARGUMENTS_H

#include <stddef.h>

#include "utils/base/cleanup.h"
#include "utils/base/containers/strbuf.h"
#include "utils/base/containers/words.h"

/* Append a copy of the @len bytes of @text, which have no NUL. 0 or -ENOMEM. */
int arguments_add(struct words *args, const char *text, size_t len);

/* Leave out the first @nr, of which there are as many. */
void arguments_drop(struct words *args, size_t nr);

/*
 * @nr_tried: files that were opened, or could not be; @nr_bytes: of them; @nr_unread: words @FILE
 * that stay
 */
struct arguments_read {
	size_t nr_tried;
	size_t nr_bytes;
	size_t nr_unread;
};

/*
 * The source of response files. @read: append what is in the file @name, of @max bytes at most, to
 * @text. 0; -ENOMEM, which ends all; another negative errno: the word @FILE stays.
 */
struct arguments_source {
	int (*read)(struct arguments_source *source, const char *name, size_t max,
		    struct strbuf *text);
};

/*
 * Put what is in the files in the place of each @FILE, as gcc and clang do: files may name others.
 * One that cannot be read stays as it is. 0 or -ENOMEM.
 */
int arguments_expand_from(struct words *args, struct arguments_source *source,
			  struct arguments_read *read);

/* The same with the files that are there now: names are relative to @cwd. */
int arguments_expand(struct words *args, const char *cwd, struct arguments_read *read);

/* A regular file of @cwd, as arguments_source has it. */
int arguments_read_file(const char *cwd, const char *name, size_t max, struct strbuf *text);

#endif
