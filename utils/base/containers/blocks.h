/* Blocks of memory of one size, for objects that are created and destroyed by the hundreds. */
#ifndef UTRAIL_BASE_BLOCKS_H
#define UTRAIL_BASE_BLOCKS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The block that was released last is allocated next: the CPU's caches still have it. The kernel is
 * asked for huge pages (madvise(2), MADV_HUGEPAGE), since huge pages save page faults and TLB
 * misses.
 *
 * blocks_take() uses malloc(3) if more bytes are wanted than a block has, if no block is free, or
 * if *@blocks is all zero. Any thread may call blocks_take() and blocks_give().
 *
 * @free_list, @nr_free: the indexes of the free blocks
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
 * Prepare @nr blocks of @bytes. The kernel allocates their pages at the first use. Returns 0 or
 * -ENOMEM. blocks_deinit() frees all blocks, even those in use.
 */
int blocks_init(struct blocks *blocks, size_t nr, size_t bytes);
void blocks_deinit(struct blocks *blocks);

/*
 * Take a block of at least @bytes, whose content is undefined. Returns NULL when memory is short.
 */
void *blocks_take(struct blocks *blocks, size_t bytes);

/* @block: the result of blocks_take() or malloc(3), or NULL. */
void blocks_give(struct blocks *blocks, void *block);

#endif
