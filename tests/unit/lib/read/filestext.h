/* The facts about files, as text. */
#ifndef UTRAIL_TESTS_FILESTEXT_H
#define UTRAIL_TESTS_FILESTEXT_H

#include "utils/base/containers/strbuf.h"
#include "utils/pipeline/recording/files.h"

/*
 * Write the facts as lines:
 *
 *   PATH CONTENT [removed]
 *       a name that a process has used, or that is in a directory; "-": no content
 *   #CONTENT f|p|o NAMES PATH [outside]
 *       a content: file, pipe or other; the number of its names, and the last name
 *   EXECUTION PATH #CONTENT OPEN-CLOSE [rTIME] [wTIME] [oDESCRIPTORS] [S][R][W][X] [(given)]
 *       a use of a content by an execution, in the order of the execution's chain
 */
void files_put_names(const struct files *files, struct strbuf *out);
void files_put_contents(const struct files *files, struct strbuf *out);
void files_put_uses(const struct files *files, struct strbuf *out);

/* Compare all names, contents and uses of files with these texts. */
void files_check(const struct files *files, const char *names, const char *contents,
		 const char *uses);

#endif
