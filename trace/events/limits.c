/*
 * Applies the limits of a log to the log's old files. There are limits for the number of files, the
 * total size of the files, and the age of a file. The files are checked from the newest to the
 * oldest. The first file that exceeds a limit is kept, and only the files that are older than this
 * file are deleted. A signal handler that writes to the log may start this work. Therefore malloc()
 * and opendir() are not called.
 */
#include "events/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STAMP_LEN     26 /* of "2026-11-23T01:02:03.123456" */
#define NR_STAMPS_MAX 65536
#define STAMPS_BYTES  ((size_t)NR_STAMPS_MAX * STAMP_LEN)

/*
 * The times in the names of old files, as text. The alphabetical order of these texts is the order
 * of the times.
 */
struct stamps {
	char (*list)[STAMP_LEN];
	size_t nr;
};

struct linux_entry {
	uint64_t ino;
	int64_t off;
	unsigned short reclen;
	unsigned char type;
	char name[];
};

static void add_name(struct stamps *stamps, const char *base, const char *name)
{
	size_t len = strlen(base);

	if (strncmp(name, base, len) != 0 || strlen(name) != len + 1 + STAMP_LEN + 4 ||
	    name[len] != '-' || strcmp(name + len + 1 + STAMP_LEN, ".log") != 0)
		return;
	if (fst_has_shape(name + len + 1, "0000-00-00T00:00:00.000000") &&
	    stamps->nr < NR_STAMPS_MAX)
		memcpy(stamps->list[stamps->nr++], name + len + 1, STAMP_LEN);
}

static void read_names(int dir_fd, const char *base, struct stamps *stamps)
{
	_Alignas(struct linux_entry) char buffer[2048];
	long len;

	while ((len = syscall(SYS_getdents64, dir_fd, buffer, sizeof(buffer))) > 0) {
		for (long at = 0; at < len;) {
			const struct linux_entry *entry = (const void *)(buffer + at);

			add_name(stamps, base, entry->name);
			at += entry->reclen;
		}
	}
}

/* Sorts the stamps, the newest first. This is Shell sort, since qsort() may call malloc(). */
static void sort_stamps(struct stamps *stamps)
{
	char kept[STAMP_LEN];

	for (size_t gap = stamps->nr / 2; gap; gap /= 2) {
		for (size_t i = gap; i < stamps->nr; i++) {
			size_t j = i;

			memcpy(kept, stamps->list[i], STAMP_LEN);
			for (; j >= gap && memcmp(stamps->list[j - gap], kept, STAMP_LEN) < 0;
			     j -= gap)
				memcpy(stamps->list[j], stamps->list[j - gap], STAMP_LEN);
			memcpy(stamps->list[j], kept, STAMP_LEN);
		}
	}
}

static void put_name(char *to, const char *base, const char *stamp)
{
	size_t len = strlen(base);

	memcpy(to, base, len);
	to[len] = '-';
	memcpy(to + len + 1, stamp, STAMP_LEN);
	strcpy(to + len + 1 + STAMP_LEN, ".log");
}

/*
 * Stores in @to the stamp of a file that is exactly @seconds old. An older file exceeds the limit
 * on the age.
 */
static void put_oldest(char *to, int64_t seconds)
{
	struct fst_text text;
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	time.tv_sec = time.tv_sec > seconds ? time.tv_sec - seconds : 0;
	fst_text_init(&text);
	fst_put_time(&text, &time, 'T');
	memcpy(to, text.base, STAMP_LEN);
	fst_text_free(&text);
}

static void delete_old(int dir_fd, const char *base, const struct stamps *stamps,
		       struct fst_limits *limits)
{
	int64_t files = atomic_load(&limits->files), max_bytes = atomic_load(&limits->bytes);
	int64_t seconds = atomic_load(&limits->seconds), bytes = 0;
	bool is_beyond = false;
	char oldest[STAMP_LEN] = "0";
	char name[NAME_MAX + 1];

	if (seconds >= 0)
		put_oldest(oldest, seconds);
	for (size_t i = 0; i < stamps->nr; i++) {
		struct stat st;

		put_name(name, base, stamps->list[i]);
		if (is_beyond) {
			unlinkat(dir_fd, name, 0);
			continue;
		}
		if (max_bytes >= 0 && fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			bytes += st.st_size;
		is_beyond = (files >= 0 && (int64_t)i >= files) ||
			    (max_bytes >= 0 && bytes > max_bytes) ||
			    (seconds >= 0 && memcmp(stamps->list[i], oldest, STAMP_LEN) < 0);
	}
}

/*
 * Opens the directory that contains the log's files. @base: set to the last component of @prefix.
 * The names of the log's files begin with this component
 */
static int open_dir(const char *prefix, const char **base)
{
	char dir[FST_PATH_MAX] = ".";
	const char *slash = strrchr(prefix, '/');
	size_t len = slash ? (size_t)(slash - prefix) + 1 : 0;

	*base = prefix + len;
	if (len >= sizeof(dir) || strlen(*base) + 1 + STAMP_LEN + 4 > NAME_MAX)
		return -1;
	if (len) {
		memcpy(dir, prefix, len);
		dir[len] = '\0';
	}
	return fst_keep_away(open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

/* Lists old files, the newest first. Returns the directory for close_old(), or -1. */
static int open_old(const char *prefix, const char **base, struct stamps *stamps)
{
	int dir_fd = open_dir(prefix, base);

	if (dir_fd < 0)
		return -1;
	/* A page takes no memory before it is written to. */
	stamps->list = mmap(NULL, STAMPS_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (stamps->list == MAP_FAILED) {
		close(dir_fd);
		return -1;
	}
	stamps->nr = 0;
	read_names(dir_fd, *base, stamps);
	sort_stamps(stamps);
	return dir_fd;
}

static void close_old(int dir_fd, struct stamps *stamps)
{
	munmap(stamps->list, STAMPS_BYTES);
	close(dir_fd);
}

void fst_limits_enforce(const char *prefix, struct fst_limits *limits)
{
	struct stamps stamps;
	const char *base;
	int dir_fd;

	if (atomic_load(&limits->files) < 0 && atomic_load(&limits->seconds) < 0 &&
	    atomic_load(&limits->bytes) < 0)
		return;
	dir_fd = open_old(prefix, &base, &stamps);
	if (dir_fd < 0)
		return;
	delete_old(dir_fd, base, &stamps, limits);
	close_old(dir_fd, &stamps);
}

void fst_limits_repair(const char *prefix, size_t nr)
{
	struct stamps stamps;
	const char *base;
	int dir_fd = open_old(prefix, &base, &stamps);

	if (dir_fd < 0)
		return;
	for (size_t i = 0; i < nr && i < stamps.nr; i++) {
		char name[NAME_MAX + 1];

		put_name(name, base, stamps.list[i]);
		fst_repair_file(dir_fd, name);
	}
	close_old(dir_fd, &stamps);
}
