/*
 * The only header of this project for readers: formats of declared events, payloads, values as
 * text; events and logs of POSIX Trace.
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
