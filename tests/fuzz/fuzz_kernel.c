/*
 * Fuzz target: kernel_header and kernel-cpu<N>.dat. Two bytes tell the length of the header. After
 * it comes one file, which is read as that of two CPUs, and as kallsyms. The events found are
 * shown, too, so that the library for event formats gets to see all formats.
 */
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"
#include "utils/format/kernel/kernel_dat.h"
#include "utils/pipeline/merger.h"
#include "utils/pipeline/sources/src_kernel.h"
#include "utils/view/values/eventtext.h"

/* A limit of events for each input: more of them would run no other code. */
#define EVENTS_MAX 2000

static void read_pages(const struct kernel_layout *layout, const uint8_t *data, size_t size)
{
	while (size) {
		size_t len = size < layout->page_bytes ? size : layout->page_bytes;
		struct kernel_page page;
		struct kernel_record rec;
		struct uft_err err = { 0 };
		int ret = kernel_page_open(&page, layout, data, len, &err);

		while (ret >= 0 && (ret = kernel_page_next(&page, &rec, &err)) > 0)
			FUZZ_CHECK(rec.data >= data && rec.len <= len &&
				   rec.data + rec.len <= data + len && rec.start < rec.data);
		fuzz_check_error(ret < 0, &err);
		data += len;
		size -= len;
	}
}

/* Check that a header that is written can be read again, and says the same. */
static void check_round_trip(const struct kernel_header *header)
{
	struct kernel_header again cleanup_kernel_header = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };
	bool is_cut;

	kernel_header_put_layout(&text, &header->layout);
	for (size_t i = 0; i < header->nr_files; i++) {
		char *name cleanup_free = text_dup(&header->files[i].name);

		if (!name || strlen(name) != text_left(&header->files[i].name))
			return;
		kernel_header_put_file(&text, name, header->files[i].content.at,
				       text_left(&header->files[i].content));
	}
	FUZZ_CHECK(kernel_header_decode(&again, text_of(text.data, text.len), &is_cut, NULL) == 0);
	FUZZ_CHECK(!is_cut && again.nr_files == header->nr_files);
}

static void show(const struct trace_data *data, const struct merger *feed)
{
	struct event_texts texts;
	struct uft_err err = { 0 };
	unsigned nr = 0;

	if (event_texts_load(&texts, data, &err) < 0)
		return;
	for (size_t i = 0; i < feed->nr_queues; i++) {
		for (size_t k = 0; k < feed->queues[i].nr && nr < EVENTS_MAX; k++, nr++) {
			const struct queued *queued = &feed->queues[i].events[k];
			struct event event = {
				.id = queued->addr,
				.type = EVENT_POINT,
				.data = queued->data,
				.data_len = queued->data_len,
			};
			struct strbuf text cleanup_strbuf = { 0 };

			FUZZ_CHECK(k == 0 || queued[-1].time_ns <= queued->time_ns);
			event_put_name(&texts, &event, &text);
			FUZZ_CHECK(text.len);
			event_put_data(&texts, &data->tasks[i], &event, &text);
			FUZZ_CHECK(strcspn(text.data, "\n") == text.len);
		}
	}
	event_texts_deinit(&texts);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_input in = { bytes, size };
	struct task tasks[] = { { .tid = 1, .pid = 1 }, { .tid = 2, .pid = 1, .index = 1 } };
	struct trace_data data = {
		.dir = (char *)fuzz_empty_dir(),
		.tasks = tasks,
		.nr_tasks = ARRAY_SIZE(tasks),
	};
	static const struct source_kind *const kinds[] = { &src_kernel_kind, NULL };
	struct kernel_losses losses = { 0 };
	struct merger feed = { 0 };
	struct uft_err broken = { 0 };
	struct uft_err err = { 0 };
	const struct source_context context = {
		.data = &data, .broken = &broken, .losses = &losses, .takes_notes = true
	};
	size_t header_len;
	const uint8_t *header = fuzz_bytes(&in, fuzz_u16(&in), &header_len);

	fuzz_write_file("kernel_header", header, header_len);
	fuzz_write_file("kallsyms", in.data, in.size);
	fuzz_write_file("kernel-cpu0.dat", in.data, in.size);
	fuzz_write_file("kernel-cpu1.dat", in.data, in.size / 2);

	int ret = merger_open(&feed, &context, kinds, &err);

	for (size_t i = 0; ret == 0 && i < feed.nr_queues; i++)
		feed.queues[i].is_wanted = true;
	if (ret == 0)
		ret = merger_fill(&feed, SIZE_MAX, &err);
	fuzz_check_error(ret < 0, &err);
	fuzz_check_error(broken.code != 0, &broken);
	if (ret == 0 && losses.has_files) {
		check_round_trip(&data.kernel.header);
		read_pages(&data.kernel.header.layout, in.data, in.size);
		show(&data, &feed);
	}
	merger_close(&feed);
	kernel_formats_deinit(&data.kernel);
	return 0;
}
