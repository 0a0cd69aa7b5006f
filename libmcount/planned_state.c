/* Calls that are not all alike: the memory and the state of a thread (see planned.h). */
#include "libmcount/planned_private.h"

#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmcount/hot.h"

void planned_forget_skips(void)
{
	for (struct thread *t = atomic_load(&probe_threads); t; t = t->next) {
		for (unsigned i = 0; t->planned && i < PLANNED_SKIPS; i++)
			t->planned->skip_outside[i] = 0;
	}
}

void planned_take_reading(void *arg)
{
	struct take_reading *take = arg;

	reads_take(take->what, take->out);
}

void planned_make_readings(void *arg)
{
	struct planned *p = arg;
	uint64_t frames = (uint64_t)probe.plan.max_stack + 2;
	void *readings = (void *)syscall(SYS_mmap, NULL, frames * sizeof(*p->readings),
					 PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (readings != MAP_FAILED)
		p->readings = readings;
}

void planned_make_args(void *arg)
{
	struct planned *p = arg;
	uint64_t bytes = MIN((probe.plan.max_stack + 1ULL) * CAPTURE_MAX_BYTES + CAPTURE_ROOM,
			     (uint64_t)UINT32_MAX);
	void *args = (void *)syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (args == MAP_FAILED)
		return;
	p->args = args;
	p->args_bytes = bytes;
}

uint64_t planned_own_return(const struct frame *f)
{
	while (f->ret == (uint64_t)arch_return_trampoline && f[-1].slot == f->slot)
		f--;
	return f->ret;
}

/*
 * `recover`: whoever walks the stack by itself inside of @f sees the program's own return addresses. That of @f stays
 * replaced: by it we know when it is over.
 */
void planned_show_returns(struct thread *t, const struct frame *f)
{
	for (struct frame *g = t->frames + 1; g < f; g++) {
		uint64_t *slot = (uint64_t *)g->slot;

		if (g->slot != f->slot && !(g->slot & FRAME_EXPLICIT) &&
		    *slot == (uint64_t)arch_return_trampoline)
			*slot = planned_own_return(g);
	}
}

void planned_hide_returns(struct thread *t, const struct frame *f)
{
	for (struct frame *g = t->frames + 1; g < f; g++) {
		uint64_t *slot = (uint64_t *)g->slot;

		if (g->slot != f->slot && !(g->slot & FRAME_EXPLICIT) &&
		    *slot == planned_own_return(g))
			*slot = (uint64_t)arch_return_trampoline;
	}
}

void planned_begin_estimate(struct thread *t)
{
	uint64_t last_ns = t->last_ns;

	if (t->planned)
		t->planned->estimate_ns = last_ns + (hot_clock(t) - last_ns) / 2;
}

void planned_end_estimate(struct thread *t)
{
	if (t->planned)
		t->planned->estimate_ns = 0;
}

bool planned_make(struct thread *t)
{
	uint64_t frames = (uint64_t)probe.plan.max_stack + 2;
	struct planned *p = (struct planned *)syscall(
		SYS_mmap, NULL, sizeof(*p) + frames * sizeof(struct planned_frame),
		PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return false;
	/* Below it there is nothing left to write. */
	p->frames[0].flags = PLANNED_WRITTEN;
	t->planned = p;
	return true;
}

static void reset(struct planned *p)
{
	p->now = (struct selection){
		.threshold_ns = probe.plan.threshold_ns,
		.size = probe.plan.size_filter,
		.depth = MIN(probe.plan.depth, (uint32_t)UINT16_MAX),
	};
	p->args_top = 0;
}

void planned_begin(struct thread *t)
{
	t->limit = t->frames + probe.plan.max_stack;
	reset(t->planned);
	t->planned->is_simple = !(probe.plan.flags & PLAN_ESTIMATE) && !watch_is_wanted();
	t->planned->watched.has_seen = false;
	choose_skip(t);
}

void planned_begin_aside(struct thread *aside, const struct thread *t)
{
	aside->limit = aside->frames + probe.plan.max_stack;
	aside->planned->now = t->planned->now;
	aside->planned->now.level = 0;
	aside->planned->args_top = 0;
}

void planned_note_written(struct thread *t)
{
	for (struct frame *f = t->top; f > t->frames; f--)
		planned_frame_of(t, f)->flags |= PLANNED_WRITTEN;
}
