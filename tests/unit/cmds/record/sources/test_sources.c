/*
 * A source that is added as doc/internals/recorder.md describes it: it records all bytes written
 * into a pipe.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "cmds/record/sources/sources.h"
#include "tests/unit/lib/record/store_memory.h"
#include "utils/base/compiler.h"

/* @ends: letters of the sources that have ended, in that order */
struct toy {
	struct source source;
	struct served served;
	struct store *store;
	struct loop *loop;
	int pipe[2];
	int stream;
	int fails; /* the result of toy_finish(): 0 or a negative errno */
	char letter;
	char *ends;
};

static int take(struct toy *toy)
{
	char bytes[64];
	ssize_t n;
	int ret = 0;

	while (ret == 0 && (n = read(toy->pipe[0], bytes, sizeof(bytes))) > 0) {
		if (store_may_take(toy->store, n))
			ret = store_append(toy->store, toy->stream, bytes, n);
	}
	return ret;
}

static void toy_serve(struct served *served, uint32_t epoll_events)
{
	struct toy *toy = container_of(served, struct toy, served);

	store_note_error(toy->store, take(toy));
}

static int toy_save(struct source *source)
{
	return take(container_of(source, struct toy, source));
}

static int toy_finish(struct source *source)
{
	struct toy *toy = container_of(source, struct toy, source);
	int ret = toy_save(source);

	loop_remove(toy->loop, toy->pipe[0], &toy->served);
	store_close(toy->store, toy->stream);
	close(toy->pipe[0]);
	close(toy->pipe[1]);
	strncat(toy->ends, &toy->letter, 1);
	return ret ? ret : toy->fails;
}

static void toy_open(struct toy *toy, struct sources *sources, unsigned cpu, char *ends)
{
	*toy = (struct toy){
		.source = { toy_save, toy_finish },
		.served = { toy_serve, toy },
		.store = sources->store,
		.loop = sources->loop,
		.letter = 'A' + cpu,
		.ends = ends,
	};
	assert_int_equal(pipe2(toy->pipe, O_CLOEXEC | O_NONBLOCK), 0);
	toy->stream = store_open_cpu(sources->store, "toy-cpu", cpu);
	assert_true(toy->stream >= 0);
	assert_int_equal(loop_add(sources->loop, toy->pipe[0], &toy->served), 0);
	sources_add(sources, &toy->source);
}

static void say(const struct toy *toy, const char *text)
{
	assert_int_equal(write(toy->pipe[1], text, strlen(text)), strlen(text));
}

static void check(struct store *store, const char *name, const char *expected)
{
	struct strbuf content cleanup_strbuf = { 0 };

	assert_int_equal(store_read(store, name, SIZE_MAX, &content), 0);
	assert_string_equal(strbuf_str(&content), expected);
}

static void note_full(void *arg)
{
	*(bool *)arg = true;
}

TEST(test_two_of_a_kind)
{
	const struct record_settings settings = { 0 };
	struct loop loop = { .epoll_fd = -1 };
	struct store_memory memory;
	struct sources sources = { &settings, &memory.store, &loop };
	struct toy a, b;
	char ends[8] = "";
	bool is_full = false;

	store_memory_init(&memory);
	store_limit(&memory.store, 12, note_full, &is_full);
	assert_int_equal(loop_open(&loop, NULL), 0);
	toy_open(&a, &sources, 0, ends);
	toy_open(&b, &sources, 1, ends);

	/* Bytes are taken by the loop, by a reader before the end, and at the end. */
	say(&a, "one ");
	assert_int_equal(loop_serve(&loop, -1), 1);
	check(&memory.store, "toy-cpu0.dat", "one ");
	say(&a, "two");
	say(&b, "three");
	assert_int_equal(sources_save(&sources), 0);
	check(&memory.store, "toy-cpu0.dat", "one two");
	check(&memory.store, "toy-cpu1.dat", "three");
	assert_false(is_full);
	say(&b, "!");
	a.fails = -EIO;
	b.fails = -ENOSPC;
	assert_int_equal(sources_finish(&sources), -EIO);
	assert_string_equal(ends, "AB");
	check(&memory.store, "toy-cpu1.dat", "three");
	assert_true(is_full);

	/* All sources have ended, so none is asked. */
	assert_int_equal(sources_save(&sources), 0);
	assert_int_equal(sources_finish(&sources), 0);
	assert_string_equal(ends, "AB");
	loop_close(&loop);
	store_memory_deinit(&memory);
}

struct result {
	struct source source;
	int save;
	int finish;
	unsigned nr_saved;
	unsigned nr_finished;
};

static int result_of_save(struct source *source)
{
	struct result *result = container_of(source, struct result, source);

	result->nr_saved++;
	return result->save;
}

static int result_of_finish(struct source *source)
{
	struct result *result = container_of(source, struct result, source);

	result->nr_finished++;
	return result->finish;
}

/* All sources are saved and finished, whatever the results. The first error is returned. */
TEST(the_first_error_is_returned)
{
	static const struct {
		int results[3];
		int expected;
	} rows[] = {
		{ { 0, 0, 0 }, 0 },
		{ { 0, 0, -EIO }, -EIO },
		{ { 0, -EIO, -ENOSPC }, -EIO },
		{ { -ENOSPC, -EIO, 0 }, -ENOSPC },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct record_settings settings = { .max_bytes = 800 };
		struct sources sources = { .settings = &settings };
		struct result list[3];

		assert_int_equal(sources_left_bytes(&sources), 800);
		for (unsigned k = 0; k < 3; k++) {
			/* Before sources_add(), the link of a source has no meaning. */
			list[k] = (struct result){
				.source = { result_of_save, result_of_finish, &list[0].source },
				.save = rows[i].results[k],
			};
			sources_add(&sources, &list[k].source);
			assert_int_equal(sources.nr, k + 1);
			assert_int_equal(sources_left_bytes(&sources), 700 - 100 * k);
		}
		assert_ptr_equal(sources.first, &list[0].source);
		assert_int_equal(sources_save(&sources), rows[i].expected);
		for (unsigned k = 0; k < 3; k++) {
			list[k].finish = rows[i].results[k];
			assert_int_equal(list[k].nr_saved, 1);
			assert_int_equal(list[k].nr_finished, 0);
		}
		assert_int_equal(sources_finish(&sources), rows[i].expected);
		for (unsigned k = 0; k < 3; k++)
			assert_int_equal(list[k].nr_finished, 1);
		assert_null(sources.first);
		/* Sources that have ended keep their shares. */
		assert_int_equal(sources_left_bytes(&sources), 500);
	}
}

/* A source has an eighth of --max-size for all CPUs, and at most 2 MB for each of them. */
TEST(shares_of_cpus)
{
	static const struct {
		uint64_t max_bytes;
		unsigned nr_cpus;
		uint64_t kept_bytes;
	} rows[] = {
		{ 0, 1, 0 },
		{ 4800, 1, 600 },
		{ 4800, 7, 85 },
		{ 64 << 20, 4, 2 << 20 },
		{ (64 << 20) - 32, 4, (2 << 20) - 1 },
		{ 1ULL << 40, 1, 2 << 20 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct record_settings settings = { .max_bytes = rows[i].max_bytes };

		assert_true(sources_kept_bytes(&settings, rows[i].nr_cpus) == rows[i].kept_bytes);
	}
}
