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
