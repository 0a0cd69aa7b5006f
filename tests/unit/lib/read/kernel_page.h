/* Pages of kernel-cpu*.dat for tests, as the kernel writes them (include/linux/ring_buffer.h). */
#ifndef UTRAIL_TESTS_KERNEL_PAGE_H
#define UTRAIL_TESTS_KERNEL_PAGE_H

#include <string.h>

#include "utils/format/bytes.h"
#include "utils/format/kernel/kernel_dat.h"

#define KERNEL_PAGE_BYTES 4096

/* A page that is being made; begins with kernel_page_begin(). */
struct kernel_page_maker {
	struct kernel_layout layout;
	size_t used;
	uint8_t bytes[KERNEL_PAGE_BYTES];
};

static inline void kernel_page_begin(struct kernel_page_maker *page, uint64_t time_ns,
				     uint32_t long_size, bool big)
{
	*page = (struct kernel_page_maker){ .layout = { KERNEL_PAGE_BYTES, long_size, big } };
	page->used = 8 + long_size;
	put_u64(page->bytes, time_ns, big);
}

static inline void kernel_page_word(struct kernel_page_maker *page, uint32_t word)
{
	put_u32(page->bytes + page->used, word, page->layout.is_big_endian);
	page->used += 4;
}

/* Write the beginning of a record: five bits are the type, the others the time. */
static inline void kernel_page_kind(struct kernel_page_maker *page, unsigned kind, uint32_t delta)
{
	kernel_page_word(page, page->layout.is_big_endian ? kind << 27 | delta : delta << 5 | kind);
}

/* Write a record: id, pid, then @nr words. */
static inline void kernel_page_record(struct kernel_page_maker *page, uint32_t delta, uint16_t id,
				      int32_t pid, const uint32_t *words, unsigned nr)
{
	bool big = page->layout.is_big_endian;

	kernel_page_kind(page, 2 + nr, delta);
	put_u16(page->bytes + page->used, id, big);
	put_u16(page->bytes + page->used + 2, 0, big);
	page->used += 4;
	kernel_page_word(page, pid);
	for (unsigned i = 0; i < nr; i++)
		kernel_page_word(page, words[i]);
}

/* @commit: bits to be set beside the length */
static inline void kernel_page_end(struct kernel_page_maker *page, uint32_t commit)
{
	bool big = page->layout.is_big_endian;

	commit |= page->used - 8 - page->layout.long_size;
	if (page->layout.long_size == 8)
		put_u64(page->bytes + 8, commit, big);
	else
		put_u32(page->bytes + 8, commit, big);
}

#endif
