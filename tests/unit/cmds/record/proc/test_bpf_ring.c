/*
 * Records of the eBPF program's ring: ends of threads in any order, programs in parts, damaged and
 * missing records.
 */
#include "tests/unit/lib/unit.h"

#include <fcntl.h>
#include <time.h>

#include "cmds/record/proc/bpf_ring.h"
#include "tests/unit/lib/record/store_memory.h"
#include "utils/format/datadir.h"
#include "utils/format/proc_dat.h"

struct attached {
	struct record_settings settings;
	struct store_memory store;
	struct proc_log log;
	struct bpf_ring ring;
	bool shows_cpus;
};

static int begin(void **state)
{
	struct attached *w = calloc(1, sizeof(*w));

	w->settings = (struct record_settings){ .clock_id = CLOCK_MONOTONIC,
						.traces_environment = true };
	store_memory_init(&w->store);
	assert_int_equal(proc_log_open(&w->log, &w->settings, &w->store.store), 0);
	w->ring.log = &w->log;
	*state = w;
	return 0;
}

static int end(void **state)
{
	struct attached *w = *state;

	bpf_ring_deinit(&w->ring);
	proc_log_close(&w->log);
	store_memory_deinit(&w->store);
	free(w);
	return 0;
}

static size_t bytes_written(const struct attached *w)
{
	for (size_t i = 0; i < STORE_MEMORY_FILES; i++) {
		if (strcmp(w->store.files[i].name, DATADIR_PROCESSES) == 0)
			return w->store.files[i].content.len;
	}
	return 0;
}

/* The file always has whole records, in order, whenever they are written. */
TEST_WITH(gathered_records_are_written_together, begin, end)
{
	struct attached *w = *state;
	struct proc_log *log = &w->log;
	size_t one;

	proc_log_write_at(log, 10, PROC_EXIT, 1, 1);
	one = bytes_written(w);
	assert_true(one > 0);
	proc_log_gather(log);
	proc_log_write_at(log, 20, PROC_EXIT, 2, 2);
	proc_log_write_at(log, 30, PROC_EXIT, 3, 3);
	assert_int_equal(bytes_written(w), one);
	proc_log_write_gathered(log);
	assert_int_equal(bytes_written(w), 3 * one);
	proc_log_write_at(log, 40, PROC_EXIT, 4, 4);
	assert_int_equal(bytes_written(w), 4 * one);
}

/* The buffer stays small, and its rest is written at the end. */
TEST_WITH(many_gathered_records_are_written_meanwhile, begin, end)
{
	struct attached *w = *state;
	struct proc_log *log = &w->log;
	size_t one;

	proc_log_write_at(log, 1, PROC_EXIT, 1, 1);
	one = bytes_written(w);
	proc_log_gather(log);
	for (unsigned i = 1; i < 10000; i++)
		proc_log_write_at(log, 1 + i, PROC_EXIT, 1, 1);
	assert_true(bytes_written(w) > 9000 * one - (64 << 10));
	assert_true(log->records.len < 64 << 10);
	proc_log_write_gathered(log);
	assert_int_equal(bytes_written(w), 10000 * one);
}

/* @texts: one for each length in @record, up to NULL */
static void take(struct attached *w, struct wire_record record, const char *const *texts,
		 size_t cut)
{
	struct strbuf bytes cleanup_strbuf = { 0 };
	void *exact;

	for (size_t i = 0; texts && i < WIRE_TEXTS && texts[i]; i++)
		record.lens[i] = strlen(texts[i]);
	strbuf_add(&bytes, &record, sizeof(record));
	for (size_t i = 0; texts && i < WIRE_TEXTS && texts[i]; i++)
		strbuf_addstr(&bytes, texts[i]);
	exact = exact_copy(bytes.data, bytes.len - cut);
	bpf_ring_take(&w->ring, exact, bytes.len - cut);
	free(exact);
}

static void add_text(struct strbuf *out, const struct text *text)
{
	strbuf_addch(out, ' ');
	for (const char *at = text->at; at < text->end; at++)
		strbuf_addch(out, *at ? *at : '|');
}

