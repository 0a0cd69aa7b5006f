/* Runs points of the conformance suite: all of them, or those whose names are given. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "point.h"

static struct point *points, **last = &points;
static char folder[] = "/tmp/utrail-posix-XXXXXX";

/* The time after which a point is ended. No point needs that long, even on a busy machine. */
#define SECONDS_MAX 240

void point_add(struct point *point)
{
	*last = point;
	last = &point->next;
}

void point_fail(const char *file, int line, const char *what, long got, long wanted)
{
	fprintf(stderr, "%s:%d: %s is %ld, and not %ld\n", file, line, what, got, wanted);
	fflush(stderr);
	_exit(1);
}

trace_id_t make_stream(const trace_attr_t *attr)
{
	trace_id_t trid = -1;

	CHECK_IS(posix_trace_create(0, attr, &trid), 0);
	return trid;
}

trace_id_t make_running(const trace_attr_t *attr)
{
	trace_id_t trid = make_stream(attr);

	CHECK_IS(posix_trace_start(trid), 0);
	return trid;
}

void small_attr(trace_attr_t *attr, int policy, size_t nr_small)
{
	size_t size;

	CHECK_IS(posix_trace_attr_init(attr), 0);
	CHECK_IS(posix_trace_attr_setstreamfullpolicy(attr, policy), 0);
	CHECK_IS(posix_trace_attr_getmaxusereventsize(attr, sizeof(int), &size), 0);
	CHECK_IS(posix_trace_attr_setstreamsize(attr, size * nr_small), 0);
}

trace_id_t make_small(int policy, size_t nr_small)
{
	trace_attr_t attr;

	small_attr(&attr, policy, nr_small);
	return make_running(&attr);
}

trace_event_id_t open_id(const char *name)
{
	trace_event_id_t id = 0;

	CHECK_IS(posix_trace_eventid_open(name, &id), 0);
	return id;
}

bool try_next(trace_id_t trid, struct seen *seen)
{
	memset(seen, 0, sizeof(*seen));
	CHECK_IS(posix_trace_trygetnext_event(trid, &seen->info, seen->data, sizeof(seen->data),
					      &seen->len, &seen->unavailable),
		 0);
	return !seen->unavailable;
}

void expect(trace_id_t trid, trace_event_id_t id, struct seen *seen)
{
	CHECK(try_next(trid, seen));
	CHECK_IS(seen->info.posix_event_id, id);
}

void expect_started(trace_id_t trid, trace_event_id_t id, struct seen *seen)
{
	expect(trid, POSIX_TRACE_START, seen);
	expect(trid, id, seen);
}

void expect_nothing(trace_id_t trid)
{
	struct seen seen;

	CHECK(!try_next(trid, &seen));
}

struct posix_trace_status_info status_of(trace_id_t trid)
{
	struct posix_trace_status_info status;

	memset(&status, -1, sizeof(status));
	CHECK_IS(posix_trace_get_status(trid, &status), 0);
	return status;
}

void write_numbers(trace_event_id_t id, int first, int nr)
{
	for (int number = first; number < first + nr; number++)
		posix_trace_event(id, &number, sizeof(number));
}

int number_of(const struct seen *seen)
{
	int number;

	CHECK_IS(seen->len, sizeof(number));
	memcpy(&number, seen->data, sizeof(number));
	return number;
}

int make_file(void)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/log-XXXXXX", folder);
	fd = mkstemp(path);
	CHECK(fd >= 0);
	unlink(path);
	return fd;
}

trace_id_t make_log(int fd, const trace_attr_t *attr)
{
	trace_id_t trid = -1;

	CHECK_IS(posix_trace_create_withlog(0, attr, fd, &trid), 0);
	CHECK_IS(posix_trace_start(trid), 0);
	return trid;
}

uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

pid_t make_child(void)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	return pid;
}

static bool run(const struct point *point)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		alarm(SECONDS_MAX);
		point->check();
		exit(0); /* exit() and not _exit(): sanitizers make their checks then */
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return false;
	if (status == 0)
		return true;
	fprintf(stderr, "FAILED: %s (status %#x)\n", point->name, (unsigned int)status);
	return false;
}

static bool is_wanted(const struct point *point, int argc, char **argv)
{
	for (int nr = 1; nr < argc; nr++) {
		if (!strcmp(argv[nr], point->name))
			return true;
	}
	return argc == 1;
}

static int empty_folder(void)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int nr = 0;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		/* Ended processes leave only files that later processes would remove. */
		unlinkat(dirfd(dir), entry->d_name, 0);
		nr++;
	}
	if (dir)
		closedir(dir);
	rmdir(folder);
	return nr;
}

int main(int argc, char **argv)
{
	int nr = 0, nr_failed = 0;

	if (!mkdtemp(folder))
		return 1;
	setenv("UTRAIL_TRACE_DIR", folder, 1);
	for (const struct point *point = points; point; point = point->next) {
		if (!is_wanted(point, argc, argv))
			continue;
		nr++;
		nr_failed += !run(point);
	}
	empty_folder();
	printf("%d points, %d failed\n", nr, nr_failed);
	return nr_failed || !nr;
}
