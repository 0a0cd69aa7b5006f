/* The events that --Event shows (see event_choice.h). */
#include "utils/pipeline/kinds/event_choice.h"

#include <errno.h>
#include <stdlib.h>

#include "utils/base/containers/order.h"
#include "utils/base/containers/vec.h"

static int add_event(void *self, const struct event_kind *kind)
{
	struct event_choice *choice = self;
	uint64_t *ids;

	if (!event_rules_show(choice->rules, kind->origin, kind->name))
		return 0;
	ids = vec_grow(choice->ids, choice->nr, sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	choice->ids = ids;
	ids[choice->nr++] = kind->id;
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

	int ret = event_kinds_load(&choice->kinds, data, err);

	if (ret == 0)
		ret = event_kinds_each(&choice->kinds, add_event, choice);
	if (ret < 0)
		return err_set_errno(err, ret, "cannot choose events");
	if (choice->nr)
		qsort(choice->ids, choice->nr, sizeof(*choice->ids), order_u64);
	choice->has_extern = has_id(choice, EVENT_ID_EXTERN_DATA);
	return 0;
}

void event_choice_deinit(struct event_choice *choice)
{
	event_kinds_deinit(&choice->kinds);
	free(choice->ids);
	*choice = (struct event_choice){ 0 };
}

/*
 * True when the rules select the event @id by a name that the recorder has written after
 * event_choice_make(). Only a growing recording gets such names. A single thread reads a growing
 * recording, so no lock is needed.
 */
static bool shows_new(struct event_choice *choice, uint64_t id)
{
	const struct event_kind *kind;

	if (!choice->kinds.data->growth)
		return false;
	kind = event_kinds_find(&choice->kinds, id);
	return (kind->flags & EVENT_KIND_BY_NAME) && !(kind->flags & EVENT_KIND_NAMELESS) &&
	       event_rules_show(choice->rules, kind->origin, kind->name);
}

bool event_choice_has(struct event_choice *choice, const struct event *event)
{
	uint64_t id = event->id;

	if (!choice->rules)
		return true;
	if (event->type == EVENT_EXTERN)
		return choice->has_extern;
	if (event->type != EVENT_POINT)
		return choice->has_sched;
	if (event_kind_fixed(id)->flags & EVENT_KIND_OF_CALL)
		return true;
	return has_id(choice, id) || shows_new(choice, id);
}