static void add_record(struct strbuf *out, const struct proc_record *rec)
{
	struct proc_fork made;
	struct proc_exec exec;
	struct proc_act act;
	int status;

	strbuf_addf(out, "%llu %d/%d %u:", (unsigned long long)rec->time_ns, rec->tid, rec->pid,
		    rec->kind);
	if (rec->kind == PROC_FORK && proc_fork_decode(rec->data, rec->len, false, &made))
		strbuf_addf(out, " %d/%d %u %llx", made.child, made.child_pid, made.how,
			    (unsigned long long)made.flags);
	else if (rec->kind == PROC_CPU && proc_cpu_decode(rec->data, rec->len, false, &status))
		strbuf_addf(out, " CPU %d", status);
	else if (rec->kind == PROC_EXIT && proc_exit_decode(rec->data, rec->len, false, &status))
		strbuf_addf(out, " %x", status);
	else if (rec->kind == PROC_EXEC && proc_exec_decode(rec->data, rec->len, false, &exec)) {
		strbuf_addf(out, " %d", exec.old_tid);
		add_text(out, &exec.interpreter);
		add_text(out, &exec.program);
		add_text(out, &exec.cwd);
		add_text(out, &exec.args);
	} else if (proc_act_decode(rec->data, rec->len, false, &act)) {
		strbuf_addf(out, " %u %u %u", act.numbers[0], act.numbers[1], act.numbers[2]);
		for (int i = 0; i < PROC_ACT_TEXTS; i++)
			add_text(out, &act.texts[i]);
	}
	strbuf_addch(out, '\n');
}

static void check(struct attached *w, const char *expected)
{
	struct strbuf file cleanup_strbuf = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };
	struct proc_record rec;
	size_t wanted;
	ssize_t len;

	assert_int_equal(store_read(&w->store.store, DATADIR_PROCESSES, SIZE_MAX, &file), 0);
	for (size_t at = 0; at < file.len; at += len) {
		len = proc_record_decode((const uint8_t *)file.data + at, file.len - at, false,
					 &rec, &wanted, NULL);
		assert_true(len > 0);
		if (rec.kind != PROC_CPU || w->shows_cpus)
			add_record(&text, &rec);
	}
	assert_string_equal(strbuf_str(&text), expected);
}

#define EXIT(at, task, process, status, bits)         \
	take(w,                                       \
	     (struct wire_record){ .time_ns = (at),   \
				   .tid = (task),     \
				   .pid = (process),  \
				   .kind = WIRE_EXIT, \
				   .value = (status), \
				   .flags = (bits) }, \
	     NULL, 0)

TEST_WITH(test_forks_and_ends, begin, end)
{
	struct attached *w = *state;

	take(w,
	     (struct wire_record){ .time_ns = 10,
				   .tid = 7,
				   .pid = 7,
				   .kind = WIRE_FORK,
				   .value = 8,
				   .more = 7,
				   .args = { 0x50f00, PROC_BY_CLONE } },
	     NULL, 0);
	/* Times rise. If the recording uses another clock, they are converted. */
	w->ring.to_clock_ns = 100;
	EXIT(20, 8, 7, 0, 0);
	EXIT(19, 7, 7, 0x300, 0);
	check(w, "10 7/7 1: 8/7 3 50f00\n"
		 "120 8/7 3: 0\n"
		 "121 7/7 3: 300\n");
	assert_int_equal(w->ring.nr_broken, 0);
}

