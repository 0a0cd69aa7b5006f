/* Source of events: proc.dat, what processes did (record --proc). */
#ifndef UTRAIL_TRACE_SRC_PROC_H
#define UTRAIL_TRACE_SRC_PROC_H

#include "utils/trace/source.h"

/*
 * One source, if there is that file. Tasks that task.txt does not tell of are newcomers, and
 * programs name their tasks. Of a payload an event has as many bytes as an event may have; who
 * wants all of it reads the file. A file that is cut ends where it is cut, and a damaged one where
 * the damage is.
 */
extern const struct source_kind src_proc_kind;

#endif
