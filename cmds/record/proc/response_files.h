/*
 * Response files (@FILE) of compilers. They are read as soon as the compiler begins, since they may
 * be gone at the end.
 */
#ifndef UTRAIL_CMDS_RECORD_PROC_RESPONSE_FILES_H
#define UTRAIL_CMDS_RECORD_PROC_RESPONSE_FILES_H

#include "cmds/record/proc/log.h"
#include "cmds/record/proc/named_files.h"
#include "utils/pipeline/recording/executions.h"

/*
 * When @execution is that of a compiler, write a PROC_RESPONSE record of each response file that
 * its arguments name, or that such files name. Only regular files are opened, with the rights of
 * the process @view->tid. Only the texts of @execution are used.
 */
void response_files_write(struct proc_log *log, const struct view *view,
			  const struct execution *execution);

#endif
