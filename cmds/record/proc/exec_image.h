/* Reads facts about the new program of a process that is stopped after execve(2). */
#ifndef UTRAIL_CMDS_RECORD_PROC_EXEC_IMAGE_H
#define UTRAIL_CMDS_RECORD_PROC_EXEC_IMAGE_H

#include <sys/types.h>

#include "utils/base/cleanup.h"
#include "utils/base/containers/strbuf.h"
#include "utils/pipeline/recording/executions.h"

/*
 * The texts of a PROC_EXEC record. A text is empty when it cannot be read, for example because the
 * process was killed. Call exec_image_deinit() at the end.
 */
struct exec_image {
	struct strbuf interpreter;
	struct strbuf program;
	struct strbuf cwd;
	struct strbuf args;
};

void exec_image_read(pid_t pid, struct exec_image *became);
void exec_image_deinit(struct exec_image *became);
#define cleanup_became cleanup(exec_image_deinit)

/* Append the payload of a PROC_EXEC record. @old_tid: the thread that has called execve(2) */
void exec_image_encode(const struct exec_image *became, pid_t old_tid, struct strbuf *out);

/* Returns an execution that points to the texts of @became. exec_image_deinit() frees the texts. */
struct execution exec_image_execution(const struct exec_image *became);

#endif
