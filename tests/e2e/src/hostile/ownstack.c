/*
 * Prints its own stack, the whole and the top, as backtrace(3) and _Unwind_Backtrace() give it. It
 * does so in a signal handler and in a callback, too.
 * ldflags: -rdynamic
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <unwind.h>

#include "../program.h"

QUIET static void print_frame(void *address)
{
	Dl_info info;

	if (dladdr((char *)address - 1, &info) && info.dli_sname)
		printf(" %s", info.dli_sname);
	else
		printf(" ?");
}

QUIET static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *left)
{
	print_frame((void *)_Unwind_GetIP(context));
	return --*(int *)left > 0 ? _URC_NO_REASON : _URC_NORMAL_STOP;
}

FN void print_stack(const char *where)
{
	static const int sizes[] = { 1, 2, 5, 64 };
	void *addresses[64];

	for (int i = 0; i < 4; i++) {
		int nr = backtrace(addresses, sizes[i]);

		printf("%s, %d of %d by backtrace:", where, nr, sizes[i]);
		for (int k = 0; k < nr; k++)
			print_frame(addresses[k]);

		int left = sizes[i];
		_Unwind_Reason_Code code;

		printf("\n%s, at most %d by _Unwind_Backtrace:", where, left);
		code = _Unwind_Backtrace(visit, &left);
		printf(": %d, %d left\n", code, left);
	}
	KEEP();
}

FN void on_signal(int sig)
{
	print_stack("in a handler");
	KEEP();
}

FN int compare(const void *a, const void *b)
{
	print_stack("called by qsort");
	KEEP();
	return *(const char *)a - *(const char *)b;
}

FN void deeper(int n)
{
	if (n > 0)
		deeper(n - 1);
	else
		print_stack("deep");
	KEEP();
}

int main(void)
{
	char letters[] = "ba";

	print_stack("in main");
	deeper(12);
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	qsort(letters, 2, 1, compare);
	return 0;
}
