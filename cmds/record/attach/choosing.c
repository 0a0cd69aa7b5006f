/* Tells a recorded process which declared events to record from now on (see attach.h). */
#include <errno.h>

#include "cmds/record/attach/attaching.h"
#include "utils/base/compiler.h"

#define TRIES	   50
#define WAIT_US	   1000
#define CHOSEN_MAX (ATTACHED_ARGS_BYTES / sizeof(struct attach_choice))

static int run_attach_step(struct attaching *a, enum attach_step step, size_t nr,
			   struct uft_err *err)
{
	uint64_t result = 0;
	int ret = attaching_call(a, LOAD_MS, a->leave_fn, step, attached_args(&a->w), nr, &result,
				 err);

	return ret < 0 ? ret : (int)(int64_t)result;
}

static int tell_choices(struct attaching *a, const struct attach_choice *choices, size_t nr,
			struct uft_err *err)
{
	int ret = 0;

	for (size_t at = 0; ret == 0 && at < nr; at += CHOSEN_MAX) {
		size_t part = MIN(nr - at, CHOSEN_MAX);
		size_t bytes = part * sizeof(*choices);

		ret = attached_write(&a->w, attached_args(&a->w), &choices[at], bytes) == bytes
			      ? 0
			      : -EIO;
		if (ret == 0)
			ret = run_attach_step(a, ATTACH_CHOOSE, part, err);
	}
	return ret < 0 ? ret : run_attach_step(a, ATTACH_CHOSEN, 0, err);
}

int attach_choose(pid_t pid, const struct attach_how *how, const struct attach_choice *choices,
		  size_t nr, struct uft_err *err)
{
	struct attaching *a cleanup_attaching = NULL;
	int ret = attaching_open(&a, pid, how, err);

	if (ret < 0)
		return ret;
	ret = -EAGAIN;
	for (int i = 0; ret == -EAGAIN && i < TRIES; i++) {
		if (i)
			attaching_wait(a, WAIT_US);
		ret = maps_read(&a->maps, pid);
		if (ret == 0)
			ret = attaching_begin_calls(a, err);
		if (ret == 0)
			ret = tell_choices(a, choices, nr, err);
		attaching_end_calls(a);
	}
	if (ret == -EAGAIN)
		return err_set(err, ret, "process %d is busy with its events", pid);
	return ret < 0 ? err_set_errno(err, ret, "cannot choose events of process %d", pid) : 0;
}
