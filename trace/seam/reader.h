/*
 * The only header of libutrail-trace that utrail's readers include. The header has
 * - for the events that programs declare (fstrace): formats, payloads, and the text of values
 * - for POSIX Trace: events and logs
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
