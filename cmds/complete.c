/* Prints the words that a shell offers when it completes an argument (see complete.h). */
#include "cmds/complete.h"

#include <limits.h>
#include <string.h>

#include "cmds/cmd.h"
#include "cmds/terminal/msg.h"
#include "cmds/reader.h"
#include "cmds/record/run/launch.h"
#include "cmds/record/sources/tracefs.h"
#include "utils/format/text.h"
#include "utils/object/sdt.h"
#include "utils/object/names/symtab.h"
#include "utils/pipeline/kinds/event_kinds.h"

/*
 * True when a shell completes @name as one word. The name must have no blank, quote or backslash,
 * and none of the characters ';' and '@', which have a meaning in -F.
 */
static bool is_one_word(const char *name)
{
	return *name && !strpbrk(name, " \t\n;@'\"\\");
}

/*
 * Prints all fields or keys. A command lists its fields or keys only in the error message about an
 * unknown name. So @asked must have an unknown name.
 */
static void print_known(const struct opts *asked)
{
	static const char before[] = "expected some of ";
	struct uft_err err = { 0 };

	if (!asked->cmd->check || asked->cmd->check(asked, &err) >= 0)
		return;

	char *known = strstr(err.text, before);

	if (!known)
		return;
	known += strlen(before);
	for (char *word; (word = strsep(&known, ", ")) != NULL;) {
		if (*word)
			msg_list("%s", word);
	}
}

static void print_fields(const struct opts *opts)
{
	struct opts asked = *opts;

	asked.fields = "?";
	print_known(&asked);
}

static void print_keys(const struct opts *opts)
{
	char none[] = "?";
	struct opts asked = *opts;

	asked.sort_keys = none;
	print_known(&asked);
}

static void print_symbols(const struct opts *opts, const struct symtab *symbols)
{
	for (size_t i = 0; i < symbols->nr; i++) {
		struct strbuf name cleanup_strbuf = { 0 };

		if (symbols->syms[i].type != 'P' && !symbol_is_function(&symbols->syms[i]))
			continue;
		demangle(symbols->syms[i].name, opts->demangle, &name);
		if (is_one_word(strbuf_str(&name)))
			msg_list("%s", strbuf_str(&name));
	}
}

static void print_functions_of_program(const struct opts *opts)
{
	struct symtab symbols cleanup_symtab = { 0 };
	char path[PATH_MAX];

	if (opts->nr_args && launch_find_program(opts->args[0], path, NULL) == 0 &&
	    object_symtab_load(path, &symbols, NULL) == 0)
		print_symbols(opts, &symbols);
}

static void print_functions_of_data(const struct opts *opts, struct trace_data *data)
{
	struct uft_err unsaid = { 0 };

	for (size_t i = 0; i < data->modules.nr_modules; i++) {
		if (module_load(&data->modules, data->modules.modules[i], &unsaid) == 0)
			print_symbols(opts, &data->modules.modules[i]->symtab);
	}
}

static void print_tids(const struct trace_data *data)
{
	for (size_t i = 0; i < data->nr_tasks; i++) {
		if (data->tasks[i].data_bytes)
			msg_list("%d", data->tasks[i].tid);
	}
}

static void print_events_of_program(const struct opts *opts)
{
	struct sdt_probes probes cleanup_sdt_probes = { 0 };
	struct strbuf events cleanup_strbuf = { 0 };
	char path[PATH_MAX];

	if (opts->nr_args && launch_find_program(opts->args[0], path, NULL) == 0 &&
	    object_sdt_load(path, &probes, NULL) == 0) {
		for (size_t i = 0; i < probes.nr; i++)
			msg_list("%s:%s", probes.probes[i].provider, probes.probes[i].name);
	}
	if (tracefs_list_events(&events, NULL) < 0)
		return;

	struct text left = text_of(events.data, events.len);
	struct text name;

	while (tracefs_next_event(&left, &name))
		msg_list("%.*s@kernel", (int)(name.end - name.at), name.at);
}

static int print_event(void *self, const struct event_kind *kind)
{
	if (is_one_word(kind->name))
		msg_list("%s%s", kind->name, kind->origin == EVENT_OF_KERNEL ? "@kernel" : "");
	return 0;
}

static void print_events_of_data(struct trace_data *data)
{
	struct event_kinds kinds = { 0 };
	struct uft_err broken = { 0 };
	struct uft_err unsaid = { 0 };

	kernel_formats_load(&data->kernel, data->dir, &broken, &unsaid);
	if (event_kinds_load(&kinds, data, &unsaid) < 0)
		return;
	event_kinds_each(&kinds, print_event, NULL);
	event_kinds_deinit(&kinds);
}

static void print_of_data(const struct opts *opts)
{
	struct trace_data data;
	struct uft_err unsaid = { 0 };

	if (data_open(&data, reader_data_dir(opts), opts->demangle, &unsaid) < 0)
		return;
	if (opts->complete == OPTS_COMPLETE_FUNCTIONS)
		print_functions_of_data(opts, &data);
	else if (opts->complete == OPTS_COMPLETE_EVENTS)
		print_events_of_data(&data);
	else if (opts->complete == OPTS_COMPLETE_TIDS)
		print_tids(&data);
	data_close(&data);
}

void complete_print(const struct opts *opts)
{
	if (opts->complete == OPTS_COMPLETE_FIELDS)
		print_fields(opts);
	else if (opts->complete == OPTS_COMPLETE_KEYS)
		print_keys(opts);
	else if (opts->cmd->reads_data || opts->complete == OPTS_COMPLETE_TIDS)
		print_of_data(opts);
	else if (opts->complete == OPTS_COMPLETE_FUNCTIONS)
		print_functions_of_program(opts);
	else
		print_events_of_program(opts);
}
