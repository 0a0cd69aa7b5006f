/*
 * Fuzz target: perf-cpu<N>.dat. The first byte chooses the byte order. The rest is the file of CPU
 * 0, and the first half of the rest is also the file of CPU 1.
 */
#include "tests/fuzz/fuzz.h"
#include "utils/format/kernel/perf_dat.h"
#include "utils/pipeline/merger.h"
#include "utils/pipeline/sources/src_perf.h"

static void decode_all(const uint8_t *data, size_t size, bool big)
{
	struct perf_record rec;
	struct uft_err err = { 0 };
	ssize_t used;

	while ((used = perf_record_decode(data, size, big, &rec, &err)) > 0) {
		FUZZ_CHECK((size_t)used <= size);
		data += used;
		size -= used;
	}
	fuzz_check_error(used < 0, &err);
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
	static const struct source_kind *const kinds[] = { &src_perf_kind, NULL };
	struct survey surveys[ARRAY_SIZE(tasks)];
	struct merger feed = { 0 };
	struct uft_err broken = { 0 };
	struct uft_err err = { 0 };
	const struct source_context context = { .data = &data,
						.broken = &broken,
						.takes_notes = true };

	decode_all(in.data, in.size, data.is_big_endian);
	fuzz_write_file("perf-cpu0.dat", in.data, in.size);
	fuzz_write_file("perf-cpu1.dat", in.data, in.size / 2);

	int ret = merger_open(&feed, &context, kinds, &err);

	if (ret == 0)
		ret = merger_survey(&feed, surveys, &err);
	fuzz_check_error(ret < 0, &err);
	fuzz_check_error(broken.code != 0, &broken);
	merger_close(&feed);
	if (ret == 0)
		ret = merger_open(&feed, &context, kinds, &err);
	for (size_t i = 0; ret == 0 && i < feed.nr_queues; i++)
		feed.queues[i].is_wanted = true;
	if (ret == 0)
		ret = merger_fill(&feed, SIZE_MAX, &err);
	for (size_t i = 0; ret == 0 && i < feed.nr_queues; i++) {
		FUZZ_CHECK(feed.queues[i].nr == surveys[i].nr);
		for (size_t k = 1; k < feed.queues[i].nr; k++)
			FUZZ_CHECK(feed.queues[i].events[k - 1].time_ns <=
				   feed.queues[i].events[k].time_ns);
	}
	merger_close(&feed);
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++) {
		for (size_t k = 0; k < tasks[i].nr_names; k++)
			free(tasks[i].names[k].name);
		free(tasks[i].names);
	}
	return 0;
}
