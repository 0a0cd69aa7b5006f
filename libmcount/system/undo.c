/* The changes that are to be undone (see undo.h). */
#include "libmcount/system/undo.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmcount/system/own_syscall.h"
#include "libmcount/hot/probe.h"

#define PAGE	  4096
#define UNDOS_MAX ((PAGE - 2 * sizeof(uint64_t)) / sizeof(struct undo))

/* A page of memory with notes of changes. The list of such pages begins with the newest page. */
struct undo_page {
	struct undo_page *older;
	_Atomic uint32_t nr; /* how many elements of @undos were requested; may exceed UNDOS_MAX */
	struct undo undos[UNDOS_MAX];
};
_Static_assert(sizeof(struct undo_page) <= PAGE, "one page");

static _Atomic(struct undo_page *) newest;
static _Atomic uint32_t inside;

static void note_undo(enum undo_kind kind, struct undo undo)
{
	while (probe.is_attached) {
		struct undo_page *page = atomic_load(&newest);
		uint32_t at = page ? atomic_fetch_add(&page->nr, 1) : UNDOS_MAX;

		if (at < UNDOS_MAX) {
			page->undos[at] = undo;
			atomic_store_explicit(&page->undos[at].kind, kind, memory_order_release);
			return;
		}

		struct undo_page *more = (struct undo_page *)syscall(
			SYS_mmap, NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);

		if (more == MAP_FAILED)
			return;
		more->older = page;
		if (!atomic_compare_exchange_strong(&newest, &page, more))
			own_syscall(SYS_munmap, more, PAGE);
	}
}

void undo_note_memory(void *at, uint64_t bytes)
{
	note_undo(UNDO_MEMORY, (struct undo){ .address = (uint64_t)at, .value = bytes });
}

void *undo_new_memory(uint64_t bytes)
{
	void *memory = (void *)own_syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);

	if (memory == MAP_FAILED)
		return NULL;
	undo_note_memory(memory, bytes);
	return memory;
}

void undo_note_code(void *at, uint64_t bytes)
{
	note_undo(UNDO_CODE, (struct undo){ .address = (uint64_t)at, .value = bytes });
}

void undo_note_slot(uint64_t *slot, uint64_t before, const uint64_t *now, uint64_t ours,
		    bool is_protected)
{
	note_undo(is_protected ? UNDO_PROTECTED_SLOT : UNDO_SLOT,
		  (struct undo){
			  .address = (uint64_t)slot, .value = before, .now = now, .ours = ours });
}

void undo_enter(void)
{
	atomic_fetch_add(&inside, 1);
}

void undo_exit(void)
{
	atomic_fetch_sub(&inside, 1);
}

void undo_each(void (*fn)(struct undo *undo, void *arg), void *arg)
{
	for (struct undo_page *page = atomic_load(&newest); page; page = page->older) {
		for (uint32_t i = MIN(atomic_load(&page->nr), (uint32_t)UNDOS_MAX); i-- > 0;)
			fn(&page->undos[i], arg);
	}
}

uint32_t undo_inside(void)
{
	return atomic_load(&inside);
}

void undo_forget(void)
{
	for (struct undo_page *page = atomic_load(&newest), *older; page; page = older) {
		older = page->older;
		own_syscall(SYS_munmap, page, PAGE);
	}
	atomic_store(&newest, NULL);
}
