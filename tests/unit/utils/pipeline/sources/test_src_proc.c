/* Acts of processes as events, and tasks that are known only from acts. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <unistd.h>

#include "tests/unit/lib/read/sources.h"
#include "utils/format/datadir.h"
#include "utils/format/proc_dat.h"
#include "utils/pipeline/sources/src_proc.h"
#include "utils/pipeline/stages/stage.h"

#define ALL UINT64_MAX

/*
 * Recordings made of strings are little-endian by default. These records have this machine's byte
 * order.
 */
static void begin(struct sources *s)
{
	sources_begin(s);
	s->rec.big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	recording_add_task(&s->rec, 100, "a{}", 1000);
}

static void put_payload(struct strbuf *out, uint64_t time_ns, int32_t tid, int32_t pid,
			uint32_t kind, const struct strbuf *payload)
{
	struct proc_record rec = { time_ns,	tid, pid, kind, (const uint8_t *)payload->data,
				   payload->len };

	proc_record_encode(&rec, out);
}

static void put_fork(struct strbuf *out, uint64_t time_ns, int32_t pid, int32_t child,
		     int32_t child_pid)
{
	struct strbuf payload cleanup_strbuf = { 0 };

	proc_fork_encode(&(struct proc_fork){ child, child_pid, PROC_BY_FORK }, &payload);
	put_payload(out, time_ns, pid, pid, PROC_FORK, &payload);
}

static struct text words(const char *text)
{
	return text_of(text, strlen(text));
}

static void put_exec(struct strbuf *out, uint64_t time_ns, int32_t pid, const char *program)
{
	struct strbuf payload cleanup_strbuf = { 0 };

	proc_exec_encode(
		&(struct proc_exec){ pid, words("/bin/sh"), words(program), words("/"), words("") },
		&payload);
	put_payload(out, time_ns, pid, pid, PROC_EXEC, &payload);
}

static void put_name(struct strbuf *out, uint64_t time_ns, int32_t tid, const char *name)
{
	struct strbuf payload cleanup_strbuf = { 0 };

	proc_act_encode(&(struct proc_act){ { 0 }, { words(name) } }, &payload);
	put_payload(out, time_ns, tid, 100, PROC_NAME, &payload);
}

static struct source *open_records(struct sources *s, const struct strbuf *out)
{
	recording_add_file(&s->rec, DATADIR_PROCESSES, out->data, out->len);
	assert_int_equal(sources_open(s, &src_proc_kind, NULL), 1);
	return s->list.all[0];
}

TEST(who_shows_events_wants_them)
{
	struct stage_config config;

	stage_config_init(&config);
	assert_string_equal(src_proc_kind.name, "proc");
	assert_true(src_proc_kind.wants(&config));
	config.show_events = false;
	assert_false(src_proc_kind.wants(&config));
}

TEST(without_a_file_there_is_no_source)
{
	struct sources s;

	begin(&s);
	assert_int_equal(sources_open(&s, &src_proc_kind, NULL), 0);
	sources_end(&s);
}

TEST(records_are_events_with_what_they_say)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct strbuf payload cleanup_strbuf = { 0 };
	struct event event;
	struct source *src;
	struct sources s;

	begin(&s);
	strbuf_addstr(&payload, "abcdefghi");
	put_payload(&out, 10, 100, 101, PROC_OPEN, &payload);
	/* Unknown kinds are skipped. */
	put_payload(&out, 11, 100, 101, 0, &payload);
	put_payload(&out, 12, 100, 101, PROC_BEYOND, &payload);
	put_payload(&out, 13, 100, 101, PROC_BEYOND - 1, &payload);
	put_payload(&out, 14, 100, 101, PROC_FORK, &payload);
	src = open_records(&s, &out);
	assert_int_equal(source_next_ns(src), 10);
	assert_int_equal(source_read(src, &event, 5, 9, NULL), 0);
	assert_int_equal(source_read(src, &event, 5, 10, NULL), 1);
	assert_int_equal(event.time_ns, 10);
	assert_int_equal(event.type, EVENT_POINT);
	assert_int_equal(event.id, EVENT_ID_PROC_OPEN);
	assert_int_equal(event.data_len, 9);
	assert_memory_equal(event.data, "abcdefghi", 9);
	assert_int_equal(src->tid, 100);
	assert_int_equal(src->other_tid, 101);
	assert_ptr_equal(src->task, data_task(&s.data, 100));
	assert_int_equal(source_next_ns(src), 13);
	assert_int_equal(source_read(src, &event, 5, ALL, NULL), 1);
	assert_int_equal(event.id, EVENT_ID_PROC_CLONE_FAILED);
	assert_int_equal(source_read(src, &event, 5, ALL, NULL), 1);
	assert_int_equal(event.id, EVENT_ID_PROC_FORK);
	assert_int_equal(source_next_ns(src), UINT64_MAX);
	assert_int_equal(source_read(src, &event, 5, ALL, NULL), 0);
	sources_end(&s);
}

