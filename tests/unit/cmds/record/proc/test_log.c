/* The file proc.dat as it is written: times, CPUs, gathered records and the end. */
#include "tests/unit/lib/record/store_memory.h"
#include "tests/unit/lib/unit.h"

#include "cmds/record/proc/log.h"
#include "utils/format/datadir.h"

#define BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

static struct store_memory memory;
static struct record_settings settings;
static struct proc_log proc_log;

static int setup(void **state)
{
	store_memory_init(&memory);
	settings = (struct record_settings){ .clock_id = CLOCK_MONOTONIC };
	assert_int_equal(proc_log_open(&proc_log, &settings, &memory.store), 0);
	assert_int_equal(proc_log.cpu, PROC_CPU_UNKNOWN);
	return 0;
}

static int teardown(void **state)
{
	proc_log_close(&proc_log);
	store_memory_deinit(&memory);
	return 0;
}

static void write_at(uint64_t time_ns, pid_t tid, const char *text)
{
	strbuf_addstr(&proc_log.payload, text);
	proc_log_write_at(&proc_log, time_ns, PROC_NAME, tid, 11);
	assert_int_equal(proc_log.payload.len, 0);
}

/* Returns the records of the file as "TIME:TID:TEXT", or "TIME:TID@CPU", each with a blank. */
static const char *written(void)
{
	static char text[1024];
	struct strbuf content cleanup_strbuf = { 0 };
	size_t at = 0, wanted, len = 0;

	text[0] = '\0';
	store_read(&memory.store, DATADIR_PROCESSES, SIZE_MAX, &content);
	while (at < content.len) {
		struct proc_record rec;
		ssize_t bytes = proc_record_decode((const uint8_t *)content.data + at,
						   content.len - at, BIG, &rec, &wanted, NULL);
		int cpu;

		assert_true(bytes > 0);
		at += bytes;
		assert_int_equal(rec.pid, 11);
		len += snprintf(text + len, sizeof(text) - len, "%d:%d", (int)rec.time_ns,
				(int)rec.tid);
		if (rec.kind == PROC_CPU) {
			assert_true(proc_cpu_decode(rec.data, rec.len, BIG, &cpu));
			len += snprintf(text + len, sizeof(text) - len, "@%d ", cpu);
		} else {
			assert_int_equal(rec.kind, PROC_NAME);
			len += snprintf(text + len, sizeof(text) - len, ":%.*s ", (int)rec.len,
					(const char *)rec.data);
		}
	}
	return text;
}

/* The times in the file increase, even if several records have one time. */
TEST_WITH(times_increase, setup, teardown)
{
	write_at(5, 12, "a");
	assert_string_equal(written(), "5:12:a ");
	write_at(5, 12, "b");
	write_at(3, 13, "");
	write_at(8, 12, "d");
	write_at(100, 12, "e");
	assert_string_equal(written(), "5:12:a 6:12:b 7:13: 8:12:d 100:12:e ");
	assert_int_equal(proc_log.last_ns, 100);
}

/* A task's CPU comes before its record, if it is known and differs from the last one written. */
TEST_WITH(cpus_are_told_once, setup, teardown)
{
	write_at(1, 12, "a");
	proc_log.cpu = 0;
	write_at(2, 12, "b");
	write_at(3, 12, "c");
	assert_string_equal(written(), "1:12:a 2:12@0 2:12:b 3:12:c ");
	write_at(4, 13, "d");
	proc_log.cpu = 7;
	write_at(5, 12, "e");
	proc_log.cpu = PROC_CPU_UNKNOWN;
	write_at(6, 14, "f");
	proc_log.cpu = 0;
	write_at(7, 13, "g");
	assert_string_equal(written(), "1:12:a 2:12@0 2:12:b 3:12:c 4:13@0 4:13:d 5:12@7 5:12:e "
				       "6:14:f 7:13:g ");
}

TEST_WITH(records_are_gathered, setup, teardown)
{
	proc_log_gather(&proc_log);
	write_at(1, 12, "a");
	write_at(2, 12, "b");
	assert_string_equal(written(), "");
	proc_log_write_gathered(&proc_log);
	assert_string_equal(written(), "1:12:a 2:12:b ");
	assert_int_equal(proc_log.records.len, 0);
	write_at(3, 12, "c");
	assert_string_equal(written(), "1:12:a 2:12:b 3:12:c ");
	proc_log_write_gathered(&proc_log);
	assert_string_equal(written(), "1:12:a 2:12:b 3:12:c ");

	/* Records that are still gathered are written at the end. */
	proc_log_gather(&proc_log);
	write_at(4, 12, "d");
	proc_log_close(&proc_log);
	assert_string_equal(written(), "1:12:a 2:12:b 3:12:c 4:12:d ");
	assert_null(proc_log.store);
}

/* The buffer is written as soon as it has 64 kB or more. */
TEST_WITH(a_full_buffer_is_written, setup, teardown)
{
	struct strbuf large cleanup_strbuf = { 0 };
	struct strbuf content cleanup_strbuf = { 0 };

	for (int i = 0; i < 30000; i++)
		strbuf_addch(&large, 'x');
	proc_log_gather(&proc_log);
	for (uint64_t i = 1; i <= 3; i++) {
		assert_int_equal(store_read(&memory.store, DATADIR_PROCESSES, SIZE_MAX, &content),
				 0);
		assert_int_equal(content.len, 0);
		write_at(i, 12, strbuf_str(&large));
	}
	store_read(&memory.store, DATADIR_PROCESSES, SIZE_MAX, &content);
	assert_true(content.len > 3 * large.len);
	assert_int_equal(proc_log.records.len, 0);
	assert_true(proc_log.gathers);
}

/* The time of a record is that of the recording's clock. */
TEST_WITH(the_time_is_now, setup, teardown)
{
	uint64_t before = settings_now_ns(&settings);

	strbuf_addstr(&proc_log.payload, "a");
	proc_log_write(&proc_log, PROC_NAME, 12, 11);
	assert_true(proc_log.last_ns >= before);
	assert_true(proc_log.last_ns <= settings_now_ns(&settings));
}

TEST_WITH(a_tracer_that_could_not_start_leaves_no_file, setup, teardown)
{
	write_at(1, 12, "a");
	proc_log_remove(&proc_log);
	assert_string_equal(written(), "");
	assert_null(proc_log.store);
	/* Without a file, nothing is removed or closed. */
	proc_log_remove(&proc_log);
	proc_log_close(&proc_log);
}
