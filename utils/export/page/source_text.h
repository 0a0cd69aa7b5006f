/*
 * Source files for the page of `dump --format=html`. The untrusted recording names them, and the
 * page may be published: so only files that look like sources are read.
 */
#ifndef UTRAIL_EXPORT_PAGE_SOURCE_TEXT_H
#define UTRAIL_EXPORT_PAGE_SOURCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/base/containers/strbuf.h"

/*
 * A file in memory. Starts as zeros and ends with source_text_deinit().
 *
 * @starts: the start of each line in @text
 * @is_python: functions end by their indentation
 */
struct source_text {
	struct strbuf text;
	size_t *starts;
	size_t nr;
	bool is_python;
};

void source_text_deinit(struct source_text *source);

/*
 * @owner: the recording's owner; files that some users cannot read must belong to this user
 * @built_ns: when the program was built, since 1970; a file that was changed later is not its
 *         source
 */
struct source_asker {
	uid_t owner;
	uint64_t built_ns;
};

/* Returns NULL, or the reason why the file is not shown, as a literal to put after "it ". */
const char *source_text_read(struct source_text *source, const char *path,
			     const struct source_asker *asker);

/* Returns line @number, from 1. *@len gets its length without the end of the line. */
const char *source_text_line(const struct source_text *source, size_t number, size_t *len);

/*
 * Returns the last line of the function that begins in line @first, by the indentation. A function
 * has at most SOURCE_LINES_MAX lines.
 */
#define SOURCE_LINES_MAX 60
size_t source_text_end(const struct source_text *source, size_t first);

#endif
