/*
 * Says that it has a shadow stack to all that ask the kernel through libc's syscall(). The probe
 * must leave the program alone.
 */
#include <stdarg.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "../program.h"

#define SHSTK_STATUS 0x5005

/* Replaces libc's syscall(). */
__attribute__((visibility("default"))) QUIET long syscall(long nr, ...)
{
	long a[6], ret;
	va_list ap;

	va_start(ap, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (nr == SYS_arch_prctl && a[0] == SHSTK_STATUS) {
		*(uint64_t *)a[1] = 1;
		return 0;
	}

	register long r10 __asm__("r10") = a[3];
	register long r8 __asm__("r8") = a[4];
	register long r9 __asm__("r9") = a[5];

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(nr), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

FN int calls(int n)
{
	KEEP();
	return n + 1;
}

int main(void)
{
	printf("%d\n", calls(1));
	return 3;
}
