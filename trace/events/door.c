/* The entry for a recorder that attaches while the program runs (see door.h). */
#include "events/door.h"

#if FST_HAS_DOOR

#include <errno.h>

#include "events/trace.h"
#include "seam/recorder.h"

#define INTERNAL __attribute__((used, visibility("hidden")))

/*
 * When a recorder detaches, the recorder's code is unmapped. At that time no thread may be
 * executing this code. So before a recorder detaches, the recorder looks for threads that have
 * entered its code and have not returned. A thread enters the code by a single instruction: a jump
 * that reads its target from fst_door_cells. So a thread that has read the target has also entered
 * the code.
 */
enum {
	DECLARE,
	CHOOSE,
	EMIT,
	BEGIN,
	END,
	WATCH,
	NR_CELLS
};

INTERNAL const void *_Atomic fst_door_cells[NR_CELLS];

#define JUMP(name, cell)                                   \
	__asm__(".pushsection .text\n\t"                   \
		".balign 16\n\t"                           \
		".hidden " name "\n\t"                     \
		".globl " name "\n\t"                      \
		".type " name ", @function\n" name ":\n\t" \
		"endbr64\n\t"                              \
		"jmp *fst_door_cells+8*" cell "(%rip)\n\t" \
		".size " name ", . - " name "\n\t"         \
		".popsection")

JUMP("fst_door_declare", "0");
JUMP("fst_door_choose", "1");
JUMP("fst_door_emit", "2");
JUMP("fst_door_begin", "3");
JUMP("fst_door_end", "4");
JUMP("fst_door_watch", "5");

#pragma GCC visibility push(hidden)
uint32_t fst_door_declare(const char *id, const char *format, const char *common);
int fst_door_choose(uint32_t event, const char *id);
bool fst_door_emit(uint32_t event, const void *payload, size_t len);
int fst_door_begin(uint32_t event, struct utrail_trace_place *place);
bool fst_door_end(uint32_t event, const struct utrail_trace_place *place, size_t len);
bool fst_door_watch(bool (*fn)(void), bool is_on);
#pragma GCC visibility pop

static const struct utrail_trace_recorder door = {
	.abi = UTRAIL_TRACE_ABI,
	.size = sizeof(door),
	.declare = fst_door_declare,
	.choose = fst_door_choose,
	.emit = fst_door_emit,
	.begin = fst_door_begin,
	.end = fst_door_end,
	.watch = fst_door_watch,
};

/* --- replacements of the recorder's functions, for the time after a detach --- */

static uint32_t declare_nothing(const char *id, const char *format, const char *common)
{
	return 0;
}

static int choose_nothing(uint32_t event, const char *id)
{
	return -1;
}

static bool emit_nothing(uint32_t event, const void *payload, size_t len)
{
	return false;
}

static int begin_nothing(uint32_t event, struct utrail_trace_place *place)
{
	return 0;
}

static bool watch_nothing(bool (*fn)(void), bool is_on)
{
	return true;
}

/* --- coming and going --- */

static _Atomic bool is_open;

INTERNAL int fst_door_open(const struct utrail_trace_recorder *recorder)
{
	struct fst_held held;
	int ret;

	if (!fst_is_recorder(recorder))
		return -EINVAL;
	if (atomic_load(&is_open))
		return 0;
	if (!fst_try_lock_threads(&held))
		return -EAGAIN;
	/*
	 * Remove the numbers that an earlier recorder gave to the events. The numbers are still
	 * there if fst_door_close() could not get the lock.
	 */
	fst_recorded_went();
	/*
	 * The cell END is set first, since a thread that has called begin() must call end() of the
	 * same recorder.
	 */
	atomic_store(&fst_door_cells[END], (const void *)recorder->end);
	atomic_store(&fst_door_cells[DECLARE], (const void *)recorder->declare);
	atomic_store(&fst_door_cells[CHOOSE], (const void *)recorder->choose);
	atomic_store(&fst_door_cells[EMIT], (const void *)recorder->emit);
	atomic_store(&fst_door_cells[BEGIN], (const void *)recorder->begin);
	atomic_store(&fst_door_cells[WATCH], (const void *)recorder->watch);
	ret = fst_recorded_came(&door);
	if (ret == 0)
		ret = pxt_recorded_came(&door);
	atomic_store(&is_open, ret == 0);
	fst_unlock_threads(&held);
	return ret;
}

INTERNAL int fst_door_close(void)
{
	struct fst_held held;

	atomic_store(&is_open, false);
	atomic_store(&fst_door_cells[DECLARE], (const void *)declare_nothing);
	atomic_store(&fst_door_cells[CHOOSE], (const void *)choose_nothing);
	atomic_store(&fst_door_cells[EMIT], (const void *)emit_nothing);
	atomic_store(&fst_door_cells[BEGIN], (const void *)begin_nothing);
	atomic_store(&fst_door_cells[WATCH], (const void *)watch_nothing);
	if (!fst_try_lock_threads(&held))
		return -EAGAIN;
	fst_recorded_went();
	pxt_recorded_went();
	fst_unlock_threads(&held);
	return 0;
}

__asm__(".pushsection .note.utrail, \"a\", @note\n\t"
	".balign 4\n\t"
	".long 1f - 0f, 3f - 2f, 1\n"
	"0:\t.asciz \"" UTRAIL_DOOR_NAME "\"\n"
	"1:\t.balign 4\n"
	"2:\t.long fst_door_open - 2b\n\t"
	".long fst_door_close - 2b\n"
	"3:\n\t"
	".popsection");

#endif
