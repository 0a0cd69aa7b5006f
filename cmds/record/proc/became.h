/*
 * The program that a process has become by execve(2). It is read while the process stands still
 * after that.
 */
#ifndef UTRAIL_CMDS_RECORD_PROC_BECAME_H
#define UTRAIL_CMDS_RECORD_PROC_BECAME_H

#include <sys/types.h>

#include "utils/base/cleanup.h"
#include "utils/base/containers/strbuf.h"
#include "utils/trace/recording/executions.h"

/*
 * The texts of a PROC_EXEC record. A text that cannot be found out (there is no /proc, or somebody
 * has killed the process) is empty. Ends with became_deinit().
 */
struct became {
	struct strbuf interpreter;
	struct strbuf program;
	struct strbuf cwd;
	struct strbuf args;
};

void became_read(pid_t pid, struct became *became);
void became_deinit(struct became *became);
#define cleanup_became cleanup(became_deinit)

/* Append the payload of the record; the thread @old_tid made the process another program. */
void became_encode(const struct became *became, pid_t old_tid, struct strbuf *out);

/* The same texts, which it borrows. */
struct execution became_execution(const struct became *became);

#endif
