/* An open data directory: header, info, tasks, sessions, modules (see data.h). */
#include "utils/trace/data.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "utils/base/fd.h"

#define INFO_FILE_MAX_BYTES (64UL << 20)
#define TASK_FILE_MAX_BYTES (1UL << 30)

static int read_file(const struct trace_data *data, const char *name, size_t max_bytes,
		     struct strbuf *out, struct uft_err *err)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", data->dir, name) >= (int)sizeof(path))
		return err_set_errno(err, -ENAMETOOLONG, "cannot open '%s'", data->dir);
	return file_read_all(path, max_bytes, out, err);
}

static int load_info(struct trace_data *data, struct uft_err *err)
{
	struct strbuf text cleanup_strbuf = { 0 };
	int ret = read_file(data, "info", INFO_FILE_MAX_BYTES, &text, err);

	if (ret < 0)
		return ret;

	struct uft_err why = { 0 };

	ret = header_decode((uint8_t *)text.data, text.len, &data->header, &why);
	if (ret == 0) {
		size_t start = MIN((size_t)data->header.header_size, text.len);

		ret = info_decode(text.data + start, text.len - start, &data->info, &why);
	}
	if (ret < 0)
		return err_set(err, ret, "cannot read '%s/info': %s", data->dir, why.text);
	data->is_big_endian = data->header.endian == HEADER_BIG_ENDIAN;
	return 0;
}

