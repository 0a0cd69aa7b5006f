/* Sets up the kernel's function_graph tracer (see graph.h). */
#include "cmds/record/sources/graph.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmds/record/sources/tracefs.h"
#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/base/containers/strbuf.h"
#include "utils/spec/filters.h"

#define TRACER	    "function_graph"
#define NUMBER_SIZE 16

bool graph_fits_instance(int instance_fd)
{
	return faccessat(instance_fd, "max_graph_depth", W_OK, 0) == 0 &&
	       faccessat(instance_fd, "set_graph_function", W_OK, 0) == 0 &&
	       faccessat(instance_fd, "set_ftrace_pid", W_OK, 0) == 0 &&
	       tracefs_write(instance_fd, "current_tracer", TRACER, NULL) == 0 &&
	       tracefs_write(instance_fd, "current_tracer", "nop", NULL) == 0;
}

/* Writes the names of functions to @file. Each write(2) appends one name. */
static int write_names(int dir_fd, const char *file, const struct strbuf *names,
		       struct uft_err *err)
{
	int fd cleanup_fd = tracefs_open_empty(dir_fd, file);
	int ret = MIN(fd, 0);

	strbuf_list_each (names, name) {
		if (ret == 0)
			ret = fd_write_all(fd, name, strlen(name));
	}
	return ret < 0 ? err_set_errno(err, ret, "cannot write functions to '%s'", file) : 0;
}

/*
 * The functions that the user's filters choose. Only functions that can be traced are in the lists.
 */
struct choice {
	struct strbuf in;
	struct strbuf out;
	bool wants_in;
};

static void choice_deinit(struct choice *choice)
{
	strbuf_deinit(&choice->in);
	strbuf_deinit(&choice->out);
}

/* Returns the name in a line of the form "<name>" or "<name> [<module>]". */
static struct text name_of(struct text line)
{
	const char *space = memchr(line.at, ' ', text_left(&line));

	return (struct text){ line.at, space ? space : line.end };
}

static int match_function(struct filters *filters, struct text name, struct choice *choice)
{
	char *copy cleanup_free = text_dup(&name);
	const struct filter_subject subject = {
		.name = copy,
		.name_len = text_left(&name),
		.is_kernel = true,
	};
	struct trigger trigger;

	if (!copy)
		return -ENOMEM;
	if (!filters_match(filters, &subject, &trigger))
		return 0;

	struct strbuf *list = trigger.flags & TRIGGER_NOTRACE  ? &choice->out
			      : trigger.flags & TRIGGER_FILTER ? &choice->in
							       : NULL;

	/* The kernel reads a name up to the next white space, so a line break ends each name. */
	if (list)
		strbuf_addf(list, "%s\n%c", copy, '\0');
	return 0;
}

static bool has_kernel_filters(const struct filters *filters, bool *wants_in)
{
	bool found = false;

	*wants_in = false;
	for (size_t i = 0; i < filters->nr; i++) {
		const struct spec *spec = &filters->entries[i].spec;

		if (spec->module_kind != MODULE_KERNEL)
			continue;
		found = true;
		*wants_in |= spec->trigger.flags & TRIGGER_FILTER;
	}
	return found;
}

/*
 * Applies -F and -N to kernel functions. With -F the tracer records the named functions and all
 * functions that they call. With -N it leaves out the named functions and all functions that they
 * call.
 */
static int choose_functions(struct kernel *kernel, struct uft_err *err)
{
	struct filters *filters = kernel->settings->filters;
	struct choice choice cleanup(choice_deinit) = { 0 };
	struct strbuf names cleanup_strbuf = { 0 };
	struct text line;
	bool whole;
	int ret;

	if (!has_kernel_filters(filters, &choice.wants_in))
		return 0;
	ret = tracefs_read(kernel->tracefs_fd, "available_filter_functions", &names, err);

	struct text in = text_of(names.data, names.len);

	while (ret == 0 && text_line(&in, &line, &whole))
		ret = match_function(filters, name_of(line), &choice);
	if (ret == 0 && (strbuf_oom(&choice.in) || strbuf_oom(&choice.out)))
		ret = err_set_errno(err, -ENOMEM, "cannot choose functions");
	if (ret == 0 && choice.wants_in && !choice.in.len)
		return err_set(err, -ENOENT, "no function of the kernel matches --filter");
	if (ret == 0 && choice.in.len)
		ret = write_names(kernel->instance_fd, "set_graph_function", &choice.in, err);
	if (ret == 0 && choice.out.len)
		ret = write_names(kernel->instance_fd, "set_graph_notrace", &choice.out, err);
	return ret;
}

static bool has_tracer(int tracefs_fd)
{
	struct strbuf names cleanup_strbuf = { 0 };

	return tracefs_read(tracefs_fd, "available_tracers", &names, NULL) == 0 &&
	       strstr(strbuf_str(&names), TRACER);
}

int graph_set_up(struct kernel *kernel, pid_t pid, struct uft_err *err)
{
	unsigned depth = MIN(kernel->settings->kernel_depth, kernel->settings->depth);
	int fd = kernel->instance_fd;
	char who[NUMBER_SIZE];
	char levels[NUMBER_SIZE];

	if (!has_tracer(kernel->tracefs_fd))
		return err_set(err, -EOPNOTSUPP,
			       "this kernel has no tracer '" TRACER "' "
			       "(CONFIG_FUNCTION_GRAPH_TRACER)");
	snprintf(who, sizeof(who), "%d", pid);
	snprintf(levels, sizeof(levels), "%u", depth);

	int ret = tracefs_write(fd, "max_graph_depth", levels, err);

	if (ret == 0)
		ret = tracefs_write(fd, "set_ftrace_pid", who, err);
	if (ret == 0)
		ret = tracefs_write(fd, "options/function-fork", "1", err);
	if (ret == 0)
		ret = choose_functions(kernel, err);
	return ret == 0 ? tracefs_write(fd, "current_tracer", TRACER, err) : ret;
}
