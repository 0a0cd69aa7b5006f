/*
 * The store that packs records: <tid>.cdat has the content of <tid>.dat. Other files are stored
 * unchanged.
 */
#include "tests/unit/lib/record/store_memory.h"
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "cmds/record/store/compact.h"
#include "utils/format/calls/compact.h"
#include "utils/format/record.h"

static struct store_memory memory;
static struct store_compact compact;

static int setup(void **state)
{
	store_memory_init(&memory);
	store_compact_init(&compact, &memory.store);
	return 0;
}

static int teardown(void **state)
{
	store_compact_deinit(&compact);
	store_memory_deinit(&memory);
	return 0;
}

static struct strbuf content_of(const char *name)
{
	struct strbuf content = { 0 };

	assert_int_equal(store_read(&memory.store, name, SIZE_MAX, &content), 0);
	return content;
}

/* Returns the decoded blocks in @name. */
static struct strbuf unpacked(const char *name)
{
	struct compact_coder *coder cleanup_compact_coder = compact_coder_create();
	struct strbuf packed cleanup_strbuf = content_of(name);
	struct strbuf raw = { 0 };
	size_t end = packed.len;

	assert_true(strbuf_grow(&packed, COMPACT_SLACK));
	assert_true(strbuf_grow(&raw, 8 * COMPACT_RAW_MAX));
	for (size_t at = 0; at < end;) {
		const uint8_t *block = (const uint8_t *)packed.data + at;
		struct compact_head head;

		assert_true(compact_head_decode(block, &head));
		assert_int_equal(head.tid, 17);
		assert_true(compact_decode(coder, &head, block + COMPACT_HEAD_BYTES,
					   (uint8_t *)raw.data + raw.len));
		raw.len += head.raw_len;
		at += COMPACT_HEAD_BYTES + head.body_len;
	}
	return raw;
}

static void fill(struct record *records, size_t nr, uint64_t from_ns)
{
	for (size_t i = 0; i < nr; i++)
		records[i] = (struct record){
			from_ns + 10 * i, record_data(i % 2 ? RECORD_EXIT : RECORD_ENTRY, 1, 4096)
		};
}

TEST_WITH(records_are_packed, setup, teardown)
{
	static struct record records[30000];
	const size_t nr = ARRAY_SIZE(records);

	fill(records, nr, 1000);
	store_limit(&compact.store, 1 << 20, NULL, NULL);
	for (size_t i = 0; i < 3; i++) {
		int stream = store_open(&compact.store, "17.dat");

		/* A file that is opened again goes on where it ended. */
		assert_true(stream >= 0);
		assert_true(store_may_take(&compact.store, nr / 3 * sizeof(*records)));
		assert_int_equal(store_append(&compact.store, stream, records + nr / 3 * i,
					      nr / 3 * sizeof(*records)),
				 0);
		store_close(&compact.store, stream);
	}

	struct strbuf raw cleanup_strbuf = unpacked("17.cdat");
	struct strbuf none cleanup_strbuf = { 0 };

	assert_int_equal(raw.len, sizeof(records));
	assert_memory_equal(raw.data, records, sizeof(records));
	assert_int_equal(store_read(&memory.store, "17.dat", 10, &none), -ENOENT);
	/* The limit counts the bytes that were written, not the packed records. */
	assert_true(compact.store.taken < sizeof(records) / 8);
	assert_false(compact.store.is_full);
	store_remove(&compact.store, "17.dat");
	assert_int_equal(store_read(&memory.store, "17.cdat", 10, &none), -ENOENT);
}

TEST_WITH(parts_are_packed_in_one_append, setup, teardown)
{
	static struct record records[20000];
	const struct iovec parts[] = { { records, 5 * sizeof(*records) },
				       { records + 5, 0 },
				       { records + 5, sizeof(records) - 5 * sizeof(*records) } };
	int stream = store_open(&compact.store, "17.dat");

	fill(records, ARRAY_SIZE(records), 1000);
	assert_int_equal(store_append_parts(&compact.store, stream, parts, ARRAY_SIZE(parts)), 0);
	store_close(&compact.store, stream);

	struct strbuf raw cleanup_strbuf = unpacked("17.cdat");

	assert_int_equal(raw.len, sizeof(records));
	assert_memory_equal(raw.data, records, sizeof(records));
}

TEST_WITH(a_published_file_is_packed, setup, teardown)
{
	struct record records[100];
	const struct iovec parts[] = { { records, 24 },
				       { records + 1, 0 },
				       { (char *)records + 24, sizeof(records) - 24 } };

	fill(records, ARRAY_SIZE(records), 5);
	assert_int_equal(
		store_publish_parts(&compact.store, "17.dat", parts, ARRAY_SIZE(parts), NULL), 0);

	struct strbuf raw cleanup_strbuf = unpacked("17.cdat");

	assert_int_equal(raw.len, sizeof(records));
	assert_memory_equal(raw.data, records, sizeof(records));
}

