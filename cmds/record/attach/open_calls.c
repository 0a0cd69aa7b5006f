/* Finds the open calls that the probe would have recorded (see open_calls.h). */
#include "cmds/record/attach/open_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/object/code/hooked.h"

/* The hooks of a module. @file: belongs to libdwfl, and is valid while the unwinder is open */
struct known_hooks {
	struct elf_file file;
	struct hooked hooked;
	char *path;
	struct known_hooks *next;
};

void open_calls_deinit(struct open_calls *calls)
{
	for (struct known_hooks *known = calls->first, *next; known; known = next) {
		next = known->next;
		hooked_deinit(&known->hooked);
		free(known->path);
		free(known);
	}
	calls->first = NULL;
}

/*
 * Returns the hooks of the module that contains @pc, or NULL if there are none or memory is short.
 */
static const struct hooked *hooks_at(struct open_calls *calls, struct unwinder *u, uint64_t pc,
				     uint64_t *bias)
{
	struct unwind_module module;

	if (!unwind_module(u, pc, &module))
		return NULL;
	*bias = module.bias;
	for (const struct known_hooks *known = calls->first; known; known = known->next) {
		if (strcmp(known->path, module.path) == 0)
			return &known->hooked;
	}

	struct known_hooks *known = calloc(1, sizeof(*known));

	if (!known)
		return NULL;
	known->path = strdup(module.path);
	known->file = module.file;
	if (!known->path || hooked_load(&known->file, &known->hooked) < 0) {
		free(known->path);
		free(known);
		return NULL;
	}
	known->next = calls->first;
	calls->first = known;
	return &known->hooked;
}

#define SLOT_BYTES sizeof(uint64_t)

/*
 * The code that runs in frame @f belongs to a call, which returns to frame @outer. True when the
 * probe would have noticed this call, if the probe had been in the process when the call began.
 * @out gets the call.
 */
static bool is_seen_call(struct open_calls *calls, struct unwinder *u, const struct unwind_frame *f,
			 const struct unwind_frame *outer, struct attach_call *out)
{
	/*
	 * If a call is the last instruction of a function, its return address is in the next
	 * function. So look at the byte before the return address.
	 */
	uint64_t at = f->is_interrupted ? f->pc : f->pc - 1;
	uint64_t bias, start;
	const struct hooked *hooked = hooks_at(calls, u, at, &bias);
	enum hooked_by by = hooked ? hooked_function(hooked, at - bias, &start) : HOOKED_NOT;

	if (by == HOOKED_NOT)
		return false;
	*out = (struct attach_call){
		.slot = outer->sp - SLOT_BYTES,
		.ret = outer->pc,
		.addr = start + bias,
		.sp = by == HOOKED_BY_STACK ? f->sp : 0,
	};
	return true;
}

/* True when the function in frame @f is calling a library function. @out gets that call. */
static bool is_library_call(struct open_calls *calls, struct unwinder *u,
			    const struct unwind_frame *f, struct attach_call *out)
{
	uint64_t bias, addr;
	const struct hooked *hooked = f->is_interrupted ? NULL
							: hooks_at(calls, u, f->pc - 1, &bias);

	if (!hooked || !hooked_library_call(hooked, f->pc - bias, &addr))
		return false;
	*out = (struct attach_call){
		.slot = f->sp - SLOT_BYTES,
		.ret = f->pc,
		.addr = addr + bias,
		.is_library_call = 1,
	};
	return true;
}

/*
 * If the innermost call is a library call by a function with -finstrument-functions, drop the
 * call, because the probe could not notice the end of the call. Returns the new number of calls.
 */
static int drop_unending(const struct attach_call *list, int nr)
{
	return nr > 1 && list[nr - 1].is_library_call && list[nr - 2].sp ? nr - 1 : nr;
}

int open_calls_find(struct open_calls *calls, struct unwinder *u,
		    const struct attached_thread *thread, struct attach_call **list,
		    struct uft_err *err)
{
	const struct unwind_frame *frames;
	int nr_frames = unwind_thread(u, thread, &frames, err);
	int nr = 0;

	*list = NULL;
	if (nr_frames < 0)
		return nr_frames;

	struct attach_call *found = calloc(2 * nr_frames, sizeof(*found));

	if (!found)
		return err_set_errno(err, -ENOMEM, "open calls are not known");
	/* The thread began in the function of the outermost frame, so this frame is no call. */
	for (int i = nr_frames - 2; i >= 0; i--) {
		if (is_seen_call(calls, u, &frames[i], &frames[i + 1], &found[nr]))
			nr++;
		if (i > 0 && is_library_call(calls, u, &frames[i], &found[nr]))
			nr++;
	}
	*list = found;
	return drop_unending(found, nr);
}
