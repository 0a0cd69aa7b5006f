/* The language of filters and triggers, NAME[@ITEM{,ITEM}]. */
#ifndef UTRAIL_SPEC_TRIGGER_H
#define UTRAIL_SPEC_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/color.h"
#include "utils/spec/args/actions.h"
#include "utils/spec/args/cond.h"
#include "utils/spec/counters.h"
#include "utils/spec/regex/pattern.h"

enum trigger_read {
	READ_STATM = 1U << 0,
	READ_PAGE_FAULT = 1U << 1,
	READ_PMU_CYCLE = 1U << 2,
	READ_PMU_CACHE = 1U << 3,
	READ_PMU_BRANCH = 1U << 4,
	READ_COUNTER = 1U << 8, /* the first of COUNTERS_MAX bits for filters.counters */
};

/* The actions at calls of a function. A member is valid only if @flags has the action's bit. */
struct trigger {
	uint32_t flags; /* enum trigger_flags */
	uint32_t read;	/* enum trigger_read */
	unsigned depth;
	uint64_t time_ns;
	uint64_t size;
	enum color color;
	const struct cond *cond; /* owned by the spec */
};

enum spec_module {
	MODULE_ANY,
	MODULE_NAMED,
	MODULE_PLT,    /* library calls of the program itself */
	MODULE_KERNEL, /* functions of the kernel */
};

/*
 * One spec.
 *
 * @text: as the user typed it; on the heap
 * @pattern: matches the names of functions; with -L, the names of source files
 * @module: with MODULE_NAMED: the first characters of the base name of the module's file; on the
 *          heap
 * @counters: the counters of `read=`; filters_add() gives each counter a bit of trigger.read
 * @cleared: with TRIGGER_CLEAR: actions (enum trigger_flags). If earlier specs gave these actions,
 *           this spec removes the actions
 * @args: the typed items about arguments and return values, separated by ','; or NULL
 * @ignored: the first action that the option does not accept, or NULL
 */
struct spec {
	char *text;
	struct pattern pattern;
	enum spec_module module_kind;
	char *module;
	struct trigger trigger;
	struct cond cond;
	struct counters counters;
	uint32_t cleared;
	char *args;
	const char *ignored;
};

/*
 * The option that a spec belongs to. The option decides which actions are accepted, and which
 * action is implied.
 */
enum spec_option {
	SPEC_FILTER,   /* -F NAME implies the action `filter`; -F !NAME implies `notrace` */
	SPEC_TRIGGER,  /* -T */
	SPEC_CALLER,   /* -C */
	SPEC_HIDE,     /* -H */
	SPEC_LOCATION, /* -L */
	SPEC_ARGUMENT, /* -A: without items, automatic arguments */
	SPEC_RETVAL,   /* -R: without items, automatic results */
	SPEC_OPTIONS,
};

/*
 * Parse one spec: the @len bytes at @text. Returns 0, -ENOMEM, or -ERR_USAGE. With -ERR_USAGE, the
 * message in @err names the column (counted from 1) and the error. For an unknown word, the message
 * suggests similar known words. After a failure, @spec is empty.
 */
int spec_parse(enum spec_option option, enum pattern_match match, const char *text, size_t len,
	       struct spec *spec, struct uft_err *err);
void spec_deinit(struct spec *spec);

#endif
