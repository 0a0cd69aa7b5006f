/* Space that growing files reserve: its size, its place, and that nothing of it remains. */
#include "tests/unit/lib/unit.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cmds/record/store/dir.h"
#include "cmds/record/store/reserve.h"

#define PIECE (64U << 10)

static char home[] = "/tmp/utrail-unit-XXXXXX";
static struct store_dir dir;
static uint8_t piece[PIECE];

/*
 * A simulated file system, when @is_on.
 *
 * @nr: the number of reservations
 * @offset, @len: those of the last one
 */
static struct {
	bool is_on;
	bool has_no_facts;
	bool is_full;
	long type;
	unsigned long free_blocks;
	unsigned nr;
	int64_t offset, len;
} simulated;

int __real_fstatfs64(int fd, struct statfs *fs);
int __wrap_fstatfs64(int fd, struct statfs *fs);

int __wrap_fstatfs64(int fd, struct statfs *fs)
{
	if (!simulated.is_on)
		return __real_fstatfs64(fd, fs);
	*fs = (struct statfs){ .f_type = simulated.type,
			       .f_bsize = 4096,
			       .f_bavail = simulated.free_blocks };
	return simulated.has_no_facts ? -1 : 0;
}

int __real_fallocate64(int fd, int mode, off_t offset, off_t len);
int __wrap_fallocate64(int fd, int mode, off_t offset, off_t len);

int __wrap_fallocate64(int fd, int mode, off_t offset, off_t len)
{
	if (!simulated.is_on)
		return __real_fallocate64(fd, mode, offset, len);
	assert_int_equal(mode, FALLOC_FL_KEEP_SIZE);
	simulated.nr++;
	simulated.offset = offset;
	simulated.len = len;
	return simulated.is_full ? -1 : 0;
}

static int begin(void **state)
{
	snprintf(home, sizeof(home), "/tmp/utrail-unit-XXXXXX");
	if (!mkdtemp(home) || chdir(home) < 0)
		return -1;
	store_dir_use(&dir, open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	return dir.fd < 0;
}

static int end(void **state)
{
	store_dir_close(&dir);
	unlink("1.dat");
	unlink("2.dat");
	return chdir("/") == 0 && rmdir(home) == 0 ? 0 : -1;
}

/* Skip the test on file systems other than ext4, which reserve nothing. */
static void need_ext4(void)
{
	struct statfs fs;

	assert_int_equal(statfs(".", &fs), 0);
	if (fs.f_type != EXT4_SUPER_MAGIC) {
		print_message("skipped: /tmp is not on ext4\n");
		skip();
	}
}

static struct stat stat_of(const char *name)
{
	struct stat st;

	assert_int_equal(stat(name, &st), 0);
	return st;
}

/* Bytes on the disk beyond the file's end. */
static int64_t room_of(const char *name)
{
	struct stat st = stat_of(name);

	return (int64_t)st.st_blocks * 512 - st.st_size;
}

static int append_pieces(int stream, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++) {
		memset(piece, (int)i + 1, sizeof(piece));
		assert_int_equal(store_append(&dir.store, stream, piece, sizeof(piece)), 0);
	}
	return stream;
}

TEST_WITH(a_small_file_reserves_nothing, begin, end)
{
	int stream = append_pieces(store_open(&dir.store, "1.dat"), 15);

	assert_false(dir.has_reserved);
	store_close(&dir.store, stream);
}

TEST_WITH(a_growing_file_has_as_much_again, begin, end)
{
	int stream = store_open(&dir.store, "1.dat");

	need_ext4();
	append_pieces(stream, 16);
	assert_true(dir.has_reserved);
	assert_in_range(room_of("1.dat"), RESERVE_MIN, RESERVE_MIN + PIECE);
	append_pieces(stream, 16);
	assert_in_range(room_of("1.dat"), 2 * RESERVE_MIN, 2 * RESERVE_MIN + PIECE);
	/* Files of 2 to 4 MB reserve space only at multiples of 2 MB, so not at 3 MB. */
	append_pieces(stream, 17);
	assert_in_range(room_of("1.dat"), RESERVE_MIN - PIECE, RESERVE_MIN + PIECE);
	assert_int_equal(stat_of("1.dat").st_size, 49 * PIECE);
	store_close(&dir.store, stream);
}

