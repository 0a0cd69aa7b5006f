/*
 * Fuzz target: the memory that the recorder's writers share with a program, with arbitrary content.
 * No byte outside of it is read, and a ring never gives more bytes than it holds.
 *
 * Input: the arena's header; then for each of three rings its header, and bytes at its start. All
 * of it comes twice, since the program changes it between two looks.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmds/record/run/recorder.h"
#include "cmds/record/store/dir.h"
#include "tests/fuzz/fuzz.h"

#define NR_RINGS      3
#define SEGMENT_BYTES RING_PAGE
#define CONTENT_BYTES 256

static void scribble(struct process *proc, struct fuzz_input *in)
{
	size_t len;
	const uint8_t *bytes = fuzz_bytes(in, sizeof(struct arena), &len);

	memcpy(proc->arena, bytes, len);
	for (uint32_t i = 0; i < NR_RINGS; i++) {
		struct ring *ring = process_ring(proc, i);

		bytes = fuzz_bytes(in, sizeof(struct ring), &len);
		memcpy(ring, bytes, len);
		/* Fill the parts of the shared memory that the recorder reads. */
		if (i < 2)
			atomic_store(&ring->state, i ? RING_LIVE : RING_DONE);
		bytes = fuzz_bytes(in, CONTENT_BYTES, &len);
		memcpy(ring_data(ring), bytes, len);
	}
	atomic_store(&proc->arena->high_water, atomic_load(&proc->arena->high_water) % 64);
}

/* Returns the number of bytes in all files of the directory but task.txt. */
static uint64_t bytes_written(const struct recorder *rec, int dir_fd)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < rec->tasks.nr_tids; i++) {
		char name[32];
		struct stat st;

		FUZZ_CHECK(rec->tasks.tids[i] > 0);
		snprintf(name, sizeof(name), "%d.dat", rec->tasks.tids[i]);
		if (fstatat(dir_fd, name, &st, 0) == 0)
			sum += st.st_size;
		snprintf(name, sizeof(name), "%d.evt", rec->tasks.tids[i]);
		if (fstatat(dir_fd, name, &st, 0) == 0)
			sum += st.st_size;
	}
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct filters no_filters = { 0 };
	const struct watch_spec no_watch = { 0 };
	const struct event_rules no_events = { 0 };
	struct patch_rules no_patches = { 0 };
	const struct record_settings settings = {
		.filters = &no_filters,
		.watch = &no_watch,
		.events = &no_events,
		.patches = &no_patches,
		.segment_bytes = SEGMENT_BYTES,
		.clock_id = CLOCK_MONOTONIC,
	};
	const struct control_hello hello = { .pid = 1000, .ppid = 1, .kind = CONTROL_EXEC };
	struct fuzz_input in = { data, size };
	struct store_dir dir cleanup(store_dir_close) = STORE_DIR_CLOSED;
	struct recorder rec cleanup_recorder; /* it writes into @dir until it is closed */
	int arena_fd cleanup_fd = -1;

	store_dir_use(&dir, open(fuzz_empty_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	FUZZ_CHECK(recorder_open(&rec, &settings, &dir.store, NULL) == 0);

	struct process *proc = process_create(&rec.processes, &hello, getpid(), &arena_fd);

	FUZZ_CHECK(proc && ftruncate(arena_fd, RING_PAGE) < 0);
	proc->session = image_create(&rec.sessions, 1000, "/bin/program");
	FUZZ_CHECK(proc->session);
	process_publish(&rec.processes, proc);

	uint64_t written = 0;

	for (unsigned round = 1; round <= 2; round++) {
		scribble(proc, &in);
		writer_drain_all(&rec.writers, proc);

		uint64_t now = bytes_written(&rec, dir.fd);
		/* A thread may have two rings, one beside the other. */
		uint64_t most = 2 * 64ULL * proc->nr_segments * proc->segment_bytes;

		FUZZ_CHECK(now - written <= most);
		written = now;
	}
	recorder_stop(&rec);
	return 0;
}