static int task_compare(const void *a, const void *b)
{
	const struct task *x = a;
	const struct task *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

struct task *data_task(const struct trace_data *data, int32_t tid)
{
	struct task key = { .tid = tid };

	if (!data->nr_tasks)
		return NULL;
	return bsearch(&key, data->tasks, data->nr_tasks, sizeof(key), task_compare);
}

/* Note the ids; which task is which is settled when all are known. */
static int note_tid(struct trace_data *data, int32_t tid)
{
	/* Powers of two: grow when the count reaches one. */
	if ((data->nr_log_order & (data->nr_log_order - 1)) == 0) {
		size_t cap = data->nr_log_order ? data->nr_log_order * 2 : 1;
		int32_t *order = reallocarray(data->log_order, cap, sizeof(*order));

		if (!order)
			return -ENOMEM;
		data->log_order = order;
	}
	data->log_order[data->nr_log_order++] = tid;
	return 0;
}

/* "<tid>.dat": its id, or 0. */
static int32_t tid_of_file(const char *name)
{
	struct text in = text_of(name, strlen(name));
	int32_t tid;

	if (*name < '0' || *name > '9' || !text_i32(&in, &tid) || !text_word(&in, ".dat") ||
	    in.at != in.end)
		return 0;
	return tid;
}

static int note_files(struct trace_data *data, struct uft_err *err)
{
	DIR *dir = opendir(data->dir);
	struct dirent *entry;
	int ret = 0;

	if (!dir)
		return err_set_errno(err, -errno, "cannot open '%s'", data->dir);
	while (ret == 0 && (entry = readdir(dir))) {
		int32_t tid = tid_of_file(entry->d_name);

		if (tid)
			ret = note_tid(data, tid);
	}
	closedir(dir);
	return ret < 0 ? err_set_errno(err, ret, "cannot read '%s'", data->dir) : 0;
}

static int32_t tid_of_line(const struct task_line *line)
{
	return line->type == TASK_LINE_TASK ? line->tid : line->pid;
}

/* Call @each with every line of task.txt. */
static int for_each_line(struct trace_data *data, const struct strbuf *text,
			 int (*each)(struct trace_data *data, const struct task_line *line),
			 struct uft_err *err)
{
	struct text in = text_of(text->data, text->len);
	struct task_line line;
	struct uft_err why = { 0 };
	int ret;

	while ((ret = task_txt_next(&in, &line, &why)) > 0) {
		ret = each(data, &line);
		if (ret < 0) {
			err_set_errno(&why, ret, "cannot keep it");
			break;
		}
	}
	if (ret < 0)
		return err_set(err, ret, "cannot read '%s/task.txt': %s", data->dir, why.text);
	return 0;
}

static int note_line(struct trace_data *data, const struct task_line *line)
{
	return line->type == TASK_LINE_DLOPEN ? 0 : note_tid(data, tid_of_line(line));
}

/* Make the sorted table of tasks from the ids that were noted. */
static int make_tasks(struct trace_data *data)
{
	data->tasks = calloc(data->nr_log_order ? data->nr_log_order : 1, sizeof(*data->tasks));
	if (!data->tasks)
		return -ENOMEM;
	for (size_t i = 0; i < data->nr_log_order; i++)
		data->tasks[i] = (struct task){ .tid = data->log_order[i],
						.pid = data->log_order[i] };
	qsort(data->tasks, data->nr_log_order, sizeof(*data->tasks), task_compare);
	for (size_t i = 0; i < data->nr_log_order; i++) {
		if (i && data->tasks[i].tid == data->tasks[data->nr_tasks - 1].tid)
			continue;
		data->tasks[data->nr_tasks++] = data->tasks[i];
	}
	for (size_t i = 0; i < data->nr_tasks; i++)
		data->tasks[i].index = i;
	return 0;
}

/* Each task stands in the order once, where it came first. */
static void settle_log_order(struct trace_data *data)
{
	size_t kept = 0;

	for (size_t i = 0; i < data->nr_log_order; i++) {
		struct task *task = data_task(data, data->log_order[i]);

		if (task->index == UINT32_MAX)
			continue;
		task->index = UINT32_MAX;
		data->log_order[kept++] = task->tid;
	}
	data->nr_log_order = kept;
	for (size_t i = 0; i < data->nr_tasks; i++)
		data->tasks[i].index = i;
}

static struct session *find_session(const struct trace_data *data, const char *sid)
{
	for (size_t i = 0; i < data->nr_sessions; i++) {
		if (strcmp(data->sessions[i]->sid, sid) == 0)
			return data->sessions[i];
	}
	return NULL;
}

static struct session *get_session(struct trace_data *data, const struct task_line *line)
{
	struct session *known = find_session(data, line->sid);

	if (known)
		return known;

	struct session **sessions = reallocarray(data->sessions, data->nr_sessions + 1,
						 sizeof(struct session *));

	if (!sessions)
		return NULL;
	data->sessions = sessions;

	struct session *session = session_create(&data->modules, line);

	if (session)
		sessions[data->nr_sessions++] = session;
	return session;
}

static int add_ref(struct task *task, uint64_t start_ns, struct session *session)
{
	struct session_ref *refs = reallocarray(task->refs, task->nr_refs + 1, sizeof(*refs));

	if (!refs)
		return -ENOMEM;
	task->refs = refs;

	size_t at = task->nr_refs++;

	for (; at > 0 && refs[at - 1].start_ns > start_ns; at--)
		refs[at] = refs[at - 1];
	refs[at] = (struct session_ref){ start_ns, session };
	return 0;
}

/* A task begins where its TASK or FORK line says; that of its session is earlier, and may be all there is. */
static void note_start(struct task *task, const struct task_line *line)
{
	bool is_own = line->type == TASK_LINE_TASK || line->type == TASK_LINE_FORK;

	if (line->type == TASK_LINE_DLOPEN || (task->has_own_line && !is_own))
		return;
	if (!task->start_ns || line->time_ns < task->start_ns || (is_own && !task->has_own_line))
		task->start_ns = line->time_ns;
	task->has_own_line |= is_own;
}

static int apply_line(struct trace_data *data, const struct task_line *line)
{
	struct task *task = data_task(data, tid_of_line(line));
	struct session *session;

	note_start(task, line);

	switch (line->type) {
	case TASK_LINE_SESSION:
		session = get_session(data, line);
		if (!session)
			return -ENOMEM;
		task->has_session = true;
		return add_ref(task, line->time_ns, session);
	case TASK_LINE_TASK:
		task->pid = line->pid;
		break;
	case TASK_LINE_FORK:
		task->is_fork = true;
		task->ppid = line->ppid;
		break;
	case TASK_LINE_DLOPEN:
		break;
	}
	return 0;
}

/* Sessions must be known before: a library may be logged ahead of its session. */
static int apply_dlopen(struct trace_data *data, const struct task_line *line)
{
	struct session *session;

	if (line->type != TASK_LINE_DLOPEN)
		return 0;
	session = find_session(data, line->sid);
	return session ? session_add_late(session, line) : 0;
}

/* Whom the task has its first session from: the process it was forked from, or its leader. */
static const struct task *task_origin(const struct trace_data *data, const struct task *task)
{
	if (task->is_fork)
		return data_task(data, task->ppid);
	return task->pid != task->tid ? data_task(data, task->pid) : NULL;
}

/*
 * What @task ran in before its own first session: the session that its origin had when it began.
 * Chains of forks are followed upwards; more steps than tasks means that task.txt has a circle.
 */
static struct session *inherited_session(const struct trace_data *data, const struct task *task)
{
	uint64_t start_ns = task->start_ns;

	for (size_t step = 0; step <= data->nr_tasks; step++) {
		const struct task *origin = task_origin(data, task);

		if (!origin)
			break;
		for (size_t i = origin->nr_refs; i-- > 0;) {
			if (origin->refs[i].start_ns <= start_ns)
				return origin->refs[i].session;
		}
		start_ns = MIN(start_ns, origin->start_ns);
		task = origin;
	}
	return NULL;
}

static int complete_refs(struct trace_data *data)
{
	/* Judged on the tasks' own sessions only, so settled before any is added. */
	struct session **first cleanup_free = calloc(data->nr_tasks ? data->nr_tasks : 1,
						     sizeof(struct session *));

	if (!first)
		return -ENOMEM;
	for (size_t i = 0; i < data->nr_tasks; i++) {
		struct task *task = &data->tasks[i];

		first[i] = inherited_session(data, task);
		if (!first[i] && !task->nr_refs && data->nr_sessions)
			first[i] = data->sessions[0];
	}
	for (size_t i = 0; i < data->nr_tasks; i++) {
		int ret = first[i] ? add_ref(&data->tasks[i], 0, first[i]) : 0;

		if (ret < 0)
			return ret;
	}
	return 0;
}

struct session *task_session(const struct task *task, uint64_t time_ns)
{
	if (!task->nr_refs)
		return NULL;
	/* The first one covers what is older than itself too. */
	for (size_t i = task->nr_refs - 1; i > 0; i--) {
		if (task->refs[i].start_ns <= time_ns)
			return task->refs[i].session;
	}
	return task->refs[0].session;
}

int data_name_task(struct trace_data *data, int32_t tid, uint64_t time_ns, const char *name)
{
	struct task *task = data_task(data, tid);

	if (!task)
		return 0;

	struct task_name *names = reallocarray(task->names, task->nr_names + 1, sizeof(*names));
	char *copy = strdup(name);

	if (names)
		task->names = names;
	if (!names || !copy) {
		free(copy);
		return -ENOMEM;
	}
	names[task->nr_names++] = (struct task_name){ time_ns, copy };
	return 0;
}

const char *task_name_at(const struct task *task, uint64_t time_ns)
{
	const struct session *session = task_session(task, time_ns);
	uint64_t session_ns = 0;

	for (size_t i = 1; i < task->nr_refs; i++) {
		if (task->refs[i].start_ns <= time_ns)
			session_ns = task->refs[i].start_ns;
	}
	for (size_t i = task->nr_names; i-- > 0;) {
		if (task->names[i].start_ns <= time_ns && task->names[i].start_ns >= session_ns)
			return task->names[i].name;
	}
	if (!session)
		return "";

	const char *slash = strrchr(session->exename, '/');

	return slash ? slash + 1 : session->exename;
}

static int load_tasks(struct trace_data *data, struct uft_err *err)
{
	struct strbuf text cleanup_strbuf = { 0 };
	int ret = read_file(data, "task.txt", TASK_FILE_MAX_BYTES, &text, err);

	if (ret == 0)
		ret = for_each_line(data, &text, note_line, err);
	if (ret == 0)
		ret = note_files(data, err);
	if (ret < 0)
		return ret;

	ret = make_tasks(data);
	if (ret < 0)
		return err_set_errno(err, ret, "cannot read '%s'", data->dir);
	settle_log_order(data);
	ret = for_each_line(data, &text, apply_line, err);
	if (ret == 0)
		ret = for_each_line(data, &text, apply_dlopen, err);
	if (ret < 0)
		return ret;
	ret = complete_refs(data);
	return ret < 0 ? err_set_errno(err, ret, "cannot read '%s/task.txt'", data->dir) : 0;
}

static void measure_files(struct trace_data *data)
{
	for (size_t i = 0; i < data->nr_tasks; i++) {
		char path[PATH_MAX];
		struct stat st;

		snprintf(path, sizeof(path), "%s/%d.dat", data->dir, data->tasks[i].tid);
		if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
			data->tasks[i].data_bytes = st.st_size;
	}
}

static int load_all(struct trace_data *data, struct uft_err *err)
{
	int ret = load_info(data, err);

	if (ret == 0)
		ret = load_tasks(data, err);
	for (size_t i = 0; ret == 0 && i < data->nr_sessions; i++)
		ret = session_load_map(data->sessions[i], err);
	if (ret == 0)
		measure_files(data);
	return ret;
}

int data_open(struct trace_data *data, const char *dir, enum demangle_mode demangle,
	      struct uft_err *err)
{
	*data = (struct trace_data){ .dir = strdup(dir) };
	if (!data->dir)
		return err_set_errno(err, -ENOMEM, "cannot open '%s'", dir);
	data->modules.dir = data->dir;
	data->modules.demangle = demangle;

	struct stat st;
	int ret = 0;

	if (stat(dir, &st) < 0)
		ret = err_set_errno(err, -errno, "cannot open '%s'", dir);
	else if (!S_ISDIR(st.st_mode))
		ret = err_set_errno(err, -ENOTDIR, "cannot open '%s'", dir);
	else
		ret = load_all(data, err);
	if (ret < 0)
		data_close(data);
	return ret;
}

void data_close(struct trace_data *data)
{
	for (size_t i = 0; i < data->nr_sessions; i++)
		session_destroy(data->sessions[i]);
	free(data->sessions);
	for (size_t i = 0; i < data->nr_tasks; i++) {
		for (size_t k = 0; k < data->tasks[i].nr_names; k++)
			free(data->tasks[i].names[k].name);
		free(data->tasks[i].names);
		free(data->tasks[i].refs);
	}
	free(data->tasks);
	free(data->log_order);
	module_set_deinit(&data->modules);
	info_deinit(&data->info);
	free(data->dir);
	*data = (struct trace_data){ 0 };
}

bool data_has_records(const struct trace_data *data)
{
	for (size_t i = 0; i < data->nr_tasks; i++) {
		if (data->tasks[i].data_bytes)
			return true;
	}
	return false;
}
