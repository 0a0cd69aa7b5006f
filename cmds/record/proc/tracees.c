/* The table of traced tasks (see tracees.h). */
#include "cmds/record/proc/tracees.h"

#include <stdlib.h>

void tracees_deinit(struct tracees *tracees)
{
	for (size_t i = 0; i < tracees->by_tid.nr_slots; i++) {
		struct tracee *tracee = tracees->by_tid.slots[i].value;

		if (tracee)
			strbuf_deinit(&tracee->call.path);
		free(tracee);
	}
	intmap_deinit(&tracees->by_tid);
	*tracees = (struct tracees){ 0 };
}

struct tracee *tracees_get(struct tracees *tracees, pid_t tid)
{
	struct tracee *tracee = intmap_get(&tracees->by_tid, tid);

	if (tracee)
		return tracee;
	tracee = calloc(1, sizeof(*tracee));
	if (!tracee || intmap_put(&tracees->by_tid, tid, tracee) < 0) {
		free(tracee);
		return NULL;
	}
	tracee->tid = tid;
	return tracee;
}

struct tracee *tracees_find(const struct tracees *tracees, pid_t tid)
{
	struct tracee *tracee = intmap_get(&tracees->by_tid, tid);

	return tracee && tracee->state != TRACEE_NONE ? tracee : NULL;
}

void tracees_set(struct tracees *tracees, struct tracee *tracee, enum tracee_state state)
{
	tracees->nr_held += (state == TRACEE_HELD) - (tracee->state == TRACEE_HELD);
	tracee->state = state;
	if (state == TRACEE_NONE) {
		stopped_reset(&tracee->call);
		tracee->place = (struct tracer_cpu_place){ 0 };
	}
}
