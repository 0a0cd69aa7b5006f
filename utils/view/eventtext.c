/* The text of an event that is no call (see eventtext.h). */
#include "utils/view/eventtext.h"

#include "utils/format/bytes.h"
#include "utils/view/kerneltext.h"

int event_texts_load(struct event_texts *texts, const struct trace_data *data, struct uft_err *err)
{
	*texts = (struct event_texts){ .kernel = kerneltext_create(&data->kernel, data->dir) };

	int ret = event_names_load(&texts->names, data, err);

	if (ret < 0)
		event_texts_deinit(texts);
	return ret;
}

void event_texts_deinit(struct event_texts *texts)
{
	event_names_deinit(&texts->names);
	kerneltext_destroy(texts->kernel);
	*texts = (struct event_texts){ 0 };
}

/*
 * How the data of a built-in event is shown.
 *
 * @labels: one per 64-bit number
 * @unit: behind each number
 * @is_diff: numbers get a plus sign
 * @rate: of a pair: how to call the second one's share, or NULL
 */
static const struct event_form {
	enum event_id id;
	const char *labels[3];
	const char *unit;
	bool is_diff;
	const char *rate;
} event_forms[] = {
	{ EVENT_ID_READ_STATM, { "vmsize", "vmrss", "shared" }, "KB" },
	{ EVENT_ID_READ_PAGE_FAULT, { "major", "minor" } },
	{ EVENT_ID_DIFF_STATM, { "vmsize", "vmrss", "shared" }, "KB", true },
	{ EVENT_ID_DIFF_PAGE_FAULT, { "major", "minor" }, NULL, true },
	{ EVENT_ID_READ_PMU_CYCLE, { "cycles", "instructions" } },
	{ EVENT_ID_DIFF_PMU_CYCLE, { "cycles", "instructions" }, NULL, true, "IPC" },
	{ EVENT_ID_READ_PMU_CACHE, { "refers", "misses" } },
	{ EVENT_ID_DIFF_PMU_CACHE, { "refers", "misses" }, NULL, true, "hit" },
	{ EVENT_ID_READ_PMU_BRANCH, { "branch", "misses" } },
	{ EVENT_ID_DIFF_PMU_BRANCH, { "branch", "misses" }, NULL, true, "predict" },
};

static const struct event_form *form_find(uint64_t id)
{
	for (size_t i = 0; i < ARRAY_SIZE(event_forms); i++) {
		if (event_forms[i].id == id)
			return &event_forms[i];
	}
	return NULL;
}

void event_put_name(struct event_texts *texts, const struct event *event, struct strbuf *out)
{
	const char *name = event_names_find(&texts->names, event->addr);

	if (name)
		strbuf_addstr(out, name);
	else
		strbuf_addf(out, "%s:%llu",
			    event->addr < EVENT_ID_BUILTIN ? "kernel_event"
			    : event->addr < EVENT_ID_USER  ? "builtin_event"
							   : "user_event",
			    (unsigned long long)event->addr);
}

/* cycles and instructions: per cycle. Others: how many of a hundred were not missed. */
static void put_rate(const struct event_form *form, const uint64_t values[2], struct strbuf *out)
{
	if (!form->rate || !values[0])
		return;
	if (form->id == EVENT_ID_DIFF_PMU_CYCLE)
		strbuf_addf(out, " %s=%.2f", form->rate, (double)values[1] / values[0]);
	else
		strbuf_addf(out, " %s=%.2f%%", form->rate,
			    (double)(values[0] - values[1]) * 100 / values[0]);
}

static void put_numbers(const struct event_form *form, const struct event *event, bool big,
			const char *sign, struct strbuf *out)
{
	uint64_t values[3] = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(form->labels) && form->labels[i]; i++) {
		if (event->data_len < (i + 1) * 8)
			return;
		values[i] = get_u64(event->data + i * 8, big);
		strbuf_addf(out, "%s%s=%s%llu%s", i ? " " : "", form->labels[i],
			    form->is_diff ? sign : "", (unsigned long long)values[i],
			    form->unit ? form->unit : "");
	}
	put_rate(form, values, out);
}

/* The object at @addr by name, as "/p" arguments show it. */
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

static void put_watch_var(const struct trace_data *data, const struct task *task,
			  const struct event *event, struct strbuf *out)
{
	size_t word = data->header.elf_class == HEADER_CLASS_64 ? 8 : 4;
	bool big = data->is_big_endian;

	if (event->data_len <= word || event->data_len > word + 8)
		return;

	uint64_t addr = word == 8 ? get_u64(event->data, big) : get_u32(event->data, big);
	size_t len = event->data_len - word;
	uint64_t value = 0;

	for (size_t i = 0; i < len; i++)
		value |= (uint64_t)event->data[word + i] << (big ? len - 1 - i : i) * 8;
	if (!put_object_name(task_session(task, event->time_ns), addr, out))
		strbuf_addf(out, "[0x%llx]", (unsigned long long)addr);
	strbuf_addf(out, "=%llx", (unsigned long long)value);
}

static void put_data(struct event_texts *texts, const struct task *task, const struct event *event,
		     const char *sign, struct strbuf *out)
{
	const struct trace_data *data = texts->names.data;
	const struct event_form *form = form_find(event->addr);

	if (event->addr == EVENT_ID_TASK_NAME && task)
		strbuf_addf(out, "comm=\"%s\"", task_name_at(task, event->time_ns));
	else if (event->addr < EVENT_ID_BUILTIN && event->data)
		kerneltext_put_fields(texts->kernel, event->addr, event->data, event->data_len,
				      out);
	else if (!event->data)
		return;
	else if (event->addr == EVENT_ID_WATCH_CPU && event->data_len >= 4)
		strbuf_addf(out, "cpu=%d", (int)get_u32(event->data, data->is_big_endian));
	else if (event->addr == EVENT_ID_WATCH_VAR)
		put_watch_var(data, task, event, out);
	else if (form)
		put_numbers(form, event, data->is_big_endian, sign, out);
}

void event_put_data(struct event_texts *texts, const struct task *task, const struct event *event,
		    struct strbuf *out)
{
	put_data(texts, task, event, "+", out);
}

void event_put_raw_data(struct event_texts *texts, const struct task *task,
			const struct event *event, struct strbuf *out)
{
	put_data(texts, task, event, "", out);
}
