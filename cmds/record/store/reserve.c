/* Disk space that growing files reserve in advance (see reserve.h). */
#include "cmds/record/store/reserve.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cmds/record/store/dir.h"
#include "utils/base/cleanup.h"
#include "utils/base/compiler.h"

/* The unit of st_blocks (stat(2)). */
#define BLOCK_BYTES 512
/* At most this fraction of the free disk space is reserved. */
#define PART	    64

/* The bytes that a file of @size bytes reserves at a time: a power of two up to @size; 0: none. */
static uint64_t step_of(uint64_t size)
{
	if (size < RESERVE_MIN)
		return 0;
	return MIN(1ULL << (63 - __builtin_clzll(size)), RESERVE_MAX);
}

/*
 * True when the file is on ext4, and there is room for @step bytes. Only ext4 has gained in
 * measurements; tmpfs would clear all reserved pages.
 */
static bool has_room(int fd, uint64_t step)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == EXT4_SUPER_MAGIC &&
	       fs.f_bavail / PART >= step / (uint64_t)fs.f_bsize;
}

bool reserve_ahead(int fd, size_t len)
{
	/* Appending moves the offset to the end. */
	off_t end = lseek(fd, 0, SEEK_CUR);
	uint64_t step = end < (off_t)len ? 0 : step_of(end);

	/* Reserve once for each piece of @step bytes. */
	if (!step || (end - len) / step == end / step || !has_room(fd, step))
		return false;
	return fallocate(fd, FALLOC_FL_KEEP_SIZE, end, step) == 0;
}

/* Truncating a file to its own length frees the space after it (in ext4 since 2.6.31). */
static void release_file(int dir_fd, const char *name)
{
	int fd cleanup_fd = openat(dir_fd, name,
				   O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1 ||
	    st.st_size < (off_t)RESERVE_MIN ||
	    st.st_blocks * BLOCK_BYTES <= st.st_size + st.st_blksize)
		return;
	/* After a failure the file keeps the space, which does no harm. */
	(void)!ftruncate(fd, st.st_size);
}

void reserve_release(int dir_fd)
{
	DIR *list cleanup_dir = store_dir_list(dir_fd);

	for (struct dirent *e = list ? readdir(list) : NULL; e; e = readdir(list)) {
		if (e->d_type == DT_REG || e->d_type == DT_UNKNOWN)
			release_file(dir_fd, e->d_name);
	}
}
