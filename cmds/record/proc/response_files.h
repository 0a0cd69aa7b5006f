/*
 * Response files (@FILE) of compilers. A response file may be removed before the recording ends, so
 * the recorder reads the file when the compiler begins.
 */
#ifndef UTRAIL_CMDS_RECORD_PROC_RESPONSE_FILES_H
#define UTRAIL_CMDS_RECORD_PROC_RESPONSE_FILES_H

#include "cmds/record/base/peer.h"
#include "cmds/record/proc/log.h"
#include "cmds/record/proc/named_files.h"
#include "utils/pipeline/recording/executions.h"

/*
 * If @execution is the execution of a compiler, write a PROC_RESPONSE record for each response file
 * in the compiler's arguments, and for each response file that is named in a response file.
 * Otherwise nothing is written. A file that is not a regular file is not opened.
 * Files are opened with the rights of @user, or with the rights of process @view->tid if @user is
 * NULL.
 *
 * @user: the process @view->tid, and its real user and group at the execution. @user may be NULL
 *        only when this process is stopped
 * @execution: the program, the interpreter and the arguments are used. Other members are not used
 */
void response_files_write(struct proc_log *log, const struct view *view, const struct peer *user,
			  const struct execution *execution);

#endif
