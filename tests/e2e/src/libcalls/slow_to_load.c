/*
 * A library whose relocation takes a second and a half: the dynamic linker runs a function of the
 * library that sleeps.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

static int calls(int a)
{
	return abs(a) + (int)labs(1);
}

/* Makes the system call itself, since no call of the library has an address yet. */
static void *resolve(void)
{
	struct timespec time = { .tv_sec = 1, .tv_nsec = 500000000 };
	long number = SYS_nanosleep;

	__asm__ volatile("syscall"
			 : "+a"(number)
			 : "D"(&time), "S"(NULL)
			 : "rcx", "r11", "memory");
	return calls;
}

int calls_one(int a) __attribute__((ifunc("resolve")));

int (*volatile relocated)(int) = calls_one;
