/*
 * The only header of libutrail-trace that utrail's readers include. For declared events, the header
 * declares formats, payloads, and the text of values. For POSIX Trace, it declares events and logs.
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
