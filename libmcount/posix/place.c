/* The folder with what processes of a user share: streams "s-N", registries "p-PID-START", names "n-PID-START". Signal-safe. */
#include "libmcount/posix/posix.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char *add_number(char *at, uint64_t number)
{
	char digits[24];
	int nr = 0;

	do
		digits[nr++] = (char)('0' + number % 10);
	while (number /= 10);
	while (nr > 0)
		*at++ = digits[--nr];
	return at;
}

void pxt_place_name(char name[64], char kind, uint64_t number, uint64_t start)
{
	char *at = name;

	*at++ = kind;
	*at++ = '-';
	at = add_number(at, number);
	if (kind != 's') {
		*at++ = '-';
		at = add_number(at, start);
	}
	*at = '\0';
}

/* Others must not get into it: a folder of somebody else's, or one that others may write to, is none. */
static int open_place(bool makes)
{
	const char *path = secure_getenv("UTRAIL_TRACE_DIR");
	char own[64] = "/dev/shm/utrail-";
	struct stat st;
	int fd;

	if (!path || !*path) {
		*add_number(own + strlen(own), geteuid()) = '\0';
		path = own;
	}
	if (makes && mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 022)) {
		close(fd);
		return -EACCES;
	}
	return fd;
}

int pxt_place_open(void)
{
	return open_place(true);
}

int pxt_place_open_existing(void)
{
	return open_place(false);
}

/* For those who make and remove files. Who dies gives it back. */
int pxt_place_lock(int place)
{
	int fd = openat(place, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return -errno;
	while (flock(fd, LOCK_EX) < 0) {
		if (errno != EINTR) {
			int error = errno;

			close(fd);
			return -error;
		}
	}
	return fd;
}

/* A child that was forked meanwhile has the descriptor, too: so the lock itself is given back. */
void pxt_place_unlock(int lock)
{
	flock(lock, LOCK_UN);
	close(lock);
}

static void *map_file(int fd, size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* The whole of a file that is there; NULL otherwise. */
void *pxt_place_map(int place, const char *name, size_t *bytes)
{
	int fd = openat(place, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	void *memory = NULL;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
	    (uint64_t)st.st_size <= 2 * (uint64_t)PT_SIZE_MAX && (size_t)st.st_size >= *bytes) {
		memory = map_file(fd, (size_t)st.st_size);
		*bytes = (size_t)st.st_size;
	}
	close(fd);
	return memory;
}

/* A new file, in place of one of that name. It has all of its memory from the beginning: who writes there must not be killed for want of it. */
void *pxt_place_make(int place, const char *name, size_t bytes, int *error)
{
	void *memory = NULL;
	int fd;

	unlinkat(place, name, 0);
	fd = openat(place, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	*error = fd < 0 ? errno : 0;
	if (fd < 0)
		return NULL;
	*error = posix_fallocate(fd, 0, (off_t)bytes);
	if (!*error) {
		memory = map_file(fd, bytes);
		*error = memory ? 0 : errno;
	}
	close(fd);
	if (!memory)
		unlinkat(place, name, 0);
	return memory;
}
