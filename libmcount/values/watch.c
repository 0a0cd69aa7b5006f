/* -W (see watch.h). */
#include "libmcount/values/watch.h"

#include "libmcount/values/emit.h"
#include "libmcount/hot/planned.h"
#include "utils/format/event_ids.h"

static uint64_t read_variable(const struct plan_watch *watch)
{
	const volatile uint8_t *at = (const volatile uint8_t *)watch->addr;
	uint64_t value = 0;

	/* The value is read by one load if possible, since another thread may be writing it. */
	switch (watch->bytes) {
	case 8:
		return *(const volatile uint64_t *)at;
	case 4:
		return *(const volatile uint32_t *)at;
	case 2:
		return *(const volatile uint16_t *)at;
	default:
		for (uint32_t i = 0; i < watch->bytes; i++)
			value |= (uint64_t)at[i] << 8 * i;
		return value;
	}
}

static void look_at_variable(struct thread *t, struct watch_state *seen, uint32_t index,
			     uint64_t time_ns)
{
	const struct plan_watch *watch = &t->planned->plan->watches[index];
	struct {
		uint64_t addr;
		uint64_t value;
	} data = { watch->addr, read_variable(watch) };

	if (seen->has_seen && seen->values[index] == data.value)
		return;
	seen->values[index] = data.value;
	emit_event(t, time_ns, EVENT_ID_WATCH_VAR, &data, sizeof(data.addr) + watch->bytes);
}

void watch_look(struct thread *t, uint64_t time_ns)
{
	const struct live_plan *plan = t->planned->plan;
	struct watch_state *seen = &t->planned->watched;

	if (plan->settings.flags & PLAN_WATCH_CPU) {
		uint32_t cpu = arch_cpu();

		if (!seen->has_seen || seen->cpu != cpu)
			emit_event(t, time_ns, EVENT_ID_WATCH_CPU, &cpu, sizeof(cpu));
		seen->cpu = cpu;
	}
	for (uint32_t i = 0; i < plan->nr_watches; i++)
		look_at_variable(t, seen, i, time_ns);
	seen->has_seen = true;
}
