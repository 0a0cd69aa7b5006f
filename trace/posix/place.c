/*
 * The folder with the files that the processes of a user share. All functions in this file are
 * signal-safe. The folder contains:
 *
 * - "lock": the file for the folder's lock
 * - "s-N": a stream
 * - "d-N-SERIAL": an ended stream whose log is not complete
 * - "p-PID-START": a registry
 * - "n-PID-START": the names of user events
 */
#include "posix/posix.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

void pxt_place_name(char name[64], char kind, uint64_t number, uint64_t start)
{
	char *at = name;

	*at++ = kind;
	*at++ = '-';
	at = pxt_add_number(at, number, 10);
	if (kind != 's') {
		*at++ = '-';
		at = pxt_add_number(at, start, 10);
	}
	*at = '\0';
}

/*
 * Opens a folder. Returns a descriptor or a negative errno. Folders that another user owns, or may
 * write to, are not opened.
 */
static int open_folder(int dir, const char *path, bool makes)
{
	struct stat st;
	int fd;

	if (makes && mkdirat(dir, path, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 022)) {
		close(fd);
		return -EACCES;
	}
	return fd;
}

/* The folder of shared memory. The user's own folder is in it: "utrail-UID". */
#define SHARED_MEMORY "/dev/shm"
#define RANDOM_DIGITS 16

static void put_own_name(char name[static NAME_MAX + 1])
{
	strcpy(name, "utrail-");
	*pxt_add_number(name + strlen(name), geteuid(), 10) = '\0';
}

/* True when @name consists of @own, a '-' and random digits. */
static bool is_other_name(const char *name, const char *own)
{
	size_t len = strlen(own);

	return strncmp(name, own, len) == 0 && name[len] == '-' &&
	       strlen(name + len + 1) == RANDOM_DIGITS &&
	       strspn(name + len + 1, "0123456789abcdef") == RANDOM_DIGITS;
}

struct other {
	int memory;
	const char *own;
	char *best;
};

/*
 * Called for each @name in SHARED_MEMORY. If the user has several folders with random names, the
 * name that comes first in the order of strcmp(3) is taken. So all processes of the user find the
 * same folder.
 */
static void take_if_better(const char *name, void *argument)
{
	const struct other *other = argument;
	int fd;

	if (!is_other_name(name, other->own) || (*other->best && strcmp(name, other->best) >= 0))
		return;
	fd = open_folder(other->memory, name, false);
	if (fd < 0)
		return;
	close(fd);
	strcpy(other->best, name);
}

static void find_other_name(int memory, const char *own, char best[static NAME_MAX + 1])
{
	struct other other = { memory, own, best };

	*best = '\0';
	pxt_list(memory, take_if_better, &other);
}

/* Makes a folder with a random name, so that no other user can take the name in advance. */
static int make_other(int memory, const char *own)
{
	char name[NAME_MAX + 1];
	uint64_t random;
	size_t len = strlen(own);

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -errno;
	memcpy(name, own, len);
	name[len] = '-';
	for (int i = 1; i <= RANDOM_DIGITS; i++, random >>= 4)
		name[len + i] = "0123456789abcdef"[random & 15];
	name[len + 1 + RANDOM_DIGITS] = '\0';
	return mkdirat(memory, name, 0700) < 0 ? -errno : 0;
}

/*
 * Another user has taken the usual name, so this user's folder has another name. Finds and opens
 * this user's folder. With @makes, the folder is made if there is none.
 */
static int open_other(int memory, const char *own, bool makes)
{
	char name[NAME_MAX + 1];
	int error;

	find_other_name(memory, own, name);
	if (!*name && makes) {
		error = make_other(memory, own);
		if (error < 0)
			return error;
		find_other_name(memory, own, name);
	}
	return *name ? open_folder(memory, name, false) : -EACCES;
}

