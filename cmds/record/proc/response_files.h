/*
 * Response files (@FILE) of compilers. They are read when the compiler begins, because they may be
 * removed before the recording ends.
 */
#ifndef UTRAIL_CMDS_RECORD_PROC_RESPONSE_FILES_H
#define UTRAIL_CMDS_RECORD_PROC_RESPONSE_FILES_H

#include "cmds/record/base/peer.h"
#include "cmds/record/proc/log.h"
#include "cmds/record/proc/named_files.h"
#include "utils/pipeline/recording/executions.h"

/*
 * If @execution is the execution of a compiler, write a PROC_RESPONSE record for each response file
 * that its arguments name, and for each one that is named in such a file. Only regular files are
 * opened, with the rights of @user, or of process @view->tid if @user is NULL. Only the texts of
 * @execution are used.
 *
 * @user: the process, and the real user and group that it had at the execution. NULL is possible
 *        only when the process is stopped
 */
void response_files_write(struct proc_log *log, const struct view *view, const struct peer *user,
			  const struct execution *execution);

#endif
