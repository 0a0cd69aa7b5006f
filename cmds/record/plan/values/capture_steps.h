/*
 * Makes the steps of capture programs from argument specifications. The calling convention
 * determines where a value is.
 */
#ifndef UTRAIL_CMDS_RECORD_PLAN_CAPTURE_STEPS_H
#define UTRAIL_CMDS_RECORD_PLAN_CAPTURE_STEPS_H

#include "utils/base/containers/strbuf.h"
#include "utils/format/probe/capture.h"
#include "utils/spec/args/argspec.h"

/*
 * Append a capture program (a list of struct capture_step) for the values of @args and the first
 * value of @retval. @index gets the index of the capture program. If there is nothing to capture,
 * or the capture program would be too long, nothing is appended and the result is false.
 */
bool capture_steps_add(struct strbuf *steps, const struct argspecs *args,
		       const struct argspecs *retval, uint32_t *index);

#endif
