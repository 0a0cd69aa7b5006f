/* Fields of /proc/PID/status (proc_pid_status(5)). */
#ifndef UTRAIL_CMDS_RECORD_BASE_PROC_STATUS_H
#define UTRAIL_CMDS_RECORD_BASE_PROC_STATUS_H

#include <sys/types.h>

#include "utils/base/containers/strbuf.h"

/* Read the status of a process or thread into the empty @out. Returns 0 or a negative errno. */
int proc_status_read(pid_t pid, struct strbuf *out);

/*
 * Returns the text after "@field:", without leading blanks, up to the end of @status; "" when the
 * field is missing.
 */
const char *proc_status_field(const struct strbuf *status, const char *field);

/*
 * Returns the count of the numbers in the line of @field.
 *
 * @last: gets the last number, and stays unchanged when the line has none
 */
unsigned proc_status_last(const struct strbuf *status, const char *field, unsigned *last);

/*
 * Returns an array of the numbers in the line of @field, or NULL when memory is short. The caller
 * frees the array.
 *
 * @nr: gets the number of numbers in the array
 */
unsigned *proc_status_numbers(const struct strbuf *status, const char *field, int *nr);

#endif
