/* The facts about files, as text. */
#ifndef UTRAIL_TESTS_FILESTEXT_H
#define UTRAIL_TESTS_FILESTEXT_H

#include "utils/base/containers/strbuf.h"
#include "utils/pipeline/recording/files.h"

/*
 * A line for each:
 *
 *   PATH CONTENT [removed]                      names that a process has used, or that are in a directory; "-": no content
 *   #CONTENT f|p|o NAMES PATH [outside]         contents: file, pipe, other; how many names, the last one
 *   EXECUTION PATH #CONTENT OPEN-CLOSE [rTIME] [wTIME] [oDESCRIPTORS] [S][R][W][X] [(given)]
 *                                               uses of each execution, as they are chained
 */
void files_put_names(const struct files *files, struct strbuf *out);
void files_put_contents(const struct files *files, struct strbuf *out);
void files_put_uses(const struct files *files, struct strbuf *out);

/* Compare all files with @names and @contents. */
void files_check(const struct files *files, const char *names, const char *contents,
		 const char *uses);

#endif
