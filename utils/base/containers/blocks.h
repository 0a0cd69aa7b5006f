/* Blocks of memory of one size, for objects that are created and destroyed by the hundreds. */
#ifndef UTRAIL_BASE_BLOCKS_H
#define UTRAIL_BASE_BLOCKS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The block released last is allocated next, since it is still in the CPU's caches. Many blocks use
 * huge pages, if the kernel has them (madvise(2), MADV_HUGEPAGE): fewer page faults, fewer misses
 * of the TLB.
 *
 * A zeroed struct, or one without free blocks, uses malloc(3). Any thread may take and give.
 *
 * @bytes: the size of a block
 * @free_list: the indexes of the @nr_free free blocks
 */
struct blocks {
	char *base;
	size_t nr;
	size_t bytes;
	uint32_t *free_list;
	size_t nr_free;
	void *mapping;
	size_t mapping_bytes;
	pthread_mutex_t lock;
};

/*
 * Prepare @nr blocks of @bytes; memory is allocated on use. 0 or -ENOMEM. Ends with
 * blocks_deinit(), also with blocks in use.
 */
int blocks_init(struct blocks *blocks, size_t nr, size_t bytes);
void blocks_deinit(struct blocks *blocks);

/* Take a block of at least @bytes, not cleared; NULL when there is no memory. */
void *blocks_take(struct blocks *blocks, size_t bytes);

/* @block: the result of blocks_take() or malloc(3), or NULL. */
void blocks_give(struct blocks *blocks, void *block);

#endif
