/* Blocks of memory of one size, for things that come and go by the hundreds. */
#ifndef UTRAIL_BASE_BLOCKS_H
#define UTRAIL_BASE_BLOCKS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The block that was given back last is the next one to be taken: it is still in the CPU's caches.
 * Many blocks are in huge pages, where the kernel has them (madvise(2), MADV_HUGEPAGE): fewer page
 * faults, fewer misses of the TLB.
 *
 * A struct of zeros, or one that has no free blocks left, takes memory from malloc(3). Any thread
 * may take and give.
 *
 * @bytes: the size of a block
 * @free_list: the indexes of blocks that nobody has, @nr_free of them
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
 * @nr blocks of @bytes; memory is used when they are. 0 or -ENOMEM. Ends with blocks_deinit(),
 *     given back or not.
 */
int blocks_init(struct blocks *blocks, size_t nr, size_t bytes);
void blocks_deinit(struct blocks *blocks);

/*
 * A block of at least @bytes, with whatever its last owner left in it; NULL when there is no
 * memory.
 */
void *blocks_take(struct blocks *blocks, size_t bytes);

/* @block: the result of blocks_take() or malloc(3), or NULL. */
void blocks_give(struct blocks *blocks, void *block);

#endif
