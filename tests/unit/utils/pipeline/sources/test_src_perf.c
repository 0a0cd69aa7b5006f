/*
 * Records of the kernel about tasks and its scheduler: events of perf-cpu<N>.dat, names, and tasks
 * that are known only from these records.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/lib/read/sources.h"
#include "utils/format/bytes.h"
#include "utils/pipeline/sources/src_perf.h"

#define ALL UINT64_MAX

/* Writes a record of @body, which has whole words, and a trailer. */
static void put(struct strbuf *out, uint32_t type, const void *body, size_t len, int32_t pid,
		int32_t tid, uint64_t time_ns)
{
	uint8_t bytes[128];

	put_u32(bytes, type, false);
	put_u16(bytes + 4, 0, false);
	put_u16(bytes + 6, 8 + len + 16, false);
	memcpy(bytes + 8, body, len);
	put_u32(bytes + 8 + len, pid, false);
	put_u32(bytes + 12 + len, tid, false);
	put_u64(bytes + 16 + len, time_ns, false);
	strbuf_add(out, bytes, 8 + len + 16);
}

/* Write PERF_RECORD_COMM. */
static void put_name(struct strbuf *out, int32_t pid, int32_t tid, const char *name,
		     uint64_t time_ns)
{
	uint8_t body[24] = { 0 };

	put_u32(body, pid, false);
	put_u32(body + 4, tid, false);
	strcpy((char *)body + 8, name);
	put(out, 3, body, sizeof(body), pid, tid, time_ns);
}

/* Write PERF_RECORD_FORK or PERF_RECORD_EXIT. */
static void put_task(struct strbuf *out, uint32_t type, int32_t pid, int32_t ppid, int32_t tid,
		     int32_t ptid, uint64_t time_ns)
{
	uint8_t body[24];

	put_u32(body, pid, false);
	put_u32(body + 4, ppid, false);
	put_u32(body + 8, tid, false);
	put_u32(body + 12, ptid, false);
	put_u64(body + 16, time_ns, false);
	put(out, type, body, sizeof(body), pid, tid, time_ns);
}

static void add_file(struct sources *s, unsigned cpu, const struct strbuf *bytes)
{
	char name[32];

	snprintf(name, sizeof(name), "perf-cpu%u.dat", cpu);
	recording_add_file(&s->rec, name, bytes->data, bytes->len);
}

TEST(the_kind_has_a_name)
{
	assert_string_equal(src_perf_kind.name, "perf");
	assert_null(src_perf_kind.wants);
}

TEST(events_of_the_scheduler)
{
	struct strbuf bytes cleanup_strbuf = { 0 };
	struct sources s;

	sources_begin(&s);
	perf_add_sched(&bytes, 'o', 100, 1000);
	perf_add_sched(&bytes, 'i', 100, 1010);
	perf_add_sched(&bytes, 'p', 100, 1020);
	perf_add_sched(&bytes, 'i', 777, 1030);
	perf_add_sched(&bytes, 'i', 100, 1040);
	add_file(&s, 3, &bytes);
	assert_int_equal(sources_open(&s, &src_perf_kind, NULL), 1);
	sources_check(s.list.all[0], 9, 999, "");
	sources_check(s.list.all[0], 9, 1010, "100/0: ~@1000.0 ^@1010.0");
	sources_check(s.list.all[0], 9, ALL, "100/0: ~@1020.0P; 777/0!: ^@1030.0; 100/0: ^@1040.0");
	sources_close(&s);
	assert_int_equal(sources_open(&s, &src_perf_kind, NULL), 1);
	sources_check(s.list.all[0], 1, ALL,
		      "100/0: ~@1000.0; 100/0: ^@1010.0; 100/0: ~@1020.0P; 777/0!: ^@1030.0; "
		      "100/0: ^@1040.0");
	sources_end(&s);
}

/* Each CPU has a source. A number that is too large for an event counts as an unknown CPU. */
TEST(each_file_is_a_source_and_says_its_cpu)
{
	static const struct {
		unsigned in_name;
		unsigned shown;
	} cpus[] = { { 0, 0 }, { 7, 7 }, { 65534, 65534 }, { 65535, EVENT_CPU_UNKNOWN } };
	struct sources s;

	sources_begin(&s);
	for (size_t i = 0; i < ARRAY_SIZE(cpus); i++) {
		struct strbuf bytes cleanup_strbuf = { 0 };

		perf_add_sched(&bytes, 'o', 100, 1000 + i);
		add_file(&s, cpus[i].in_name, &bytes);
	}
	assert_int_equal(sources_open(&s, &src_perf_kind, NULL), ARRAY_SIZE(cpus));
	for (size_t i = 0; i < ARRAY_SIZE(cpus); i++) {
		struct event event;

		assert_int_equal(source_next_ns(s.list.all[i]), 1000 + i);
		assert_int_equal(source_read(s.list.all[i], &event, 1, ALL, NULL), 1);
		assert_int_equal(event.cpu, cpus[i].shown);
		assert_int_equal(event.id, EVENT_ID_SCHED_OUT);
		assert_null(event.data);
	}
	sources_end(&s);
}

