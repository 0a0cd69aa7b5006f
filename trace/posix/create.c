/* Makes and ends streams. */
#include "posix/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A stream that is being made. @pid, @start: number and start time of the traced process */
struct making {
	struct pxt_attr attr;
	struct pxt_handle *handle;
	int file_desc;
	pid_t pid;
	uint64_t start;
	int place;
	unsigned int number;
	uint32_t serial;
	struct pxt_stream *stream;
	size_t bytes;
};

static int check_attr(const trace_attr_t *from, bool has_log, struct pxt_attr *attr)
{
	const struct pxt_attr *given = from ? pxt_attr_of((trace_attr_t *)from) : NULL;

	if (from && !given)
		return EINVAL;
	if (given)
		*attr = *given;
	else
		pxt_attr_defaults(attr);
	if (!attr->stream_policy)
		attr->stream_policy = has_log ? POSIX_TRACE_FLUSH : POSIX_TRACE_LOOP;
	return attr->stream_policy == POSIX_TRACE_FLUSH && !has_log ? EINVAL : 0;
}

/*
 * Checks the process that is to be traced. The process must belong to the user who runs the calling
 * process, since each user has a separate folder of streams.
 */
static int check_target(pid_t pid, struct making *making)
{
	char path[32];
	struct stat st;
	int error;

	if (pid < 0)
		return ESRCH;
	making->pid = pid ? pid : getpid();
	if (making->pid != getpid() && kill(making->pid, 0) < 0)
		return errno;
	error = pxt_process_start(making->pid, &making->start);
	if (error)
		return -error;
	pxt_process_path(path, making->pid);
	if (making->pid != getpid() && (stat(path, &st) < 0 || st.st_uid != geteuid()))
		return EPERM;
	return 0;
}

/* Returns the number of cells, a power of two. A record takes one cell, and more for long data. */
static uint64_t count_cells(const struct pxt_attr *attr)
{
	uint64_t least = 4 * (uint64_t)pxt_cells_of((uint32_t)attr->max_data);
	uint64_t nr = 64;

	while (nr < least || nr * PT_CELL_BYTES < attr->stream_size)
		nr *= 2;
	return nr;
}

/*
 * Chooses a free number for the stream. The folder is locked, so no other process can take the
 * number.
 */
