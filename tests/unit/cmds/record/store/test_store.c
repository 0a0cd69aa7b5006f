/*
 * A whole recording into a store that is no directory: the recorder writes no byte of it to the
 * disk in another way.
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/record/store_memory.h"
#include "tests/unit/lib/unit.h"

/* A recorder and a probe with a store in memory, and a directory that stays empty. */
struct place {
	struct store_memory memory;
	struct pair pair;
};

static void begin(struct place *place, uint64_t flight_bytes, uint64_t max_bytes)
{
	store_memory_init(&place->memory);
	pair_init(&place->pair);
	place->pair.into = &place->memory.store;
	place->pair.settings.flight_bytes = flight_bytes;
	place->pair.settings.max_bytes = max_bytes;
	pair_open(&place->pair);
}

static void check_nothing_on_disk(const struct place *place)
{
	DIR *dir = opendir(place->pair.dir);

	assert_non_null(dir);
	for (struct dirent *e; (e = readdir(dir)) != NULL;)
		assert_true(strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0);
	closedir(dir);
}

static void end(struct place *place)
{
	pair_stop(&place->pair);
	assert_int_equal(place->memory.store.error, 0);
	check_nothing_on_disk(place);
	pair_close(&place->pair);
	store_memory_deinit(&place->memory);
}

static struct strbuf content_of(struct place *place, const char *name)
{
	struct strbuf content = { 0 };

	assert_int_equal(store_read(&place->memory.store, name, SIZE_MAX, &content), 0);
	return content;
}

static struct strbuf data_of(struct place *place, int32_t tid)
{
	char name[32];

	snprintf(name, sizeof(name), "%d.dat", tid);
	return content_of(place, name);
}

static void emit(struct thread *t, uint64_t from, uint64_t to)
{
	for (uint64_t nr = from; nr < to; nr++)
		assert_true(emit_record(t, nr, record_data(RECORD_ENTRY, 1, nr * 16), NULL, 0));
}

/*
 * Check that the task's file has the records @from to @to - 1.
 */
static void check_records(struct place *place, int32_t tid, uint64_t from, uint64_t to)
{
	struct strbuf data cleanup_strbuf = data_of(place, tid);
	const struct record *r = (const struct record *)strbuf_str(&data);

	assert_int_equal(data.len, (to - from) * sizeof(*r));
	for (uint64_t nr = from; nr < to; nr++, r++) {
		assert_int_equal(r->time_ns, nr);
		assert_int_equal(record_addr(r->data), nr * 16);
	}
}

/*
 * Two threads go around their rings more than once. The writer takes records when segments are
 * full, and at the end.
 */
TEST(test_rings)
{
	struct place place;
	struct thread *a, *b;

	begin(&place, 0, 0);
	a = pair_thread();
	b = pair_thread();
	for (uint64_t nr = 0; nr < 10000; nr += 100) {
		emit(a, nr, nr + 100);
		emit(b, nr + 7, nr + 107);
		pair_look(&place.pair, nr % 3 == 0);
	}

	int32_t tids[] = { a->ring->tid, b->ring->tid };

	pair_stop(&place.pair);
	check_records(&place, tids[0], 0, 10000);
	check_records(&place, tids[1], 7, 10007);

	struct strbuf log cleanup_strbuf = content_of(&place, "task.txt");
	char line[64];

	assert_non_null(strstr(strbuf_str(&log), "exename=\"/bin/program\""));
	for (int i = 0; i < 2; i++) {
		snprintf(line, sizeof(line), " tid=%d pid=%d\n", tids[i], getpid());
		assert_non_null(strstr(strbuf_str(&log), line));
	}
	end(&place);
}

/*
 * A snapshot is a whole file that replaces the former one. The oldest files are removed when the
 * limit has no room for all.
 */
TEST(test_flight)
{
	struct place place;
	struct thread *first, *second;

	begin(&place, FLIGHT_BYTES_MIN, 150 * sizeof(struct record));
	first = pair_thread();
	emit(first, 0, 40);
	assert_int_equal(flight_save_all(&place.pair.rec.writers), 1);
	check_records(&place, first->ring->tid, 0, 40);
	emit(first, 40, 100);
	assert_int_equal(flight_save_all(&place.pair.rec.writers), 1);
	check_records(&place, first->ring->tid, 0, 100);

	int32_t former = first->ring->tid;
	struct strbuf none cleanup_strbuf = { 0 };
	char name[32];

	thread_give_back(first);
	pair_look(&place.pair, false);
	second = pair_thread();
	emit(second, 0, 60);
	flight_save_all(&place.pair.rec.writers);
	check_records(&place, second->ring->tid, 0, 60);
	snprintf(name, sizeof(name), "%d.dat", former);
	assert_int_equal(store_read(&place.memory.store, name, 1, &none), -ENOENT);
	end(&place);
}

