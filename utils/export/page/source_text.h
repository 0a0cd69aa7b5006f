/*
 * Source files for the page of `dump --format=html`. Their names come from the untrusted recording,
 * and a page may be given to others. So a file is read only if it may be one of the sources.
 */
#ifndef UTRAIL_EXPORT_PAGE_SOURCE_TEXT_H
#define UTRAIL_EXPORT_PAGE_SOURCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/base/containers/strbuf.h"

/*
 * A file in memory. Starts as zeros, ends with source_text_deinit().
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
 * The conditions for reading.
 *
 * @owner: of the recording; files that are not readable by everybody must be this user's
 * @built_ns: since 1970; a file that was changed later does not match the program
 */
struct source_asker {
	uid_t owner;
	uint64_t built_ns;
};

/* Returns NULL, or the reason why the file is not shown, as a fixed text to put after "it ". */
const char *source_text_read(struct source_text *source, const char *path,
			     const struct source_asker *asker);

/* Returns the first byte of line @number, from 1 on, and its length without the line's end. */
const char *source_text_line(const struct source_text *source, size_t number, size_t *len);

/*
 * Returns the last line of the function that begins in line @first, found by its indentation. At
 * most SOURCE_LINES_MAX lines are read.
 */
#define SOURCE_LINES_MAX 60
size_t source_text_end(const struct source_text *source, size_t first);

#endif
