/* Source of events: kernel-cpu*.dat (see src_kernel.h). */
#include "utils/trace/src_kernel.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/base/vec.h"
#include "utils/format/kernel_dat.h"
#include "utils/trace/cpu_files.h"
#include "utils/trace/event.h"

/* At once, of a recording that grows. */
#define MORE_BYTES_MAX (16UL << 20)

/* Where all that is read goes to. */
struct reading {
	struct src_kernel *src;
	struct src_perf *perf;
	struct trace_data *data;
	struct uft_err *broken;
	struct uft_err *err;
	uint32_t cpu;
};

/* --- records --- */

static int add_ref(struct src_kernel *src, const struct kernel_record *rec)
{
	struct kernel_ref *refs = vec_grow(src->refs, src->nr_refs, sizeof(*refs));

	if (!refs || src->nr_refs == UINT32_MAX)
		return -ENOMEM;
	src->refs = refs;
	refs[src->nr_refs++] = (struct kernel_ref){ rec->data,
						    MIN(rec->len, (uint32_t)UINT16_MAX) };
	return 0;
}

/* The task may be announced later than it begins. */
static int keep_stray(struct src_kernel *src, struct kernel_stray stray)
{
	struct kernel_stray *strays = vec_grow(src->strays, src->nr_strays, sizeof(*strays));

	if (!strays)
		return -ENOMEM;
	src->strays = strays;
	strays[src->nr_strays++] = stray;
	return 0;
}

/*
 * Who a record may be of: who made it, or if that is nobody here, whom it is about. @tid is 0 when it is no tracepoint's:
 * calls of the kernel's functions are not read yet.
 */
struct owners {
	int32_t tid;
	int32_t other_tid;
};

static struct owners find_owners(const struct trace_data *data, const struct kernel_record *rec)
{
	const struct kernel_event_type *type = kernel_formats_find(&data->kernel, rec->id);

	if (type && kernel_formats_is_tracer(type))
		return (struct owners){ 0 };
	return (struct owners){ rec->pid, kernel_formats_other_task(&data->kernel, type, rec) };
}

static const struct task *task_of(const struct trace_data *data, struct owners owners)
{
	const struct task *task = owners.tid ? data_task(data, owners.tid) : NULL;

	return task || !owners.other_tid ? task : data_task(data, owners.other_tid);
}

const struct task *src_kernel_task(const struct trace_data *data, const struct kernel_record *rec)
{
	return task_of(data, find_owners(data, rec));
}

static int add_record(struct reading *in, const struct kernel_record *rec)
{
	struct src_kernel *src = in->src;
	struct owners owners = find_owners(in->data, rec);
	const struct task *task = task_of(in->data, owners);
	struct perf_event event = { rec->time_ns, rec->id, { src->nr_refs } };

	if (!task && (!in->data->growth || (!owners.tid && !owners.other_tid)))
		return 0;

	int ret = add_ref(src, rec);

	if (ret < 0)
		return ret;
	if (task)
		return src_perf_add(in->perf, task, event);
	return keep_stray(src, (struct kernel_stray){ owners.tid, owners.other_tid, event });
}

static void note_missed(struct src_kernel *src, uint64_t missed)
{
	if (missed == UINT64_MAX)
		src->has_more_lost = true;
	else
		src->lost += missed;
}

static void note_damage(struct reading *in, uint64_t offset, const struct uft_err *why)
{
	err_set(in->broken, why->code, "cannot read '%s/kernel-cpu%u.dat': page at offset %llu: %s",
		in->data->dir, in->cpu, (unsigned long long)offset, why->text);
}

/* 1: there may be more; 0: the file ends here; negative: no memory. */
static int read_page(struct reading *in, const uint8_t *bytes, size_t len, uint64_t offset)
{
	struct kernel_page page;
	struct kernel_record rec;
	struct uft_err why = { 0 };
	int ret = kernel_page_open(&page, &in->data->kernel.header.layout, bytes, len, &why);

	/* The kernel gives no empty pages. A file that has one has a hole, and who knows how large. */
	if (ret == 0 && page.at == page.end)
		return 0;
	note_missed(in->src, page.missed);
	while (ret == 0 && (ret = kernel_page_next(&page, &rec, &why)) > 0)
		ret = add_record(in, &rec);
	/* In one that was cut off the last record is most likely not whole. */
	if (ret == -EBADMSG && len == in->data->kernel.header.layout.page_bytes)
		note_damage(in, offset, &why);
	return ret == -EBADMSG || ret == 0 ? 1 : ret;
}

/* @offset: in the file */
static int read_pages(struct reading *in, const uint8_t *bytes, size_t len, uint64_t offset)
{
	size_t page_bytes = in->data->kernel.header.layout.page_bytes;
	int ret = 1;

	for (size_t at = 0; ret > 0 && at < len; at += page_bytes)
		ret = read_page(in, bytes + at, MIN(len - at, page_bytes), offset + at);
	return MIN(ret, 0);
}

/* --- files --- */

static int add_chunk(struct src_kernel *src, struct kernel_chunk chunk)
{
	struct kernel_chunk *chunks = vec_grow(src->chunks, src->nr_chunks, sizeof(*chunks));

	if (!chunks)
		return -ENOMEM;
	src->chunks = chunks;
	chunks[src->nr_chunks++] = chunk;
	return 0;
}

