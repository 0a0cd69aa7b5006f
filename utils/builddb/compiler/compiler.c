/* Names of compilers (see compiler.h). */
#include "utils/builddb/compiler/compiler.h"

#include <stddef.h>
#include <string.h>

#include "utils/base/compiler.h"
#include "utils/base/path.h"

static const char *const drivers[] = {
	"gcc", "g++", "cc",   "c++",  "clang", "clang++", "gfortran", "c89",	 "c99",
	"icc", "icx", "icpc", "icpx", "emcc",  "em++",	  "gdc",      "gnatgcc",
};

static const char *const propers[] = { "cc1", "cc1plus", "cc1obj", "cc1objplus", "f951" };

static const char *const launchers[] = {
	"ccache", "distcc", "sccache", "icecc", "gomacc", "buildcache",
};

static bool is_one_of(const char *const words[], size_t nr, const char *name, size_t len)
{
	for (size_t i = 0; i < nr; i++) {
		if (strlen(words[i]) == len && memcmp(words[i], name, len) == 0)
			return true;
	}
	return false;
}

/*
 * True when @name is an element of @drivers, or ends with a dash and an element of @drivers:
 * "arm-none-eabi-gcc".
 */
static bool is_driver(const char *name, size_t len)
{
	for (size_t at = 0; at < len; at++) {
		if ((at == 0 || name[at - 1] == '-') &&
		    is_one_of(drivers, ARRAY_SIZE(drivers), name + at, len - at))
			return true;
	}
	return false;
}

/*
 * Returns the kind of an assembler ("as", "aarch64-linux-gnu-as", "nasm", "yasm"), or COMPILER_NONE
 * for other names.
 */
static enum compiler_kind assembler(const char *name)
{
	const char *dash = strrchr(name, '-');

	if (strcmp(dash ? dash + 1 : name, "as") == 0)
		return COMPILER_AS;
	if (strcmp(name, "nasm") == 0)
		return COMPILER_NASM;
	return strcmp(name, "yasm") == 0 ? COMPILER_YASM : COMPILER_NONE;
}

/*
 * Returns the length of @name without the version at the end, if there is one: 3 for "gcc-12.2", 5
 * for "clang14".
 */
static size_t without_version(const char *name, size_t len)
{
	while (len && (name[len - 1] == '.' || (name[len - 1] >= '0' && name[len - 1] <= '9')))
		len--;
	return len && name[len - 1] == '-' ? len - 1 : len;
}

/* Returns the length of a name without its thread model: "-win32" or "-posix" at the end. */
static size_t without_threads(const char *name, size_t len)
{
	static const char *const models[] = { "-win32", "-posix" };

	for (size_t i = 0; i < ARRAY_SIZE(models); i++) {
		size_t end = strlen(models[i]);

		if (len > end && memcmp(name + len - end, models[i], end) == 0)
			return len - end;
	}
	return len;
}

enum compiler_kind compiler_kind(const char *name)
{
	size_t len;

	name = path_base(name);
	len = strlen(name);
	if (is_one_of(propers, ARRAY_SIZE(propers), name, len))
		return COMPILER_PROPER;
	if (strcmp(name, "nvcc") == 0)
		return COMPILER_NVCC;
	len = without_threads(name, len);
	if (is_driver(name, len) || is_driver(name, without_version(name, len)))
		return COMPILER_DRIVER;
	return assembler(name);
}

unsigned int compiler_name_words(const char *name, const char *second)
{
	bool is_zig = strcmp(path_base(name), "zig") == 0 && second;

	return is_zig && (strcmp(second, "cc") == 0 || strcmp(second, "c++") == 0) ? 2 : 1;
}

bool compiler_is_launcher(const char *name)
{
	name = path_base(name);
	return is_one_of(launchers, ARRAY_SIZE(launchers), name, strlen(name));
}
