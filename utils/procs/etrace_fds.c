/* Which descriptors processes have open (see etrace_fds.h). */
#include "utils/procs/etrace_fds.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/vec.h"

/* By default no process of Linux has more. */
#define FD_LIMIT (1U << 20)

/* @open: a byte for each */
struct fd_table {
	uint8_t *open;
	size_t nr;
};

static struct fd_table *table_of(const struct etrace_fds *fds, int32_t pid)
{
	return intmap_get(&fds->by_pid, (uint32_t)pid);
}

static struct fd_table *make_table(struct etrace_fds *fds, int32_t pid)
{
	struct fd_table *table = table_of(fds, pid);

	if (table)
		return table;
	table = calloc(1, sizeof(*table));
	if (table && intmap_put(&fds->by_pid, (uint32_t)pid, table) < 0) {
		free(table);
		return NULL;
	}
	return table;
}

void etrace_fds_deinit(struct etrace_fds *fds)
{
	for (size_t i = 0; i < fds->by_pid.nr_slots; i++) {
		struct fd_table *table = fds->by_pid.slots[i].value;

		if (table)
			free(table->open);
		free(table);
	}
	intmap_deinit(&fds->by_pid);
}

int etrace_fds_open(struct etrace_fds *fds, int32_t pid, uint32_t fd)
{
	struct fd_table *table = fd < FD_LIMIT ? make_table(fds, pid) : NULL;
	uint8_t *open;

	if (fd >= FD_LIMIT)
		return 0;
	open = table ? vec_reach(table->open, &table->nr, fd, 1) : NULL;
	if (!open)
		return -ENOMEM;
	table->open = open;
	open[fd] = true;
	return 0;
}

void etrace_fds_close(struct etrace_fds *fds, int32_t pid, uint32_t fd)
{
	struct fd_table *table = table_of(fds, pid);

	if (table && fd < table->nr)
		table->open[fd] = false;
}

void etrace_fds_forget(struct etrace_fds *fds, int32_t pid)
{
	struct fd_table *table = table_of(fds, pid);

	if (!table)
		return;
	free(table->open);
	*table = (struct fd_table){ 0 };
}

int etrace_fds_fork(struct etrace_fds *fds, int32_t pid, int32_t child)
{
	struct fd_table *to = pid == child ? NULL : make_table(fds, child);
	const struct fd_table *from = table_of(fds, pid);
	uint8_t *open;

	if (pid == child)
		return 0;
	etrace_fds_forget(fds, child);
	if (!to)
		return -ENOMEM;
	if (!from || !from->nr)
		return 0;
	open = malloc(from->nr);
	if (!open)
		return -ENOMEM;
	memcpy(open, from->open, from->nr);
	*to = (struct fd_table){ open, from->nr };
	return 0;
}

int64_t etrace_fds_next(const struct etrace_fds *fds, int32_t pid, uint32_t fd)
{
	const struct fd_table *table = table_of(fds, pid);

	for (size_t i = fd; table && i < table->nr; i++) {
		if (table->open[i])
			return i;
	}
	return -1;
}
