/*
 * The messages MODULE and READY. A probe reports modules of its process, and ends the report with
 * READY. The answer to READY has a plan (utils/format/probe/plan.h). A forked child gets no plan,
 * because the child has the plan of its parent.
 */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_READY_H
#define UTRAIL_CMDS_RECORD_CONTROL_READY_H

#include <stddef.h>

/* The handlers of MODULE and READY, for control_take(). @context: the struct conversation */
unsigned ready_take_module(void *context, const void *message, size_t len);
unsigned ready_take_ready(void *context, const void *message, size_t len);

#endif
