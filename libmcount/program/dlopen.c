/* Replaces dlopen(3), because the recorder must know each module that dlopen(3) loads. */
#include <dlfcn.h>

#include "libmcount/program/caller.h"
#include "libmcount/hot/callers.h"
#include "libmcount/program/interpose.h"
#include "libmcount/system/undo.h"
#include "libmcount/system/modules.h"
#include "libmcount/hot/probe.h"

EXPORTED void *dlopen(const char *file, int mode);

void *dlopen(const char *file, int mode)
{
	static void *next;
	void *fn = interposed(&next, "dlopen");
	uint64_t begin_ns = probe.ready ? clock_kernel_ns() : 0;

	if (!fn)
		return NULL; /* dlsym() has set dlerror() */

	undo_enter();

	void *handle = caller_pretend(fn, file, mode, __builtin_return_address(0), 0);

	callers_forget();
	if (handle && probe.ready)
		modules_after_dlopen(begin_ns);
	undo_exit();
	return handle;
}

OWN_NAME(dlopen);

EXPORTED int dlclose(void *handle);

/*
 * After dlclose(3), the module may be unloaded, and the addresses of its code may later belong to
 * another module. So callers_forget() drops what the probe knows about these addresses.
 */
int dlclose(void *handle)
{
	static void *next;
	int (*fn)(void *) = interposed(&next, "dlclose");
	int ret;

	if (!fn)
		return -1; /* dlsym() has set dlerror() */
	undo_enter();
	libcall_before_dlclose();
	ret = fn(handle);
	callers_forget();
	undo_exit();
	return ret;
}

OWN_NAME(dlclose);
