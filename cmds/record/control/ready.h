/* The messages MODULE and READY. A probe reports the modules of its process, and gets a plan. */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_READY_H
#define UTRAIL_CMDS_RECORD_CONTROL_READY_H

#include <stddef.h>

/* The handlers of MODULE and READY, for control_take(). @context: the struct conversation */
unsigned ready_take_module(void *context, const void *message, size_t len);
unsigned ready_take_ready(void *context, const void *message, size_t len);

#endif