TEST(what_the_kernel_tells_of_tasks)
{
	struct strbuf bytes cleanup_strbuf = { 0 };
	struct event events[4];
	struct sources s;

	sources_begin(&s);
	put_name(&bytes, 100, 100, "first", 1000);
	put_task(&bytes, 7, 200, 100, 200, 100, 1010);
	put_task(&bytes, 7, 200, 200, 201, 200, 1020);
	put_task(&bytes, 4, 200, 200, 201, 200, 1030);
	put_name(&bytes, 300, 300, "stranger", 1040);
	put(&bytes, 99, "", 0, 100, 100, 1050);
	put_name(&bytes, 100, 100, "second", 1060);
	add_file(&s, 0, &bytes);
	assert_int_equal(sources_open(&s, &src_perf_kind, NULL), 1);
	assert_int_equal(source_read(s.list.all[0], events, 4, ALL, NULL), 1);
	assert_int_equal(events[0].id, EVENT_ID_TASK_NAME);
	assert_int_equal(events[0].type, EVENT_POINT);
	assert_int_equal(events[0].data_len, 0);
	sources_check(
		s.list.all[0], 9, ALL,
		"200/0!: *@1010.0; 201/0!: *@1020.0 *@1030.0; 300/0!: *@1040.0; 100/0: *@1060.0");
	data_sort_names(&s.data);
	assert_string_equal(task_name_at(&s.data.tasks[0], 1000), "first");
	assert_string_equal(task_name_at(&s.data.tasks[0], 1060), "second");
	/* These tasks are missing in task.txt. */
	assert_int_equal(s.newcomers.nr, 3);
	assert_int_equal(s.newcomers.all[0].tid, 200);
	assert_int_equal(s.newcomers.all[0].pid, 200);
	assert_int_equal(s.newcomers.all[0].ppid, 100);
	assert_int_equal(s.newcomers.all[0].start_ns, 1010);
	assert_true(s.newcomers.all[0].is_fork);
	assert_int_equal(s.newcomers.all[1].tid, 201);
	assert_int_equal(s.newcomers.all[1].pid, 200);
	assert_int_equal(s.newcomers.all[1].ppid, 200);
	assert_int_equal(s.newcomers.all[1].start_ns, 1020);
	assert_false(s.newcomers.all[1].is_fork);
	assert_int_equal(s.newcomers.all[2].tid, 300);
	assert_int_equal(s.newcomers.all[2].pid, 300);
	assert_int_equal(s.newcomers.all[2].start_ns, 0);
	sources_end(&s);
}

/* Names are noted only when a file is read for the first time. */
TEST(names_are_noted_once)
{
	struct strbuf bytes cleanup_strbuf = { 0 };
	struct sources s;

	sources_begin(&s);
	put_name(&bytes, 100, 100, "first", 1000);
	put_name(&bytes, 0, 0, "nobody", 1010);
	put_name(&bytes, -1, 5, "somebody", 1020);
	add_file(&s, 0, &bytes);
	s.context.takes_notes = false;
	assert_int_equal(sources_open(&s, &src_perf_kind, NULL), 1);
	sources_check(s.list.all[0], 9, ALL, "100/0: *@1000.0; 0/0!: *@1010.0; 5/0!: *@1020.0");
	assert_int_equal(s.data.tasks[0].nr_names, 0);
	assert_int_equal(s.newcomers.nr, 1);
	assert_int_equal(s.newcomers.all[0].tid, 5);
	assert_int_equal(s.newcomers.all[0].pid, 5);
	sources_close(&s);
	s.context.newcomers = NULL;
	assert_int_equal(sources_open(&s, &src_perf_kind, NULL), 1);
	sources_check(s.list.all[0], 9, ALL, "100/0: *@1000.0; 0/0!: *@1010.0; 5/0!: *@1020.0");
	sources_end(&s);
}

TEST(the_last_time_stands_for_none)
{
	struct strbuf bytes cleanup_strbuf = { 0 };
	struct sources s;

	sources_begin(&s);
	perf_add_sched(&bytes, 'o', 100, UINT64_MAX);
	add_file(&s, 0, &bytes);
	assert_int_equal(sources_open(&s, &src_perf_kind, NULL), 1);
	assert_int_equal(source_next_ns(s.list.all[0]), UINT64_MAX - 1);
	sources_check(s.list.all[0], 9, ALL, "100/0: ~@-2.0");
	sources_end(&s);
}

