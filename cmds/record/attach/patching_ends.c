/*
 * Removes hooks at the ends of functions (see patching.c). A function keeps these hooks while one
 * of its calls is open (has not returned yet).
 */
#include <errno.h>
#include <stdlib.h>

#include "cmds/record/attach/attaching.h"
#include "utils/base/compiler.h"

/*
 * LOOKS is the maximum number of complete searches for open calls. Between two searches, open calls
 * may end. TRIES is the maximum number of attempts to search. An attempt fails if a thread is in a
 * hook. Such a thread leaves the hook as soon as the thread has a CPU. WAIT_US is the shortest wait
 * between two attempts, in microseconds. Each complete search makes the later waits longer by
 * WAIT_US.
 */
#define LOOKS	  12
#define TRIES	  50
#define WAIT_US	  1000
#define ASKED_MAX (ATTACHED_ARGS_BYTES / sizeof(uint64_t))

/*
 * Write 0 over each entry of @funcs whose function has an open call. Returns 0, -EAGAIN when a
 * thread is in a hook, -EINVAL when the probe does not know the open calls, or another negative
 * errno.
 */
static int find_open_calls(struct attaching *a, uint64_t *funcs, size_t nr, struct uft_err *err)
{
	size_t bytes = nr * sizeof(*funcs);
	uint64_t result = 0;
	int ret = 0;

	if (attached_write(&a->w, attached_args(&a->w), funcs, bytes) != bytes)
		return -EIO;
	ret = attaching_call(a, LOAD_MS, a->leave_fn, ATTACH_OPEN_ANNOUNCED, attached_args(&a->w),
			     nr, &result, err);
	if (ret < 0 || (int64_t)result < 0)
		return ret < 0 ? ret : (int)(int64_t)result;
	return attached_read(&a->w, attached_args(&a->w), funcs, bytes) == bytes ? 0 : -EIO;
}

/*
 * Undoes changes in @text. A change is undone if the change is at the end of a function, and this
 * function has no open call. Undone changes are removed from @text. All threads must be stopped,
 * and no thread may be in a hook.
 */
static int take_out(struct attaching *a, const struct process_patches *patches, struct text *text,
		    struct uft_err *err)
{
	struct attach_change *room cleanup_free = calloc(text->nr, sizeof(*room));
	struct text gone = { .changes = room };
	uint64_t funcs[ASKED_MAX];
	size_t kept = 0;
	int ret = room ? 0 : -ENOMEM;

	for (size_t at = 0; ret == 0 && at < text->nr; at += ASKED_MAX) {
		size_t nr = MIN(text->nr - at, ASKED_MAX);

		for (size_t i = 0; i < nr; i++) {
			const struct patch_end *end = process_patches_end(
				patches, text->changes[at + i].site);

			/*
			 * A patch that is not at a function's end gets the value 0. The loop after
			 * find_open_calls() skips such a patch, so the patch stays in the process.
			 */
			funcs[i] = end ? end->func : 0;
		}
		ret = find_open_calls(a, funcs, nr, err);
		for (size_t i = 0; ret == 0 && i < nr; i++) {
			if (funcs[i])
				room[gone.nr++] = text->changes[at + i];
		}
	}
	if (ret < 0)
		return ret;
	text_take_out(&gone, &a->w, &a->maps);
	for (size_t i = 0; i < text->nr; i++) {
		if (text_is_in(&a->w, &text->changes[i]))
			text->changes[kept++] = text->changes[i];
	}
	text->nr = kept;
	return 0;
}

static int try_taking_out(struct attaching *a, const struct process_patches *patches,
			  struct text *text, struct uft_err *err)
{
	int ret = maps_read(&a->maps, a->w.pid);

	if (ret == 0)
		ret = attaching_begin_calls(a, err);
	if (ret == 0)
		ret = attaching_find_codes(a, ATTACH_CODES, err);
	if (ret == 0)
		ret = attaching_stop_all(a, err);
	/*
	 * Read the maps again, because threads may have started after the maps_read() above. The
	 * stacks of these threads must be in a->maps.
	 */
	if (ret == 0)
		ret = maps_read(&a->maps, a->w.pid);
	if (ret == 0 && attaching_is_anybody_within(a))
		ret = -EAGAIN;
	if (ret == 0)
		ret = take_out(a, patches, text, err);
	attaching_end_calls(a);
	return ret;
}

int attaching_take_ends_out(struct attaching *a, const struct process_patches *patches,
			    struct text *text, struct uft_err *err)
{
	int looks = 0;

	for (int i = 0; text->nr && looks < LOOKS && i < TRIES; i++) {
		struct uft_err why = { 0 };
		int ret;

		if (i)
			attaching_wait(a, (1 + looks) * WAIT_US);
		ret = try_taking_out(a, patches, text, &why);
		looks += ret == 0;
		/*
		 * The hooks stay if the open calls are unknown, or if the probe has too many ranges
		 * of code.
		 */
		if (ret == -EINVAL || ret == -E2BIG)
			return 0;
		if (ret < 0 && ret != -EAGAIN) {
			err_set_errno(&why, ret, "cannot patch process %d", a->w.pid);
			*err = why;
			return ret;
		}
	}
	return 0;
}
