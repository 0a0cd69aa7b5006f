/* Work to do when the program dies of a signal (see crash.h). */
#include "libmcount/system/crash.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmcount/system/channel.h"
#include "libmcount/hot/frames.h"
#include "libmcount/system/own_syscall.h"

/* Copies the innermost frames, which are the ones that users most want to see. */
static uint32_t copy_frames(const struct thread *t, struct control_crash *crash)
{
	uint32_t nr = 0;

	for (const struct frame *f = t->top; f > t->frames && nr < CONTROL_CRASH_FRAMES; f--)
		crash->frames[nr++] = (struct control_crash_frame){ record_addr(f->data),
								    f->time_ns };
	return nr;
}

static void tell_crash(const struct thread *t, int sig, const siginfo_t *info)
{
	static _Atomic bool is_told; /* one report is enough: the crash ends all threads */
	static struct control_crash crash;
	struct channel ch cleanup(channel_close);

	channel_init(&ch);
	if (atomic_exchange(&is_told, true))
		return;
	crash = (struct control_crash){
		.pid = probe.pid,
		.tid = own_syscall(SYS_gettid),
		.signal = sig,
		.code = info->si_code,
		.address = info->si_code > 0 ? (uint64_t)info->si_addr : 0,
		.time_ns = clock_kernel_ns(),
		.depth = t->top - t->frames,
	};
	crash.nr_frames = copy_frames(t, &crash);

	if (channel_greet(&ch, CONTROL_ENDING))
		channel_send(&ch, CONTROL_CRASH, &crash, sizeof(crash));
}

void crash_note(int sig, const siginfo_t *info)
{
	struct thread *t = self;

	/* Inside of a hook the frames are not reliable. */
	if (!t || t->busy || !probe.ready)
		return;
	guard_take(t);
	if (t->planned)
		planned_write_entries(t, t->top);
	else if (t->top > t->written)
		frames_write_entries(t, t->top);
	if (probe.plan.flags & PLAN_CRASH_REPORT)
		tell_crash(t, sig, info);
	guard_barrier();
	t->busy = 0;
}
