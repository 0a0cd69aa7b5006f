/* All filters and triggers of a command line, in the order in which they take effect. */
#ifndef UTRAIL_SPEC_FILTERS_H
#define UTRAIL_SPEC_FILTERS_H

#include "utils/base/containers/strbuf.h"
#include "utils/base/containers/strmap.h"
#include "utils/spec/trigger.h"

/*
 * @is_notrace: the spec is from --notrace
 * @has_match: at least one function has matched the spec
 * @in_force: enum trigger_flags: the actions of this spec that are in force for at least one
 *         function. filters_match() sets @in_force only if filters.clears is true
 */
struct filter_entry {
	struct spec spec;
	enum spec_option option;
	bool is_notrace;
	bool has_match;
	uint32_t in_force;
};

/*
 * The struct starts as { 0 }, and filters_deinit() releases the memory of the struct's members.
 *
 * @entries: in the order in which they take effect
 * @exact: maps each plain name to the first entry with this name, as index + 1
 * @next: for each entry, the next entry with the same plain name, as index + 1; 0: none
 * @patterns: indexes of the entries without a plain name, ascending
 * @clears: true when at least one spec removes actions of earlier specs
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
 * Add the specs in @text, which are separated by ';'. Calls with different values of @option must
 * be made in this order: filter, trigger, argument, retval, caller, hide, location.
 */
int filters_add(struct filters *filters, enum spec_option option, enum pattern_match match,
		const char *text, struct uft_err *err);

/*
 * Parse the specs of all options. Returns 0, or a negative error with @err.
 *
 * @specs: the specs of each option, separated by ';'; NULL: none
 * @option: gets the faulty option, or SPEC_OPTIONS when no option is at fault
 */
int filters_make(struct filters *filters, char *const specs[SPEC_OPTIONS], enum pattern_match match,
		 enum spec_option *option, struct uft_err *err);

/*
 * Like filters_make(), but @filters also gets the specs of @before. For each option, the specs of
 * @before come first, and then the specs in @specs. @match applies only to the specs in @specs.
 *
 * @gone: gone[i] is true if @filters does not get spec i of @before; not used if @before is empty
 */
int filters_make_after(struct filters *filters, const struct filters *before, const bool *gone,
		       char *const specs[SPEC_OPTIONS], enum pattern_match match,
		       enum spec_option *option, struct uft_err *err);

/* Add the specs of -N in @text to those of -F in @list: -N X is the same as -F !X. */
void specs_add_notrace(struct strbuf *list, const char *text);

/*
 * Check that the spec's condition can be evaluated at the start of a function. Returns 0 or
 * -ERR_USAGE.
 */
int spec_check_recording(const struct spec *spec, struct uft_err *err);

/* Prepare @filters for look-ups, after the last filters_add(). Returns 0 or -ENOMEM. */
int filters_prepare(struct filters *filters, struct uft_err *err);
void filters_deinit(struct filters *filters);
#define cleanup_filters cleanup(filters_deinit)

/* The actions that choose some calls, and so exclude all other calls. */
#define FILTERS_OPT_IN ((uint32_t)(TRIGGER_FILTER | TRIGGER_CALLER | TRIGGER_LOCATION))

/*
 * Returns the actions of FILTERS_OPT_IN that the specs have. If the result is not 0, a call is kept
 * only if one of these actions chooses the call. The result includes the actions of specs that have
 * matched no function. So if none of the specs with these actions has matched a function, no
 * call is kept.
 *
 * The result does not include actions of specs about functions of the kernel. An action of a spec
 * does not count if later specs clear the action for every function that the spec has matched.
 */
uint32_t filters_opt_in(const struct filters *filters);

/*
 * True when some spec has the action TRIGGER_FILTER or TRIGGER_DEPTH. At a function that such a
 * spec matches, the count of levels of calls starts again. Therefore calls inside this function may
 * be nested more deeply than the option -D permits elsewhere.
 */
bool filters_renew_depth(const struct filters *filters);

/* True when some spec has a condition (TRIGGER_IF), for which arguments are captured. */
bool filters_have_conditions(const struct filters *filters);

/*
 * A function, as seen by filters.
 *
 * @name: demangled, of @name_len bytes
 * @others: other names (aliases_all_names()); NULL: none
 * @module: base name of the module's file, or NULL
 */
struct filter_subject {
	const char *name;
	size_t name_len;
	const char *others;
	const char *module;
	const char *source_file; /* NULL when unknown */
	bool is_plt;		 /* a library call */
	bool is_program;	 /* the function's module is the program itself */
	bool is_kernel;
};

/*
 * The names of a function are its displayed name, its aliases, and the names that demangle_others()
 * finds. If more than FILTER_NAMES_MAX of these names are keys of filters.exact, the names beyond
 * this number are ignored.
 */
#define FILTER_NAMES_MAX 16

/*
 * Find the entries that match a function, one after the other, in the order of filters.entries.
 * Each found entry is marked as matched.
 */
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

/*
 * Combine all specs for @subject into @trigger. Returns false when @trigger has no action: no spec
 * matches, the specs that match have no actions, or later specs clear all actions.
 */
bool filters_match(struct filters *filters, const struct filter_subject *subject,
		   struct trigger *trigger);

/*
 * A spec with the actions @flags replaces some actions of earlier specs. Returns the actions that
 * are replaced.
 */
uint32_t filters_replaced_by(uint32_t flags);

#endif
