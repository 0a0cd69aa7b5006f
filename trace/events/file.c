/*
 * The file of a log. Each record is one write() with O_APPEND. Writers take a lock only to open or
 * rotate the file, and to write to the stream of fstrace_direct(). All processes of the log share a
 * number in memory. This number tells how much room is left before the next rotation.
 */
#include "events/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BYTES_MASK (((uint64_t)1 << FST_PLACE_BITS) - 1)

static uint32_t file_of(uint64_t place)
{
	return place >> FST_PLACE_BITS;
}

static bool put_path(struct fst_text *path, const char *prefix, const char *end)
{
	fst_text_init(path);
	fst_put(path, prefix, strlen(prefix));
	fst_put(path, end, strlen(end) + 1);
	return !path->has_failed;
}

/*
 * Writes the new name for a log file that is renamed now. The name contains the current time:
 * "PREFIX-2026-11-23T01:02:03.123456.log".
 */
static void put_old_path(struct fst_text *path, const char *prefix)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	fst_text_init(path);
	fst_put(path, prefix, strlen(prefix));
	fst_put_char(path, '-');
	fst_put_time(path, &now, 'T');
	fst_put(path, ".log", sizeof(".log"));
}

static int rename_new(const char *from, const char *to)
{
#ifdef SYS_renameat2
	const unsigned no_replace = 1; /* RENAME_NOREPLACE, which not every C library names */

	if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, no_replace) == 0)
		return 0;
	if (errno != ENOSYS && errno != EINVAL)
		return -1;
#endif
	/*
	 * Without RENAME_NOREPLACE, first check that @to does not exist. The check and the rename
	 * together are not atomic.
	 */
	if (access(to, F_OK) == 0) {
		errno = EEXIST;
		return -1;
	}
	return rename(from, to);
}

/*
 * Renames the log. The new name contains the current time in microseconds. If a file with the new
 * name exists, the function tries again with a later time.
 */
int fst_file_set_aside(const char *prefix)
{
	struct fst_text from;
	int ret;

	if (put_path(&from, prefix, ".log"))
		fst_repair_file(AT_FDCWD, from.base);
	do {
		struct fst_text to;

		put_old_path(&to, prefix);
		if (from.has_failed || to.has_failed) {
			errno = ENOMEM;
			ret = -1;
		} else {
			ret = rename_new(from.base, to.base);
		}

		int error = errno;

		fst_text_free(&to);
		errno = error;
	} while (ret < 0 && errno == EEXIST);

	int error = errno;

	fst_text_free(&from);
	errno = error;
	return ret < 0 && errno != ENOENT ? -1 : 0;
}

