/* A recorder without a program, in a directory of its own. */
#ifndef UTRAIL_TESTS_UNIT_RECORDER_H
#define UTRAIL_TESTS_UNIT_RECORDER_H

#include "tests/unit/lib/unit.h"

#include <fcntl.h>
#include <ftw.h>
#include <time.h>
#include <unistd.h>

#include "cmds/record/run/recorder.h"
#include "cmds/record/store/dir.h"

struct test_recorder {
	char dir[64];
	int dir_fd;
	struct store_dir store;
	struct filters filters;
	struct watch_spec watch;
	struct event_rules events;
	struct patch_rules patches;
	struct record_settings settings;
	struct recorder rec;
};

static inline int test_recorder_setup(void **state)
{
	struct test_recorder *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	strcpy(t->dir, "/tmp/utrail-unit-XXXXXX");
	assert_non_null(mkdtemp(t->dir));
	t->dir_fd = open(t->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(t->dir_fd >= 0);
	store_dir_use(&t->store, t->dir_fd);
	t->settings = (struct record_settings){
		.filters = &t->filters,
		.watch = &t->watch,
		.events = &t->events,
		.patches = &t->patches,
		.segment_bytes = RING_PAGE,
		.clock_id = CLOCK_MONOTONIC,
		.reports_crashes = true,
	};
	assert_int_equal(recorder_open(&t->rec, &t->settings, &t->store.store, NULL), 0);
	*state = t;
	return 0;
}

static inline int test_recorder_remove(const char *path, const struct stat *st, int type,
				       struct FTW *ftw)
{
	return remove(path);
}

static inline int test_recorder_teardown(void **state)
{
	struct test_recorder *t = *state;

	recorder_stop(&t->rec);
	recorder_close(&t->rec);
	close(t->dir_fd);
	nftw(t->dir, test_recorder_remove, 16, FTW_DEPTH | FTW_PHYS);
	free(t);
	return 0;
}

/* Returns the content of a file of the recording. The caller frees it. */
static inline char *test_recorder_file(const struct test_recorder *t, const char *name)
{
	int fd = openat(t->dir_fd, name, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *text;

	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	text = calloc(1, st.st_size + 1);
	assert_non_null(text);
	assert_int_equal(read(fd, text, st.st_size), st.st_size);
	close(fd);
	return text;
}

#endif
