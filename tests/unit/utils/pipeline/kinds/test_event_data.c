/*
 * Payloads of events, which are in a file beside the records. Each payload is read with its event.
 * The file is read in small pieces, also when it has grown. Damaged files have no payloads.
 */
#include "tests/unit/lib/unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/base/compiler.h"
#include "utils/base/fd.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/event_data.h"
#include "utils/pipeline/kinds/event_data.h"

struct place {
	char dir[64];
	char path[96];
	struct strbuf file;
	struct event_data_source src;
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	strcpy(p->dir, "/tmp/utrail-unit-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	snprintf(p->path, sizeof(p->path), "%s/7.evt", p->dir);
	p->src = (struct event_data_source){
		.dir = p->dir, .tid = 7, .may_be = true, .buffer_bytes = 64
	};
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	event_data_release(&p->src);
	strbuf_deinit(&p->file);
	unlink(p->path);
	rmdir(p->dir);
	free(p);
	return 0;
}

/*
 * Add an entry of @len bytes, all of which are @byte.
 */
static void add(struct place *p, uint64_t time_ns, uint32_t id, uint16_t len, char byte)
{
	const struct event_data entry = { .time_ns = time_ns, .id = id, .len = len };

	strbuf_add(&p->file, &entry, sizeof(entry));
	for (unsigned i = 0; i < ALIGN_UP((unsigned)len, 8U); i++)
		strbuf_addch(&p->file, byte);
}

static void put(struct place *p)
{
	int fd = open(p->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, p->file.data, p->file.len), 0);
	close(fd);
}

static void expect(struct place *p, uint64_t time_ns, uint32_t id, uint16_t len, uint8_t byte)
{
	const uint8_t *data;
	uint16_t found;

	assert_true(event_data_find(&p->src, time_ns, id, &data, &found));
	assert_int_equal(found, len);
	for (unsigned i = 0; i < len; i++)
		assert_int_equal(data[i], byte);
}

static void expect_none(struct place *p, uint64_t time_ns, uint32_t id)
{
	const uint8_t *data;
	uint16_t found;

	assert_false(event_data_find(&p->src, time_ns, id, &data, &found));
}

/*
 * Some buffers hold several entries; some entries are larger than a buffer. After a pause all
 * memory is released.
 */
TEST_WITH(it_goes_on_where_it_was, setup, teardown)
{
	for (unsigned pause = 1; pause < 4; pause++) {
		struct place *p = *state;

		strbuf_reset(&p->file);
		for (unsigned i = 1; i <= 40; i++)
			add(p, 10 * i, 5, i * 7 % 100, (char)i);
		put(p);
		p->src.next_offset = 0;
		p->src.may_be = true;
		for (unsigned i = 1; i <= 40; i++) {
			expect(p, 10 * i, 5, i * 7 % 100, i);
			if (i % pause == 0) {
				event_data_release(&p->src);
				assert_null(p->src.buf);
			} else if (i % 5 == 0) {
				event_data_return(&p->src);
			}
		}
		expect_none(p, 500, 5);
		event_data_release(&p->src);
	}
}

/* Several events have the same time, and the records of some entries were lost. */
TEST_WITH(of_which_event, setup, teardown)
{
	struct place *p = *state;

	add(p, 10, 1, 8, 'a');
	add(p, 20, 1, 8, 'b');
	add(p, 20, 2, 8, 'c');
	add(p, 20, 3, 8, 'd');
	add(p, 30, 1, 8, 'e');
	put(p);
	expect_none(p, 5, 1);
	expect(p, 20, 2, 8, 'c');
	expect_none(p, 20, 4);
	expect_none(p, 25, 1);
	expect(p, 30, 1, 8, 'e');
}

/* All payloads stay valid until the reader has shown them. */
TEST_WITH(what_is_lent_stays, setup, teardown)
{
	struct place *p = *state;
	const uint8_t *data[30];
	uint16_t len;

	for (unsigned i = 0; i < ARRAY_SIZE(data); i++)
		add(p, 10 + i, 1, 40, (char)i);
	put(p);
	for (unsigned i = 0; i < ARRAY_SIZE(data); i++)
		assert_true(event_data_find(&p->src, 10 + i, 1, &data[i], &len));
	for (unsigned i = 0; i < ARRAY_SIZE(data); i++) {
		assert_int_equal(data[i][0], i);
		assert_int_equal(data[i][39], i);
	}
}

/* A killed process leaves half of an entry. In a growing file the rest may still come. */
TEST_WITH(half_an_entry, setup, teardown)
{
	struct place *p = *state;

	add(p, 10, 1, 8, 'a');
	add(p, 20, 1, 8, 'b');
	p->file.len -= 3;
	put(p);
	p->src.grows = true;
	expect(p, 10, 1, 8, 'a');
	expect_none(p, 20, 1);
	p->file.len += 3;
	put(p);
	expect(p, 20, 1, 8, 'b');
	p->src.grows = false;
	expect_none(p, 30, 1);
	assert_false(p->src.may_be);
}

/* Entries of one time are searched up to the sixteenth. */
TEST_WITH(many_of_one_time, setup, teardown)
{
	struct place *p = *state;

	for (unsigned i = 1; i <= 40; i++)
		add(p, 10, i, 8, (char)i);
	add(p, 20, 1, 8, 'z');
	put(p);
	expect_none(p, 10, 17);
	expect(p, 10, 16, 8, 16);
	/* The entries before the found one are skipped. */
	expect_none(p, 10, 16);
	expect_none(p, 10, 5);
	expect(p, 10, 17, 8, 17);
	expect(p, 10, 33, 8, 33);
	expect_none(p, 10, 41);
	expect(p, 20, 1, 8, 'z');
	expect_none(p, 20, 1);
}