/* task.txt is replaced, and later lines follow. */
TEST(test_clear)
{
	struct place place;
	struct thread *t;
	int32_t kept[] = { 1 };

	begin(&place, 0, 0);
	t = pair_thread();
	emit(t, 0, 1);
	pair_look(&place.pair, true);

	struct strbuf before cleanup_strbuf = content_of(&place, "task.txt");
	char line[32];

	/* The thread has ended for the recorder: the kernel does not know its number. */
	snprintf(line, sizeof(line), " tid=%d ", t->ring->tid);
	assert_non_null(strstr(strbuf_str(&before), line));
	tasks_clear(&place.pair.rec.tasks, kept, ARRAY_SIZE(kept));

	struct strbuf cleared cleanup_strbuf = content_of(&place, "task.txt");

	assert_null(strstr(strbuf_str(&cleared), line));
	tasks_announce(&place.pair.rec.tasks, place.pair.proc, 4999999, 5);

	struct strbuf after cleanup_strbuf = content_of(&place, "task.txt");

	assert_memory_equal(after.data, cleared.data, cleared.len);
	assert_non_null(strstr(strbuf_str(&after), "tid=4999999 "));
	end(&place);
}

/* The module that a symbol file belongs to is read back from the store. */
TEST(test_names_of_symbol_files)
{
	struct store_memory memory;
	struct store *store = &memory.store;
	char name[64];
	static const char text[] = "# path name: /usr/lib/libx.so\n# build-id: 0123abcd\n";

	store_memory_init(&memory);
	assert_true(store_choose_name(store, "/usr/lib/libx.so", "0123abcd", name, sizeof(name)));
	assert_string_equal(name, "libx.so.sym");
	assert_int_equal(store_publish(store, name, text, sizeof(text) - 1, NULL), 0);
	assert_false(store_choose_name(store, "/usr/lib/libx.so", "0123abcd", name, sizeof(name)));
	assert_true(store_choose_name(store, "/opt/libx.so", "fedc0000", name, sizeof(name)));
	assert_string_equal(name, "libx.so-fedc.sym");
	assert_true(store_choose_name(store, "/opt/libx.so", "", name, sizeof(name)));
	assert_string_equal(name, "libx.so-0470.sym");
	store_memory_deinit(&memory);
}

TEST(test_first_error_counts)
{
	struct store store = { 0 };
	struct stat st;

	store.ops = &(const struct store_ops){ 0 };
	store_note_error(&store, 0);
	store_note_error(&store, 3);
	assert_int_equal(store.error, 0);
	store_note_error(&store, -ENOSPC);
	store_note_error(&store, -EIO);
	assert_int_equal(store.error, -ENOSPC);
	assert_int_equal(store_place(&store, &st), -EOPNOTSUPP);
	assert_true(store_may_stay_open(&store, 0));
}

/* The symbol file is found by the whole path and the whole id. */
TEST(test_symbol_files_of_others)
{
	static const char plain[] = "# path name: /usr/lib/libx.so\n";
	static const char suffixed[] = "# path name: /opt/libx.so\n# build-id: fedc1111\n";
	struct store_memory memory;
	struct store *store = &memory.store;
	char name[64];

	store_memory_init(&memory);
	assert_int_equal(store_publish(store, "libx.so.sym", plain, sizeof(plain) - 1, NULL), 0);
	assert_int_equal(
		store_publish(store, "libx.so-fedc.sym", suffixed, sizeof(suffixed) - 1, NULL), 0);
	assert_false(store_choose_name(store, "/usr/lib/libx.so", "", name, sizeof(name)));
	/* The file has no id. */
	assert_true(store_choose_name(store, "/usr/lib/libx.so", "0123abcd", name, sizeof(name)));
	assert_string_equal(name, "libx.so-0123.sym");
	assert_false(store_choose_name(store, "/opt/libx.so", "fedc1111", name, sizeof(name)));
	/* The second name is in use, too. */
	assert_false(store_choose_name(store, "/opt/libx.so", "fedc2222", name, sizeof(name)));
	store_memory_deinit(&memory);
}

