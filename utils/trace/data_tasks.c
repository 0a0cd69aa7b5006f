/* What task.txt says: which tasks there were, and which sessions they ran in (see data_tasks.h). */
#include "utils/trace/data_tasks.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TASK_FILE_MAX_BYTES (1UL << 30)

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

/* Ids as they come, each as often as it is mentioned. */
struct tid_list {
	int32_t *tids;
	size_t nr;
	size_t cap;
};

static void tid_list_deinit(struct tid_list *list)
{
	free(list->tids);
}

static int note_tid(struct tid_list *list, int32_t tid)
{
	if (list->nr == list->cap) {
		size_t cap = list->cap ? list->cap * 2 : 16;
		int32_t *tids = reallocarray(list->tids, cap, sizeof(*tids));

		if (!tids)
			return -ENOMEM;
		list->tids = tids;
		list->cap = cap;
	}
	list->tids[list->nr++] = tid;
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

static int note_files(const struct trace_data *data, struct tid_list *list, struct uft_err *err)
{
	DIR *dir = opendir(data->dir);
	struct dirent *entry;
	int ret = 0;

	if (!dir)
		return err_set_errno(err, -errno, "cannot open '%s'", data->dir);
	while (ret == 0 && (entry = readdir(dir))) {
		int32_t tid = tid_of_file(entry->d_name);

		if (tid)
			ret = note_tid(list, tid);
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
			 int (*each)(struct trace_data *data, const struct task_line *line,
				     struct tid_list *list),
			 struct tid_list *list, struct uft_err *err)
{
	struct text in = text_of(text->data, text->len);
	struct task_line line;
	struct uft_err why = { 0 };
	int ret;

	while ((ret = task_txt_next(&in, &line, &why)) > 0) {
		ret = each(data, &line, list);
		if (ret < 0) {
			err_set_errno(&why, ret, "cannot keep it");
			break;
		}
	}
	if (ret < 0)
		return err_set(err, ret, "cannot read '%s/task.txt': %s", data->dir, why.text);
	return 0;
}

static int note_line(struct trace_data *data, const struct task_line *line, struct tid_list *list)
{
	return line->type == TASK_LINE_DLOPEN ? 0 : note_tid(list, tid_of_line(line));
}

/* The sorted table of tasks from the ids that were noted. */
static int make_tasks(struct trace_data *data, const struct tid_list *list)
{
	struct task *tasks = calloc(list->nr ? list->nr : 1, sizeof(*tasks));

	if (!tasks)
		return -ENOMEM;
	for (size_t i = 0; i < list->nr; i++)
		tasks[i] = (struct task){ .tid = list->tids[i], .pid = list->tids[i] };
	qsort(tasks, list->nr, sizeof(*tasks), task_compare);
	for (size_t i = 0; i < list->nr; i++) {
		if (i && tasks[i].tid == tasks[data->nr_tasks - 1].tid)
			continue;
		tasks[data->nr_tasks] = tasks[i];
		tasks[data->nr_tasks].index = data->nr_tasks;
		data->nr_tasks++;
	}
	data->tasks = tasks;
	return 0;
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

/* A task begins where its TASK or FORK line says; a session's line is earlier, and may be all. */
static void note_start(struct task *task, const struct task_line *line)
{
	bool is_own = line->type == TASK_LINE_TASK || line->type == TASK_LINE_FORK;

	if (line->type == TASK_LINE_DLOPEN || (task->has_own_line && !is_own))
		return;
	if (!task->start_ns || line->time_ns < task->start_ns || (is_own && !task->has_own_line))
		task->start_ns = line->time_ns;
	task->has_own_line |= is_own;
}

static int apply_line(struct trace_data *data, const struct task_line *line, struct tid_list *list)
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
static int apply_dlopen(struct trace_data *data, const struct task_line *line,
			struct tid_list *list)
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

static int load_all(struct trace_data *data, const struct strbuf *text, struct uft_err *err)
{
	struct tid_list list cleanup(tid_list_deinit) = { 0 };
	int ret = for_each_line(data, text, note_line, &list, err);

	if (ret == 0)
		ret = note_files(data, &list, err);
	if (ret < 0)
		return ret;
	ret = make_tasks(data, &list);
	if (ret < 0)
		return err_set_errno(err, ret, "cannot read '%s'", data->dir);
	ret = for_each_line(data, text, apply_line, &list, err);
	if (ret == 0)
		ret = for_each_line(data, text, apply_dlopen, &list, err);
	if (ret < 0)
		return ret;
	ret = complete_refs(data);
	return ret < 0 ? err_set_errno(err, ret, "cannot read '%s/task.txt'", data->dir) : 0;
}

int data_load_tasks(struct trace_data *data, struct uft_err *err)
{
	struct strbuf text cleanup_strbuf = { 0 };
	int ret = data_read_file(data, "task.txt", TASK_FILE_MAX_BYTES, &text, err);

	return ret < 0 ? ret : load_all(data, &text, err);
}
