/*
 * Facts about a recording for --debug and --debug-domain, collected when the work is done: utils/
 * and the recorder print nothing.
 */
#ifndef UTRAIL_CMDS_DEBUG_FACTS_H
#define UTRAIL_CMDS_DEBUG_FACTS_H

#include "cmds/opts.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/probe/map.h"
#include "utils/format/sym.h"
#include "utils/spec/filters.h"

struct trace_data;

/* "1.5ms": a time, as messages show it. */
struct debug_facts_time {
	char text[32];
};
struct debug_facts_time debug_facts_time(uint64_t time_ns);

/* The number of modules in @map: without "[stack]". */
size_t debug_facts_count_modules(const struct module_map *map);

/* CLOCK_MONOTONIC. */
uint64_t debug_facts_now_ns(void);

/*
 * The number of functions that each spec of the options matches, by module.
 *
 * @found: by index in opts->filters->entries
 */
struct debug_facts_filters {
	const struct opts *opts;
	struct debug_facts_found {
		size_t total;
		struct strbuf modules; /* "prog 3, libc.so.6 1" */
	} * found;
};

/*
 * One module for debug_facts_filters_add(). @source_of: returns a function's source file, or NULL;
 * NULL when that is unknown.
 */
struct debug_facts_module {
	const char *basename;
	bool is_program;
	const struct symtab *symbols;
	const char *(*source_of)(void *self, const struct symbol *sym);
	void *self;
};

/* False when the facts are not wanted, or without memory: then nothing more is to be done. */
bool debug_facts_filters_begin(struct debug_facts_filters *facts, const struct opts *opts);
void debug_facts_filters_add(struct debug_facts_filters *facts,
			     const struct debug_facts_module *module);

/* Print, and release what it has. */
void debug_facts_filters_end(struct debug_facts_filters *facts);

/*
 * Report on an open recording: after opening it, which took @took_ns (0: it was not opened now),
 * and when all is shown.
 */
void debug_facts_data_opened(const struct opts *opts, const struct trace_data *data,
			     uint64_t took_ns);
void debug_facts_data_shown(const struct opts *opts, struct trace_data *data);

#endif