static int open_place(bool makes)
{
	const char *path = secure_getenv("UTRAIL_TRACE_DIR");
	char own[NAME_MAX + 1];
	int memory, fd;

	if (path && *path)
		return open_folder(AT_FDCWD, path, makes);
	memory = open(SHARED_MEMORY, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (memory < 0)
		return -errno;
	put_own_name(own);
	fd = open_folder(memory, own, makes);
	if (fd == -EACCES || fd == -ENOTDIR || fd == -ELOOP)
		fd = open_other(memory, own, makes);
	close(memory);
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

/*
 * Returns an error number after pxt_join() has failed: the reason why the folder cannot be opened.
 * If the folder can be opened, the result is ENOMEM, since a lack of memory is the likely reason.
 */
int pxt_place_error(void)
{
	int place = pxt_place_open();

	if (place < 0)
		return -place;
	close(place);
	return ENOMEM;
}

static int lock_place(int place, int how)
{
	int fd = openat(place, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return -errno;
	while (flock(fd, how) < 0) {
		if (errno != EINTR) {
			int error = errno;

			close(fd);
			return -error;
		}
	}
	return fd;
}

/*
 * If a process dies while the process has the lock, the kernel releases the lock, unless a forked
 * child has a copy of the descriptor.
 */
int pxt_place_lock(int place)
{
	return lock_place(place, LOCK_EX);
}

int pxt_place_try_lock(int place)
{
	return lock_place(place, LOCK_EX | LOCK_NB);
}

int pxt_place_lock_soon(int place)
{
	const struct timespec step = { 0, 1000000 };
	int lock = pxt_place_try_lock(place);

	for (int nr = 0; nr < 100 && lock < 0; nr++) {
		nanosleep(&step, NULL);
		lock = pxt_place_try_lock(place);
	}
	return lock;
}

/*
 * LOCK_UN is necessary: a child that was forked meanwhile has a copy of the descriptor, and close()
 * alone would leave the lock to the child.
 */
void pxt_place_unlock(int lock)
{
	flock(lock, LOCK_UN);
	close(lock);
}

bool pxt_is_file(int fd, dev_t dev, ino_t ino)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_dev == dev && st.st_ino == ino;
}

static void *map_file(int fd, size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

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

void *pxt_place_map_valid(int place, char kind, uint64_t number, uint64_t start, size_t bytes)
{
	char name[64];
	const uint32_t *words;

	pxt_place_name(name, kind, number, start);
	words = pxt_place_map(place, name, &bytes);
	if (words && words[0] == PT_MAGIC && words[1] == PT_VERSION)
		return (void *)words;
	if (words)
		munmap((void *)words, bytes);
	return NULL;
}

struct pxt_stream *pxt_place_map_stream(int place, unsigned int number, size_t *bytes)
{
	char name[64];

	*bytes = PT_CELLS_OFFSET;
	pxt_place_name(name, 's', number, 0);
	return pxt_place_map(place, name, bytes);
}

void pxt_block_signals(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	sigdelset(&all, SIGSYS);
	pthread_sigmask(SIG_BLOCK, &all, before);
}

/*
 * Allocates the memory of a file. If a signal is pending, tmpfs of older kernels gives all of the
 * memory back and returns EINTR. A timer of the program may interrupt each attempt, so signals are
 * blocked. SIGSYS and the C library's own signals stay unblocked. Such a signal can interrupt
 * an attempt, so the loop handles EINTR.
 */
static int allocate_file(int fd, size_t bytes)
{
	sigset_t before;
	int error;

	pxt_block_signals(&before);
	do
		error = posix_fallocate(fd, 0, (off_t)bytes);
	while (error == EINTR);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

/*
 * Creates a file, which replaces a file of the same name. All memory of the new file is allocated
 * now, so a process that writes to the file later is not killed for lack of memory.
 */
void *pxt_place_make(int place, const char *name, size_t bytes, int *error)
{
	void *memory = NULL;
	int fd;

	unlinkat(place, name, 0);
	fd = openat(place, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	*error = fd < 0 ? errno : 0;
	if (fd < 0)
		return NULL;
	*error = allocate_file(fd, bytes);
	if (!*error) {
		memory = map_file(fd, bytes);
		*error = memory ? 0 : errno;
	}
	close(fd);
	if (!memory)
		unlinkat(place, name, 0);
	return memory;
}

/* Opens the file of @fd again, through /proc. This works even if the file was renamed. */
int pxt_open_again(int fd)
{
	char path[32];

	pxt_fd_path(path, fd);
	return open(path, O_RDWR | O_CLOEXEC);
}
