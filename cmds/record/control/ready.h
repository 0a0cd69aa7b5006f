/* MODULE and READY: the modules that a probe has loaded, and the plan that it gets. */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_READY_H
#define UTRAIL_CMDS_RECORD_CONTROL_READY_H

#include <stddef.h>

/* Handlers of these two messages, for control_take(). @context: the struct conversation */
unsigned ready_take_module(void *context, const void *message, size_t len);
unsigned ready_take_ready(void *context, const void *message, size_t len);

#endif