static int open_log(const char *prefix)
{
	struct fst_text path;
	int fd = -1;

	if (put_path(&path, prefix, ".log"))
		fd = fst_keep_away(
			open(path.base, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
	fst_text_free(&path);
	if (fd >= 0)
		fst_owner_set(fd);
	return fd;
}

static bool is_file_of(const fstrace_t *trace, const struct stat *st)
{
	return st->st_ino == trace->inode && st->st_dev == trace->device;
}

/*
 * Makes the log write to @fd, which is file number @file. Takes over @fd. If the log already has a
 * descriptor, other threads may be writing to that descriptor. In this case the old descriptor
 * becomes a copy of @fd, and @fd is closed.
 */
static void install_file(fstrace_t *trace, int fd, uint32_t file)
{
	int old = atomic_load(&trace->fd);
	struct stat st;

	if (fstat(fd, &st) == 0) {
		trace->device = st.st_dev;
		trace->inode = st.st_ino;
	}
	if (old < 0) {
		atomic_store(&trace->fd, fd);
	} else if (old != fd) {
		dup3(fd, old, O_CLOEXEC);
		close(fd);
	}
	atomic_store(&trace->file, file);
}

/*
 * Opens the log's current file, because another process has begun this file, or because this
 * process has no file of the log yet. The caller holds fst_lock().
 */
static bool reopen_log(fstrace_t *trace)
{
	int fd = open_log(trace->prefix);

	if (fd < 0)
		return false;
	install_file(trace, fd, file_of(atomic_load(&trace->shared->place)));
	return true;
}

static bool has_bytes(int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0;
}

/*
 * Rotates the log, because file number @file is full. The caller holds fst_lock(). If rotation
 * fails, the log continues in the full file. After trace->rotate_size more bytes, the next rotation
 * begins. If a process was killed during a rotation and has left an empty log file, the log
 * continues in the empty file.
 */
static void turn_log(fstrace_t *trace, uint32_t file)
{
	uint64_t place = atomic_load(&trace->shared->place);
	int fd;

	if (file_of(place) != file)
		return; /* another process was faster */
	fd = open_log(trace->prefix);
	if (has_bytes(fd)) {
		close(fd);
		fd = fst_file_set_aside(trace->prefix) < 0 ? -1 : open_log(trace->prefix);
	}
	if (fd < 0) {
		atomic_store(&trace->shared->place, (uint64_t)file << FST_PLACE_BITS);
		return;
	}
	file = (file + 1) & 0xffff;
	install_file(trace, fd, file);
	atomic_store(&trace->shared->place, (uint64_t)file << FST_PLACE_BITS);
	/*
	 * Repair the full file and the file before the full file. Slow writers may have written to
	 * either file.
	 */
	if (atomic_load(&trace->shared->nr_writing))
		fst_limits_repair(trace->prefix, 2);
	fst_limits_enforce(trace->prefix, &trace->limits);
}

static bool is_full(const fstrace_t *trace, uint64_t place)
{
	return trace->rotate_size >= 0 && (place & BYTES_MASK) > (uint64_t)trace->rotate_size;
}

static void turn_locked(fstrace_t *trace, uint32_t file)
{
	struct fst_held held;

	fst_lock(&held);
	turn_log(trace, file);
	fst_unlock(&held);
}

static bool follow_locked(fstrace_t *trace, uint32_t file)
{
	struct fst_held held;
	bool is_open;

	fst_lock(&held);
	is_open = atomic_load(&trace->file) == file || reopen_log(trace);
	fst_unlock(&held);
	return is_open;
}

/* Returns the descriptor for a record of @len bytes, or -1. */
static int reserve_room(fstrace_t *trace, size_t len)
{
	uint64_t place = atomic_load_explicit(&trace->shared->place, memory_order_relaxed);

	if (trace->rotate_size >= 0) {
		while (is_full(trace, place = atomic_fetch_add(&trace->shared->place, len)))
			turn_locked(trace, file_of(place));
	}
	if (atomic_load_explicit(&trace->file, memory_order_acquire) != file_of(place) &&
	    !follow_locked(trace, file_of(place)))
		return -1;
	return atomic_load_explicit(&trace->fd, memory_order_relaxed);
}

/* Uses syscall(), since write() is a cancellation point. */
static void write_record(int fd, const char *bytes, size_t len)
{
	long ret;

	do
		ret = syscall(SYS_write, fd, bytes, len);
	while (ret < 0 && errno == EINTR);
	/* If the disk is full, the written part of the record becomes a line of its own. */
	if (ret > 0 && (size_t)ret < len && bytes[ret - 1] != '\n')
		ret = syscall(SYS_write, fd, "\n", 1);
}

/*
 * Writes @bytes to @stream: with write(2) if the stream has a file descriptor, otherwise with
 * fwrite(3). Text that is still in the stream's buffer is written before @bytes.
 */
static void write_stream(FILE *stream, const char *bytes, size_t len)
{
	struct fst_held held;

	fst_lock_threads(&held);
	flockfile(stream);
	if (__fpending(stream))
		fflush(stream);
	if (fileno(stream) >= 0) {
		write_record(fileno(stream), bytes, len);
	} else {
		fwrite(bytes, 1, len, stream);
		fflush(stream);
	}
	funlockfile(stream);
	fst_unlock_threads(&held);
}

void fst_file_write(fstrace_t *trace, const char *bytes, size_t len)
{
	if (trace->stream) {
		write_stream(trace->stream, bytes, len);
		return;
	}

	int fd = reserve_room(trace, len);

	if (fd < 0)
		return;
	atomic_fetch_add_explicit(&trace->shared->nr_writing, 1, memory_order_relaxed);
	write_record(fd, bytes, len);
	atomic_fetch_sub_explicit(&trace->shared->nr_writing, 1, memory_order_relaxed);
}

void fst_file_repair(fstrace_t *trace)
{
	struct fst_text path;
	struct fst_held held;

	if (trace->stream || !atomic_load(&trace->shared->nr_writing))
		return;
	fst_lock(&held);
	if (put_path(&path, trace->prefix, ".log"))
		fst_repair_file(AT_FDCWD, path.base);
	fst_text_free(&path);
	/* Repair all rotated files. A slow writer may have written to any of these files. */
	fst_limits_repair(trace->prefix, file_of(atomic_load(&trace->shared->place)) + 1);
	fst_unlock(&held);
}

void fst_file_reopen(fstrace_t *trace)
{
	struct fst_held held;
	int old = atomic_load(&trace->fd);

	if (trace->stream || old < 0)
		return;
	fst_lock(&held);

	int fd = open_log(trace->prefix);

	if (fd >= 0) {
		struct stat of_old, of_new;
		bool is_open = fd != old && fstat(old, &of_old) == 0 && fstat(fd, &of_new) == 0;

		if (is_open && of_old.st_ino == of_new.st_ino && of_old.st_dev == of_new.st_dev) {
			close(fd);
			fd = old;
		} else if (!is_open || !is_file_of(trace, &of_old)) {
			/*
			 * The program has closed @old. Since then, the program may have opened
			 * another file that got the number @old. fst_replace_fd() does not close
			 * this file.
			 */
			fd = fst_replace_fd(old, fd);
			atomic_store(&trace->fd, fd);
		}
		/* If the program has renamed the log's file, @old is replaced as in a rotation. */
		install_file(trace, fd, file_of(atomic_load(&trace->shared->place)));
	}
	fst_unlock(&held);
}
