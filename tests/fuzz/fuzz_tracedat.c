/*
 * Fuzz target: a trace.dat. The input is either a whole file, or the data of one CPU, compressed or
 * not, in a file that is otherwise valid.
 */
#include <errno.h>
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"
#include "utils/base/cleanup.h"
#include "utils/format/kernel/kernel_pages.h"
#include "utils/tracecmd/records.h"

/* The limit of records per input; a chunk may have many. */
#define RECORDS_MAX 20000

static int check_page(void *self, const uint8_t *bytes, size_t len)
{
	const struct kernel_layout *layout = self;
	struct kernel_page page;
	struct kernel_record rec;
	uint64_t time_ns = 0;

	FUZZ_CHECK(len == layout->page_bytes);
	FUZZ_CHECK(kernel_page_open(&page, layout, bytes, len, NULL) == 0);
	while (kernel_page_next(&page, &rec, NULL) > 0) {
		FUZZ_CHECK(rec.time_ns >= time_ns);
		time_ns = rec.time_ns;
	}
	FUZZ_CHECK(page.at == page.end);
	return 0;
}

/* Reads all records of one CPU into pages of a recording. */
static void read_cpu(struct tracedat *file, const struct tracedat_buffer *buffer,
		     const struct tracedat_cpu *cpu)
{
	struct tracedat_stream stream;
	struct kernel_record rec;
	struct uft_err err = { 0 };
	uint64_t missed;
	int ret = tracedat_stream_open(&stream, file, buffer, cpu, &err);
	struct kernel_pages pages = { .layout = stream.layout,
				      .write = check_page,
				      .self = &stream.layout };

	for (unsigned i = 0; ret >= 0 && i < RECORDS_MAX; i++) {
		ret = tracedat_stream_next(&stream, &rec, &missed, &err);
		if (ret <= 0)
			break;
		FUZZ_CHECK(rec.data >= stream.bytes &&
			   rec.data + rec.len <= stream.bytes + stream.len);
		ret = kernel_pages_add(&pages, &rec, tracedat_time_ns(file, rec.time_ns), i,
				       missed);
		FUZZ_CHECK(ret == 0 || ret == -EMSGSIZE);
		ret = 0;
	}
	fuzz_check_error(ret < 0, &err);
	FUZZ_CHECK(kernel_pages_finish(&pages) == 0);
	kernel_pages_deinit(&pages);
	tracedat_stream_close(&stream);
}

static void read_file(const char *path)
{
	struct tracedat file;
	struct uft_err err = { 0 };
	const char *line = NULL;
	int ret = tracedat_open(&file, path, TRACEDAT_LIMITED, &err);

	fuzz_check_error(ret < 0, &err);
	for (size_t i = 0; ret == 0 && i < file.nr_buffers; i++) {
		for (size_t k = 0; k < file.buffers[i].nr_cpus; k++)
			read_cpu(&file, &file.buffers[i], &file.buffers[i].cpus[k]);
	}
	while ((line = strbuf_list_next(&file.damage, line)))
		FUZZ_CHECK(*line);
	tracedat_close(&file);
}

/* Reads the bytes as the data of one CPU in a file that is otherwise valid. */
static void read_pages(const char *path, size_t len, bool is_packed)
{
	struct tracedat file;
	struct tracedat_buffer buffer = { .page_bytes = 4096, .is_packed = is_packed };
	const struct tracedat_cpu cpu = { .bytes = len };

	/*
	 * The file has no header, so tracedat_open() fails. It may leave the descriptor open all
	 * the same.
	 */
	if (tracedat_open(&file, path, TRACEDAT_LIMITED, NULL) < 0 && file.fd < 0)
		return;
	file.long_size = 8;
	if (is_packed && !file.unpack)
		file.unpack = unpack_zstd;
	read_cpu(&file, &buffer, &cpu);
	tracedat_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/trace.dat", fuzz_empty_dir());
	fuzz_write_file("trace.dat", bytes, size);
	read_file(path);
	read_pages(path, size, false);
	read_pages(path, size, true);
	return 0;
}
