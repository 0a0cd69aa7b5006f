/*
 * Fuzz target: proc.dat. The first byte is the byte order, the rest is the file. It is read as the
 * file of one of two tasks, each event becomes text, and executions become a compilation database
 * and trees.
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "utils/format/proc_dat.h"
#include "utils/builddb/compdb.h"
#include "utils/builddb/deps.h"
#include "utils/builddb/tree.h"
#include "utils/pipeline/kinds/event_kind.h"
#include "utils/pipeline/sources/src_proc.h"

static void decode_all(const uint8_t *data, size_t size, bool big)
{
	struct proc_record rec;
	struct uft_err err = { 0 };
	size_t wanted;
	ssize_t used;

	while ((used = proc_record_decode(data, size, big, &rec, &wanted, &err)) > 0) {
		FUZZ_CHECK((size_t)used <= size && rec.len <= (size_t)used);
		data += used;
		size -= used;
	}
	FUZZ_CHECK(used < 0 || wanted > size);
	fuzz_check_error(used < 0, &err);
}

static void put_text(const struct trace_data *data, const struct task *task,
		     const struct event *event)
{
	const struct event_context context = { data, task, event, false };
	const struct event_kind *kind = event_kind_fixed(event->id);
	struct strbuf text cleanup_strbuf = { 0 };
	struct event_value value;

	FUZZ_CHECK(!(kind->flags & EVENT_KIND_NAMELESS));
	event_kind_put(kind, &context, &text);
	for (size_t i = 0; i < kind->nr_fields; i++)
		event_kind_get(kind, &context, i, &value);
}

static void check_executions(const struct executions *got)
{
	for (size_t i = 0; i < got->nr; i++) {
		const struct execution *one = &got->all[i];

		FUZZ_CHECK(one->start_ns <= one->end_ns);
		FUZZ_CHECK(one->parent == EXECUTION_NONE || one->parent < i);
		FUZZ_CHECK(one->previous == EXECUTION_NONE || one->previous < i);
		FUZZ_CHECK(one->next_child == EXECUTION_NONE || one->next_child > i);
		for (size_t k = one->first_place; k != EXECUTION_NONE; k = got->places[k].next)
			FUZZ_CHECK(k < got->nr_places && got->places[k].cpu >= 0);
	}
}

static void show_executions(const char *dir, bool big)
{
	struct executions got cleanup_executions = { 0 };
	struct files files cleanup_files = { 0 };
	struct compdb db cleanup_compdb = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };
	struct sink sink cleanup_sink = { 0 };
	struct uft_err broken = { 0 }, err = { 0 };
	int ret = files_load(&files, &got, dir, big, &broken, &err);

	fuzz_check_error(ret < 0, &err);
	check_executions(&got);
	FUZZ_CHECK(compdb_add_executions(&db, &got) == 0);
	FUZZ_CHECK(sink_init_text(&sink, &text) == 0);
	compdb_write(&db, &sink);
	tree_json(&got, &files, &sink);
	tree_dot(&got, &sink);
	FUZZ_CHECK(deps_rules(&got, &files, &sink) == 0);
	deps_read_again(&got, &files, &sink);
	FUZZ_CHECK(deps_run_again(&got, &files, &sink) == 0);
	if (files.nr_contents) {
		FUZZ_CHECK(deps_needs(&got, &files, files.nr_contents - 1, &sink) == 0);
		FUZZ_CHECK(deps_used_by(&got, &files, 0, &sink) == 0);
	}
	FUZZ_CHECK(sink_flush(&sink) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_input in = { bytes, size };
	struct task tasks[] = { { .tid = 1, .pid = 1 }, { .tid = 2, .pid = 1, .index = 1 } };
	struct trace_data data = {
		.dir = (char *)fuzz_empty_dir(),
		.is_big_endian = fuzz_u8(&in) & 1,
		.tasks = tasks,
		.nr_tasks = ARRAY_SIZE(tasks),
	};
	struct task_list newcomers = { 0 };
	const struct source_context context = { .data = &data,
						.newcomers = &newcomers,
						.takes_notes = true };
	struct source_list list = { 0 };
	struct uft_err err = { 0 };
	struct event event;
	ssize_t nr = 0;

	decode_all(in.data, in.size, data.is_big_endian);
	fuzz_write_file("proc.dat", in.data, in.size);

	int ret = src_proc_kind.open(&context, &list, &err);

	for (size_t i = 0; ret == 0 && i < list.nr; i++) {
		while (source_next_ns(list.all[i]) != UINT64_MAX &&
		       (nr = source_read(list.all[i], &event, 1, UINT64_MAX, &err)) > 0)
			put_text(&data, list.all[i]->task, &event);
		source_close(list.all[i]);
	}
	fuzz_check_error(ret < 0 || nr < 0, &err);
	show_executions(data.dir, data.is_big_endian);
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++) {
		for (size_t k = 0; k < tasks[i].nr_names; k++)
			free(tasks[i].names[k].name);
		free(tasks[i].names);
	}
	task_list_deinit(&newcomers);
	free(list.all);
	return 0;
}