/* The payload is longer than an event's room. */
TEST(long_payloads_are_cut)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct event event;
	struct source *src;
	struct sources s;

	begin(&s);
	for (size_t len = UINT16_MAX - 1; len <= UINT16_MAX + 1; len++) {
		struct strbuf payload cleanup_strbuf = { 0 };

		strbuf_addchars(&payload, 'x', len);
		put_payload(&out, len, 100, 100, PROC_OPEN, &payload);
	}
	src = open_records(&s, &out);
	for (size_t len = UINT16_MAX - 1; len <= UINT16_MAX + 1; len++) {
		assert_int_equal(source_read(src, &event, 1, ALL, NULL), 1);
		assert_int_equal(event.time_ns, len);
		assert_int_equal(event.data_len, len > UINT16_MAX ? UINT16_MAX : len);
		assert_int_equal(event.data[event.data_len - 1], 'x');
	}
	sources_end(&s);
}

static const struct task *newcomer(const struct sources *s, int32_t tid)
{
	for (size_t i = 0; i < s->newcomers.nr; i++) {
		if (s->newcomers.all[i].tid == tid)
			return &s->newcomers.all[i];
	}
	return NULL;
}

TEST(whom_nobody_else_knows)
{
	struct strbuf out cleanup_strbuf = { 0 };
	const struct task *task;
	struct source *src;
	struct sources s;

	begin(&s);
	put_fork(&out, 10, 200, 201, 200);
	put_fork(&out, 20, 200, 300, 300);
	put_exec(&out, 30, 300, "/x");
	/* The number 300 is used again; its first parent counts. */
	put_fork(&out, 40, 200, 300, 333);
	put_fork(&out, 50, 300, 100, 100);
	put_fork(&out, 60, 200, 100, 100);
	src = open_records(&s, &out);
	sources_check(src, 9, ALL,
		      "200/200!: *@10.0; 200/200!: *@20.0; 300/300!: *@30.0; 200/200!: *@40.0; "
		      "300/300!: *@50.0; 200/200!: *@60.0");
	assert_int_equal(s.newcomers.nr, 3);
	task = newcomer(&s, 200);
	assert_int_equal(task->pid, 200);
	assert_int_equal(task->start_ns, 0);
	assert_int_equal(task->ppid, 0);
	task = newcomer(&s, 201);
	assert_int_equal(task->pid, 200);
	assert_int_equal(task->ppid, 200);
	assert_int_equal(task->start_ns, 10);
	assert_false(task->is_fork);
	task = newcomer(&s, 300);
	assert_int_equal(task->pid, 300);
	assert_int_equal(task->ppid, 200);
	assert_int_equal(task->start_ns, 20);
	assert_true(task->is_fork);
	/* task.txt has task 100 without a parent, and proc.dat states the parent. */
	assert_int_equal(data_task(&s.data, 100)->ppid, 300);
	sources_end(&s);
}

