/*
 * --overhead: functions that are left out lose their hooks, where that can be: from then on a call
 * of one costs nothing.
 */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_OVERHEAD_HOOKS_H
#define UTRAIL_CMDS_RECORD_CONTROL_OVERHEAD_HOOKS_H

#include "cmds/record/control/overhead.h"

/*
 * Processes that have hooks of functions that are left out (known_module.left_out) in their text
 * lose them, as with `utrail control ... unpatch`; all threads of one stand meanwhile. Each is
 * tried once after each decision, and a few times more when it is busy. Hooks that stay are told
 * (overhead.said), and count in the budget. The loop is served meanwhile: no other client may
 * change what is recorded (service_hold()).
 */
void overhead_take_hooks_out(struct overhead *overhead);

#endif
