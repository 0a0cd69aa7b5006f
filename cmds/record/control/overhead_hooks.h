/*
 * Part of --overhead, which leaves frequent functions out of the recording. Removes the hooks of
 * left-out functions where this is possible. A call without a hook costs nothing.
 */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_OVERHEAD_HOOKS_H
#define UTRAIL_CMDS_RECORD_CONTROL_OVERHEAD_HOOKS_H

#include "cmds/record/control/overhead.h"

/*
 * Remove the hooks of left-out functions (known_module.left_out) from all processes. All threads of
 * a process are stopped during the change. Hooks that cannot be removed are reported
 * (overhead.said). Store in budget.left_rate the rate of calls of left-out functions that still
 * have hooks.
 *
 * The event loop runs during this work. So the caller must keep clients from changing the settings
 * (service_hold()).
 */
void overhead_take_hooks_out(struct overhead *overhead);

#endif
