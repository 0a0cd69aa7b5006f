/*
 * A folder for streams of POSIX Trace that no other process has. It is removed after everything
 * that the library does at the end of the process.
 */
#ifndef UTRAIL_TESTS_UNIT_TRACE_PLACE_H
#define UTRAIL_TESTS_UNIT_TRACE_PLACE_H

#include "tests/unit/lib/unit.h"

#include <ftw.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The folder around the place, for further files of the test. */
static char trace_place_above[] = "/tmp/utrail-unit-XXXXXX";
static char trace_place_path[sizeof(trace_place_above) + 8];
static pid_t trace_place_maker;

static inline int trace_place_make(void **state)
{
	if (!mkdtemp(trace_place_above))
		return -1;
	snprintf(trace_place_path, sizeof(trace_place_path), "%s/place", trace_place_above);
	trace_place_maker = getpid();
	return setenv("UTRAIL_TRACE_DIR", trace_place_path, 1);
}

static inline int trace_place_remove_one(const char *path, const struct stat *st, int type,
					 struct FTW *ftw)
{
	return remove(path);
}

__attribute__((destructor(101))) static inline void trace_place_remove(void)
{
	if (trace_place_maker == getpid())
		nftw(trace_place_above, trace_place_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/*
 * Run @fn in a child. Returns its result: 0, or the line of the failed check. The child's exit
 * handlers run.
 */
static inline int trace_place_in_child(int (*fn)(void *arg), void *arg)
{
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		int line = fn(arg);

		if (line)
			fprintf(stderr, "in the child, line %d\n", line);
		exit(line != 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

#define CHILD_CHECK(condition)           \
	do {                             \
		if (!(condition))        \
			return __LINE__; \
	} while (0)

#endif
