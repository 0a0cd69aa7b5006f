/* What processes have left behind that were killed. The folder's lock is held, or it does not matter. */
#include "libmcount/posix/posix.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define NAMES_MAX 1024

/* Names that are in use: those of processes that live, and of streams. */
struct in_use {
	struct {
		uint32_t pid;
		uint64_t start;
	} names[NAMES_MAX];
	size_t nr;
};

static void note(struct in_use *in_use, uint32_t pid, uint64_t start)
{
	if (in_use->nr < NAMES_MAX) {
		in_use->names[in_use->nr].pid = pid;
		in_use->names[in_use->nr].start = start;
	}
	in_use->nr++;
}

static bool is_noted(const struct in_use *in_use, uint32_t pid, uint64_t start)
{
	if (in_use->nr > NAMES_MAX)
		return true; /* nobody knows */
	for (size_t nr = 0; nr < in_use->nr; nr++) {
		if (in_use->names[nr].pid == pid && in_use->names[nr].start == start)
			return true;
	}
	return false;
}

/* "X-PID-START" */
static bool take_apart(const char *name, pid_t *pid, uint64_t *start)
{
	char *end;

	*pid = (pid_t)strtol(name + 2, &end, 10);
	if (*pid <= 0 || *end != '-')
		return false;
	*start = strtoull(end + 1, &end, 10);
	return *end == '\0';
}

static void look_at_stream(int place, const char *name, struct in_use *in_use)
{
	size_t bytes = PT_CELLS_OFFSET;
	struct pxt_stream *stream = pxt_place_map(place, name, &bytes);

	if (!stream)
		return;
	if (pxt_process_is_alive((pid_t)stream->owner_pid, stream->owner_start)) {
		note(in_use, stream->names_pid, stream->names_start);
	} else {
		atomic_store(&stream->run, PT_IS_CLOSED);
		unlinkat(place, name, 0);
	}
	munmap(stream, bytes);
}

static void look_at_process(int place, const char *name, struct in_use *in_use)
{
	size_t bytes = sizeof(struct pxt_registry);
	struct pxt_registry *registry;
	uint64_t start;
	pid_t pid;

	if (!take_apart(name, &pid, &start))
		return;
	if (!pxt_process_is_alive(pid, start)) {
		unlinkat(place, name, 0);
		return;
	}
	registry = pxt_place_map(place, name, &bytes);
	if (!registry)
		return;
	note(in_use, registry->names_pid, registry->names_start);
	munmap(registry, bytes);
}

static void look_at_names(int place, const char *name, const struct in_use *in_use)
{
	uint64_t start;
	pid_t pid;

	if (take_apart(name, &pid, &start) && !is_noted(in_use, (uint32_t)pid, start))
		unlinkat(place, name, 0);
}

/* Names last: who uses them is known only then. */
void pxt_sweep(int place)
{
	int fd = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct in_use *in_use = dir ? calloc(1, sizeof(*in_use)) : NULL;
	struct dirent *entry;

	if (in_use) {
		while ((entry = readdir(dir))) {
			if (entry->d_name[0] == 's' && entry->d_name[1] == '-')
				look_at_stream(place, entry->d_name, in_use);
			else if (entry->d_name[0] == 'p' && entry->d_name[1] == '-')
				look_at_process(place, entry->d_name, in_use);
		}
		rewinddir(dir);
		while ((entry = readdir(dir))) {
			if (entry->d_name[0] == 'n' && entry->d_name[1] == '-')
				look_at_names(place, entry->d_name, in_use);
		}
	}
	free(in_use);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}