/* Nothing is noted if the file is read a second time, or if no notes are wanted. */
TEST(notes_are_taken_once)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct sources s;

	begin(&s);
	put_fork(&out, 10, 100, 300, 300);
	put_exec(&out, 20, 100, "/x/prog");
	put_name(&out, 30, 400, "y");
	s.context.takes_notes = false;
	sources_check(open_records(&s, &out), 9, ALL,
		      "100/100: *@10.0; 100/100: *@20.0; 400/100!: *@30.0");
	assert_int_equal(s.newcomers.nr, 1);
	assert_int_equal(s.newcomers.all[0].tid, 400);
	assert_int_equal(s.newcomers.all[0].pid, 100);
	assert_int_equal(data_task(&s.data, 100)->nr_names, 0);
	sources_close(&s);
	s.context.takes_notes = true;
	s.context.newcomers = NULL;
	assert_int_equal(sources_open(&s, &src_proc_kind, NULL), 1);
	sources_check(s.list.all[0], 9, ALL, "100/100: *@10.0; 100/100: *@20.0; 400/100!: *@30.0");
	sources_end(&s);
}

TEST(names_of_tasks)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct task *task;
	struct sources s;

	begin(&s);
	put_exec(&out, 10, 100, "/usr/bin/prog");
	put_exec(&out, 20, 100, "plain");
	put_exec(&out, 30, 100, "/dir/");
	put_name(&out, 40, 100, "a/b");
	put_name(&out, 50, 100, "0123456789012345678901234567890");
	put_name(&out, 60, 100, "01234567890123456789012345678901");
	put_name(&out, 70, 100, "");
	sources_check(open_records(&s, &out), 9, ALL,
		      "100/100: *@10.0; 100/100: *@20.0; 100/100: *@30.0; 100/100: *@40.0; "
		      "100/100: *@50.0; 100/100: *@60.0; 100/100: *@70.0");
	task = data_task(&s.data, 100);
	assert_int_equal(task->nr_names, 5);
	assert_string_equal(task->names[0].name, "prog");
	assert_int_equal(task->names[0].start_ns, 10);
	assert_string_equal(task->names[1].name, "plain");
	assert_string_equal(task->names[2].name, "a/b");
	assert_int_equal(task->names[2].start_ns, 40);
	assert_string_equal(task->names[3].name, "0123456789012345678901234567890");
	assert_string_equal(task->names[4].name, "0123456789012345678901234567890");
	sources_end(&s);
}

TEST(the_last_time_stands_for_none)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct sources s;

	begin(&s);
	put_name(&out, UINT64_MAX, 100, "x");
	open_records(&s, &out);
	assert_int_equal(source_next_ns(s.list.all[0]), UINT64_MAX - 1);
	sources_end(&s);
}

TEST(damage_is_told_once_and_behind_what_is_good)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };
	struct event event;
	struct source *src;
	struct sources s;

	begin(&s);
	put_name(&out, 10, 100, "x");
	strbuf_addchars(&out, '\xff', 24);
	src = open_records(&s, &out);
	assert_int_equal(source_read(src, &event, 1, ALL, NULL), 1);
	assert_int_equal(source_next_ns(src), 0);
	assert_int_equal(source_read(src, &event, 1, ALL, &err), -EBADMSG);
	assert_non_null(strstr(err.text, DATADIR_PROCESSES));
	assert_int_equal(source_next_ns(src), UINT64_MAX);
	assert_int_equal(source_read(src, &event, 1, ALL, NULL), 0);
	sources_end(&s);
}

TEST(a_file_that_grows)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct source *src;
	struct sources s;
	char path[128];
	FILE *file;

	begin(&s);
	put_name(&out, 10, 100, "x");
	src = open_records(&s, &out);
	sources_check(src, 9, ALL, "100/100: *@10.0");
	assert_int_equal(source_more(src, NULL), 0);
	assert_int_equal(source_next_ns(src), UINT64_MAX);
	snprintf(path, sizeof(path), "%s/" DATADIR_PROCESSES, s.rec.dir);
	file = fopen(path, "a");
	strbuf_reset(&out);
	put_name(&out, 20, 100, "y");
	put_name(&out, 30, 100, "z");
	fwrite(out.data, 1, out.len, file);
	fclose(file);
	assert_int_equal(source_more(src, NULL), 0);
	assert_int_equal(source_next_ns(src), 20);
	/* No event was skipped. */
	assert_int_equal(source_more(src, NULL), 0);
	sources_check(src, 9, ALL, "100/100: *@20.0; 100/100: *@30.0");
	sources_end(&s);
}
