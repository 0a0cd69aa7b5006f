/* All filters and triggers of a command line, in their effective order. */
#ifndef UTRAIL_SPEC_FILTERS_H
#define UTRAIL_SPEC_FILTERS_H

#include "utils/base/containers/strbuf.h"
#include "utils/base/containers/strmap.h"
#include "utils/spec/trigger.h"

/*
 * A spec.
 *
 * @has_match: a function has matched it so far
 * @in_force: enum trigger_flags that some function has from this spec, in spite of later specs;
 *            filters_match() sets it if any spec clears
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
 * @entries: in their effective order
 * @exact: entries with a plain name, by that name: a look-up among a thousand costs as much as in
 *         one. A value is the index + 1 of a chain's first entry
 * @next: the chains, by index of an entry: index + 1 of the next entry with the same plain name; 0
 *         at the end
 * @patterns: indexes of the entries without a plain name, in ascending order
 * @clears: a spec removes actions of earlier ones
 * @counters: the counters of all `read=`, in the order of their bits in trigger.read
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
 * enum spec_option: filter, trigger, argument, retval, caller, hide, location.
 */
int filters_add(struct filters *filters, enum spec_option option, enum pattern_match match,
		const char *text, struct uft_err *err);

/*
 * Parse all options in their order, ready for use: @specs by option, separated by ';', or NULL. A
 * failure leaves the faulty option in @option, or SPEC_OPTIONS for other failures.
 */
int filters_make(struct filters *filters, char *const specs[SPEC_OPTIONS], enum pattern_match match,
		 enum spec_option *option, struct uft_err *err);

/* Add the specs of -N in @text, separated by ';', to those of -F in @list: -N X is -F !X. */
void specs_add_notrace(struct strbuf *list, const char *text);

/* -ERR_USAGE when a condition of the spec cannot be evaluated at the start of a function. */
int spec_check_recording(const struct spec *spec, struct uft_err *err);

/* To be called after the last filters_add(). 0 or -ENOMEM. */
int filters_prepare(struct filters *filters, struct uft_err *err);
void filters_deinit(struct filters *filters);
#define cleanup_filters cleanup(filters_deinit)

/* The actions that let some calls in and so exclude all other calls. */
#define FILTERS_OPT_IN ((uint32_t)(TRIGGER_FILTER | TRIGGER_CALLER | TRIGGER_LOCATION))

/*
 * Returns the actions of FILTERS_OPT_IN that any spec has: only calls that have them are kept. A
 * spec that matches nothing counts, so no call is kept. A spec that was cleared for all functions
 * that it has matched does not count. Specs for functions of the kernel do not count, either.
 */
uint32_t filters_opt_in(const struct filters *filters);

/*
 * True when a spec (TRIGGER_FILTER, TRIGGER_DEPTH) allows a number of levels that is counted from
 * its function on. So the total depth may exceed the limit for all calls.
 */
bool filters_renew_depth(const struct filters *filters);

/* True when a spec has a condition, for which arguments are needed (TRIGGER_IF). */
bool filters_have_conditions(const struct filters *filters);

/*
 * A function, as seen by filters.
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
 * The most names of a function that are compared: the displayed name, those of demangle_others(),
 * and aliases.
 */
#define FILTER_NAMES_MAX 16

/* Walk the entries that match a function, in their order. Each is marked as matched. */
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

/* Combine all specs for @subject into one trigger. False when none matches. */
bool filters_match(struct filters *filters, const struct filter_subject *subject,
		   struct trigger *trigger);

#endif
