/* Conditions on arguments and return values, evaluated on the recorded ones. */
#ifndef UTRAIL_PIPELINE_ARGCOND_H
#define UTRAIL_PIPELINE_ARGCOND_H

#include "utils/spec/args/cond.h"
#include "utils/pipeline/event.h"

/* Terms beyond that are not evaluated: they do not hold. */
#define ARGCOND_TERMS_MAX 64

/*
 * The terms of @cond that hold, as bits by their index: those on arguments for an ENTRY, those on
 * the return value for an EXIT. A term on an unrecorded value does not hold.
 */
uint64_t argcond_look(struct trace_data *data, const struct cond *cond, const struct event *event);

/* True when the condition holds if exactly the terms in @bits do. */
bool argcond_holds(const struct cond *cond, uint64_t bits);

/* True when there is a term on the return value. */
bool argcond_needs_retval(const struct cond *cond);

#endif
