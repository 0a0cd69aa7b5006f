/* Changes the program's text (see text.h). */
#include "libmcount/patch/text.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "libmcount/system/own_syscall.h"

#include "utils/base/compiler.h"

int text_open(void)
{
	return own_syscall(SYS_openat, AT_FDCWD, "/proc/self/mem", O_WRONLY | O_CLOEXEC, 0);
}

void text_close(int fd)
{
	if (fd >= 0)
		own_syscall(SYS_close, fd);
}

/*
 * Writes machine code through /proc/self/mem (@fd), so that no page becomes writable. If @fd is -1,
 * or the kernel refuses the write, the function makes the pages writable, stores the bytes one by
 * one, and takes the write permission away again.
 */
static bool write_bytes(int fd, uint64_t addr, const void *bytes, uint64_t len)
{
	uint64_t start = addr & ~4095UL;
	uint64_t end = ALIGN_UP(addr + len, 4096UL);
	volatile uint8_t *to = (volatile uint8_t *)addr;

	if (fd >= 0 && own_syscall(SYS_pwrite64, fd, bytes, len, addr) == (long)len)
		return true;
	/* The page stays executable, since the code of this function may lie in it. */
	if (mprotect((void *)start, end - start, PROT_READ | PROT_WRITE | PROT_EXEC) < 0)
		return false;
	for (uint64_t i = 0; i < len; i++)
		to[i] = ((const uint8_t *)bytes)[i];
	return mprotect((void *)start, end - start, PROT_READ | PROT_EXEC) == 0;
}

bool text_write(int fd, uint64_t addr, const uint8_t *bytes, uint64_t len)
{
	uint64_t word = addr & ~7UL;
	uint8_t whole[8];

	if (addr - word + len <= sizeof(whole)) {
		memcpy(whole, (const void *)word, sizeof(whole));
		memcpy(whole + (addr - word), bytes, len);
		return write_bytes(fd, word, whole, sizeof(whole));
	}
	return write_bytes(fd, addr + 1, bytes + 1, len - 1) && write_bytes(fd, addr, bytes, 1);
}

bool text_write_unused(int fd, uint64_t addr, const uint8_t *bytes, uint64_t len)
{
	return write_bytes(fd, addr, bytes, len);
}
