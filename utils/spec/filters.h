/* All filters and triggers of a command line, in the order in which they count. */
#ifndef UTRAIL_SPEC_FILTERS_H
#define UTRAIL_SPEC_FILTERS_H

#include "utils/base/containers/strbuf.h"
#include "utils/base/containers/strmap.h"
#include "utils/spec/trigger.h"

/*
 * A spec, and whether some function matched it so far.
 *
 * @in_force: enum trigger_flags that some function has by it, whatever later specs say; kept by
 *            filters_match() where some spec clears
 */
struct filter_entry {
	struct spec spec;
	enum spec_option option;
	bool has_match;
	uint32_t in_force;
};

/*
 * Starts as { 0 }, ends with filters_deinit().
 *
 * @entries: in the order in which they count
 * @exact: entries with a plain name by it, so that a thousand of them cost as much as one; each
 *         value is the index + 1 of the first of a chain
 * @next: the chain by index: the next entry with the same plain name, + 1; 0 at the end
 * @patterns: indexes of the others, in ascending order
 * @clears: some spec takes away actions of earlier ones
 * @counters: those that some `read=` names, in the order of their bits in trigger.read
 */
struct filters {
	struct filter_entry *entries;
	size_t nr;
	struct strmap exact;
	size_t *next;
	size_t *patterns;
	size_t nr_patterns;
	bool clears;
	struct counters counters;
};

/*
 * Add the specs in @text, separated by ';', of option @option. Options must come in the order of
 * the enum spec_option values they count in: filter, trigger, argument, retval, caller, hide,
 * location.
 */
int filters_add(struct filters *filters, enum spec_option option, enum pattern_match match,
		const char *text, struct uft_err *err);

/*
 * All options in their order, ready to be used: @specs by option, separated by ';', or NULL. A
 * failure leaves the option that is wrong in
 * @option, or SPEC_OPTIONS when it is none of them.
 */
int filters_make(struct filters *filters, char *const specs[SPEC_OPTIONS], enum pattern_match match,
		 enum spec_option *option, struct uft_err *err);

/* -N X is -F !X: add the specs in @text, separated by ';', to those of -F in @list. */
void specs_add_notrace(struct strbuf *list, const char *text);

/* -ERR_USAGE when a condition of the spec cannot be judged as a function begins. */
int spec_check_recording(const struct spec *spec, struct uft_err *err);

/* After the last filters_add(). 0 or -ENOMEM. */
int filters_prepare(struct filters *filters, struct uft_err *err);
void filters_deinit(struct filters *filters);
#define cleanup_filters cleanup(filters_deinit)

/* The actions that let something in, and with that nothing else. */
#define FILTERS_OPT_IN ((uint32_t)(TRIGGER_FILTER | TRIGGER_CALLER | TRIGGER_LOCATION))

/*
 * The actions that must let something in before anything is kept: those of TRIGGER_FILTER,
 * TRIGGER_CALLER and TRIGGER_LOCATION that some spec asks for. A spec that matches nothing counts:
 * then nothing is kept. One that was cleared for all functions that it has matched does not.
 * Functions of the kernel are another matter.
 */
uint32_t filters_opt_in(const struct filters *filters);

/*
 * Some spec lets so many levels in from its function on, however many there are around it:
 * TRIGGER_FILTER, TRIGGER_DEPTH. So there may be more of them than a limit of all calls says.
 */
bool filters_renew_depth(const struct filters *filters);

/*
 * A function, as filters see it.
 *
 * @name: demangled, with its length
 * @others: its other names (aliases_all_names()); NULL: none
 * @module: base name of its file, or NULL
 */
struct filter_subject {
	const char *name;
	size_t name_len;
	const char *others;
	const char *module;
	const char *source_file; /* NULL when unknown */
	bool is_plt;		 /* a library call */
	bool is_program;	 /* its module is the program itself */
	bool is_kernel;
};

/*
 * So many names of a function are compared: the one that is shown, those of demangle_others(), and
 * aliases.
 */
#define FILTER_NAMES_MAX 16

/* The entries that match a function, one by one in their order. Each is noted to have a match. */
struct filter_walk {
	struct filters *filters;
	const struct filter_subject *subject;
	size_t exact[FILTER_NAMES_MAX];
	size_t nr_exact;
	size_t pattern;
};
void filter_walk_begin(struct filter_walk *walk, struct filters *filters,
		       const struct filter_subject *subject);
struct filter_entry *filter_walk_next(struct filter_walk *walk);

/* The trigger that all specs together make for @subject. False when they say nothing. */
bool filters_match(struct filters *filters, const struct filter_subject *subject,
		   struct trigger *trigger);

#endif