static void note_full(void *arg)
{
	++*(int *)arg;
}

TEST(test_limit)
{
	struct store store = { 0 };
	int nr_full = 0;

	/* Without a limit, bytes are counted, too. */
	assert_true(store_may_take(&store, 1000));
	store_took(&store, 1000, 10);
	assert_int_equal(store.taken, 10);
	atomic_store(&store.taken, 0);

	store_limit(&store, 100, note_full, &nr_full);
	assert_true(store_may_take(&store, 60));
	store_took(&store, 60, 50);
	assert_int_equal(store.taken, 50);
	store_took(&store, 5, 15);
	assert_int_equal(store.taken, 60);
	assert_true(store_may_take(&store, 40));
	assert_int_equal(nr_full, 0);
	assert_false(store_may_take(&store, 1));
	assert_int_equal(nr_full, 1);
	assert_true(store.is_full);
	store_took(&store, 100, 0);
	assert_false(store_may_take(&store, 1));
	assert_int_equal(nr_full, 2);
}

static void check_content(struct store *store, const char *name, const char *expected)
{
	struct strbuf text cleanup_strbuf = { 0 };

	assert_int_equal(store_read(store, name, SIZE_MAX, &text), 0);
	assert_string_equal(strbuf_str(&text), expected);
}

/* The file is opened at the first line. A line that --max-size forbids is left out. */
TEST(test_lines)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct store_memory memory;
	struct store *store = &memory.store;
	int nr_full = 0;
	int stream = -1;

	store_memory_init(&memory);
	store_limit(store, 12, note_full, &nr_full);
	strbuf_addstr(&text, "line\n");
	store_append_line(store, &stream, "lines.txt", &text);
	assert_int_equal(stream, 0);
	store_append_line(store, &stream, "other.txt", &text);
	check_content(store, "lines.txt", "line\nline\n");
	store_append_line(store, &stream, "lines.txt", &text);
	check_content(store, "lines.txt", "line\nline\n");
	assert_int_equal(nr_full, 1);
	assert_int_equal(store->error, 0);

	assert_int_equal(store_append_to(store, "rest.txt", &text), 0);
	assert_int_equal(store_append_to(store, "rest.txt", &text), 0);
	check_content(store, "rest.txt", "line\nline\n");
	store_memory_deinit(&memory);
}

/* The part of a line that there was memory for is not written. */
TEST(test_a_line_without_memory)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct store_memory memory;
	int stream = -1;

	store_memory_init(&memory);
	strbuf_addstr(&text, "line\n");
	store_append_line(&memory.store, &stream, "lines.txt", &text);
	text.oom = true;
	store_append_line(&memory.store, &stream, "lines.txt", &text);
	check_content(&memory.store, "lines.txt", "line\n");
	assert_int_equal(memory.store.error, -ENOMEM);
	store_memory_deinit(&memory);
}

static int fail_to_open(struct store *store, const char *name)
{
	return -EMFILE;
}

TEST(test_a_file_that_cannot_be_opened)
{
	static const struct store_ops ops = { .open = fail_to_open };
	struct strbuf text cleanup_strbuf = { 0 };
	struct store store = { .ops = &ops };
	int stream = -1;

	strbuf_addstr(&text, "line\n");
	assert_int_equal(store_append_to(&store, "rest.txt", &text), -EMFILE);
	assert_int_equal(store.error, 0);
	store_append_line(&store, &stream, "lines.txt", &text);
	assert_int_equal(store.error, -EMFILE);
	assert_true(stream < 0);
	assert_int_equal(store.taken, 0);
}

TEST(test_files_of_cpus)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct strbuf none cleanup_strbuf = { 0 };
	struct store_memory memory;
	struct store *store = &memory.store;

	store_memory_init(&memory);
	strbuf_addstr(&text, "text");
	assert_int_equal(store_open_cpu(store, "perf-cpu", 0), 0);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(store_publish_cpu(store, "perf-cpu", i, &text), 0);
	check_content(store, "perf-cpu0.dat", "text");
	check_content(store, "perf-cpu3.dat", "text");
	store_remove_cpus(store, "perf-cpu", 3);
	assert_int_equal(store_read(store, "perf-cpu0.dat", 9, &none), -ENOENT);
	assert_int_equal(store_read(store, "perf-cpu2.dat", 9, &none), -ENOENT);
	check_content(store, "perf-cpu3.dat", "text");
	store_memory_deinit(&memory);
}
