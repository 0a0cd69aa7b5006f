/*
 * Prints facts about a recording, for --debug and --debug-domain. These functions are in cmds/,
 * because the code in utils/ prints nothing.
 */
#ifndef UTRAIL_CMDS_DEBUG_FACTS_H
#define UTRAIL_CMDS_DEBUG_FACTS_H

#include "cmds/opts.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/probe/map.h"
#include "utils/format/sym.h"

struct trace_data;

/* A time as text for messages, such as "1.5ms". */
struct debug_facts_time {
	char text[32];
};
struct debug_facts_time debug_facts_time(uint64_t time_ns);

/* Returns the number of modules in @map, without "[stack]". */
size_t debug_facts_count_modules(const struct module_map *map);

/*
 * For each filter in opts->filters, counts the functions that match this filter: in all modules
 * together, and in each module.
 *
 * @found: the counts of each filter. The index is the filter's index in opts->filters->entries
 */
struct debug_facts_filters {
	const struct opts *opts;
	struct debug_facts_found {
		size_t total;
		struct strbuf modules; /* matches by module, as text: "prog 3, libc.so.6 1" */
	} * found;
};

/*
 * One module for debug_facts_filters_add().
 *
 * @source_of: returns a function's source file, or NULL. If source files are unknown, the pointer
 *             @source_of is NULL
 */
struct debug_facts_module {
	const char *basename;
	bool is_program;
	const struct symtab *symbols;
	const char *(*source_of)(void *self, const struct symbol *sym);
	void *self;
};

/*
 * Begin to count the functions that match filters. @facts gets the counts. Returns false when the
 * facts are not wanted, or when there is not enough memory. If the result is false, the caller
 * neither adds modules nor calls debug_facts_filters_end().
 */
bool debug_facts_filters_begin(struct debug_facts_filters *facts, const struct opts *opts);
void debug_facts_filters_add(struct debug_facts_filters *facts,
			     const struct debug_facts_module *module);

/* Print the facts, and release @facts. */
void debug_facts_filters_end(struct debug_facts_filters *facts);

/*
 * debug_facts_data_opened(): print the facts about a recording that was opened.
 * debug_facts_data_shown(): called when the whole recording was shown. Print the facts that were
 *         unknown before the recording was shown.
 * @took_ns: the time that opening the recording took, or 0 when unknown
 */
void debug_facts_data_opened(const struct opts *opts, const struct trace_data *data,
			     uint64_t took_ns);
void debug_facts_data_shown(const struct opts *opts, struct trace_data *data);

#endif
