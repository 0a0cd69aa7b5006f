/*
 * Fuzz target: process and file events as text. The records that are made of them must be readable,
 * one after the other.
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "utils/base/cleanup.h"
#include "utils/builddb/etrace/etrace_read.h"

/* Check that a problem is in one of the lines that were read. */
static void note(void *self, uint64_t line, size_t at, const char *wrong)
{
	uint64_t *lines = self;

	FUZZ_CHECK(line > 0 && line <= *lines && *wrong);
}

static void check_record(const struct proc_record *rec)
{
	bool is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	struct strbuf bytes cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };
	struct proc_record again;
	struct proc_fork made;
	size_t wanted;
	int cpu;

	FUZZ_CHECK(rec->tid > 0 && rec->pid > 0 && rec->kind > 0);
	FUZZ_CHECK(rec->kind < PROC_BEYOND || rec->kind == PROC_CPU);
	proc_record_encode(rec, &bytes);
	FUZZ_CHECK(proc_record_decode((const uint8_t *)bytes.data, bytes.len, is_big, &again,
				      &wanted, &err) == (ssize_t)bytes.len);
	if (rec->kind == PROC_FORK)
		FUZZ_CHECK(proc_fork_decode(rec->data, rec->len, is_big, &made));
	if (rec->kind == PROC_CPU)
		FUZZ_CHECK(proc_cpu_decode(rec->data, rec->len, is_big, &cpu));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t lines = 0;
	struct etrace_reader reader cleanup_etrace_reader = { .note = note, .self = &lines };
	struct strbuf payload cleanup_strbuf = { 0 };
	struct text left = text_of((const char *)data, size);
	struct text line;
	struct proc_record rec;
	uint64_t last_ns = 0;
	uint64_t cpu_ns = 0;
	size_t nr = 0;
	bool is_whole;

	while (text_line(&left, &line, &is_whole)) {
		lines++;
		etrace_reader_take(&reader, line.at, text_left(&line));
	}
	FUZZ_CHECK(etrace_reader_end(&reader) == 0);
	while (etrace_reader_next(&reader, &rec, &payload) > 0) {
		check_record(&rec);
		FUZZ_CHECK(nr == 0 || rec.time_ns > last_ns);
		/*
		 * A CPU event comes only when the task has changed its CPU. It has the time of the
		 * event after it.
		 */
		if (rec.kind == PROC_CPU) {
			FUZZ_CHECK(!cpu_ns);
			cpu_ns = rec.time_ns;
			continue;
		}
		FUZZ_CHECK(++nr <= reader.nr_records && (!cpu_ns || cpu_ns == rec.time_ns));
		cpu_ns = 0;
		last_ns = rec.time_ns;
	}
	FUZZ_CHECK(!cpu_ns);
	return 0;
}
