/* Finds each loaded copy of libutrail-trace in this process (see trace_copies.h). */
#include "libmcount/values/trace_copies.h"

#include <errno.h>
#include <link.h>
#include <sched.h>
#include <string.h>

#include "libmcount/program/loaded.h"
#include "libmcount/values/declared.h"
#include "libmcount/hot/probe.h"
#include "trace/seam/recorder.h"

struct trace_copies {
	bool is_coming;
	const struct utrail_trace_recorder *recorder;
	int64_t nr;
	bool is_busy;
};

/*
 * True when the @bytes bytes at @address lie in one segment of the module, and the segment has the
 * @flags (PF_...). The address may be wrong: it comes from an ELF header or an ELF note.
 */
static bool lies_within(const struct dl_phdr_info *info, uint64_t address, uint64_t bytes,
			uint32_t flags)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t at = address - info->dlpi_addr - ph->p_vaddr;

		if (ph->p_type == PT_LOAD && (ph->p_flags & flags) == flags &&
		    bytes <= ph->p_memsz && at <= ph->p_memsz - bytes)
			return true;
	}
	return false;
}

static void go_through(struct trace_copies *copies, const struct dl_phdr_info *info,
		       const struct utrail_trace_door *door)
{
	uint64_t open = (uint64_t)door + door->open;
	uint64_t close = (uint64_t)door + door->close;
	int ret;

	if (!lies_within(info, open, 1, PF_X) || !lies_within(info, close, 1, PF_X))
		return;
	ret = copies->is_coming ? ((utrail_door_open_fn *)open)(copies->recorder)
				: ((utrail_door_close_fn *)close)();
	copies->nr += ret == 0;
	copies->is_busy |= ret == -EAGAIN;
}

/*
 * Looks for each struct utrail_trace_door in the notes of a segment (gABI, "Note Section"). The
 * linker mold mixes notes of two alignments in one segment, so a note may begin at each multiple of
 * 4 bytes.
 */
static void look_at_notes(struct trace_copies *copies, const struct dl_phdr_info *info,
			  const ElfW(Phdr) * ph)
{
	const uint64_t to_text = ALIGN_UP(sizeof(ElfW(Nhdr)) + sizeof(UTRAIL_DOOR_NAME), 4UL);
	const char *at = (const char *)(info->dlpi_addr + ph->p_vaddr);
	const char *end = at + ph->p_memsz;

	for (; end - at >= (int64_t)(to_text + sizeof(struct utrail_trace_door)); at += 4) {
		const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;

		if (note->n_type == UTRAIL_DOOR_TYPE &&
		    note->n_namesz == sizeof(UTRAIL_DOOR_NAME) &&
		    note->n_descsz >= sizeof(struct utrail_trace_door) &&
		    note->n_descsz <= (uint64_t)(end - at) - to_text &&
		    memcmp(note + 1, UTRAIL_DOOR_NAME, sizeof(UTRAIL_DOOR_NAME)) == 0)
			go_through(copies, info, (const void *)(at + to_text));
	}
}

static int look_at_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	if (!loaded_is_complete(info))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_NOTE && ph->p_memsz &&
		    lies_within(info, info->dlpi_addr + ph->p_vaddr, ph->p_memsz, PF_R))
			look_at_notes(arg, info, ph);
	}
	return 0;
}

static int64_t go_through_all(struct trace_copies *copies)
{
	dl_iterate_phdr(look_at_module, copies);
	return copies->is_busy ? -EAGAIN : copies->nr;
}

int64_t trace_copies_open(void)
{
	struct trace_copies copies = { .is_coming = true, .recorder = declared_recorder() };

	return probe.ready ? go_through_all(&copies) : 0;
}

int64_t trace_copies_close(void)
{
	struct trace_copies copies = { .is_coming = false };

	return go_through_all(&copies);
}

#define TRIES 1000

void trace_copies_after_dlopen(void)
{
	if (!probe.is_attached)
		return;
	/*
	 * -EAGAIN: a thread holds a lock of a copy. For example, a thread that the new module has
	 * started is declaring an event. Try again.
	 */
	for (int i = 0; trace_copies_open() == -EAGAIN && i < TRIES; i++)
		sched_yield();
}
