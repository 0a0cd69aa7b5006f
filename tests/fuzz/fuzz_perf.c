/* Fuzz target: perf-cpu<N>.dat. The first byte is the byte order, the rest one file, read as of two CPUs. */
#include "tests/fuzz/fuzz.h"
#include "utils/format/perf_dat.h"
#include "utils/trace/src_perf.h"

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
	struct src_perf src = { 0 };
	struct uft_err err = { 0 };

	decode_all(in.data, in.size, data.is_big_endian);
	fuzz_write_file("perf-cpu0.dat", in.data, in.size);
	fuzz_write_file("perf-cpu1.dat", in.data, in.size / 2);

	struct uft_err broken = { 0 };
	int ret = src_perf_load(&src, &data, &broken, &err);

	fuzz_check_error(ret < 0, &err);
	fuzz_check_error(broken.code != 0, &broken);
	for (size_t i = 0; ret == 0 && i < src.nr_queues; i++) {
		for (size_t k = 1; k < src.queues[i].nr; k++)
			FUZZ_CHECK(src.queues[i].events[k - 1].time_ns <=
				   src.queues[i].events[k].time_ns);
	}
	src_perf_deinit(&src);
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++) {
		for (size_t k = 0; k < tasks[i].nr_names; k++)
			free(tasks[i].names[k].name);
		free(tasks[i].names);
	}
	return 0;
}
