/* Finds no open calls, because this build has no libdw (see unwind.h). */
#include "cmds/record/attach/unwind.h"

#include <errno.h>

struct unwinder *unwinder_open(const struct attached *w, const struct maps *maps,
			       struct uft_err *err)
{
	err_set(err, -ENOSYS, "this build cannot walk stacks");
	return NULL;
}

void unwinder_close(struct unwinder *u)
{
}

int unwind_thread(struct unwinder *u, const struct attached_thread *thread,
		  const struct unwind_frame **frames, struct uft_err *err)
{
	return err_set(err, -ENOENT, "this build cannot walk stacks");
}

bool unwind_module(struct unwinder *u, uint64_t pc, struct unwind_module *module)
{
	return false;
}
