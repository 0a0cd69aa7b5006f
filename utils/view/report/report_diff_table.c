/*
 * A comparison of recordings has a list of fields. This file makes the list from the fields that
 * the user has chosen. A chosen field with the kind FIELD_COUNTERS becomes two fields for each
 * counter of the recordings (see report_diff_rows.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/pipeline/kinds/event_kinds.h"
#include "utils/view/report/report_diff_rows.h"

/* The data of see_counter(), which is called for each kind of event of a recording. */
struct search {
	struct diff_table *adds_to; /* the table to which new names are added; may be NULL */
	const struct diff_table *table;
	int *places;
};

static size_t find_field_name(const struct diff_table *table, const char *name)
{
	size_t i = 0;

	while (i < table->nr_names && strcmp(table->names[i], name) != 0)
		i++;
	return i;
}

static int see_counter(void *self, const struct event_kind *kind)
{
	struct search *search = self;
	size_t index;
	const char *name = event_kind_counter(kind, &index);
	size_t at = name ? find_field_name(search->table, name) : DIFF_COUNTERS_MAX;

	if (at == DIFF_COUNTERS_MAX || index >= COUNTERS_MAX)
		return 0;
	if (at == search->table->nr_names && search->adds_to) {
		search->adds_to->names[at] = strdup(name);
		if (!search->adds_to->names[at])
			return -ENOMEM;
		search->adds_to->nr_names++;
	}
	if (search->places && at < search->table->nr_names)
		search->places[at] = index;
	return 0;
}

static int search_counters(struct search *search, const struct aggregate *agg, struct uft_err *err)
{
	struct event_kinds kinds = { 0 };
	int ret = event_kinds_load(&kinds, agg->pipe->data, err);

	if (ret < 0)
		return ret;
	ret = event_kinds_each(&kinds, see_counter, search);
	event_kinds_deinit(&kinds);
	return ret < 0 ? err_set_errno(err, ret, "cannot compare counters") : 0;
}

int diff_table_places(const struct diff_table *table, const struct aggregate *agg,
		      int places[static DIFF_COUNTERS_MAX], struct uft_err *err)
{
	struct search search = { .table = table, .places = places };

	for (size_t i = 0; i < DIFF_COUNTERS_MAX; i++)
		places[i] = -1;
	return table->nr_names ? search_counters(&search, agg, err) : 0;
}

/* Add two fields for each counter. */
static int add_counters(struct diff_table *table)
{
	static const char *const suffixes[] = { " per call", "-per-call" };

	for (size_t i = 0; i < table->nr_names; i++) {
		char **titles = &table->titles[2 * i];

		for (size_t k = 0; k < ARRAY_SIZE(suffixes); k++) {
			if (asprintf(&titles[k], "%s%s", table->names[i], suffixes[k]) < 0) {
				titles[k] = NULL;
				return -ENOMEM;
			}
		}

		const struct column columns[] = {
			{ .name = table->names[i], .header = table->names[i] },
			{ .name = titles[1], .header = titles[0] },
		};

		for (size_t k = 0; k < ARRAY_SIZE(columns); k++) {
			struct diff_field *field = &table->fields[table->nr_fields++];

			*field = diff_counter_fields[k];
			field->column = columns[k];
			field->counter = i;
		}
	}
	return 0;
}

static int add_keys(struct diff_table *table, struct uft_err *err)
{
	const struct report_diff *diff = table->diff;

	for (size_t i = 0; i < diff->nr_keys; i++) {
		struct diff_field *key = &table->keys[table->nr_keys++];

		if (diff->keys[i] < DIFF_FIELD_KEYS) {
			*key = diff_fields[diff->keys[i]];
			continue;
		}
		/* DIFF_FIELD_KEYS sorts by the function's name. Such a key has no @value. */
		if (diff->keys[i] == DIFF_FIELD_KEYS)
			continue;

		const char *name =
			diff->key_counters.list[diff->keys[i] - DIFF_FIELD_KEYS - 1].name;

		*key = diff_counter_fields[0];
		key->counter = find_field_name(table, name);
		if (key->counter == table->nr_names)
			return err_set(err, -ERR_USAGE,
				       "sort key '%s': none of the recordings has that counter",
				       name);
	}
	return 0;
}

int diff_table_init(struct diff_table *table, const struct report_diff *diff,
		    const struct aggregate *aggs, size_t nr, struct uft_err *err)
{
	struct search search = { .adds_to = table, .table = table };
	int ret = 0;

	*table = (struct diff_table){ .diff = diff };
	for (size_t i = 0; ret == 0 && i < nr; i++)
		ret = search_counters(&search, &aggs[i], err);
	for (size_t i = 0; ret == 0 && i < diff->columns.nr; i++) {
		const struct diff_field *field = &diff_fields[diff->columns.columns[i]];

		if (field->kind == FIELD_COUNTERS)
			ret = add_counters(table);
		else
			table->fields[table->nr_fields++] = *field;
	}
	return ret < 0 ? ret : add_keys(table, err);
}

void diff_table_deinit(struct diff_table *table)
{
	for (size_t i = 0; i < table->nr_names; i++)
		free(table->names[i]);
	for (size_t i = 0; i < ARRAY_SIZE(table->titles); i++)
		free(table->titles[i]);
}