TEST_WITH(none_is_left_at_the_end, begin, end)
{
	int stream = append_pieces(store_open(&dir.store, "1.dat"), 40);
	int fd;

	store_close(&dir.store, stream);
	store_dir_close(&dir);
	assert_int_equal(stat_of("1.dat").st_size, 40 * PIECE);
	assert_true(room_of("1.dat") <= stat_of("1.dat").st_blksize * 2);
	fd = open("1.dat", O_RDONLY);
	for (unsigned i = 0; i < 40; i++) {
		assert_int_equal(read(fd, piece, sizeof(piece)), sizeof(piece));
		assert_int_equal(piece[0], i + 1);
		assert_int_equal(piece[PIECE - 1], i + 1);
	}
	close(fd);
}

/* A link may have taken the file's place meanwhile. The file that it leads to is not changed. */
TEST_WITH(links_stay_as_they_are, begin, end)
{
	int stream = append_pieces(store_open(&dir.store, "1.dat"), 20);
	int64_t room = room_of("1.dat");

	store_close(&dir.store, stream);
	assert_int_equal(link("1.dat", "2.dat"), 0);
	store_dir_close(&dir);
	assert_int_equal(room_of("1.dat"), room);
	unlink("1.dat");
	assert_int_equal(symlink("2.dat", "1.dat"), 0);
	store_dir_use(&dir, open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	reserve_release(dir.fd);
	assert_true(room_of("2.dat") <= room);
}

#define LEAST ((uint64_t)RESERVE_MIN)
#define MOST  ((uint64_t)RESERVE_MAX)

/* Reserve space as after an append of @len bytes up to @end. Returns the reserved bytes, or 0. */
static uint64_t reserved(int fd, uint64_t end, uint64_t len)
{
	simulated.nr = 0;
	assert_int_equal(lseek(fd, end, SEEK_SET), end);

	bool has_reserved = reserve_ahead(fd, len);

	assert_int_equal(has_reserved, simulated.nr && !simulated.is_full);
	if (simulated.nr)
		assert_int_equal(simulated.offset, end);
	return simulated.nr ? simulated.len : 0;
}

/* Space is reserved when a multiple of the step is reached, or crossed. */
TEST_WITH(steps_grow_with_the_file, begin, end)
{
	static const struct {
		uint64_t end, len, reserved;
	} cases[] = {
		{ LEAST - 1, 100, 0 },
		{ LEAST, 1, LEAST },
		{ LEAST, LEAST, LEAST },
		{ LEAST, LEAST + 1, 0 },
		{ LEAST + 1, 1, 0 },
		{ LEAST + 5, 5, 0 },
		{ LEAST + 5, 6, LEAST },
		{ 2 * LEAST - 1, 1, 0 },
		{ 2 * LEAST, 1, 2 * LEAST },
		{ 3 * LEAST, 1, 0 },
		{ 4 * LEAST + 7, LEAST, 4 * LEAST },
		{ MOST, 1, MOST },
		{ 2 * MOST, 1, MOST },
		{ 3 * MOST, 1, MOST },
		{ 3 * MOST + 1, 1, 0 },
		{ 3 * MOST - 1, 1, 0 },
	};
	int fd = open("1.dat", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	simulated = (typeof(simulated)){
		.is_on = true,
		.type = EXT4_SUPER_MAGIC,
		.free_blocks = 1ULL << 40,
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(reserved(fd, cases[i].end, cases[i].len), cases[i].reserved);
	simulated.is_on = false;
	close(fd);
}

/* At most a sixty-fourth of the free space is reserved. */
TEST_WITH(little_of_the_free_space_is_reserved, begin, end)
{
	const unsigned long enough = 64 * LEAST / 4096;
	int fd = open("1.dat", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	simulated = (typeof(simulated)){
		.is_on = true,
		.type = EXT4_SUPER_MAGIC,
		.free_blocks = enough,
	};
	assert_int_equal(reserved(fd, LEAST, 1), LEAST);
	simulated.is_full = true;
	assert_int_equal(reserved(fd, LEAST, 1), LEAST);
	simulated.is_full = false;
	assert_int_equal(reserved(fd, 2 * LEAST, 1), 0);
	simulated.free_blocks = enough - 1;
	assert_int_equal(reserved(fd, LEAST, 1), 0);
	simulated.free_blocks = enough;
	simulated.type = TMPFS_MAGIC;
	assert_int_equal(reserved(fd, LEAST, 1), 0);
	simulated.type = EXT4_SUPER_MAGIC;
	simulated.has_no_facts = true;
	assert_int_equal(reserved(fd, LEAST, 1), 0);
	simulated.is_on = false;
	close(fd);
}
