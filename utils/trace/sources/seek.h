/* Finding a time in the records of one task without reading all that is ahead of it. */
#ifndef UTRAIL_TRACE_SEEK_H
#define UTRAIL_TRACE_SEEK_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/trace/sources/src_user.h"

/*
 * There is no index: records have their times, and so have the heads of compact blocks, so the
 * place is found by halving. Nothing in the file is believed: where records are not as they should
 * be (a time that goes backwards, damage, nothing that looks like a record), all is read, as far as
 * a look at some 64 places tells. All is read, too, of times since 1970 (record --clock=realtime),
 * as that clock may be set back.
 */

/*
 * Place @src, which is fresh and has its end_offset, where a record begins: all records ahead of it
 * are before @time_ns, and so are some after it, as it need not be the last such place. False: it
 * is as it was, since the file is short, or nobody can tell.
 */
bool seek_time(struct src_user *src, uint64_t time_ns);

/*
 * The time of the last record of @task, which has some; 0: none can be read. @data does not grow.
 */
uint64_t seek_last_ns(struct trace_data *data, const struct task *task);

#endif
