/* The values in a payload (see argvalues.h). */
#include "utils/view/values/argvalues.h"

#include "utils/spec/args/autoargs.h"

/* One of the first DECIDING_MAX arguments of a variadic call tells how many arguments there are. */
#define DECIDING_MAX 4

uint64_t arg_value_unsigned(const struct arg_value *value, bool is_big_endian)
{
	uint64_t v = 0;

	for (size_t i = 0; i < value->len && i < sizeof(v); i++) {
		size_t from = is_big_endian ? value->len - 1 - i : i;

		v |= (uint64_t)value->data[from] << (8 * i);
	}
	return v;
}

int64_t arg_value_signed(const struct arg_value *value, bool is_big_endian)
{
	unsigned unused = 64 - 8 * MIN(value->len, sizeof(uint64_t));

	if (value->len == 0)
		return 0;
	return (int64_t)(arg_value_unsigned(value, is_big_endian) << unused) >> unused;
}

const struct argspec *argvalues_next(struct argvalues *values, struct arg_value *value)
{
	const struct argspec *spec;
	ssize_t end;

	/* Without values, @specs may be NULL. */
	if (values->next == values->nr)
		return NULL;
	spec = &values->specs[values->next];
	end = argblob_next(values->event->data, values->event->data_len, values->at, spec->type,
			   values->is_big_endian, value);
	if (end < 0)
		return NULL;
	values->at = end;
	values->next++;
	return spec;
}

/* If a variadic call has fewer arguments than @values, leave out the last values. */
static void leave_out_missing(struct argvalues *values)
{
	struct argvalues first = *values;
	uint64_t deciding[DECIDING_MAX];
	struct arg_value value;
	size_t nr = 0;

	while (nr < DECIDING_MAX && argvalues_next(&first, &value))
		deciding[nr++] = arg_value_unsigned(&value, values->is_big_endian);
	values->nr = MIN(values->nr, autoargs_count(values->event->func->sym->name, deciding, nr));
}

bool argvalues_begin(struct argvalues *values, struct trace_data *data, const struct event *event)
{
	bool is_entry = event->type == EVENT_ENTRY;
	const struct func_args *known = NULL;

	if (event->data && (is_entry || event->type == EVENT_EXIT))
		known = arg_book_find(&data->args, event->func);
	if (!known)
		return false;

	const struct argspecs *specs = is_entry ? &known->args : &known->retval;

	*values = (struct argvalues){
		.event = event,
		.specs = specs->specs,
		.nr = is_entry ? specs->nr : MIN(specs->nr, (size_t)1),
		.is_big_endian = data->is_big_endian,
	};
	if (is_entry && known->is_known)
		leave_out_missing(values);
	return specs->nr > 0;
}