/* Records before the damage count. The damage is reported once, and then the source ends. */
TEST(damage_is_told_behind_what_is_good)
{
	struct strbuf bytes cleanup_strbuf = { 0 };
	char expected[200];
	struct uft_err err = { 0 };
	struct event event;
	struct sources s;

	sources_begin(&s);
	perf_add_sched(&bytes, 'o', 100, 1000);
	strbuf_addchars(&bytes, '\0', 24);
	perf_add_sched(&bytes, 'o', 100, 2000);
	add_file(&s, 5, &bytes);
	assert_int_equal(sources_open(&s, &src_perf_kind, NULL), 1);
	assert_int_equal(source_read(s.list.all[0], &event, 1, ALL, &err), 1);
	assert_int_equal(source_next_ns(s.list.all[0]), 0);
	assert_int_equal(source_read(s.list.all[0], &event, 1, ALL, &err), -EBADMSG);
	snprintf(expected, sizeof(expected), "cannot read '%s/perf-cpu5.dat': ", s.rec.dir);
	assert_int_equal(strncmp(err.text, expected, strlen(expected)), 0);
	assert_int_equal(source_next_ns(s.list.all[0]), UINT64_MAX);
	assert_int_equal(source_read(s.list.all[0], &event, 1, ALL, NULL), 0);
	assert_int_equal(source_more(s.list.all[0], NULL), 0);
	assert_int_equal(source_next_ns(s.list.all[0]), UINT64_MAX);
	sources_end(&s);
}

/* The file is longer than a buffer, and is cut within a record. */
TEST(long_files_are_read_piece_by_piece)
{
	struct strbuf bytes cleanup_strbuf = { 0 };
	struct event events[100];
	uint64_t expected = 1000;
	struct sources s;

	sources_begin(&s);
	for (unsigned i = 0; i < 6000; i++)
		perf_add_sched(&bytes, i % 2 ? 'i' : 'o', 100, 1000 + i);
	bytes.len -= 5;
	add_file(&s, 0, &bytes);
	assert_int_equal(sources_open(&s, &src_perf_kind, NULL), 1);
	for (ssize_t nr; (nr = source_read(s.list.all[0], events, 100, ALL, NULL)) > 0;) {
		for (ssize_t i = 0; i < nr; i++)
			assert_int_equal(events[i].time_ns, expected++);
	}
	assert_int_equal(expected, 1000 + 5999);
	sources_end(&s);
}

TEST(a_file_that_cannot_be_opened_is_told)
{
	struct uft_err err = { 0 };
	struct sources s;
	char path[128];

	sources_begin(&s);
	snprintf(path, sizeof(path), "%s/perf-cpu0.dat", s.rec.dir);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_true(sources_open(&s, &src_perf_kind, &err) < 0);
	assert_non_null(strstr(err.text, "perf-cpu0.dat"));
	assert_int_equal(s.list.nr, 0);
	rmdir(path);
	assert_int_equal(sources_open(&s, &src_perf_kind, NULL), 0);
	sources_end(&s);
}

/* In a growing recording, names may come before their tasks. */
TEST(a_file_that_grows)
{
	struct strbuf bytes cleanup_strbuf = { 0 };
	struct sources s;

	sources_begin(&s);
	put_name(&bytes, 100, 200, "early", 1000);
	put_name(&bytes, 100, 300, "other", 1005);
	put_name(&bytes, 100, 100, "first", 1010);
	add_file(&s, 0, &bytes);
	sources_open_data(&s, true);
	s.context.newcomers = NULL;
	assert_int_equal(sources_open(&s, &src_perf_kind, NULL), 1);
	sources_check(s.list.all[0], 9, ALL, "200/0!: *@1000.0; 300/0!: *@1005.0; 100/0: *@1010.0");
	assert_int_equal(source_more(s.list.all[0], NULL), 0);
	assert_int_equal(source_next_ns(s.list.all[0]), UINT64_MAX);
	assert_string_equal(task_name_at(data_task(&s.data, 100), 1010), "first");

	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/perf-cpu0.dat", s.rec.dir);
	file = fopen(path, "a");
	strbuf_reset(&bytes);
	perf_add_sched(&bytes, 'o', 200, 1020);
	fwrite(bytes.data, 1, bytes.len, file);
	fclose(file);
	snprintf(path, sizeof(path), "%s/task.txt", s.rec.dir);
	file = fopen(path, "a");
	fputs("TASK timestamp=0.000000300 tid=200 pid=100\n", file);
	fclose(file);
	assert_true(data_read_more(&s.data, NULL) >= 0);
	assert_int_equal(data_grow(&s.data, NULL), 1);
	assert_int_equal(source_more(s.list.all[0], NULL), 0);
	assert_string_equal(task_name_at(data_task(&s.data, 200), 1010), "early");
	assert_int_equal(data_task(&s.data, 200)->names[0].start_ns, 1000);
	assert_int_equal(source_next_ns(s.list.all[0]), 1020);
	sources_check(s.list.all[0], 9, ALL, "200/0: ~@1020.0");
	assert_int_equal(data_task(&s.data, 200)->nr_names, 1);
	sources_end(&s);
}
