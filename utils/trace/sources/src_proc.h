/* Source of events: proc.dat, acts of processes (record --proc). */
#ifndef UTRAIL_TRACE_SRC_PROC_H
#define UTRAIL_TRACE_SRC_PROC_H

#include "utils/trace/sources/source.h"

/*
 * One source, if there is that file. Tasks that task.txt does not tell of are newcomers, and
 * programs name their tasks. An event has as much of a payload as an event may have; a caller that
 * wants all of it reads the file. A file that is cut ends where it is cut, and a damaged one at the
 * damage.
 */
extern const struct source_kind src_proc_kind;

#endif
