/* Fields of /proc/PID/status (see proc_status.h). */
#include "cmds/record/base/proc_status.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/fd.h"

/* The maximum size of a status file. It may list 65,536 groups. */
#define STATUS_MAX (1U << 20)

int proc_status_read(pid_t pid, struct strbuf *out)
{
	char path[64];
	int ret;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	ret = file_read_all(path, STATUS_MAX, out, NULL);
	return ret == 0 && strbuf_oom(out) ? -ENOMEM : ret;
}

/* A program cannot fake a field, because the kernel escapes line breaks in the program's name. */
const char *proc_status_field(const struct strbuf *status, const char *field)
{
	size_t len = strlen(field);

	for (const char *line = strbuf_str(status); line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, field, len) == 0 && line[len] == ':')
			return line + len + 1 + strspn(line + len + 1, " \t");
	}
	return "";
}

/*
 * Reads the number at *@at, and moves *@at past the number. Returns false at the end of the line.
 */
static bool next_number(const char **at, unsigned *number)
{
	char *end;
	unsigned long value;

	if (**at < '0' || **at > '9')
		return false;
	value = strtoul(*at, &end, 10);
	*number = value;
	*at = end + strspn(end, " \t");
	return true;
}

unsigned proc_status_last(const struct strbuf *status, const char *field, unsigned *last)
{
	const char *at = proc_status_field(status, field);
	unsigned nr = 0;

	while (next_number(&at, last))
		nr++;
	return nr;
}

unsigned *proc_status_numbers(const struct strbuf *status, const char *field, int *nr)
{
	unsigned last;
	unsigned *numbers = calloc(proc_status_last(status, field, &last) + 1, sizeof(*numbers));
	const char *at = proc_status_field(status, field);

	*nr = 0;
	while (numbers && next_number(&at, &numbers[*nr]))
		(*nr)++;
	return numbers;
}
