/*
 * Functions of languages that have no addresses (utils/format/callables.h): gives them numbers,
 * writes their symbol file, and applies the filters to them.
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
 * A function. The memory of @key has all its strings.
 *
 * @range: its place in callables.ranges, from 1 on; 0: it has no rule
 * @values: the values to record of its calls
 * @told: the values that its debug information describes (enum argrules_about)
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
 * A range of numbers for functions with the same rule: a plan has one entry for all of them, and
 * functions that join the range later need no new plan.
 */
struct callable_range {
	struct strbuf rules; /* one struct plan_rule */
	struct strbuf conds; /* a list of struct plan_cond */
	struct strbuf steps; /* a list of struct capture_step: one capture program */
	uint32_t start;
	uint32_t end;
	uint32_t next; /* the number that is given next; @end: the range is full */
};

/*
 * The functions of all processes: one number for a name, a file and a line. Only the control thread
 * touches it.
 *
 * @next: the next number for functions without a rule, from 1 on
 * @lowest: the lowest number of a range: ranges are made from the highest number downwards
 * @nr_told: functions whose debug information was written, for their values
 * @nr_refused: functions without a number, for lack of numbers or of room
 * @has_vain_conditions: some filter needs an argument (if:) that is unknown
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

/* Returns the function with that name, file and line, also a new one. NULL: it is not recorded. */
const struct callable *callables_add(struct callables *all, const char *name, const char *file,
				     uint32_t line, uint32_t nr_args, bool is_native);

/*
 * Append the part of a plan for range number @range (from 1 on), or for all ranges. @lists: those
 * of struct plan_entries
 */
void callables_plan_range(const struct callables *all, uint32_t range, struct strbuf *lists);
void callables_plan_all(const struct callables *all, struct strbuf *lists);

/* Bind all functions anew. Call it when the filters have changed. */
void callables_bind_anew(struct callables *all);

/* Write the files in their final form, after the recording. */
void callables_finish(struct callables *all);

/* At the end, warn about functions and values that are missing. */
void callables_warn(const struct callables *all, const struct msg *msg);

#endif
