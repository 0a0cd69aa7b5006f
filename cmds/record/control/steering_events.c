/* Chooses declared events while programs run (see steering_events.h). */
#include "cmds/record/control/steering_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/record/control/steering_processes.h"
#include "utils/base/cleanup.h"
#include "utils/base/containers/nearest.h"

/* --- the choice --- */

static void put_in_force(struct steering *steer)
{
	struct steering_ids *ids = &steer->ids;

	steer->now.trace_include = ids->has_include ? &ids->include
						    : steer->settings->trace_include;
	steer->now.trace_exclude = ids->has_exclude ? &ids->exclude
						    : steer->settings->trace_exclude;
}

static int no_match(const struct declared *declared, const char *word, const char *text,
		    struct uft_err *err)
{
	struct strbuf near_text cleanup_strbuf = { 0 };
	struct nearest near;

	if (!declared->nr_events)
		return err_set(err, -ENOENT, "'%s': no program has declared an event so far", word);
	nearest_init(&near, text);
	for (size_t i = 0; i < declared->nr_events; i++)
		nearest_offer(&near, declared->events[i].id);
	nearest_text(&near, "", &near_text);
	return err_set(err, -ENOENT, "'%s': no declared event matches '%s'; the nearest: %s", word,
		       text, strbuf_str(&near_text));
}

/* Parses a pattern, which must match a declared event. After an error @out is unchanged. */
static int take_pattern(const struct declared *declared, const char *word,
			const struct strbuf *text, struct pattern *out, struct uft_err *err)
{
	struct pattern pattern = { 0 };
	int ret = pattern_init_regex(&pattern, strbuf_str(text), text->len, err);

	if (ret < 0) {
		err_prefix(err, "'%s'", word);
		return -ERR_USAGE;
	}
	if (!declared_have(declared, &pattern)) {
		pattern_deinit(&pattern);
		return no_match(declared, word, strbuf_str(text), err);
	}
	*out = pattern;
	return 0;
}

int rechoosing_choose(struct rechoosing *r, struct steering *steer,
		      const struct steer_change *change, struct uft_err *err)
{
	const struct declared *declared = &steer->planner->declared;
	struct steering_ids ids = steer->ids;
	int ret = 0;

	r->before = steer->ids;
	if (change->flags & STEER_TRACE_INCLUDE) {
		ret = take_pattern(declared, "trace-include", &change->trace_include, &ids.include,
				   err);
		ids.has_include = true;
	}
	if (ret == 0 && (change->flags & STEER_TRACE_EXCLUDE)) {
		ret = take_pattern(declared, "trace-exclude", &change->trace_exclude, &ids.exclude,
				   err);
		ids.has_exclude = true;
		if (ret < 0 && (change->flags & STEER_TRACE_INCLUDE))
			pattern_deinit(&ids.include);
	}
	if (ret < 0)
		return ret;
	r->is_wanted = true;
	r->flags = change->flags;
	steer->ids = ids;
	put_in_force(steer);
	return 0;
}

/*
 * Frees patterns of @ids: ids->include if @flags contains STEER_TRACE_INCLUDE, and ids->exclude if
 * @flags contains STEER_TRACE_EXCLUDE. A pattern that @ids does not have is skipped.
 */
static void forget_patterns(uint32_t flags, struct steering_ids *ids)
{
	if ((flags & STEER_TRACE_INCLUDE) && ids->has_include)
		pattern_deinit(&ids->include);
	if ((flags & STEER_TRACE_EXCLUDE) && ids->has_exclude)
		pattern_deinit(&ids->exclude);
}

void rechoosing_undo(struct rechoosing *r, struct steering *steer)
{
	if (!r->is_wanted)
		return;
	forget_patterns(r->flags, &steer->ids);
	steer->ids = r->before;
	put_in_force(steer);
	r->is_wanted = false;
}

/* --- processes --- */

struct choices {
	struct attach_choice *list;
	size_t nr;
	size_t nr_on;
	size_t nr_off;
};

static int make_choices(struct declared *declared, struct choices *out)
{
	*out = (struct choices){ .list = calloc(declared->nr_events + 1, sizeof(*out->list)) };
	if (!out->list)
		return -ENOMEM;
	for (; out->nr < declared->nr_events; out->nr++) {
		const struct known_event *event = &declared->events[out->nr];
		int choice = declared_choice(declared, event->id);

		out->list[out->nr] = (struct attach_choice){ event->number, choice };
		out->nr_on += choice > 0;
		out->nr_off += choice < 0;
	}
	return 0;
}

static int tell_process(struct steering *steer, const struct process *p, void *arg,
			struct uft_err *err)
{
	const struct choices *choices = arg;

	if (!p->has_declared)
		return 0;
	return steer->choose(steer->processes_arg, p->os_pid, choices->list, choices->nr, err);
}

static int tell_all(struct steering *steer, struct choices *choices, struct uft_err *err)
{
	int ret = make_choices(&steer->planner->declared, choices);

	if (ret == 0)
		ret = steering_each_process(steer, tell_process, choices, err);
	free(choices->list);
	return ret == -ENOMEM && !err->code ? err_set_errno(err, ret, "cannot choose events") : ret;
}

int rechoosing_write(struct rechoosing *r, struct steering *steer, struct strbuf *out,
		     struct uft_err *err)
{
	struct uft_err ignored = { 0 };
	struct choices choices;

	if (!r->is_wanted)
		return 0;

	int ret = tell_all(steer, &choices, err);

	if (ret < 0) {
		rechoosing_undo(r, steer);
		tell_all(steer, &choices, &ignored);
		return ret;
	}
	forget_patterns(r->flags, &r->before);
	r->is_wanted = false;
	strbuf_addf(out, "events: %zu on, %zu off", choices.nr_on, choices.nr_off);
	if (choices.nr > choices.nr_on + choices.nr_off)
		strbuf_addf(out, ", %zu as the program says",
			    choices.nr - choices.nr_on - choices.nr_off);
	strbuf_addch(out, '\n');
	return 0;
}
