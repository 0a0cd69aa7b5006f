/*
 * Walks its own stack, and says whether main was there.
 * ldflags: -rdynamic
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>

#include "program.h"

int main(void);

FN int walks(void)
{
	void *frames[64];
	int nr = backtrace(frames, 64);
	int seen = 0;

	for (int i = 0; i < nr; i++) {
		Dl_info info;

		if (dladdr(frames[i], &info) && info.dli_sname &&
		    strcmp(info.dli_sname, "main") == 0)
			seen = 1;
	}
	KEEP();
	return seen;
}

FN int between(void)
{
	int seen = walks();

	KEEP();
	return seen;
}

int main(void)
{
	puts(between() ? "main was seen" : "main was not seen");
	return 0;
}
