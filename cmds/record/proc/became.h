/* What a process has become by execve(2): read while it stands still behind that. */
#ifndef UTRAIL_CMDS_RECORD_PROC_BECAME_H
#define UTRAIL_CMDS_RECORD_PROC_BECAME_H

#include <sys/types.h>

#include "utils/base/strbuf.h"

/*
 * Append the payload of a PROC_EXEC record about process @pid, which the thread @old_tid made another program. What cannot be found out (there is no
 * /proc, or somebody has killed it) is left empty.
 */
void became_encode(pid_t pid, pid_t old_tid, struct strbuf *out);

#endif
