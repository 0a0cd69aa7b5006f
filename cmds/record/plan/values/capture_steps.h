/* Makes steps of capture programs from argument specifications, by the calling convention. */
#ifndef UTRAIL_CMDS_RECORD_PLAN_CAPTURE_STEPS_H
#define UTRAIL_CMDS_RECORD_PLAN_CAPTURE_STEPS_H

#include "utils/base/containers/strbuf.h"
#include "utils/format/probe/capture.h"
#include "utils/spec/args/argspec.h"

/*
 * Append a program (struct capture_step) for the values of @args and the first of @retval; @index
 * gets its index. Returns false, with nothing appended, when there is nothing to capture, or too
 * much.
 */
bool capture_steps_add(struct strbuf *steps, const struct argspecs *args,
		       const struct argspecs *retval, uint32_t *index);

#endif
