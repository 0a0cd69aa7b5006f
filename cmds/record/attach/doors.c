/*
 * Starts and ends the recording of events that libutrail-trace reports, if the process has loaded
 * libutrail-trace before the probe (see attaching.h and trace/seam/recorder.h).
 */
#include <errno.h>

#include "cmds/record/attach/attaching.h"

#define TRIES	200
#define WAIT_US 1000

/*
 * Repeat @step as long as libutrail-trace is busy (-EAGAIN), but at most TRIES times. A stopped
 * thread of the process runs @step for the recorder. This thread may itself be in libutrail-trace,
 * so the recorder lets this thread run between the attempts.
 */
static int pass_doors(struct attaching *a, enum attach_step step, uint64_t *nr, struct uft_err *err)
{
	int ret = attaching_leave(a, step, nr, err);

	for (int i = 0; ret == 0 && (int64_t)*nr == -EAGAIN && i < TRIES; i++) {
		attaching_end_calls(a);
		attaching_wait(a, WAIT_US);
		ret = maps_read(&a->maps, a->w.pid);
		if (ret == 0)
			ret = attaching_begin_calls(a, err);
		if (ret == 0)
			ret = attaching_leave(a, step, nr, err);
	}
	return ret;
}

void attaching_open_doors(struct attaching *a, const struct attach_how *how)
{
	struct uft_err why = { 0 };
	uint64_t nr = 0;
	int ret = pass_doors(a, ATTACH_DOORS_OPEN, &nr, &why);

	if (ret == 0 && (int64_t)nr >= 0)
		return;
	msg_warn(how->msg, "process %d: events that it has declared are not recorded: %s", a->w.pid,
		 ret < 0 ? why.text : "it is busy with them");
}

int attaching_close_doors(struct attaching *a, struct uft_err *err)
{
	uint64_t nr = 0;

	return pass_doors(a, ATTACH_DOORS_CLOSE, &nr, err);
}
