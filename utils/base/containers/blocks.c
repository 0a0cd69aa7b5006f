/* Blocks of memory of one size (see blocks.h). */
#include "utils/base/containers/blocks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE_BYTES (2UL << 20)

/*
 * Blocks begin at a cache line. An unused line follows each block: otherwise the first lines of all
 * blocks would compete for a few sets of the cache.
 */
#define BLOCK_ALIGN 64UL

int blocks_init(struct blocks *blocks, size_t nr, size_t bytes)
{
	*blocks = (struct blocks){ .nr = nr, .bytes = (bytes + BLOCK_ALIGN - 1) & -BLOCK_ALIGN };
	blocks->bytes += BLOCK_ALIGN;
	pthread_mutex_init(&blocks->lock, NULL);
	if (nr > UINT32_MAX || __builtin_mul_overflow(nr, blocks->bytes, &blocks->mapping_bytes))
		goto no_memory;
	blocks->free_list = reallocarray(NULL, nr, sizeof(*blocks->free_list));
	if (!blocks->free_list)
		goto no_memory;
	blocks->mapping_bytes += HUGE_PAGE_BYTES;
	blocks->mapping = mmap(NULL, blocks->mapping_bytes, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (blocks->mapping == MAP_FAILED)
		goto no_memory;
	blocks->base = (char *)(((uintptr_t)blocks->mapping + HUGE_PAGE_BYTES - 1) &
				-HUGE_PAGE_BYTES);
	/* If madvise() fails, the blocks use small pages. */
	madvise(blocks->base, nr * blocks->bytes, MADV_HUGEPAGE);
	for (size_t i = 0; i < nr; i++)
		blocks->free_list[i] = nr - 1 - i;
	blocks->nr_free = nr;
	return 0;

no_memory:
	free(blocks->free_list);
	*blocks = (struct blocks){ 0 };
	return -ENOMEM;
}

void blocks_deinit(struct blocks *blocks)
{
	if (!blocks->base)
		return;
	munmap(blocks->mapping, blocks->mapping_bytes);
	free(blocks->free_list);
	pthread_mutex_destroy(&blocks->lock);
	*blocks = (struct blocks){ 0 };
}

void *blocks_take(struct blocks *blocks, size_t bytes)
{
	void *block = NULL;

	if (blocks->base && bytes <= blocks->bytes - BLOCK_ALIGN) {
		pthread_mutex_lock(&blocks->lock);
		if (blocks->nr_free)
			block = blocks->base + blocks->free_list[--blocks->nr_free] * blocks->bytes;
		pthread_mutex_unlock(&blocks->lock);
	}
	return block ? block : malloc(bytes);
}

static bool is_mine(const struct blocks *blocks, const char *block)
{
	return block >= blocks->base && block < blocks->base + blocks->nr * blocks->bytes;
}

void blocks_give(struct blocks *blocks, void *block)
{
	if (!blocks->base || !is_mine(blocks, block)) {
		free(block);
		return;
	}
	pthread_mutex_lock(&blocks->lock);
	blocks->free_list[blocks->nr_free++] = ((char *)block - blocks->base) / blocks->bytes;
	pthread_mutex_unlock(&blocks->lock);
}
