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
	/* 3 MB is no border for a file of 2 MB. */
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
