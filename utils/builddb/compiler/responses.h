/* Response files (@FILE) of compilers, as they were when these began: of a recording. */
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
 * @listener: for executions_load_heard(); @is_big_endian: set before
 * @all, @nr: in the order of the recording; @last_of: by execution, the index of its last one plus
 * one
 * @bytes: of their texts; one that would make that more than RESPONSES_MAX is taken for unreadable,
 *         but with @is_unlimited
 *
 * Ends with responses_deinit().
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

/* For an otherwise zeroed one: the listener for records. */
int responses_see(struct executions_listener *listener, const struct executions *executions,
		  const struct proc_record *rec, size_t at);
void responses_deinit(struct responses *responses);
#define cleanup_responses cleanup(responses_deinit)

/*
 * Append file @name of execution @at to @text. 0; -ENOENT: it is not there, with the error in *@why
 * when the recorder could not read it; -EFBIG: it has more than @max bytes; -ENOMEM. @responses may
 * be NULL.
 */
int responses_get(const struct responses *responses, size_t at, const char *name, size_t max,
		  struct strbuf *text, int *why);

#endif
