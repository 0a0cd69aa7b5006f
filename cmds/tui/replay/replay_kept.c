/* Keeps lines in a file (see replay_kept.h). */
#include "cmds/tui/replay/replay_kept.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "utils/base/containers/vec.h"
#include "utils/base/clock.h"
#include "utils/base/fd.h"
#include "utils/base/workers.h"

/*
 * The time, in nanoseconds, after which new lines are written to the temporary file. But as soon as
 * there are PAGE_LINES new lines, these lines are written. The view cannot show a line before the
 * line is in the file.
 */
#define FLUSH_NS 50000000ULL

/*
 * Opens a temporary file. Tries directories in order, until the file can be created. The last
 * directory is /tmp, because /tmp may be in memory.
 */
static int open_file(struct uft_err *err)
{
	const char *tops[] = { getenv("TMPDIR"), "/var/tmp", "/tmp" };
	char path[4096];

	for (size_t i = 0; i < ARRAY_SIZE(tops); i++) {
		if (!tops[i] || !*tops[i])
			continue;

		int fd = open(tops[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

		if (fd >= 0)
			return fd;
		/* Some file systems do not support O_TMPFILE. */
		if ((size_t)snprintf(path, sizeof(path), "%s/utrail-tui-XXXXXX", tops[i]) >=
		    sizeof(path))
			continue;
		fd = mkostemp(path, O_CLOEXEC);
		if (fd >= 0) {
			unlink(path);
			return fd;
		}
	}
	return err_set_errno(err, -errno, "cannot make a temporary file in '%s'", tops[1]);
}

static int write_block(struct replay_kept *kept)
{
	const struct replay_lines *fresh = &kept->fresh;
	size_t head = fresh->nr * sizeof(*fresh->lines);
	int ret = strbuf_oom(&fresh->text) ? -ENOMEM : 0;

	if (ret == 0)
		ret = fd_write_all(kept->fd, fresh->lines, head);
	if (ret == 0)
		ret = fd_write_all(kept->fd, fresh->text.data, fresh->text.len);
	return ret;
}

/* Writes kept->fresh to the file. Afterwards replay_kept_load() can load these lines. */
static int flush_lines(struct replay_kept *kept)
{
	struct replay_lines *fresh = &kept->fresh;

	sink_flush(&kept->pass.sink);
	kept->flushed_ns = clock_now_ns(CLOCK_MONOTONIC);
	if (fresh->nr == 0)
		return 0;

	const struct kept_block block = {
		.line = kept->pass.line - fresh->nr,
		.offset = kept->offset,
		.nr = fresh->nr,
		.bytes = fresh->text.len,
	};
	int ret = write_block(kept);

	if (ret < 0)
		return ret;
	kept->offset += block.nr * sizeof(*fresh->lines) + block.bytes;
	pthread_mutex_lock(&kept->lock);

	struct kept_block *blocks = vec_grow(kept->blocks, kept->nr_blocks, sizeof(*blocks));

	if (blocks) {
		kept->blocks = blocks;
		blocks[kept->nr_blocks++] = block;
		kept->nr_lines = block.line + block.nr;
	}
	pthread_mutex_unlock(&kept->lock);
	fresh->nr = 0;
	strbuf_reset(&fresh->text);
	return blocks ? 0 : -ENOMEM;
}

static int flush_at_times(struct replay_pass *pass, void *self)
{
	struct replay_kept *kept = self;

	if (atomic_load_explicit(&kept->stops, memory_order_relaxed))
		return PASS_IS_DONE;
	if (kept->fresh.nr < PAGE_LINES &&
	    (kept->fresh.nr == 0 || clock_now_ns(CLOCK_MONOTONIC) - kept->flushed_ns < FLUSH_NS))
		return 0;
	return flush_lines(kept);
}

static int make_lines(struct replay_kept *kept)
{
	const struct replay_source *source = kept->pass.source;
	bool is_last = source->until_ns == UINT64_MAX;
	int ret = 0;

	if (!kept->has_begun)
		ret = replay_pass_begin(&kept->pass, NULL, &kept->err);
	else if (replay_pass_grow(&kept->pass) < 0)
		ret = -ENOMEM;
	kept->has_begun = true;
	if (ret == 0 && !atomic_load(&kept->stops))
		ret = replay_pass_run(&kept->pass, is_last, &kept->err);
	if (ret >= 0)
		ret = flush_lines(kept);
	if (ret < 0 && !kept->err.code)
		err_set_errno(&kept->err, ret, "cannot keep the lines that filters leave");
	return ret;
}

static void *run_kept(void *arg)
{
	struct replay_kept *kept = arg;

	kept->status = make_lines(kept);
	atomic_store(&kept->is_done, true);
	return NULL;
}

static int open_kept(struct replay_kept *kept, const struct replay_source *source,
		     struct uft_err *err)
{
	int fd = open_file(err);

	if (fd < 0)
		return fd;
	*kept = (struct replay_kept){
		.fd = fd,
		.pass = { .source = source,
			  .lines = &kept->fresh,
			  .end = UINT64_MAX,
			  .look = flush_at_times,
			  .self = kept },
	};
	pthread_mutex_init(&kept->lock, NULL);
	return 0;
}

int replay_kept_start(struct replay_kept *kept, const struct replay_source *source,
		      struct uft_err *err)
{
	int ret = kept->pass.source ? 0 : open_kept(kept, source, err);

	if (ret < 0)
		return ret;
	atomic_store(&kept->is_done, false);
	ret = workers_start_thread(&kept->thread, NULL, run_kept, kept);
	if (ret < 0)
		return err_set_errno(err, ret, "cannot read in the background");
	kept->runs = true;
	return 0;
}

uint64_t replay_kept_look(struct replay_kept *kept, bool *is_done, struct uft_err *err)
{
	uint64_t nr_lines;

	if (kept->runs && atomic_load(&kept->is_done)) {
		pthread_join(kept->thread, NULL);
		kept->runs = false;
		if (kept->status < 0 && err)
			*err = kept->err;
	}
	*is_done = !kept->runs;
	pthread_mutex_lock(&kept->lock);
	nr_lines = kept->nr_lines;
	pthread_mutex_unlock(&kept->lock);
	return nr_lines;
}

static bool find_block(struct replay_kept *kept, uint64_t number, struct kept_block *block)
{
	size_t low = 0;
	bool is_found;

	pthread_mutex_lock(&kept->lock);
	for (size_t high = kept->nr_blocks; high - low > 1;) {
		size_t middle = low + (high - low) / 2;

		if (kept->blocks[middle].line <= number)
			low = middle;
		else
			high = middle;
	}
	is_found = low < kept->nr_blocks;
	if (is_found)
		*block = kept->blocks[low];
	pthread_mutex_unlock(&kept->lock);
	return is_found;
}

int replay_kept_load(struct replay_kept *kept, uint64_t number, struct replay_lines *lines,
		     uint64_t *first)
{
	struct kept_block block;

	if (!find_block(kept, number, &block))
		return -ENOENT;

	size_t head = block.nr * sizeof(*lines->lines);
	char *text = malloc(block.bytes + 1);

	lines->lines = malloc(head);
	if (!text || !lines->lines ||
	    fd_pread_full(kept->fd, lines->lines, head, block.offset) != (ssize_t)head ||
	    fd_pread_full(kept->fd, text, block.bytes, block.offset + head) !=
		    (ssize_t)block.bytes) {
		free(text);
		free(lines->lines);
		lines->lines = NULL;
		return -EIO;
	}
	strbuf_add(&lines->text, text, block.bytes);
	free(text);
	lines->nr = block.nr;
	*first = block.line;
	return 0;
}

void replay_kept_stop(struct replay_kept *kept)
{
	if (!kept->pass.source)
		return;
	atomic_store(&kept->stops, true);
	if (kept->runs) {
		/*
		 * A thread that is still opening the pipeline may clear pipe.is_stopped. So set
		 * pipe.is_stopped again and again until the thread has ended.
		 */
		while (!atomic_load(&kept->is_done)) {
			atomic_store(&kept->pass.pipe.is_stopped, true);
			nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
		}
		pthread_join(kept->thread, NULL);
	}
	if (kept->has_begun)
		replay_pass_end(&kept->pass);
	replay_lines_deinit(&kept->fresh);
	pthread_mutex_destroy(&kept->lock);
	close(kept->fd);
	free(kept->blocks);
	*kept = (struct replay_kept){ 0 };
}
