/* The types of events of one recording (see event_kinds.h). */
#include "utils/pipeline/kinds/event_kinds.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/base/fd.h"
#include "utils/base/containers/order.h"
#include "utils/base/containers/strbuf.h"
#include "utils/base/containers/vec.h"
#include "utils/format/text.h"
#include "utils/pipeline/event.h"

#define EVENTS_FILE_MAX_BYTES (16UL << 20)
/* Longer names are truncated, since the text of each event contains the name. */
#define NAME_MAX_BYTES	      1024U

/*
 * Add a type of event with this id and name. The other properties come from event_kind_fixed(id).
 * The function takes ownership of @name, which is on the heap, even if the function fails.
 */
static int take_name(struct event_kinds *kinds, uint64_t id, char *name)
{
	struct event_kind *grown = vec_grow(kinds->kinds, kinds->nr, sizeof(*grown));

	if (grown)
		kinds->kinds = grown;
	if (!grown || !name) {
		free(name);
		return -ENOMEM;
	}

	const struct event_kind *nameless = event_kind_fixed(id);

	if (strlen(name) > NAME_MAX_BYTES)
		name[NAME_MAX_BYTES] = '\0';
	grown[kinds->nr++] = (struct event_kind){
		.id = id,
		.name = name,
		.origin = nameless->origin,
		.flags = nameless->flags & ~EVENT_KIND_NAMELESS,
		.fields = nameless->fields,
		.nr_fields = nameless->nr_fields,
		.get = nameless->get,
	};
	return 0;
}

static int add_line(struct event_kinds *kinds, struct text line)
{
	uint64_t id;

	if (!text_word(&line, "EVENT: ") || !text_dec(&line, &id) || !text_word(&line, " ") ||
	    !text_left(&line))
		return -EINVAL;
	return take_name(kinds, id, text_dup(&line));
}

static int read_file(struct event_kinds *kinds, struct uft_err *err)
{
	struct strbuf content cleanup_strbuf = { 0 };
	const struct trace_data *data = kinds->data;
	char path[PATH_MAX];
	struct text line;
	bool whole;

	snprintf(path, sizeof(path), "%s/events.txt", data->dir);
	/* The header of a growing recording does not tell whether events.txt exists. */
	if (data->growth ? access(path, F_OK) < 0 : !(data->header.feat_mask & FEAT_EVENT))
		return 0;

	int ret = file_read_all(path, EVENTS_FILE_MAX_BYTES, &content, err);
	struct text in = text_of(content.data, content.len);

	for (size_t nr = 1; ret == 0 && text_line(&in, &line, &whole); nr++) {
		if (line.at == line.end)
			continue;
		/* In a growing recording, a line without its newline is still being written. */
		if (!whole && data->growth)
			break;
		ret = add_line(kinds, line);
		if (ret < 0)
			err_set(err, ret,
				"cannot read '%s': line %zu: expected 'EVENT: <id> <name>'", path,
				nr);
	}
	return ret;
}

/* Add the events of the kernel. Their names come from the recording's file kernel_header. */
static int add_kernel_names(struct event_kinds *kinds)
{
	const struct kernel_formats *kernel = &kinds->data->kernel;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < kernel->nr_types; i++) {
		const struct kernel_event_type *type = &kernel->types[i];
		struct strbuf name cleanup_strbuf = { 0 };

		strbuf_add(&name, type->system.at, text_left(&type->system));
		strbuf_addch(&name, ':');
		strbuf_add(&name, type->event.at, text_left(&type->event));
		ret = take_name(kinds, type->id, strdup(strbuf_str(&name)));
	}
	return ret;
}

/* Sort by id, then by name. So the choice among several names for one id is always the same. */
static int compare_kinds(const void *a, const void *b)
{
	const struct event_kind *x = a;
	const struct event_kind *y = b;
	int by_id = order_u64(&x->id, &y->id);

	return by_id ? by_id : strcmp(x->name, y->name);
}

static int read_definitions(struct event_kinds *kinds, struct uft_err *err)
{
	int ret = declared_events_load(&kinds->declared, kinds->data->dir, err);

	for (size_t i = 0; i < kinds->nr; i++) {
		struct declared_event *event = declared_events_find(&kinds->declared,
								    kinds->kinds[i].id);

		if (event)
			declared_event_set(event, &kinds->kinds[i]);
	}
	return ret;
}

int event_kinds_load(struct event_kinds *kinds, const struct trace_data *data, struct uft_err *err)
{
	*kinds = (struct event_kinds){ .data = data };

	int ret = add_kernel_names(kinds);

	if (ret == 0)
		ret = read_file(kinds, err);
	if (ret == 0)
		ret = read_definitions(kinds, err);
	if (ret < 0) {
		event_kinds_deinit(kinds);
		return err_set_errno(err, ret, "cannot read the names of events");
	}
	if (kinds->nr)
		qsort(kinds->kinds, kinds->nr, sizeof(*kinds->kinds), compare_kinds);
	return 0;
}

void event_kinds_deinit(struct event_kinds *kinds)
{
	for (size_t i = 0; i < kinds->nr; i++)
		free((char *)kinds->kinds[i].name);
	free(kinds->kinds);
	declared_events_deinit(&kinds->declared);
	*kinds = (struct event_kinds){ 0 };
}

/* Find the first kind with this id. */
static const struct event_kind *find_first_kind(const struct event_kinds *kinds, uint64_t id)
{
	_Static_assert(offsetof(struct event_kind, id) == 0, "ordered by order_u64()");

	size_t low = order_count_below(kinds->kinds, kinds->nr, sizeof(*kinds->kinds), id);

	return low < kinds->nr && kinds->kinds[low].id == id ? &kinds->kinds[low] : NULL;
}

const struct event_kind *event_kinds_find(struct event_kinds *kinds, uint64_t id)
{
	const struct event_kind *fixed = event_kind_fixed(id);
	const struct trace_data *data = kinds->data;
	const struct event_kind *found;

	if (!(fixed->flags & EVENT_KIND_NAMELESS))
		return fixed;
	found = find_first_kind(kinds, id);
	if (!found && (fixed->flags & EVENT_KIND_BY_NAME) && data && data->growth) {
		event_kinds_deinit(kinds);
		if (event_kinds_load(kinds, data, NULL) < 0)
			*kinds = (struct event_kinds){ .data = data };
		found = find_first_kind(kinds, id);
	}
	return found ? found : fixed;
}

int event_kinds_each(const struct event_kinds *kinds,
		     int (*fn)(void *self, const struct event_kind *kind), void *self)
{
	static const struct event_rows *const fixed[] = { EVENT_ROWS };
	int ret = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++) {
		for (size_t k = 0; fixed[i] && ret >= 0 && k < fixed[i]->nr; k++)
			ret = fn(self, &fixed[i]->rows[k]);
	}
	for (size_t i = 0; ret >= 0 && i < kinds->nr; i++)
		ret = fn(self, &kinds->kinds[i]);
	return MIN(ret, 0);
}
