/* A list of arguments that grows, and response files: arguments that stand in a file (@FILE). */
#ifndef UTRAIL_PROCS_ARGUMENTS_H
#define UTRAIL_PROCS_ARGUMENTS_H

#include <stddef.h>

#include "utils/base/cleanup.h"
#include "utils/base/words.h"

/* A copy of the @len bytes of @text, which have no NUL, behind the others. 0 or -ENOMEM. */
int arguments_add(struct words *args, const char *text, size_t len);

/* Leave out the first @nr, of which there are as many. */
void arguments_drop(struct words *args, size_t nr);

/* @nr_tried: files that were opened, or could not be; @nr_bytes: of them; @nr_unread: words @FILE that stay */
struct arguments_read {
	size_t nr_tried;
	size_t nr_bytes;
	size_t nr_unread;
};

/*
 * Put what is in the files in the place of each @FILE, as gcc and clang do: names are relative to @cwd, and files may name others. One that cannot be
 * read stays as it is. 0 or -ENOMEM.
 */
int arguments_expand(struct words *args, const char *cwd, struct arguments_read *read);

#endif
