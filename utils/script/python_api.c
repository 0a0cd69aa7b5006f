/* Loading libpython (see python_api.h). */
#include "utils/script/python_api.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The versions 3.x to search for. MINOR_FIRST is the first version whose stable interface has all
 * functions that utrail calls. MINOR_LAST is an arbitrary limit.
 */
#define MINOR_FIRST 7
#define MINOR_LAST  30

/* The library's symbols are global: extension modules need them. */
static void *open_library(const char *name)
{
	return dlopen(name, RTLD_NOW | RTLD_GLOBAL);
}

static void *open_minor(int minor)
{
	char name[32];

	snprintf(name, sizeof(name), "libpython3.%d.so.1.0", minor);
	return open_library(name);
}

/*
 * Open the library of the version that /usr/bin/python3 links to (python3.11): modules are
 * installed for that version.
 */
static void *open_usual(void)
{
	char path[PATH_MAX];
	const char *name = realpath("/usr/bin/python3", path) ? strrchr(path, '/') : NULL;
	int minor;

	return name && sscanf(name, "/python3.%d", &minor) == 1 ? open_minor(minor) : NULL;
}

static void *open_any(void)
{
	void *library = open_usual();

	for (int minor = MINOR_LAST; !library && minor >= MINOR_FIRST; minor--)
		library = open_minor(minor);
	return library ? library : open_library("libpython3.so");
}

static int find_all(struct python_api *py, void *library)
{
	bool is_whole = true;

#define PYTHON_FIND(result, name, args)                         \
	py->name = (__typeof__(py->name))dlsym(library, #name); \
	is_whole &= py->name != NULL;
	PYTHON_FUNCTIONS(PYTHON_FIND)
#undef PYTHON_FIND
	PyObject **system_exit = dlsym(library, "PyExc_SystemExit");

	py->none = dlsym(library, "_Py_NoneStruct");
	py->refs_of = (__typeof__(py->refs_of))dlsym(library, "Py_REFCNT");
	if (!is_whole || !py->none || !system_exit)
		return -ENOENT;
	py->system_exit = system_exit;
	return 0;
}

int python_load(struct python_api *py, struct uft_err *err)
{
	void *library = open_any();

	if (!library)
		return err_set(err, -ENOENT,
			       "libpython3 is not installed (Debian has it in libpython3.11)");
	if (find_all(py, library) < 0)
		return err_set(err, -ENOENT, "the libpython3 that is installed lacks functions");
	return 0;
}
