/* Opens and reads logs. */
#include "posix/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* An open log. Its descriptor is a copy, since the program may close or change the original. */
struct pxt_log_file {
	struct pxt_log log;
	dev_t dev;
	ino_t ino;
};

static bool is_same_file(const struct pxt_log_file *file)
{
	return pxt_is_file(file->log.fd, file->dev, file->ino);
}

static int open_log(struct pxt_log_file *file, int file_desc)
{
	int fd = fcntl(file_desc, F_DUPFD_CLOEXEC, 0), flags, error;
	struct stat st;

	if (fd < 0)
		return errno == EBADF ? EBADF : ENOMEM;
	flags = fcntl(fd, F_GETFL);
	error = (flags & O_ACCMODE) == O_WRONLY ? -EBADF : 0;
	if (!error) {
		pxt_finish_file(fd);
		error = pxt_log_open(&file->log, fd);
	}
	if (!error && fstat(fd, &st) == 0) {
		file->dev = st.st_dev;
		file->ino = st.st_ino;
	}
	if (error)
		close(fd);
	return -error;
}

int posix_trace_open(int file_desc, trace_id_t *trid)
{
	PXT_NO_CANCEL;
	struct pxt_log_file *file = trid ? calloc(1, sizeof(*file)) : NULL;
	struct pxt_handle *handle = NULL;
	int error;

	if (!file)
		return trid ? ENOMEM : EINVAL;
	error = open_log(file, file_desc);
	if (!error) {
		handle = pxt_handle_new();
		if (!handle) {
			close(file->log.fd);
			error = ENOMEM;
		}
	}
	if (!error) {
		handle->log = file;
		*trid = pxt_handle_publish(handle, PT_LOG);
		return 0;
	}
	free(file);
	return error;
}

int posix_trace_close(trace_id_t trid)
{
	PXT_NO_CANCEL;
	struct pxt_handle *handle = pxt_handle_end(trid, PT_LOG);

	if (!handle)
		return EINVAL;
	if (is_same_file(handle->log))
		close(handle->log->log.fd);
	free(handle->log);
	pxt_handle_discard(handle);
	return 0;
}

int posix_trace_rewind(trace_id_t trid)
{
	struct pxt_handle *handle = pxt_handle_get(trid, PT_LOG);

	if (!handle)
		return EINVAL;
	pthread_mutex_lock(&handle->reads);
	pxt_log_rewind(&handle->log->log);
	pthread_mutex_unlock(&handle->reads);
	pxt_handle_put(handle);
	return 0;
}

int pxt_log_getnext(struct pxt_handle *handle, struct posix_trace_event_info *info, void *data,
		    size_t num_bytes, size_t *data_len, int *unavailable)
{
	PXT_NO_CANCEL;
	struct pxt_event event;
	int found;

	pthread_mutex_lock(&handle->reads);
	found = is_same_file(handle->log) ? pxt_log_next(&handle->log->log, &event, data, num_bytes)
					  : -EBADF;
	pthread_mutex_unlock(&handle->reads);
	if (found < 0)
		return EINVAL;
	*unavailable = !found;
	if (found)
		pxt_deliver(&event, NULL, info, data, num_bytes, data_len);
	return 0;
}

void pxt_log_status(struct pxt_handle *handle, struct posix_trace_status_info *status)
{
	const struct pxt_status *from = &handle->log->log.header.status;

	status->posix_stream_status = from->is_running ? POSIX_TRACE_RUNNING
						       : POSIX_TRACE_SUSPENDED;
	status->posix_stream_full_status = from->is_full ? POSIX_TRACE_FULL : POSIX_TRACE_NOT_FULL;
	status->posix_stream_overrun_status = from->is_overrun ? POSIX_TRACE_OVERRUN
							       : POSIX_TRACE_NO_OVERRUN;
	status->posix_stream_flush_status = POSIX_TRACE_NOT_FLUSHING;
	status->posix_stream_flush_error = (int)from->flush_error;
	status->posix_log_overrun_status = from->is_log_overrun ? POSIX_TRACE_OVERRUN
								: POSIX_TRACE_NO_OVERRUN;
	status->posix_log_full_status = from->is_log_full ? POSIX_TRACE_FULL : POSIX_TRACE_NOT_FULL;
	status->posix_stream_lost_events = (unsigned long)from->lost;
}

const struct pxt_attr *pxt_log_attr(const struct pxt_handle *handle)
{
	return &handle->log->log.header.attr;
}

const char *pxt_log_name(const struct pxt_handle *handle, uint32_t id, char text[PT_NAME_MAX + 1])
{
	return pxt_log_name_of(&handle->log->log, id, text);
}
