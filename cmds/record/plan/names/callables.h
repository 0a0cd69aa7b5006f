/*
 * Functions that have no addresses, such as those of Python (utils/format/callables.h). This part
 * of the recorder gives them numbers, writes their symbol file, and applies the filters to them.
 */
#ifndef UTRAIL_CMDS_RECORD_PLAN_NAMES_CALLABLES_H
#define UTRAIL_CMDS_RECORD_PLAN_NAMES_CALLABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmds/record/base/settings.h"
#include "cmds/record/store/store.h"
#include "cmds/terminal/msg.h"
#include "utils/base/containers/strbuf.h"
#include "utils/base/containers/strmap.h"

/*
 * A function. All its strings are in the memory of @key.
 *
 * @range: 1 + the index of the function's range in callables.ranges; 0: the function has no rule
 * @values: the arguments and results to record
 * @told: the values that the function's debug information describes (enum argrules_about)
 */
struct callable {
	char *key;
	const char *name;
	const char *file;
	uint32_t addr;
	uint32_t range;
	uint32_t line;
	uint32_t nr_args;
	uint64_t values;
	uint8_t told;
	bool is_native;
};

/*
 * A range of function numbers. All functions in the range have the same rule. A plan has one entry
 * for the whole range. If a function joins the range later, no new plan is needed.
 */
struct callable_range {
	struct strbuf rules; /* one struct plan_rule; empty: no rule */
	struct strbuf conds; /* a list of struct plan_cond */
	struct strbuf steps; /* one capture program (a list of struct capture_step) */
	uint32_t start;
	uint32_t end;
	uint32_t next; /* the next number to give; @end when the range is full */
};

/*
 * The functions of all processes. Functions with the same name, file and line share one number.
 * There is an exception if a filter has a condition, or if values of calls are captured. In these
 * two cases, Python functions share a number only if they also have equally many arguments. Only
 * the control thread uses the struct.
 *
 * @next: the next number for a function that has no rule, and so belongs to no range; at least 1
 * @lowest: the lowest number of the ranges that can hold several functions. A new range of this
 *          kind gets numbers below @lowest. CALLABLES_END: there is no such range
 * @nr_told: the number of functions whose values are described in the recording's debug information
 * @nr_refused: the number of functions without a number, for lack of numbers or memory
 * @has_vain_conditions: a condition (if:) of a filter needs an argument that is unknown
 * @error: the first error of writing a file
 */
struct callables {
	const struct record_settings *settings;
	struct store *store;
	struct strmap by_key;
	struct callable *list;
	size_t nr;
	size_t cap;
	struct callable_range *ranges;
	size_t nr_ranges;
	size_t bytes;
	uint32_t next;
	uint32_t lowest;
	unsigned long long nr_refused;
	size_t nr_told;
	bool has_vain_conditions;
	int error;
};

void callables_init(struct callables *all, const struct record_settings *settings,
		    struct store *store);
void callables_deinit(struct callables *all);

/*
 * Returns the function with this name, file and line. A new function is added to @all first.
 * Returns NULL when the function cannot be recorded.
 */
const struct callable *callables_add(struct callables *all, const char *name, const char *file,
				     uint32_t line, uint32_t nr_args, bool is_native);

/*
 * callables_plan_range() appends the plan entries of one range to @lists. callables_plan_all()
 * appends the plan entries of all ranges.
 *
 * @range: the number of the range, at least 1
 * @lists: plan_entries.lists
 */
void callables_plan_range(const struct callables *all, uint32_t range, struct strbuf *lists);
void callables_plan_all(const struct callables *all, struct strbuf *lists);

/* Apply the filters to all functions again. Call it when the filters have changed. */
void callables_bind_anew(struct callables *all);

/* After the recording, write the symbol file and the debug information of the functions. */
void callables_finish(struct callables *all);

/*
 * After the recording, warn about functions that were not recorded, names that could not be
 * written, and filter conditions that cannot hold.
 */
void callables_warn(const struct callables *all, const struct msg *msg);

#endif