TEST_WITH(test_the_first_thread_ends_with_the_last, begin, end)
{
	struct attached *w = *state;

	EXIT(1, 7, 7, 0x500, WIRE_IS_LEADER);
	EXIT(2, 8, 7, 0x100, 0);
	EXIT(3, 9, 7, 0x200, WIRE_IS_LAST);
	/*
	 * The thread that ends last is reported before the leader. The whole group was ended, so
	 * both have the status of the group.
	 */
	EXIT(4, 18, 17, 0x900, WIRE_IS_LAST | WIRE_IS_OF_GROUP);
	EXIT(5, 17, 17, 0x500, WIRE_IS_LEADER);
	/* A new process with that number has a first thread of its own. */
	EXIT(6, 27, 27, 0x500, WIRE_IS_LEADER);
	take(w,
	     (struct wire_record){ .time_ns = 7,
				   .tid = 1,
				   .pid = 1,
				   .kind = WIRE_FORK,
				   .value = 27,
				   .more = 27,
				   .args = { 0, PROC_BY_FORK } },
	     NULL, 0);
	EXIT(8, 28, 27, 0, WIRE_IS_LAST);
	check(w, "2 8/7 3: 100\n"
		 "3 9/7 3: 200\n"
		 "4 7/7 3: 500\n"
		 "5 18/17 3: 900\n"
		 "6 17/17 3: 900\n"
		 "7 1/1 1: 27/27 1 0\n"
		 "8 28/27 3: 0\n");
}

/*
 * The CPU of a task is written before the task's record, unless it is known already. A thread may
 * report the end of its process's first thread: then the first thread's CPU is not written.
 */
TEST_WITH(test_where_tasks_are, begin, end)
{
	struct attached *w = *state;
	struct wire_record fork = { .time_ns = 10,
				    .tid = 7,
				    .pid = 7,
				    .kind = WIRE_FORK,
				    .value = 8,
				    .more = 8,
				    .cpu = 3,
				    .args = { 0, PROC_BY_FORK } };
	struct wire_record ended = {
		.time_ns = 20, .tid = 8, .pid = 8, .kind = WIRE_EXIT, .cpu = 3
	};

	w->shows_cpus = true;
	take(w, fork, NULL, 0);
	take(w, fork, NULL, 0);
	take(w, ended, NULL, 0);
	fork.cpu = 0;
	take(w, fork, NULL, 0);
	take(w, ended, NULL, 0);
	ended.flags = WIRE_IS_LEADER;
	take(w, ended, NULL, 0);
	ended.tid = 9;
	ended.cpu = 1;
	ended.flags = WIRE_IS_LAST;
	take(w, ended, NULL, 0);
	check(w, "10 7/7 64: CPU 3\n"
		 "10 7/7 1: 8/8 1 0\n"
		 "11 7/7 1: 8/8 1 0\n"
		 "20 8/8 64: CPU 3\n"
		 "20 8/8 3: 0\n"
		 "21 7/7 64: CPU 0\n"
		 "21 7/7 1: 8/8 1 0\n"
		 "22 8/8 64: CPU 3\n"
		 "22 8/8 3: 0\n"
		 "23 9/8 64: CPU 1\n"
		 "23 9/8 3: 0\n"
		 "24 8/8 3: 0\n");
}

static struct wire_record part(uint32_t pid, enum wire_kind kind, int32_t at)
{
	return (struct wire_record){
		.time_ns = 5, .tid = pid, .pid = pid, .kind = kind, .value = at
	};
}

/* The part of a record follows its head, without a length. */
static void take_part(struct attached *w, uint32_t pid, enum wire_kind kind, int32_t at,
		      const char *bytes, size_t len)
{
	struct strbuf all cleanup_strbuf = { 0 };
	struct wire_record record = part(pid, kind, at);

	strbuf_add(&all, &record, sizeof(record));
	strbuf_add(&all, bytes, len);
	bpf_ring_take(&w->ring, all.data, all.len);
}