TEST_WITH(the_rest_is_handed_on, setup, teardown)
{
	int log = store_open(&compact.store, "task.txt");
	int dat = store_open(&compact.store, "perf-cpu0.dat");
	const struct iovec part = { "new ", 4 };

	assert_int_equal(store_append(&compact.store, log, "old", 3), 0);
	assert_int_equal(store_append(&compact.store, dat, "perf", 4), 0);
	/* The stream of task.txt goes on after the replaced part. */
	assert_int_equal(store_publish_parts(&compact.store, "task.txt", &part, 1, &log), 0);
	assert_int_equal(store_append(&compact.store, log, "more", 4), 0);
	store_close(&compact.store, log);
	store_close(&compact.store, dat);

	struct strbuf text cleanup_strbuf = content_of("task.txt");
	struct strbuf perf cleanup_strbuf = content_of("perf-cpu0.dat");
	struct strbuf again cleanup_strbuf = { 0 };

	assert_string_equal(strbuf_str(&text), "new more");
	assert_string_equal(strbuf_str(&perf), "perf");
	assert_int_equal(store_read(&compact.store, "task.txt", 100, &again), 0);
	assert_string_equal(strbuf_str(&again), "new more");
}

/* --- a store below that tells how it is used --- */

/*
 * @fails: all functions fail with this error
 * @name: the file of the last call
 * @stream: the stream of the last call
 * @len: the number of bytes of the last call
 */
static struct {
	struct store store;
	int fails;
	int next;
	int nr_open;
	char name[64];
	int stream;
	size_t len;
} below;

static int below_open(struct store *store, const char *name)
{
	snprintf(below.name, sizeof(below.name), "%s", name);
	if (below.fails)
		return below.fails;
	below.nr_open++;
	return below.next++;
}

static int below_append(struct store *store, int stream, const struct iovec *parts, int nr)
{
	below.stream = stream;
	below.len = iovec_bytes(parts, nr);
	return below.fails;
}

static void below_close(struct store *store, int stream)
{
	below.stream = stream;
	below.nr_open--;
}

static bool below_may_stay_open(struct store *store, int stream)
{
	below.stream = stream;
	return stream % 2;
}

static int below_publish(struct store *store, const char *name, const struct iovec *parts, int nr,
			 int *stream, struct uft_err *err)
{
	snprintf(below.name, sizeof(below.name), "%s", name);
	below.len = iovec_bytes(parts, nr);
	below.stream = stream ? *stream : -1;
	if (stream)
		*stream = below.next++;
	return below.fails ? err_set_errno(err, below.fails, "below") : 0;
}

static int below_overwrite_end(struct store *store, const char *name, const void *data, size_t len)
{
	snprintf(below.name, sizeof(below.name), "%s", name);
	below.len = len;
	return below.fails;
}

static int below_read(struct store *store, const char *name, size_t max, struct strbuf *out)
{
	snprintf(below.name, sizeof(below.name), "%s", name);
	below.len = max;
	return below.fails;
}

static void below_remove(struct store *store, const char *name)
{
	snprintf(below.name, sizeof(below.name), "%s", name);
}

static int below_place(struct store *store, struct stat *place)
{
	*place = (struct stat){ .st_ino = 4711 };
	return below.fails;
}

static int setup_below(void **state)
{
	static const struct store_ops ops = {
		.open = below_open,
		.append = below_append,
		.close = below_close,
		.may_stay_open = below_may_stay_open,
		.publish = below_publish,
		.overwrite_end = below_overwrite_end,
		.read = below_read,
		.remove = below_remove,
		.place = below_place,
	};

	memset(&below, 0, sizeof(below));
	below.store.ops = &ops;
	below.next = 100;
	store_compact_init(&compact, &below.store);
	return 0;
}

static int teardown_below(void **state)
{
	store_compact_deinit(&compact);
	assert_null(compact.inner);
	return 0;
}

/* Numbers of closed streams are used again. The table of streams grows when all are in use. */
TEST_WITH(each_stream_has_its_own_below, setup_below, teardown_below)
{
	int streams[40];

	for (int i = 0; i < 40; i++) {
		streams[i] = store_open(&compact.store, "task.txt");
		assert_int_equal(streams[i], i);
		assert_string_equal(below.name, "task.txt");
	}
	for (int i = 0; i < 40; i++) {
		assert_int_equal(store_append(&compact.store, streams[i], "text", i), 0);
		assert_int_equal(below.stream, 100 + i);
		assert_int_equal(below.len, i);
		assert_int_equal(store_may_stay_open(&compact.store, streams[i]), i % 2);
		assert_int_equal(below.stream, 100 + i);
	}
	store_close(&compact.store, 7);
	assert_int_equal(below.stream, 107);
	store_close(&compact.store, 39);
	assert_int_equal(below.stream, 139);
	assert_int_equal(below.nr_open, 38);
	assert_int_equal(store_open(&compact.store, "a"), 7);
	assert_int_equal(store_open(&compact.store, "b"), 39);
	assert_int_equal(store_open(&compact.store, "c"), 40);
	store_append(&compact.store, 39, "x", 1);
	assert_int_equal(below.stream, 141);
}

