/*
 * Source files for the page of `dump --format=html`. The recording, which is not trusted, names the
 * files, and the page may be published. Therefore only files that look like sources are read.
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
 * @is_python: the file is Python code, in which no brace ends a function
 */
struct source_text {
	struct strbuf text;
	size_t *starts;
	size_t nr;
	bool is_python;
};

void source_text_deinit(struct source_text *source);

/*
 * The data that decide if a source file may be shown.
 *
 * @owner: the recording's owner. If a file lacks the read permission for others (S_IROTH), the file
 *         is shown only if @owner owns the file
 * @built_ns: the time when the file's module was built, in ns since 1970. A file that was changed
 *         after this time is not shown
 */
struct source_asker {
	uid_t owner;
	uint64_t built_ns;
};

/*
 * Read the file @path. Returns NULL on success. Otherwise returns a string literal that says why
 * the file is not shown. The string is a predicate without a subject, such as "cannot be read".
 */
const char *source_text_read(struct source_text *source, const char *path,
			     const struct source_asker *asker);

/* Returns line @number, counted from 1. *@len gets the length of the line without its newline. */
const char *source_text_line(const struct source_text *source, size_t number, size_t *len);

/*
 * Returns the last line of the function that begins in line @first. In Python, the indentation
 * shows the end of the function. In other languages, the function ends with the first line that has
 * a '}' and is indented no more than line @first. Only SOURCE_LINES_MAX lines from @first on are
 * searched for the end. If the end is not in these lines, the result is the last of these lines
 * that is not blank.
 */
#define SOURCE_LINES_MAX 60
size_t source_text_end(const struct source_text *source, size_t first);

#endif
