/* For each function of a recording: the actions that the user's filters and triggers choose. */
#ifndef UTRAIL_PIPELINE_RULES_H
#define UTRAIL_PIPELINE_RULES_H

#include "utils/spec/filters.h"
#include "utils/pipeline/recording/data.h"

/*
 * The rules of functions. Each reader looks up a function once. func_rules_init() fills the struct,
 * and func_rules_deinit() frees the memory of the struct's members.
 *
 * @filters: the user's filters and triggers; NULL: there are none
 * @has_locations: some filter is about source files
 * @actions: the flags (enum trigger_flags) of the actions that have an effect; other actions are
 *         ignored
 * @uses: the flags of @actions that are in use:
 *        - the flags of each filter or trigger that matches a function of the recording, or may
 *          match a function later because the recording grows. Flags that later triggers clear or
 *          replace may be missing (clearing_left())
 *        - the flags that filters_opt_in() returns, also without a match
 * @tables: one for each reader (session.h), so that no reader waits for another
 */
struct func_rules {
	struct filters *filters;
	struct trace_data *data;
	bool has_locations;
	uint32_t actions;
	uint32_t uses;
	struct rule_table {
		/*
		 * The index is func->id. @nr is the number of elements. An element is NULL until
		 * the function is looked up
		 */
		const struct trigger **by_func;
		size_t nr;
	} tables[READERS_MAX];
};

/*
 * Find the filters that match a symbol of the recording, and set their filter_entry.has_match.
 *
 * @filters: borrowed; NULL: there are none
 *
 * Returns 0, -ENOMEM, or the error of an unreadable symbol file.
 */
int func_rules_init(struct func_rules *rules, struct trace_data *data, struct filters *filters,
		    uint32_t actions, struct uft_err *err);
void func_rules_deinit(struct func_rules *rules);

/* Find the rule of @func. func_rule() calls func_rules_find() if the reader's table lacks @func. */
const struct trigger *func_rules_find(struct func_rules *rules, unsigned reader,
				      const struct func *func);

/*
 * HOT: get the actions at calls of @func. If there are no actions, or if memory is short,
 * trigger.flags is 0.
 */
static inline const struct trigger *func_rule(struct func_rules *rules, unsigned reader,
					      const struct func *func)
{
	const struct rule_table *table = &rules->tables[reader];

	if (likely(func->id < table->nr && table->by_func[func->id]))
		return table->by_func[func->id];
	return func_rules_find(rules, reader, func);
}

#endif