TEST_WITH(errors_from_below_are_handed_on, setup_below, teardown_below)
{
	struct record records[10];
	const struct iovec part = { records, sizeof(records) };
	int dat = store_open(&compact.store, "17.dat");
	int log = store_open(&compact.store, "task.txt");
	struct strbuf out cleanup_strbuf = { 0 };
	struct stat place;

	assert_string_equal(below.name, "task.txt");
	fill(records, ARRAY_SIZE(records), 1);
	store_limit(&compact.store, 1 << 20, NULL, NULL);
	assert_true(store_may_take(&compact.store, sizeof(records)));
	below.fails = -ENOSPC;
	assert_int_equal(store_open(&compact.store, "18.dat"), -ENOSPC);
	assert_string_equal(below.name, "18.cdat");
	assert_int_equal(store_append_parts(&compact.store, dat, &part, 1), -ENOSPC);
	assert_int_equal(below.stream, 100);
	assert_int_equal(store_append_parts(&compact.store, log, &part, 1), -ENOSPC);
	/* Nothing was written, so the count stays. */
	assert_int_equal(compact.store.taken, sizeof(records));
	assert_int_equal(store_publish_parts(&compact.store, "17.dat", &part, 1, NULL), -ENOSPC);
	assert_int_equal(store_publish_parts(&compact.store, "info", &part, 1, NULL), -ENOSPC);
	assert_int_equal(store_overwrite_end(&compact.store, "info", "x", 1), -ENOSPC);
	assert_int_equal(store_read(&compact.store, "info", 1, &out), -ENOSPC);
	assert_int_equal(store_place(&compact.store, &place), -ENOSPC);
	below.fails = 0;
	assert_int_equal(store_append_parts(&compact.store, dat, &part, 1), 0);
	assert_int_equal(compact.store.taken, below.len);
	assert_true(below.len < sizeof(records));
}

TEST_WITH(an_empty_append_stays_empty, setup_below, teardown_below)
{
	const struct iovec none = { NULL, 0 };
	int dat = store_open(&compact.store, "17.dat");

	below.len = 99;
	assert_int_equal(store_append_parts(&compact.store, dat, &none, 1), 0);
	assert_int_equal(below.len, 0);
}

/* Packed records cannot be read, overwritten or appended to. */
TEST_WITH(files_that_are_not_records_are_used_as_they_are, setup_below, teardown_below)
{
	const struct iovec part = { "12345", 5 };
	struct strbuf out cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };
	int log = store_open(&compact.store, "task.txt");
	struct stat place = { 0 };

	assert_int_equal(store_overwrite_end(&compact.store, "info", "123", 3), 0);
	assert_string_equal(below.name, "info");
	assert_int_equal(below.len, 3);
	assert_int_equal(store_read(&compact.store, "maps", 77, &out), 0);
	assert_string_equal(below.name, "maps");
	assert_int_equal(below.len, 77);
	assert_int_equal(store_place(&compact.store, &place), 0);
	assert_int_equal(place.st_ino, 4711);
	store_remove(&compact.store, "info");
	assert_string_equal(below.name, "info");
	store_remove(&compact.store, "17.dat");
	assert_string_equal(below.name, "17.cdat");

	assert_int_equal(store_publish_parts(&compact.store, "info", &part, 1, NULL), 0);
	assert_int_equal(below.stream, -1);
	assert_int_equal(below.len, 5);
	assert_int_equal(store_publish_parts(&compact.store, "task.txt", &part, 1, &log), 0);
	assert_int_equal(below.stream, 100);
	/* The stream has another number below. */
	assert_int_equal(store_append(&compact.store, log, "x", 1), 0);
	assert_int_equal(below.stream, 101);

	assert_int_equal(store_read(&compact.store, "17.dat", 77, &out), -EINVAL);
	assert_int_equal(store_overwrite_end(&compact.store, "17.dat", "123", 3), -EINVAL);
	assert_int_equal(compact.store.ops->publish(&compact.store, "17.dat", &part, 1, &log, &err),
			 -EINVAL);
	assert_non_null(strstr(err.text, "cannot write '17.dat'"));
}
