/* Evaluates conditions on the recorded arguments and return values of calls. */
#ifndef UTRAIL_PIPELINE_ARGCOND_H
#define UTRAIL_PIPELINE_ARGCOND_H

#include "utils/spec/args/cond.h"
#include "utils/pipeline/event.h"

/* The maximum number of terms that are evaluated. Further terms count as false. */
#define ARGCOND_TERMS_MAX 64

/*
 * Returns a bit mask: bit N is set when term N of @cond holds. At an ENTRY, only terms on arguments
 * are tested; at an EXIT, only terms on the return value. No term holds for a value that was not
 * recorded.
 */
uint64_t argcond_look(struct trace_data *data, const struct cond *cond, const struct event *event);

/* True when @cond as a whole holds. Bit N of @bits is set when term N of @cond holds. */
bool argcond_holds(const struct cond *cond, uint64_t bits);

/* True when the condition has a term on the return value. */
bool argcond_needs_retval(const struct cond *cond);

#endif
