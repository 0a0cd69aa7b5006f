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
/* A file reserves at most 1/PART of the free disk space at a time. */
#define PART	    64

/*
 * Returns the number of bytes to reserve at a time for a file of @size bytes: the largest power of
 * two up to @size, but at most RESERVE_MAX. Returns 0 for a file smaller than RESERVE_MIN.
 */
static uint64_t step_of(uint64_t size)
{
	if (size < RESERVE_MIN)
		return 0;
	return MIN(1ULL << (63 - __builtin_clzll(size)), RESERVE_MAX);
}

/*
 * True when the file is on ext4, and @step bytes are at most 1/PART of the free space. In
 * measurements, reserved space made writes faster on ext4, but on no other file system. On tmpfs,
 * a reservation makes the kernel clear all reserved pages at once.
 */
static bool has_room(int fd, uint64_t step)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == EXT4_SUPER_MAGIC &&
	       fs.f_bavail / PART >= step / (uint64_t)fs.f_bsize;
}

bool reserve_ahead(int fd, size_t len)
{
	/* The file offset is at the end of the file, because all writes append. */
	off_t end = lseek(fd, 0, SEEK_CUR);
	uint64_t step = end < (off_t)len ? 0 : step_of(end);

	/* Reserve space only when the last @len bytes have crossed a multiple of @step bytes. */
	if (!step || (end - len) / step == end / step || !has_room(fd, step))
		return false;
	return fallocate(fd, FALLOC_FL_KEEP_SIZE, end, step) == 0;
}

/* Truncates a file to its own length, which frees the space after its end (ext4 since 2.6.31). */
static void release_file(int dir_fd, const char *name)
{
	int fd cleanup_fd = openat(dir_fd, name,
				   O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1 ||
	    st.st_size < (off_t)RESERVE_MIN ||
	    st.st_blocks * BLOCK_BYTES <= st.st_size + st.st_blksize)
		return;
	/* If ftruncate() fails, the file keeps the space, which does no harm. */
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
