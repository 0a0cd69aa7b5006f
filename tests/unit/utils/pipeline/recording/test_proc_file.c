/*
 * Records of proc.dat are read one by one, whatever their length, until the end or the first
 * damage.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/base/containers/strbuf.h"
#include "utils/format/datadir.h"
#include "utils/pipeline/recording/proc_file.h"

static const bool is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

struct scene {
	char dir[32];
	char path[64];
};

static int setup(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));

	strcpy(s->dir, "/tmp/utrail-unit-XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	snprintf(s->path, sizeof(s->path), "%s/" DATADIR_PROCESSES, s->dir);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct scene *s = *state;

	unlink(s->path);
	rmdir(s->dir);
	free(s);
	return 0;
}

static void append(struct scene *s, const void *data, size_t len)
{
	int fd = open(s->path, O_WRONLY | O_CREAT | O_APPEND, 0600);

	assert_int_equal(write(fd, data, len), len);
	close(fd);
}

/*
 * Add a record with @len bytes of @fill.
 */
static void put(struct strbuf *out, uint64_t time_ns, char fill, size_t len)
{
	uint8_t *data = malloc(len + 1);
	struct proc_record rec = { time_ns, 11, 22, PROC_NAME, data, len };

	memset(data, fill, len);
	proc_record_encode(&rec, out);
	free(data);
}

static void check_next(struct proc_file *file, uint64_t time_ns, char fill, size_t len)
{
	struct proc_record rec;

	assert_int_equal(proc_file_next(file, &rec, NULL), 1);
	assert_int_equal(rec.time_ns, time_ns);
	assert_int_equal(rec.tid, 11);
	assert_int_equal(rec.pid, 22);
	assert_int_equal(rec.kind, PROC_NAME);
	assert_int_equal(rec.len, len);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(rec.data[i], (uint8_t)fill);
}

TEST_WITH(without_the_file_there_is_nothing, setup, teardown)
{
	struct uft_err err = { 0 };
	struct scene *s = *state;
	struct proc_file file;

	assert_int_equal(proc_file_open(&file, s->dir, is_big, &err), -ENOENT);
	assert_int_equal(err.code, 0);
	proc_file_close(&file);
	assert_int_equal(file.fd, -1);
}

TEST_WITH(a_name_that_is_too_long_is_no_file, setup, teardown)
{
	struct proc_file file;
	char dir[PATH_MAX + 1];

	memset(dir, 'a', PATH_MAX);
	dir[PATH_MAX] = '\0';
	assert_int_equal(proc_file_open(&file, dir, is_big, NULL), -ENOENT);
	proc_file_close(&file);
}

TEST_WITH(something_else_is_told, setup, teardown)
{
	struct uft_err err = { 0 };
	struct scene *s = *state;
	struct proc_file file;

	assert_int_equal(mkdir(s->path, 0700), 0);
	assert_true(proc_file_open(&file, s->dir, is_big, &err) < 0);
	assert_non_null(strstr(err.text, s->path));
	proc_file_close(&file);
	rmdir(s->path);
}

/* The lengths are around the size of the buffer, and far beyond it. */
TEST_WITH(records_of_all_lengths, setup, teardown)
{
	static const size_t lens[] = { 0,     1,     7,	     8,	 9,	 65512, 65513,
				       65536, 65560, 100000, 24, 300000, 5 };
	struct strbuf bytes cleanup_strbuf = { 0 };
	struct scene *s = *state;
	struct proc_record rec;
	struct proc_file file;

	for (size_t i = 0; i < ARRAY_SIZE(lens); i++)
		put(&bytes, 10 + i, 'a' + i, lens[i]);
	append(s, bytes.data, bytes.len);
	assert_int_equal(proc_file_open(&file, s->dir, is_big, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(lens); i++)
		check_next(&file, 10 + i, 'a' + i, lens[i]);
	assert_int_equal(file.offset, bytes.len);
	assert_int_equal(proc_file_next(&file, &rec, NULL), 0);
	proc_file_close(&file);
	assert_int_equal(file.fd, -1);
	assert_null(file.buf);
}

TEST_WITH(many_short_records, setup, teardown)
{
	struct strbuf bytes cleanup_strbuf = { 0 };
	struct scene *s = *state;
	struct proc_record rec;
	struct proc_file file;

	for (size_t i = 0; i < 10000; i++)
		put(&bytes, i, i, i % 50);
	append(s, bytes.data, bytes.len);
	assert_int_equal(proc_file_open(&file, s->dir, is_big, NULL), 0);
	for (size_t i = 0; i < 10000; i++)
		check_next(&file, i, i, i % 50);
	assert_int_equal(proc_file_next(&file, &rec, NULL), 0);
	assert_int_equal(file.cap, 64 * 1024);
	proc_file_close(&file);
}

TEST_WITH(a_file_may_grow, setup, teardown)
{
	struct strbuf bytes cleanup_strbuf = { 0 };
	struct scene *s = *state;
	struct proc_record rec;
	struct proc_file file;

	put(&bytes, 1, 'a', 20);
	put(&bytes, 2, 'b', 30);
	append(s, bytes.data, bytes.len - 40);
	assert_int_equal(proc_file_open(&file, s->dir, is_big, NULL), 0);
	check_next(&file, 1, 'a', 20);
	assert_int_equal(proc_file_next(&file, &rec, NULL), 0);
	assert_int_equal(proc_file_next(&file, &rec, NULL), 0);
	append(s, bytes.data + bytes.len - 40, 40);
	check_next(&file, 2, 'b', 30);
	assert_int_equal(proc_file_next(&file, &rec, NULL), 0);
	proc_file_close(&file);
}

/* The damage is reported once. From then on the file ends there. */
TEST_WITH(damage_is_told_once, setup, teardown)
{
	struct strbuf bytes cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };
	struct scene *s = *state;
	struct proc_record rec;
	struct proc_file file;

	put(&bytes, 1, 'a', 20);
	strbuf_addchars(&bytes, '\xff', 24);
	append(s, bytes.data, bytes.len);
	assert_int_equal(proc_file_open(&file, s->dir, is_big, NULL), 0);
	check_next(&file, 1, 'a', 20);
	assert_int_equal(proc_file_next(&file, &rec, &err), -EBADMSG);
	assert_non_null(strstr(err.text, s->path));
	assert_non_null(strstr(err.text, "': "));
	assert_int_equal(proc_file_next(&file, &rec, NULL), 0);
	proc_file_close(&file);
}

TEST_WITH(what_cannot_be_read_is_told, setup, teardown)
{
	struct uft_err err = { 0 };
	struct scene *s = *state;
	struct proc_record rec;
	struct proc_file file;
	char expected[128];

	append(s, "", 0);
	assert_int_equal(proc_file_open(&file, s->dir, is_big, NULL), 0);
	close(file.fd);
	file.fd = open(s->dir, O_RDONLY | O_DIRECTORY);
	assert_int_equal(proc_file_next(&file, &rec, &err), -EISDIR);
	snprintf(expected, sizeof(expected), "'%s': cannot read: Is a directory", s->path);
	assert_string_equal(err.text, expected);
	assert_int_equal(proc_file_next(&file, &rec, NULL), 0);
	proc_file_close(&file);
}