static void release_chunk(struct kernel_chunk *chunk)
{
	if (chunk->is_mapped)
		munmap(chunk->data, chunk->len);
	else
		free(chunk->data);
}

static int read_all(struct reading *in, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size == 0)
		return 0;

	void *map = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	struct kernel_chunk chunk = { map, st.st_size, true };

	if (map == MAP_FAILED)
		return -errno;

	int ret = add_chunk(in->src, chunk);

	if (ret < 0) {
		release_chunk(&chunk);
		return ret;
	}
	return read_pages(in, chunk.data, chunk.len, 0);
}

/* Whole pages only: the last one may be on its way. */
static int read_new(struct reading *in, struct kernel_source *source)
{
	size_t page_bytes = in->data->kernel.header.layout.page_bytes;
	struct stat st;

	if (fstat(source->fd, &st) < 0)
		return -errno;
	while ((uint64_t)st.st_size >= source->offset + page_bytes) {
		size_t len = MIN((uint64_t)st.st_size - source->offset, MORE_BYTES_MAX);
		struct kernel_chunk chunk = { malloc(len), len, false };

		if (!chunk.data)
			return -ENOMEM;

		ssize_t got = fd_pread_full(source->fd, chunk.data, len, source->offset);
		int ret = got < 0 ? got : add_chunk(in->src, chunk);

		if (ret < 0) {
			release_chunk(&chunk);
			return ret;
		}
		got -= got % page_bytes;
		if (got == 0)
			return 0;
		ret = read_pages(in, chunk.data, got, source->offset);
		if (ret < 0)
			return ret;
		source->offset += got;
	}
	return 0;
}

static int cannot_read(const struct reading *in, int code)
{
	return err_set_errno(in->err, code, "cannot read '%s/kernel-cpu%u.dat'", in->data->dir,
			     in->cpu);
}

static int keep_open(struct src_kernel *src, struct kernel_source source)
{
	struct kernel_source *sources = vec_grow(src->sources, src->nr_sources, sizeof(*sources));

	if (!sources)
		return -ENOMEM;
	src->sources = sources;
	sources[src->nr_sources++] = source;
	return 0;
}

static int take_file(void *self, const char *name, uint32_t cpu)
{
	struct reading *in = self;
	char path[PATH_MAX];

	in->cpu = cpu;
	snprintf(path, sizeof(path), "%s/%s", in->data->dir, name);

	int fd cleanup_fd = file_open_regular(path, in->err);
	int ret;

	if (fd < 0)
		return fd;
	if (in->data->growth) {
		ret = keep_open(in->src, (struct kernel_source){ fd, in->cpu, 0 });
		if (ret == 0)
			take_fd(&fd);
	} else {
		ret = read_all(in, fd);
	}
	return ret < 0 ? cannot_read(in, ret) : 0;
}

int src_kernel_load(struct src_kernel *src, struct src_perf *perf, struct trace_data *data,
		    struct uft_err *broken, struct uft_err *err)
{
	struct reading in = {
		.src = src, .perf = perf, .data = data, .broken = broken, .err = err
	};
	int ret = kernel_formats_load(&data->kernel, data->dir, broken, err);

	if (ret <= 0)
		return ret;
	src->has_files = true;
	ret = cpu_files_each(data->dir, "kernel-cpu", take_file, &in, err);
	if (ret == 0)
		src_perf_sort(perf);
	return ret;
}

/* Tasks that are known by now. */
static int adopt(struct src_kernel *src, struct src_perf *perf, struct trace_data *data)
{
	size_t nr_left = 0;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < src->nr_strays; i++) {
		struct kernel_stray stray = src->strays[i];
		const struct task *task = task_of(data,
						  (struct owners){ stray.tid, stray.other_tid });

		if (task)
			ret = src_perf_add(perf, task, stray.event);
		else
			src->strays[nr_left++] = stray;
	}
	/* vec_grow() must find a power of two where there was one: the room is at least as large. */
	if (ret == 0)
		src->nr_strays = nr_left;
	return ret;
}

int src_kernel_more(struct src_kernel *src, struct src_perf *perf, struct trace_data *data,
		    struct uft_err *broken, struct uft_err *err)
{
	struct reading in = {
		.src = src, .perf = perf, .data = data, .broken = broken, .err = err
	};
	int ret = adopt(src, perf, data);

	for (size_t i = 0; ret == 0 && i < src->nr_sources; i++) {
		in.cpu = src->sources[i].cpu;
		ret = read_new(&in, &src->sources[i]);
	}
	return ret < 0 ? cannot_read(&in, ret) : 0;
}

void src_kernel_deinit(struct src_kernel *src)
{
	for (size_t i = 0; i < src->nr_chunks; i++)
		release_chunk(&src->chunks[i]);
	for (size_t i = 0; i < src->nr_sources; i++)
		close(src->sources[i].fd);
	free(src->chunks);
	free(src->sources);
	free(src->strays);
	free(src->refs);
	*src = (struct src_kernel){ 0 };
}
