/*
 * Part of --overhead: takes out, where possible, the hooks of functions that are left out. Calls of
 * these functions then cost nothing.
 */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_OVERHEAD_HOOKS_H
#define UTRAIL_CMDS_RECORD_CONTROL_OVERHEAD_HOOKS_H

#include "cmds/record/control/overhead.h"

/*
 * Take the hooks of functions that are left out (known_module.left_out) out of all processes. All
 * threads of a process are stopped during the change. Hooks that cannot be taken out are reported
 * (overhead.said), and count in the budget.
 *
 * The event loop runs during this work. So the caller must keep clients from changing the settings
 * (service_hold()).
 */
void overhead_take_hooks_out(struct overhead *overhead);

#endif
