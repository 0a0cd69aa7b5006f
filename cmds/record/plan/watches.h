/* Finds the addresses of variables of the program, for -W var:NAME. */
#ifndef UTRAIL_CMDS_RECORD_PLAN_WATCHES_H
#define UTRAIL_CMDS_RECORD_PLAN_WATCHES_H

#include "cmds/record/base/settings.h"
#include "utils/base/err.h"
#include "cmds/record/plan/plan.h"
#include "utils/format/probe/control.h"

/*
 * Check that the program @path has the variables to watch. Returns 0 or a negative error. The error
 * text names the first missing variable, and the variables with the most similar names.
 */
int watches_check(const struct record_settings *settings, const char *path, struct uft_err *err);

/*
 * Find the addresses of the variables to watch. @module is the program of the process. Missing
 * variables are left out.
 */
void watches_bind(const struct record_settings *settings, const struct control_module *module,
		  struct plan_entries *plan);

#endif
