/*
 * The response files (@FILE) of the compilers in a recording. The text of a file is from the time
 * when the compiler began.
 */
#ifndef UTRAIL_BUILDDB_RESPONSES_H
#define UTRAIL_BUILDDB_RESPONSES_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/cleanup.h"
#include "utils/base/containers/intmap.h"
#include "utils/base/containers/strbuf.h"
#include "utils/pipeline/recording/executions.h"

struct response_file;

/*
 * Response files. The struct ends with responses_deinit(). The caller sets @listener,
 * @is_big_endian and @is_unlimited.
 *
 * @listener: for executions_load_heard()
 * @is_big_endian: byte order of the recording
 * @is_unlimited: @bytes has no limit; false: a response file counts as unreadable if its text would
 *         make @bytes exceed RESPONSES_MAX
 * @all, @nr: the response files, in the order of the recording
 * @last_of: for each execution: 1 + the index of the execution's last response file in @all
 * @bytes: the total length of the texts in @all, in bytes
 */
struct responses {
	struct executions_listener listener;
	bool is_big_endian;
	bool is_unlimited;
	struct response_file *all;
	size_t nr;
	struct intmap last_of;
	size_t bytes;
};

#define RESPONSES_MAX (200UL << 20)

/* The function for @listener. */
int responses_see(struct executions_listener *listener, const struct executions *executions,
		  const struct proc_record *rec, size_t at);
void responses_deinit(struct responses *responses);
#define cleanup_responses cleanup(responses_deinit)

/*
 * Append to @text the text of a response file of execution @at. @name is the file's name in that
 * execution. Returns 0, -ENOENT when the recording lacks the file or the file's text, -EFBIG when
 * the file has more than @max bytes, or -ENOMEM.
 *
 * @responses: may be NULL
 * @why: gets 0, or the reason why the file's text is missing: the recorder's error, or -EFBIG
 *         (RESPONSES_MAX). If the recording does not name the file, *@why is unchanged
 */
int responses_get(const struct responses *responses, size_t at, const char *name, size_t max,
		  struct strbuf *text, int *why);

#endif
