/*
 * Calls functions that utrail's tables describe: variadic ones, and those with file modes; and
 * enumerators that are no flags.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __clang__
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noipa))
#endif

/* The numbers are those of __memory_order_modifier in libstdc++'s <atomic>. */
enum modifier {
	LOW = 1,
	__memory_order_mask = 0x0ffff,
	SIGN = 0xffff0000
};

KEPT enum modifier mask(enum modifier m)
{
	__asm__ volatile("" : : "g"(m) : "memory");
	return m;
}

KEPT int million(long plus, int minus)
{
	__asm__ volatile("" : : "g"(plus) : "memory");
	return plus + minus - 70000;
}

int main(void)
{
	char *pages = mmap(0, 4 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd;

	munmap(pages + 4096, 3 * 4096);
	mremap(pages, 4096, 8192, MREMAP_MAYMOVE);
	umask(022);
	umask(027);
	close(open("/dev/zero", O_RDONLY));
	fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	fcntl(fd, F_GETFD);
	fcntl(fd, F_SETFD, 1);
	close(fd);
	close(open("made", O_RDWR | O_CREAT | O_TRUNC, 0640));
	close(openat(AT_FDCWD, "made", O_WRONLY | O_APPEND));
	close(openat(AT_FDCWD, "made", O_WRONLY | O_CREAT, 0600));
	chmod("made", 0755);
	prctl(PR_GET_DUMPABLE);
	mask(__memory_order_mask);
	mask(SIGN);
	return million(1000000, -1000000) == 0;
}
