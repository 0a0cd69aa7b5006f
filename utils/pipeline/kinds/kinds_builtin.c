/* Types of the probe's own events: values that the probe reads or watches, and call sites. */
#include "utils/format/bytes.h"
#include "utils/format/event_ids.h"
#include "utils/pipeline/kinds/event_kind.h"
#include "utils/pipeline/recording/session.h"

static const struct event_field statm[] = {
	{ "vmsize", FIELD_UINT, 8, "KB" },
	{ "vmrss", FIELD_UINT, 8, "KB" },
	{ "shared", FIELD_UINT, 8, "KB" },
};
static const struct event_field statm_diff[] = {
	{ "vmsize", FIELD_DIFF, 8, "KB" },
	{ "vmrss", FIELD_DIFF, 8, "KB" },
	{ "shared", FIELD_DIFF, 8, "KB" },
};
static const struct event_field page_fault[] = {
	{ "major", FIELD_UINT, 8 },
	{ "minor", FIELD_UINT, 8 },
};
static const struct event_field page_fault_diff[] = {
	{ "major", FIELD_DIFF, 8 },
	{ "minor", FIELD_DIFF, 8 },
};
static const struct event_field cycle[] = {
	{ "cycles", FIELD_UINT, 8 },
	{ "instructions", FIELD_UINT, 8 },
};
static const struct event_field cycle_diff[] = {
	{ "cycles", FIELD_DIFF, 8 },
	{ "instructions", FIELD_DIFF, 8 },
	{ "IPC", FIELD_RATIO },
};
static const struct event_field cache[] = {
	{ "refers", FIELD_UINT, 8 },
	{ "misses", FIELD_UINT, 8 },
};
static const struct event_field cache_diff[] = {
	{ "refers", FIELD_DIFF, 8 },
	{ "misses", FIELD_DIFF, 8 },
	{ "hit", FIELD_PERCENT },
};
static const struct event_field branch[] = {
	{ "branch", FIELD_UINT, 8 },
	{ "misses", FIELD_UINT, 8 },
};
static const struct event_field branch_diff[] = {
	{ "branch", FIELD_DIFF, 8 },
	{ "misses", FIELD_DIFF, 8 },
	{ "predict", FIELD_PERCENT },
};
static const struct event_field cpu[] = {
	{ "cpu", FIELD_INT, 4 },
};
static const struct event_field variable[] = {
	{ "address", FIELD_ADDR },
	{ "value", FIELD_HEX },
};
static const struct event_field site[] = {
	{ "address", FIELD_ADDR, 8 },
};

/*
 * Get a field of a kind with three fields. The payload has fields 0 and 1. Field 2 is computed from
 * fields 0 and 1: instructions per cycle, or the percentage of events that were not misses.
 */
static bool get_with_rate(const struct event_kind *kind, const struct event_context *context,
			  size_t index, struct event_value *out)
{
	struct event_value all;
	struct event_value some;

	if (index < 2)
		return event_payload_get(kind, context, index, out);
	if (!event_payload_get(kind, context, 0, &all) ||
	    !event_payload_get(kind, context, 1, &some) || !all.number)
		return false;
	out->type = kind->fields[index].type;
	if (out->type == FIELD_RATIO)
		out->ratio = (double)some.number / all.number;
	else
		out->ratio = (double)(all.number - some.number) * 100 / all.number;
	return true;
}

/*
 * Get a field of a watched variable. The payload begins with the variable's address, in 4 bytes for
 * a 32-bit program, and in 8 bytes for a 64-bit program. The value of 1 to 8 bytes follows.
 */
static bool get_variable(const struct event_kind *kind, const struct event_context *context,
			 size_t index, struct event_value *out)
{
	const struct event *event = context->event;
	size_t word = context->data->header.elf_class == HEADER_CLASS_64 ? 8 : 4;
	bool big = context->data->is_big_endian;

	if (!event->data || event->data_len <= word || event->data_len > word + 8)
		return false;
	*out = (struct event_value){ .type = kind->fields[index].type };
	if (index == 0) {
		out->number = word == 8 ? get_u64(event->data, big) : get_u32(event->data, big);
		return true;
	}

	out->number = get_uint(event->data + word, event->data_len - word, big);
	return true;
}

/* Write the name of the object at @addr, as views do for an argument of the format "/p". */
static bool put_object_name(const struct session *session, uint64_t addr, struct strbuf *out)
{
	for (size_t i = 0; session && i < session->map.nr; i++) {
		const struct map_entry *entry = &session->map.entries[i];
		struct module *mod = session->modules[i];

		if (addr < entry->start || addr >= entry->end || !mod ||
		    module_load(session->set, mod, NULL) < 0)
			continue;

		const struct symbol *sym = symtab_find(&mod->symtab, addr - entry->start);

		if (sym) {
			strbuf_addstr(out, sym->name);
			return true;
		}
	}
	return false;
}

/* Write "counter=2a". */
static void put_variable(const struct event_kind *kind, const struct event_context *context,
			 struct strbuf *out)
{
	const struct task *task = context->task;
	const struct session *session = task ? task_session(task, context->event->time_ns) : NULL;
	struct event_value addr;
	struct event_value value;

	if (!get_variable(kind, context, 0, &addr) || !get_variable(kind, context, 1, &value))
		return;
	if (!put_object_name(session, addr.number, out))
		strbuf_addf(out, "[0x%llx]", (unsigned long long)addr.number);
	strbuf_addf(out, "=%llx", (unsigned long long)value.number);
}

/* Write nothing, because a view prints a call site together with the next call of the task. */
static void put_nothing(const struct event_kind *kind, const struct event_context *context,
			struct strbuf *out)
{
}

#define ROW(id, name, fields, ...)                                                       \
	{                                                                                \
		id, name, EVENT_OF_PROGRAM, EVENT_KIND_OF_TRIGGER, EVENT_FIELDS(fields), \
			__VA_ARGS__                                                      \
	}

static const struct event_kind rows[] = {
	ROW(EVENT_ID_READ_STATM, "read:proc/statm", statm),
	ROW(EVENT_ID_READ_PAGE_FAULT, "read:page-fault", page_fault),
	ROW(EVENT_ID_DIFF_STATM, "diff:proc/statm", statm_diff),
	ROW(EVENT_ID_DIFF_PAGE_FAULT, "diff:page-fault", page_fault_diff),
	ROW(EVENT_ID_READ_PMU_CYCLE, "read:pmu-cycle", cycle),
	ROW(EVENT_ID_DIFF_PMU_CYCLE, "diff:pmu-cycle", cycle_diff, .get = get_with_rate),
	ROW(EVENT_ID_READ_PMU_CACHE, "read:pmu-cache", cache),
	ROW(EVENT_ID_DIFF_PMU_CACHE, "diff:pmu-cache", cache_diff, .get = get_with_rate),
	ROW(EVENT_ID_READ_PMU_BRANCH, "read:pmu-branch", branch),
	ROW(EVENT_ID_DIFF_PMU_BRANCH, "diff:pmu-branch", branch_diff, .get = get_with_rate),
	ROW(EVENT_ID_WATCH_CPU, "watch:cpu", cpu),
	ROW(EVENT_ID_WATCH_VAR, "watch:var", variable, .get = get_variable, .put = put_variable),
	{
		EVENT_ID_CALLSITE,
		"callsite",
		EVENT_OF_PROGRAM,
		EVENT_KIND_OF_CALL,
		EVENT_FIELDS(site),
		.put = put_nothing,
	},
};

const struct event_rows event_rows_builtin = { rows, ARRAY_SIZE(rows) };