TEST_WITH(test_programs_come_in_parts, begin, end)
{
	static const char *const texts[] = { "/bin/x", "", "/here", NULL };
	static const char *const file[] = { "pipe:[1]", NULL };
	struct attached *w = *state;
	struct wire_record descriptor = part(7, WIRE_INHERIT, 3);

	descriptor.more = WIRE_READS | WIRE_WRITES;
	take(w, part(7, WIRE_EXEC, 9), texts, 0);
	take_part(w, 7, WIRE_ARGS, 0, "x\0a", 3);
	/* Another process executes a program between the parts. */
	take(w, part(17, WIRE_EXEC, 17), texts, 0);
	take_part(w, 7, WIRE_ARGS, 3, "b\0", 2);
	take_part(w, 7, WIRE_ENV, 0, "A=1\0", 4);
	take(w, descriptor, file, 0);
	/* Parts after a missing part count as missing, too. */
	take_part(w, 17, WIRE_ARGS, 3, "b\0", 2);
	take(w, part(17, WIRE_BECAME, 0), NULL, 0);
	take(w, part(7, WIRE_BECAME, 0), NULL, 0);
	/* The beginning of one execution was lost, and the end of another one. */
	take_part(w, 27, WIRE_ARGS, 0, "b\0", 2);
	take(w, part(27, WIRE_BECAME, 0), NULL, 0);
	take(w, part(37, WIRE_EXEC, 37), texts, 0);
	take(w, part(37, WIRE_EXEC, 37), texts, 0);
	bpf_ring_finish(&w->ring);
	check(w, "5 17/17 2: 17 /bin/x /bin/x /here \n"
		 "6 17/17 16: 0 0 0   \n"
		 "7 7/7 2: 9 /bin/x /bin/x /here x|ab|\n"
		 "8 7/7 16: 0 0 0 A=1|  \n"
		 "9 7/7 14: 3 2 0 pipe:[1]  \n"
		 "10 37/37 2: 37 /bin/x /bin/x /here \n"
		 "11 37/37 16: 0 0 0   \n");
	assert_int_equal(w->ring.nr_broken, 0);
}

TEST_WITH(test_calls, begin, end)
{
	static const char *const opened[] = { "/dir/real", "../dir/real", "/dir", "", "",
					      "",	   "/",		  NULL };
	static const char *const unlinked[] = {
		"", "gone", "/no/such/place", "", "", "", "/", NULL
	};
	static const char *const unread[] = { "", NULL };
	static const char *const itself[] = { "", "", "/no/such/place", "", "", "", "/", NULL };
	struct attached *w = *state;
	struct wire_record call = {
		.time_ns = 1, .tid = 8, .pid = 7, .kind = WIRE_CALL, .id = SYSCALL_OPEN, .value = 3
	};

	call.args[1] = O_WRONLY | O_CREAT;
	call.args[2] = 0600;
	take(w, call, opened, 0);
	call.id = SYSCALL_UNLINK;
	take(w, call, unlinked, 0);
	/* The call's name could not be read. */
	take(w, call, unread, 0);
	/* With an empty name, the call is about its directory itself. */
	take(w, call, itself, 0);
	call.id = SYSCALL_PIPE2;
	call.out[0] = 4 | 5ULL << 32;
	take(w, call, NULL, 0);
	check(w, "1 8/7 4: 3 65 384 /dir/real /dir/../dir/real \n"
		 "2 8/7 11: 0 0 0 /no/such/place/gone  \n"
		 "3 8/7 11: 0 0 0   \n"
		 "4 8/7 11: 0 0 0 /no/such/place  \n"
		 "5 8/7 7: 4 5 65   \n");
}

TEST_WITH(test_what_is_broken_is_counted, begin, end)
{
	static const char *const texts[] = { "/bin/x", "name", "/here", NULL };
	struct attached *w = *state;
	struct wire_record record = part(7, WIRE_EXEC, 7);

	for (size_t cut = 1; cut < sizeof(record) + 15; cut++)
		take(w, record, texts, cut);
	record.kind = 99;
	take(w, record, NULL, 0);
	record.kind = WIRE_CALL;
	record.id = SYSCALL_NOT_WATCHED;
	take(w, record, NULL, 0);
	record.id = SYSCALL_OPEN;
	record.lens[WIRE_ROOT] = 0xffff;
	take(w, record, NULL, 0);
	bpf_ring_finish(&w->ring);
	check(w, "");
	assert_int_equal(w->ring.nr_broken, sizeof(record) + 14 + 3);
}
