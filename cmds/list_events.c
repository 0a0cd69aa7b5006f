/* --list-event (see list_events.h). */
#include "cmds/list_events.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/cmd.h"
#include "cmds/libraries.h"
#include "cmds/record/run/launch.h"
#include "cmds/record/sources/tracefs.h"
#include "utils/base/cleanup.h"
#include "utils/format/text.h"
#include "utils/object/elf_file.h"
#include "utils/object/sdt.h"

static bool is_wanted(const struct opts *opts, enum event_origin origin, const char *name)
{
	return !opts->events.nr || event_rules_match(&opts->events, origin, name);
}

static void list_kernel_events(const struct opts *opts)
{
	struct strbuf events cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };
	struct text name;

	if (opts->events.nr && !event_rules_want(&opts->events, EVENT_OF_KERNEL))
		return;
	if (tracefs_list_events(&events, &err) < 0) {
		msg_warn(&opts->msg, "%s", err.text);
		return;
	}

	struct text left = text_of(events.data, events.len);

	while (tracefs_next_event(&left, &name)) {
		char *event cleanup_free = text_dup(&name);

		if (event && is_wanted(opts, EVENT_OF_KERNEL, event))
			msg_list("[kernel event] %s", event);
	}
}

/* Of several places with the same name and arguments one line. */
static bool is_told(const struct sdt_probes *probes, size_t index)
{
	const struct sdt_probe *probe = &probes->probes[index];

	for (size_t i = 0; i < index; i++) {
		const struct sdt_probe *other = &probes->probes[i];

		if (strcmp(other->provider, probe->provider) == 0 &&
		    strcmp(other->name, probe->name) == 0 && strcmp(other->args, probe->args) == 0)
			return true;
	}
	return false;
}

static int list_probes(const struct opts *opts, const char *path, struct uft_err *err)
{
	struct sdt_probes probes cleanup_sdt_probes = { 0 };
	int ret = object_sdt_load(path, &probes, err);

	for (size_t i = 0; i < probes.nr; i++) {
		const struct sdt_probe *probe = &probes.probes[i];
		struct strbuf name cleanup_strbuf = { 0 };

		strbuf_addf(&name, "%s:%s", probe->provider, probe->name);
		if (is_wanted(opts, EVENT_OF_PROGRAM, strbuf_str(&name)) && !is_told(&probes, i))
			msg_list("[SDT event] %s %s", strbuf_str(&name), probe->args);
	}
	return ret;
}

static void list_libraries(const struct opts *opts, const char *path)
{
	struct strbuf paths cleanup_strbuf = { 0 };

	/* Without them the program's own events are listed all the same. */
	libraries_of(path, &paths);
	strbuf_list_each (&paths, library) {
		struct uft_err err = { 0 };

		if (list_probes(opts, library, &err) < 0)
			msg_warn(&opts->msg, "%s", err.text);
	}
}

int list_events(const struct opts *opts, struct uft_err *err)
{
	char path[PATH_MAX];
	int ret = 0;

	list_kernel_events(opts);
	if (!opts->nr_args)
		return CMD_DONE;
	ret = launch_find_program(opts->args[0], path, err);
	if (ret == 0)
		ret = list_probes(opts, path, err);
	if (ret == 0 && event_rules_want(&opts->events, EVENT_OF_PROGRAM))
		list_libraries(opts, path);
	return ret < 0 ? ret : CMD_DONE;
}