/* A recording of a machine with the other byte order. */
TEST_WITH(the_other_byte_order, setup, teardown)
{
	struct place *p = *state;

	for (unsigned i = 1; i <= 3; i++) {
		const struct event_data entry = {
			.time_ns = __builtin_bswap64(10 * i),
			.id = __builtin_bswap32(5),
			.len = __builtin_bswap16(16),
		};

		strbuf_add(&p->file, &entry, sizeof(entry));
		strbuf_addchars(&p->file, (char)i, 16);
	}
	put(p);
	p->src.is_swapped = true;
	for (unsigned i = 1; i <= 3; i++)
		expect(p, 10 * i, 5, 16, i);
	expect_none(p, 40, 5);
}

/* The file is not there, or the source does not look for it any more. */
TEST_WITH(without_a_file, setup, teardown)
{
	struct place *p = *state;

	p->src.grows = true;
	expect_none(p, 10, 1);
	assert_true(p->src.may_be);
	p->src.grows = false;
	expect_none(p, 10, 1);
	assert_false(p->src.may_be);
	add(p, 10, 1, 8, 'a');
	put(p);
	expect_none(p, 10, 1);
	p->src.may_be = true;
	expect(p, 10, 1, 8, 'a');
}

/* The bytes of the buffers that are kept for events are counted until they are returned. */
TEST_WITH(bytes_that_are_lent, setup, teardown)
{
	struct place *p = *state;

	for (unsigned i = 1; i <= 4; i++)
		add(p, 10 * i, 1, 40, (char)i);
	put(p);
	expect(p, 10, 1, 40, 1);
	assert_int_equal(p->src.lent_bytes, 0);
	assert_true(p->src.is_lent);
	expect(p, 20, 1, 40, 2);
	assert_int_equal(p->src.lent_bytes, 64);
	expect(p, 30, 1, 40, 3);
	assert_int_equal(p->src.lent_bytes, 128);
	event_data_return(&p->src);
	assert_int_equal(p->src.lent_bytes, 0);
	assert_null(p->src.lent);
	assert_false(p->src.is_lent);
	expect(p, 40, 1, 40, 4);
	assert_int_equal(p->src.lent_bytes, 0);
}

/*
 * Returns the path of a file that has fewer bytes than fstat(2) says, as files of sysfs do. It has
 * one number, and so less than the head of an entry.
 */
static const char *short_file(void)
{
	static const char path[] = "/sys/devices/system/cpu/kernel_max";
	struct stat st;

	if (stat(path, &st) < 0 || st.st_size < 4096)
		skip_because("no file of sysfs");
	return path;
}

/* Bytes that cannot be read are not taken from the memory of the buffer. */
TEST_WITH(a_file_that_gets_shorter, setup, teardown)
{
	struct place *p = *state;

	assert_int_equal(symlink(short_file(), p->path), 0);
	p->src.grows = true;
	expect_none(p, 10, 1);
	assert_int_equal(p->src.len, 0);
	assert_int_equal(p->src.next_offset, 0);
	assert_null(p->src.buf);
	assert_true(p->src.may_be);
	p->src.grows = false;
	expect_none(p, 10, 1);
	assert_false(p->src.may_be);
}

/* The buffer's size, and the bytes that one entry may need. */
TEST_WITH(sizes_of_buffers, setup, teardown)
{
	static const struct {
		uint16_t len;
		size_t buffered; /* the bytes in the buffer after one of three entries was read */
	} rows[] = { { 0, 48 },	 { 1, 64 },  { 8, 64 },	 { 9, 64 },	 { 24, 64 },
		     { 40, 64 }, { 48, 64 }, { 49, 72 }, { 1000, 1016 }, { 65528, 65544 } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct place *p = *state;

		strbuf_reset(&p->file);
		for (unsigned k = 1; k <= 3; k++)
			add(p, 10 * k, 1, rows[i].len, (char)k);
		put(p);
		p->src.next_offset = 0;
		p->src.may_be = true;
		expect(p, 10, 1, rows[i].len, 1);
		assert_int_equal(p->src.len, rows[i].buffered);
		expect(p, 20, 1, rows[i].len, 2);
		expect(p, 30, 1, rows[i].len, 3);
		expect_none(p, 40, 1);
		assert_int_equal(p->src.next_offset, p->file.len);
		event_data_release(&p->src);
		assert_int_equal(p->src.next_offset, p->file.len);
	}
}

/* After a release, the bytes that were not used are read from the file again. */
TEST_WITH(released_buffers, setup, teardown)
{
	struct place *p = *state;

	for (unsigned i = 1; i <= 4; i++)
		add(p, 10 * i, 1, 8, (char)i);
	put(p);
	expect(p, 10, 1, 8, 1);
	assert_int_equal(p->src.next_offset, 64);
	event_data_release(&p->src);
	assert_int_equal(p->src.next_offset, 24);
	assert_int_equal(p->src.at, 0);
	assert_int_equal(p->src.len, 0);
	assert_false(p->src.is_lent);
	expect(p, 20, 1, 8, 2);
	assert_int_equal(p->src.next_offset, 88);
}

TEST(much_that_is_lent)
{
	struct event_data_source src = { .lent_bytes = 1 << 20 };

	assert_false(event_data_is_much(&src));
	src.lent_bytes++;
	assert_true(event_data_is_much(&src));
}
