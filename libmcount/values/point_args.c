/* Reads and records the arguments of the program's static probes (see point_args.h). */
#include "libmcount/values/point_args.h"

#include "libmcount/values/declared.h"
#include "libmcount/system/fault.h"
#include "libmcount/hot/guard.h"
#include "libmcount/values/points.h"
#include "utils/format/event_data.h"

_Static_assert(EVENT_PROBE_ARGS_MAX == PLAN_OPERANDS_MAX && PLAN_OPERANDS_MAX <= 64,
	       "one bit for each");

static inline uint64_t register_of(const struct arch_point *point, uint8_t number)
{
	return number == PLAN_NO_REGISTER ? 0 : arch_point_register(point, number);
}

/*
 * Reads an operand in memory. The memory may be unreadable: the program itself does not read the
 * operand, since it has only a nop at the event's place.
 */
static inline bool read_memory(const struct plan_operand *o, const struct arch_point *point,
			       uint64_t *value)
{
	uint64_t address = o->value + register_of(point, o->base) +
			   (register_of(point, o->index) << o->shift);

	return fault_copy(value, (const void *)address, o->bytes) == o->bytes;
}

static inline bool read_one(const struct plan_operand *o, const struct arch_point *point,
			    uint64_t *value)
{
	uint64_t vector[2];

	*value = 0;
	switch (o->kind) {
	case PLAN_OPERAND_CONSTANT:
		*value = o->value;
		return true;
	case PLAN_OPERAND_REGISTER:
		*value = arch_point_register(point, o->base) >> o->shift;
		return true;
	case PLAN_OPERAND_VECTOR:
		arch_read_vector(vector, o->base);
		*value = vector[0];
		return true;
	case PLAN_OPERAND_MEMORY:
		return read_memory(o, point, value);
	}
	return false;
}

static inline uint64_t widen(uint64_t value, const struct plan_operand *o)
{
	unsigned unused = 64 - 8 * o->bytes;

	if (o->flags & PLAN_OPERAND_SIGNED)
		return (int64_t)(value << unused) >> unused;
	return value << unused >> unused;
}

uint64_t point_args_read(const struct point_operands *operands, const struct arch_point *point,
			 uint64_t payload[1 + PLAN_OPERANDS_MAX])
{
	uint64_t is_there = 0;

	for (uint64_t i = 0; i < operands->nr; i++) {
		const struct plan_operand *o = &operands->list[i];
		uint64_t value;
		bool is_read = read_one(o, point, &value);

		is_there |= (uint64_t)is_read << i;
		payload[1 + i] = is_read ? widen(value, o) : 0;
	}
	payload[0] = is_there;
	return (1 + operands->nr) * sizeof(payload[0]);
}

void probe_point_args(const struct arch_point *point)
{
	const struct point_operands *operands = (const void *)(point->back + point->operands);
	struct thread *t = point_begin(arch_point_sp(point));
	uint64_t payload[1 + PLAN_OPERANDS_MAX];
	uint64_t bytes;

	if (unlikely(!t))
		return;
	point_write_entries(t);
	bytes = point_args_read(operands, point, payload);
	declared_record(t, (uint32_t)point->event, payload, bytes);
	guard_leave(t);
}