static int find_number(struct making *making)
{
	char name[64];

	for (making->number = 0; making->number < TRACE_SYS_MAX; making->number++) {
		pxt_place_name(name, 's', making->number, 0);
		if (faccessat(making->place, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
		    errno == ENOENT)
			return 0;
	}
	return EAGAIN;
}

static int make_stream(struct making *making, const struct pxt_registry *registry)
{
	uint64_t nr_cells = count_cells(&making->attr);
	uint64_t mono = pxt_clock_ns(CLOCK_MONOTONIC), offset = pxt_clock_offset_ns();
	struct pxt_stream *stream;
	char name[64];
	uint32_t log_bytes = making->file_desc >= 0 ? sizeof(struct pxt_log_part) : 0;
	int error;

	making->bytes = PT_CELLS_OFFSET + (size_t)nr_cells * PT_CELL_BYTES + log_bytes;
	making->serial = (uint32_t)(mono >> 6) | 1;
	pxt_place_name(name, 's', making->number, 0);
	stream = pxt_place_make(making->place, name, making->bytes, &error);
	if (!stream)
		return ENOMEM;
	making->attr.created_ns = mono + offset;
	stream->version = PT_VERSION;
	stream->serial = making->serial;
	stream->nr_cells = (uint32_t)nr_cells;
	stream->max_data = (uint32_t)making->attr.max_data;
	stream->policy = making->attr.stream_policy;
	stream->owner_pid = (uint32_t)getpid();
	stream->owner_start = pxt_process.start;
	stream->names_pid = registry->names_pid;
	stream->names_start = registry->names_start;
	stream->offset_ns = offset;
	stream->attr = making->attr;
	stream->log_bytes = log_bytes;
	atomic_store(&stream->head, nr_cells);
	atomic_store(&stream->tail, nr_cells);
	stream->magic = PT_MAGIC;
	making->stream = stream;
	return 0;
}

static void unmake_stream(struct making *making)
{
	char name[64];

	pxt_place_name(name, 's', making->number, 0);
	unlinkat(making->place, name, 0);
	munmap(making->stream, making->bytes);
}

/*
 * Makes the struct pxt_view through which this process reads the stream. If the process traces
 * itself, the writers in this process use the same view (pxt_process.views).
 */
static int make_view(struct making *making, const struct pxt_registry *registry)
{
	struct pxt_handle *handle = making->handle;
	bool is_self = making->pid == getpid();

	handle->number = making->number;
	handle->attr = making->attr;
	handle->view = is_self ? &pxt_process.views[making->number] : &handle->own_view;
	handle->names = pxt_names_map(making->place, registry->names_pid, registry->names_start);
	handle->buffer = malloc(making->attr.max_data < PT_SYSTEM_DATA
					? PT_SYSTEM_DATA
					: (size_t)making->attr.max_data);
	if (!handle->names || !handle->buffer)
		return ENOMEM;
	if (is_self)
		pxt_view_drop(handle->view);
	return pxt_view_set(handle->view, making->stream, making->bytes, making->serial) ? ENOMEM
											 : 0;
}

/*
 * Starts the keeper, a process (keeper.c). The keeper acts if the calling process ends without
 * shutting the stream down. The keeper completes the stream's log, if the stream has a log, and
 * frees the stream's memory.
 *
 * If there is no keeper, another process does this work:
 * - If the stream has a log, the process that opens the log completes the log and frees the memory.
 *   If no process opens the log within the waiting time of sweep.c, a later call of pxt_sweep()
 *   frees the memory.
 * - If the stream has no log, a later call of pxt_sweep() frees the memory.
 */
static void start_keeper(struct making *making)
{
	struct pxt_handle *handle = making->handle;
	const struct pxt_keeping keeping = {
		.place = making->place,
		.log = pxt_flusher_file(handle),
		.stream = making->stream,
		.bytes = making->bytes,
		.names = handle->names,
		.number = making->number,
		.mapped_at = pxt_place_of(making->stream, making->bytes),
	};

	pxt_keeper_start(&handle->keeper, &keeping, pxt_log_part_of(handle->view));
}

static int make_in_place(struct making *making)
{
	struct pxt_registry *registry;
	int error;

	pxt_sweep(making->place);
	error = find_number(making);
	if (error)
		return error;
	registry = pxt_registry_of(making->place, making->pid, making->start, &error);
	if (!registry)
		return ENOMEM;
	error = make_stream(making, registry);
	if (!error) {
		error = make_view(making, registry);
		if (error)
			unmake_stream(making);
	}
	/* If there is a log, the flusher is started before any event is recorded. */
	if (!error && making->file_desc >= 0) {
		error = pxt_flusher_start(making->handle, making->file_desc);
		if (error) {
			atomic_store(&making->handle->view->stream, NULL);
			unmake_stream(making);
		}
	}
	if (!error) {
		start_keeper(making);
		pxt_attach(registry, making->number, making->serial);
	}
	munmap(registry, sizeof(*registry));
	if (error)
		pxt_sweep(making->place);
	return error;
}

static int make_locked(struct making *making)
{
	int lock, error;

	making->place = pxt_place_open();
	if (making->place < 0)
		return -making->place;
	lock = pxt_place_lock(making->place);
	error = lock < 0 ? -lock : make_in_place(making);
	if (lock >= 0)
		pxt_place_unlock(lock);
	close(making->place);
	return error;
}

static int create_stream(pid_t pid, const trace_attr_t *attr, int file_desc, trace_id_t *trid)
{
	PXT_NO_CANCEL;
	struct making making = { .file_desc = file_desc };
	int error = trid ? check_attr(attr, file_desc >= 0, &making.attr) : EINVAL;

	if (!error)
		error = check_target(pid, &making);
	if (error)
		return error;
	if (!pxt_join())
		return pxt_place_error();
	pxt_recorded_declare(PT_UNNAMED, NULL);
	making.handle = pxt_handle_new();
	if (!making.handle)
		return EAGAIN;
	error = make_locked(&making);
	if (error) {
		if (making.handle->names)
			munmap(making.handle->names, sizeof(*making.handle->names));
		pxt_handle_discard(making.handle);
		return error;
	}
	*trid = pxt_handle_publish(making.handle, file_desc >= 0 ? PT_WITH_LOG : PT_STREAM);
	pxt_flusher_published(making.handle);
	return 0;
}

int posix_trace_create(pid_t pid, const trace_attr_t *restrict attr, trace_id_t *restrict trid)
{
	return create_stream(pid, attr, -1, trid);
}

int posix_trace_create_withlog(pid_t pid, const trace_attr_t *restrict attr, int file_desc,
			       trace_id_t *restrict trid)
{
	int flags = fcntl(file_desc, F_GETFL);
	struct stat st;

	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || fstat(file_desc, &st) < 0)
		return EBADF;
	/*
	 * Records are written at their offsets. Only a regular file without O_APPEND can be used.
	 */
	if ((flags & O_APPEND) || !S_ISREG(st.st_mode))
		return EINVAL;
	return create_stream(pid, attr, file_desc, trid);
}

/*
 * Removes the stream's file. If the stream was for another process, and that process never wrote
 * events, the files of that process are removed as well.
 */
static void remove_file(struct pxt_handle *handle, int place)
{
	int lock;
	char name[64];

	pxt_place_name(name, 's', handle->number, 0);
	unlinkat(place, name, 0);
	if (handle->view != &handle->own_view)
		return;
	lock = pxt_place_lock_soon(place);
	if (lock < 0)
		return;
	pxt_sweep(place);
	pxt_place_unlock(lock);
}

static void remove_stream(struct pxt_handle *handle)
{
	struct pxt_stream *stream = atomic_load(&handle->view->stream);
	struct pxt_registry *registry = atomic_load(&pxt_process.registry);
	int place = pxt_place_open();

	atomic_store(&stream->run, PT_IS_CLOSED);
	if (handle->view != &handle->own_view)
		atomic_fetch_and(&registry->attached[handle->number / PT_ATTACHED_BITS],
				 ~(1ul << handle->number % PT_ATTACHED_BITS));
	/*
	 * Drop the view before the stream's file is removed. After the removal, another stream may
	 * get this stream's number.
	 */
	pxt_view_drop(handle->view);
	if (place < 0)
		return;
	remove_file(handle, place);
	close(place);
}

int pxt_shutdown(struct pxt_handle *handle, const void *address)
{
	int error = 0;

	pxt_stop_for_good(handle, address);
	if (handle->flusher)
		error = pxt_flusher_end(handle);
	remove_stream(handle);
	pxt_keeper_end(&handle->keeper);
	munmap(handle->names, sizeof(*handle->names));
	pxt_handle_discard(handle);
	return error;
}

int posix_trace_shutdown(trace_id_t trid)
{
	PXT_NO_CANCEL;
	struct pxt_handle *handle = pxt_handle_end(trid, PT_ACTIVE);

	return handle ? pxt_shutdown(handle, __builtin_return_address(0)) : EINVAL;
}
