/* Notes the descriptors that are open in each process (see etrace_fds.h). */
#include "utils/builddb/etrace/etrace_fds.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/*
 * Descriptors are bits in a tree. A child shares its parent's nodes. When the parent or the child
 * changes a descriptor, the nodes on the path to this descriptor are copied. So a process takes
 * memory for the descriptors that the process changes, not for all descriptors that are open.
 */
#define FD_LIMIT  (1U << 20) /* the default limit of Linux */
#define FAN_OUT	  32U	     /* parts per node; also the bits per word */
#define TOP_LEVEL 2U

/*
 * @refs: number of processes and nodes that refer to the node
 * @open: in a node of level 0: a bit for each descriptor
 * @below: in a node of another level: the nodes one level below
 */
struct fd_node {
	size_t refs;
	union {
		struct fd_node *below[FAN_OUT];
		uint32_t open[FAN_OUT];
	};
};

/* A node of @level has FAN_OUT parts. Returns the index of the part that contains @fd. */
static uint32_t part_of(uint32_t fd, unsigned level)
{
	for (unsigned i = 0; i <= level; i++)
		fd /= FAN_OUT;
	return fd % FAN_OUT;
}

/* Returns the number of descriptors in each part of a node of @level. */
static uint32_t part_size(unsigned level)
{
	uint32_t size = FAN_OUT;

	for (unsigned i = 0; i < level; i++)
		size *= FAN_OUT;
	return size;
}

static void leave_node(struct fd_node *node, unsigned level)
{
	if (!node || --node->refs)
		return;
	for (size_t i = 0; level && i < FAN_OUT; i++)
		leave_node(node->below[i], level - 1);
	free(node);
}

/*
 * Returns *@node, or NULL when memory is short. If the node is shared or missing, *@node first
 * becomes a copy or a new node.
 */
static struct fd_node *own_node(struct fd_node **node, unsigned level)
{
	struct fd_node *old = *node;
	struct fd_node *copy;

	if (old && old->refs == 1)
		return old;
	copy = calloc(1, sizeof(*copy));
	if (!copy)
		return NULL;
	if (old) {
		*copy = *old;
		old->refs--;
	}
	for (size_t i = 0; level && i < FAN_OUT; i++) {
		if (copy->below[i])
			copy->below[i]->refs++;
	}
	copy->refs = 1;
	*node = copy;
	return copy;
}

/* Returns the node of level 0 for @fd, or NULL when no descriptor of that node is open. */
static const struct fd_node *find_node(const struct fd_node *node, uint32_t fd)
{
	for (unsigned level = TOP_LEVEL; node && level; level--)
		node = node->below[part_of(fd, level)];
	return node;
}

static bool is_open(const struct fd_node *top, uint32_t fd)
{
	const struct fd_node *node = find_node(top, fd);

	return node && node->open[part_of(fd, 0)] >> fd % FAN_OUT & 1;
}

/*
 * The descriptors of a process. A process without open descriptors may have no nodes, so @top may
 * be NULL. A map cannot have NULL as a value, so the map has pointers to this struct.
 */
struct fd_table {
	struct fd_node *top;
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
			leave_node(table->top, TOP_LEVEL);
		free(table);
	}
	intmap_deinit(&fds->by_pid);
}

/* Open @fd if it is closed, close it if it is open. Returns 0 or -ENOMEM. */
static int flip(struct fd_table *table, uint32_t fd)
{
	struct fd_node **node = &table->top;
	struct fd_node *own = own_node(node, TOP_LEVEL);

	for (unsigned level = TOP_LEVEL; own && level; level--) {
		node = &own->below[part_of(fd, level)];
		own = own_node(node, level - 1);
	}
	if (!own)
		return -ENOMEM;
	own->open[part_of(fd, 0)] ^= 1U << fd % FAN_OUT;
	return 0;
}

int etrace_fds_open(struct etrace_fds *fds, int32_t pid, uint32_t fd)
{
	struct fd_table *table = fd < FD_LIMIT ? make_table(fds, pid) : NULL;

	if (fd >= FD_LIMIT)
		return 0;
	if (!table)
		return -ENOMEM;
	return is_open(table->top, fd) ? 0 : flip(table, fd);
}

int etrace_fds_close(struct etrace_fds *fds, int32_t pid, uint32_t fd)
{
	struct fd_table *table = table_of(fds, pid);

	return table && fd < FD_LIMIT && is_open(table->top, fd) ? flip(table, fd) : 0;
}

void etrace_fds_forget(struct etrace_fds *fds, int32_t pid)
{
	struct fd_table *table = table_of(fds, pid);

	if (!table)
		return;
	leave_node(table->top, TOP_LEVEL);
	table->top = NULL;
}

int etrace_fds_fork(struct etrace_fds *fds, int32_t pid, int32_t child)
{
	struct fd_table *to = pid == child ? NULL : make_table(fds, child);
	const struct fd_table *from = table_of(fds, pid);

	if (pid == child)
		return 0;
	etrace_fds_forget(fds, child);
	if (!to)
		return -ENOMEM;
	if (from && from->top) {
		from->top->refs++;
		to->top = from->top;
	}
	return 0;
}

/*
 * Search the part of the tree at @node. Returns the smallest open descriptor that is at least @fd,
 * or -1 if there is none. @start is the first descriptor of this part.
 */
static int64_t next_below(const struct fd_node *node, unsigned level, uint32_t start, uint32_t fd)
{
	uint32_t size = part_size(level);

	for (uint32_t i = fd > start ? (fd - start) / size : 0; i < FAN_OUT; i++) {
		uint32_t at = start + i * size;
		uint32_t bits;
		int64_t found;

		if (level) {
			found = node->below[i] ? next_below(node->below[i], level - 1, at, fd) : -1;
			if (found >= 0)
				return found;
			continue;
		}
		bits = node->open[i];
		if (fd > at)
			bits &= UINT32_MAX << (fd - at);
		if (bits)
			return at + (uint32_t)__builtin_ctz(bits);
	}
	return -1;
}

int64_t etrace_fds_next(const struct etrace_fds *fds, int32_t pid, uint32_t fd)
{
	const struct fd_table *table = table_of(fds, pid);

	return table && table->top && fd < FD_LIMIT ? next_below(table->top, TOP_LEVEL, 0, fd) : -1;
}
