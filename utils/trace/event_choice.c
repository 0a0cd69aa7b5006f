/* Which events --Event shows (see event_choice.h). */
#include "utils/trace/event_choice.h"

#include <errno.h>
#include <stdlib.h>

#include "utils/base/order.h"
#include "utils/base/vec.h"

static int add_event(void *self, uint64_t id, const char *name)
{
	struct event_choice *choice = self;
	uint64_t *ids;

	if (!event_rules_show(choice->rules, event_origin_of(id), name))
		return 0;
	ids = vec_grow(choice->ids, choice->nr, sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	choice->ids = ids;
	ids[choice->nr++] = id;
	return 0;
}

static bool has_id(const struct event_choice *choice, uint64_t id)
{
	return choice->nr && bsearch(&id, choice->ids, choice->nr, sizeof(id), order_u64);
}

int event_choice_make(struct event_choice *choice, const struct event_rules *rules,
		      const struct trace_data *data, struct uft_err *err)
{
	*choice = (struct event_choice){ 0 };
	if (!rules || !rules->nr)
		return 0;
	choice->rules = rules;
	choice->has_sched = event_rules_linux(rules) & EVENT_LINUX_SCHED;

	int ret = event_names_load(&choice->names, data, err);

	if (ret == 0)
		ret = event_names_each(&choice->names, add_event, choice);
	if (ret < 0)
		return err_set_errno(err, ret, "cannot choose events");
	if (choice->nr)
		qsort(choice->ids, choice->nr, sizeof(*choice->ids), order_u64);
	choice->has_extern = has_id(choice, EVENT_ID_EXTERN_DATA);
	return 0;
}

void event_choice_deinit(struct event_choice *choice)
{
	event_names_deinit(&choice->names);
	free(choice->ids);
	*choice = (struct event_choice){ 0 };
}

/* Only one thread reads a recording that grows, and there the name may have come with the event. */
static bool shows_new(struct event_choice *choice, uint64_t id)
{
	const struct trace_data *data = choice->names.data;
	const char *name;

	if (!data->growth || id < EVENT_ID_USER)
		return false;
	name = event_names_find(&choice->names, id);
	return name && event_rules_show(choice->rules, EVENT_OF_PROGRAM, name);
}

bool event_choice_has(struct event_choice *choice, const struct event *event)
{
	uint64_t id = event->addr;

	if (!choice->rules)
		return true;
	if (event->type == EVENT_EXTERN)
		return choice->has_extern;
	if (event->type != EVENT_POINT)
		return choice->has_sched;
	/* A part of its call. */
	if (id == EVENT_ID_CALLSITE)
		return true;
	return has_id(choice, id) || shows_new(choice, id);
}
