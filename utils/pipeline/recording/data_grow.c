/* Reads the new lines of task.txt in a growing recording (see data.h). */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/base/fd.h"
#include "utils/pipeline/recording/data_tasks.h"

/* All ids of tasks are below this number (PID_MAX_LIMIT of 64-bit systems, proc(5)). */
#define TID_LIMIT  (1 << 22)
#define READ_BYTES (64 * 1024)

/*
 * The state of a growing recording. Tasks must not move in memory, because pipelines and views
 * point to them. So address space is reserved for as many tasks as Linux can have.
 *
 * @dir_fd: descriptor of the recording's directory; negative: the directory could not be opened.
 *          While this descriptor is open, a new directory cannot get the same inode number
 * @offset: the number of bytes of task.txt that were read
 * @lines: the lines of task.txt that were read, but not applied to struct trace_data; the last line
 *         may be incomplete
 * @by_tid: by_tid[tid] is 1 + the index of the task; 0: there is no such task. Like the tasks, this
 *          array is in reserved address space
 */
struct data_growth {
	int dir_fd;
	int fd;
	uint64_t offset;
	struct strbuf lines;
	struct strmap sessions;
	uint32_t *by_tid;
};

static void *reserve_memory(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void unreserve(void *memory, size_t bytes)
{
	if (memory)
		munmap(memory, bytes);
}

struct data_growth *data_growth_create(const char *dir)
{
	struct data_growth *growth = calloc(1, sizeof(*growth));

	if (growth) {
		growth->dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
		growth->fd = -1;
	}
	return growth;
}

int data_growth_open(struct trace_data *data, struct uft_err *err)
{
	struct data_growth *growth = data->growth;
	char path[PATH_MAX];

	growth->by_tid = reserve_memory(TID_LIMIT * sizeof(*growth->by_tid));
	data->tasks = reserve_memory(TID_LIMIT * sizeof(*data->tasks));
	if (!growth->by_tid || !data->tasks)
		return err_set_errno(err, -errno, "cannot follow '%s'", data->dir);
	snprintf(path, sizeof(path), "%s/task.txt", data->dir);
	growth->fd = file_open_regular(path, err);
	return growth->fd < 0 ? growth->fd : 0;
}

void data_growth_destroy(struct trace_data *data)
{
	struct data_growth *growth = data->growth;

	unreserve(growth->by_tid, TID_LIMIT * sizeof(*growth->by_tid));
	unreserve(data->tasks, TID_LIMIT * sizeof(*data->tasks));
	if (growth->fd >= 0)
		close(growth->fd);
	if (growth->dir_fd >= 0)
		close(growth->dir_fd);
	strbuf_deinit(&growth->lines);
	strmap_deinit(&growth->sessions);
	free(growth);
	data->growth = NULL;
}

int data_check_name(const struct trace_data *data, struct uft_err *err)
{
	struct stat ours, there;

	if (fstat(data->growth->dir_fd, &ours) == 0 && stat(data->dir, &there) == 0 &&
	    ours.st_dev == there.st_dev && ours.st_ino == there.st_ino)
		return 0;
	return err_set(err, -ESTALE,
		       "cannot follow '%s' further: it was renamed or removed; a new recording "
		       "renames the one before to '%s.old'",
		       data->dir, data->dir);
}

struct task *data_growth_task(const struct trace_data *data, int32_t tid)
{
	uint32_t index = tid >= 0 && tid < TID_LIMIT ? data->growth->by_tid[tid] : 0;

	return index ? &data->tasks[index - 1] : NULL;
}

int data_read_more(struct trace_data *data, struct uft_err *err)
{
	struct data_growth *growth = data->growth;
	char buf[READ_BYTES];
	ssize_t n;

	while ((n = fd_pread_full(growth->fd, buf, sizeof(buf), growth->offset)) > 0) {
		strbuf_add(&growth->lines, buf, n);
		growth->offset += n;
	}
	if (n == 0 && strbuf_oom(&growth->lines))
		n = -ENOMEM;
	return n < 0 ? err_set_errno(err, n, "cannot read '%s/task.txt'", data->dir) : 0;
}

static int add_task(struct trace_data *data, int32_t tid, struct uft_err *err)
{
	if (tid <= 0 || tid >= TID_LIMIT)
		return err_set(err, -EINVAL, "%d is no id of a task", tid);
	if (data_task(data, tid))
		return 0;
	data->tasks[data->nr_tasks] = (struct task){
		.tid = tid,
		.pid = tid,
		.index = data->nr_tasks,
	};
	data->growth->by_tid[tid] = ++data->nr_tasks;
	return 0;
}

static int apply_task_line(struct trace_data *data, const struct task_line *line,
			   struct uft_err *err)
{
	struct strmap *sessions = &data->growth->sessions;
	size_t nr_sessions = data->nr_sessions;
	int ret;

	if (line->type == TASK_LINE_DLOPEN)
		return data_apply_dlopen(line, sessions);
	ret = add_task(data, task_line_tid(line), err);
	if (ret == 0)
		ret = data_apply_line(data, line, sessions);
	if (ret == 0 && data->nr_sessions > nr_sessions)
		ret = session_load_map(data->sessions[nr_sessions], err);
	return ret;
}

/* Let a new task begin in the session of its parent. */
static int inherit_session(struct trace_data *data, struct task *task)
{
	const struct task *origin = task_origin(data, task);
	struct session *session = origin ? task_session(origin, task->start_ns) : NULL;

	if (!session && !task->nr_refs && data->nr_sessions)
		session = data->sessions[0];
	return session ? task_add_ref(task, 0, session) : 0;
}

static int apply_lines(struct trace_data *data, struct text in, struct uft_err *err)
{
	size_t nr_known = data->nr_tasks;
	struct task_line line;
	struct uft_err why = { 0 };
	int ret;

	while ((ret = task_txt_next(&in, &line, &why)) > 0) {
		ret = apply_task_line(data, &line, &why);
		if (ret < 0)
			break;
	}
	for (size_t i = nr_known; ret == 0 && i < data->nr_tasks; i++)
		ret = inherit_session(data, &data->tasks[i]);
	if (ret < 0)
		return err_set(err, ret, "cannot read '%s/task.txt': %s", data->dir,
			       why.code ? why.text : strerror(-ret));
	return 0;
}

int data_grow(struct trace_data *data, struct uft_err *err)
{
	struct strbuf *lines = &data->growth->lines;
	const char *end = lines->len ? memrchr(lines->data, '\n', lines->len) : NULL;

	if (!end)
		return 0;

	size_t whole = end + 1 - lines->data;
	int ret = apply_lines(data, text_of(lines->data, whole), err);

	memmove(lines->data, lines->data + whole, lines->len - whole);
	lines->len -= whole;
	return ret < 0 ? ret : 1;
}
