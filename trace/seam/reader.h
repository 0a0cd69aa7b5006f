/*
 * The only header of libutrail-trace that utrail's readers include. It declares formats of declared
 * events, their payloads, values as text, and events and logs of POSIX Trace.
 */
#ifndef UTRAIL_TRACE_SEAM_READER_H
#define UTRAIL_TRACE_SEAM_READER_H

#include "posixlog/event.h"
#include "posixlog/log.h"
#include "text/directive.h"
#include "text/format.h"
#include "text/payload.h"
#include "text/text.h"

#endif
