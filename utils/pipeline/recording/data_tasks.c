/* Tasks of a recording, and the sessions that they ran in, from task.txt (see data_tasks.h). */
#include "utils/pipeline/recording/data_tasks.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/order.h"
#include "utils/base/path.h"
#include "utils/base/containers/vec.h"
#include "utils/format/datadir.h"

#define TASK_FILE_MAX_BYTES (1UL << 30)

_Static_assert(offsetof(struct task, tid) == 0, "ordered by order_i32()");
_Static_assert(offsetof(struct task_name, start_ns) == 0, "ordered by order_u64()");

struct task *data_task(const struct trace_data *data, int32_t tid)
{
	if (data->growth)
		return data_growth_task(data, tid);
	if (!data->nr_tasks)
		return NULL;
	return bsearch(&tid, data->tasks, data->nr_tasks, sizeof(*data->tasks), order_i32);
}

/*
 * The facts collected while task.txt is read. @tids may have duplicates. @sessions has the sessions
 * by id.
 */
struct loader {
	int32_t *tids;
	size_t nr;
	size_t cap;
	struct strmap sessions;
};

static void loader_deinit(struct loader *list)
{
	free(list->tids);
	strmap_deinit(&list->sessions);
}

static int note_tid(struct loader *list, int32_t tid)
{
	int32_t *tids = vec_room(list->tids, list->nr, &list->cap, sizeof(*tids));

	if (!tids)
		return -ENOMEM;
	list->tids = tids;
	list->tids[list->nr++] = tid;
	return 0;
}

static int note_files(const struct trace_data *data, struct loader *list, struct uft_err *err)
{
	DIR *dir = opendir(data->dir);
	struct dirent *entry;
	int ret = 0;

	if (!dir)
		return err_set_errno(err, -errno, "cannot open '%s'", data->dir);
	while (ret == 0 && (entry = readdir(dir))) {
		int32_t tid = datadir_records_tid(entry->d_name);

		if (!tid)
			tid = datadir_compact_tid(entry->d_name);

		if (tid)
			ret = note_tid(list, tid);
	}
	closedir(dir);
	return ret < 0 ? err_set_errno(err, ret, "cannot read '%s'", data->dir) : 0;
}

int32_t task_line_tid(const struct task_line *line)
{
	return line->type == TASK_LINE_TASK ? line->tid : line->pid;
}

/* Call @each with every line of task.txt. */
static int for_each_line(struct trace_data *data, const struct strbuf *text,
			 int (*each)(struct trace_data *data, const struct task_line *line,
				     struct loader *list),
			 struct loader *list, struct uft_err *err)
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

static int note_line(struct trace_data *data, const struct task_line *line, struct loader *list)
{
	return line->type == TASK_LINE_DLOPEN ? 0 : note_tid(list, task_line_tid(line));
}

/* Make the sorted table of tasks from the collected ids. */
static int make_tasks(struct trace_data *data, const struct loader *list)
{
	struct task *tasks = calloc(list->nr ? list->nr : 1, sizeof(*tasks));

	if (!tasks)
		return -ENOMEM;
	for (size_t i = 0; i < list->nr; i++)
		tasks[i] = (struct task){ .tid = list->tids[i], .pid = list->tids[i] };
	qsort(tasks, list->nr, sizeof(*tasks), order_i32);
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

static struct session *get_session(struct trace_data *data, const struct task_line *line,
				   struct strmap *by_id)
{
	struct session *known = strmap_get(by_id, line->sid);

	if (known)
		return known;

	struct session **sessions = vec_grow(data->sessions, data->nr_sessions,
					     sizeof(struct session *));

	if (!sessions)
		return NULL;
	data->sessions = sessions;

	struct session *session = session_create(&data->modules, line);

	if (!session || strmap_put(by_id, session->sid, session) < 0) {
		session_destroy(session);
		return NULL;
	}
	sessions[data->nr_sessions++] = session;
	return session;
}

int task_add_ref(struct task *task, uint64_t start_ns, struct session *session)
{
	struct session_ref *refs = vec_grow(task->refs, task->nr_refs, sizeof(*refs));

	if (!refs)
		return -ENOMEM;
	task->refs = refs;

	size_t at = task->nr_refs++;

	for (; at > 0 && refs[at - 1].start_ns > start_ns; at--)
		refs[at] = refs[at - 1];
	refs[at] = (struct session_ref){ start_ns, session };
	return 0;
}

/* Set the start of a task: the time of its TASK or FORK line, or else of its first SESS line. */
static void note_start(struct task *task, const struct task_line *line)
{
	bool is_own = line->type == TASK_LINE_TASK || line->type == TASK_LINE_FORK;

	if (line->type == TASK_LINE_DLOPEN || (task->has_own_line && !is_own))
		return;
	if (!task->start_ns || line->time_ns < task->start_ns || (is_own && !task->has_own_line))
		task->start_ns = line->time_ns;
	task->has_own_line |= is_own;
}

int data_apply_line(struct trace_data *data, const struct task_line *line, struct strmap *sessions)
{
	struct task *task = data_task(data, task_line_tid(line));
	struct session *session;

	note_start(task, line);

	switch (line->type) {
	case TASK_LINE_SESSION:
		session = get_session(data, line, sessions);
		if (!session)
			return -ENOMEM;
		task->has_session = true;
		return task_add_ref(task, line->time_ns, session);
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

int data_apply_dlopen(const struct task_line *line, const struct strmap *sessions)
{
	struct session *session = strmap_get(sessions, line->sid);

	return session ? session_add_late(session, line) : 0;
}

static int apply_line(struct trace_data *data, const struct task_line *line, struct loader *list)
{
	return data_apply_line(data, line, &list->sessions);
}

/*
 * Apply a DLOPEN line. This is done after all other lines, because a DLOPEN line may come before
 * the line of its session.
 */
static int apply_dlopen(struct trace_data *data, const struct task_line *line, struct loader *list)
{
	return line->type == TASK_LINE_DLOPEN ? data_apply_dlopen(line, &list->sessions) : 0;
}

const struct task *task_origin(const struct trace_data *data, const struct task *task)
{
	if (task->is_fork)
		return data_task(data, task->ppid);
	return task->pid != task->tid ? data_task(data, task->pid) : NULL;
}

/* Count the sessions of @task that began at @time_ns or earlier. */
static size_t count_refs(const struct task *task, uint64_t time_ns)
{
	return order_count_until(task->refs, task->nr_refs, sizeof(*task->refs), time_ns);
}

/*
 * The search for inherited sessions. A task runs in its inherited session until its own first
 * session begins.
 *
 * @first: the inherited session of each task (task->index); NULL: unknown
 * @is_known: true for each task whose @first was searched, or is being searched
 * @path: the tasks whose @first is being searched; room for all tasks
 */
struct heritage {
	struct session **first;
	bool *is_known;
	const struct task **path;
};

static void heritage_deinit(struct heritage *h)
{
	free(h->first);
	free(h->is_known);
	free(h->path);
}

/*
 * Find the session that the origin of @task (task_origin()) had when the task began. If the origin
 * had no session of its own at that time, the result is the session that the origin has inherited.
 * Tasks may be origins of each other in a cycle. So the search ends at a task that was visited
 * before.
 */
static void inherit_first_session(const struct trace_data *data, const struct task *task,
				  struct heritage *h)
{
	struct session *session = NULL;
	size_t nr = 0;

	while (!h->is_known[task->index]) {
		const struct task *origin = task_origin(data, task);

		h->is_known[task->index] = true;
		h->path[nr++] = task;
		if (!origin)
			break;

		size_t begun = count_refs(origin, task->start_ns);

		session = begun ? origin->refs[begun - 1].session : h->first[origin->index];
		if (session)
			break;
		task = origin;
	}
	for (size_t i = 0; i < nr; i++)
		h->first[h->path[i]->index] = session;
}

static int complete_refs(struct trace_data *data)
{
	size_t nr = data->nr_tasks ? data->nr_tasks : 1;
	struct heritage h cleanup(heritage_deinit) = {
		.first = calloc(nr, sizeof(*h.first)),
		.is_known = calloc(nr, sizeof(*h.is_known)),
		.path = calloc(nr, sizeof(*h.path)),
	};

	if (!h.first || !h.is_known || !h.path)
		return -ENOMEM;
	/*
	 * inherit_first_session() must not take an inherited session for a task's own session.
	 * Therefore tasks get their inherited sessions only after inherit_first_session() has run
	 * for every task.
	 */
	for (size_t i = 0; i < data->nr_tasks; i++)
		inherit_first_session(data, &data->tasks[i], &h);
	for (size_t i = 0; i < data->nr_tasks; i++) {
		struct task *task = &data->tasks[i];

		if (!h.first[i] && !task->nr_refs && data->nr_sessions)
			h.first[i] = data->sessions[0];

		int ret = h.first[i] ? task_add_ref(task, 0, h.first[i]) : 0;

		if (ret < 0)
			return ret;
	}
	return 0;
}

struct session *task_session(const struct task *task, uint64_t time_ns)
{
	if (!task->nr_refs)
		return NULL;

	size_t begun = count_refs(task, time_ns);

	/* A time before the first session counts as a time in the first session. */
	return task->refs[begun ? begun - 1 : 0].session;
}

uint64_t task_next_exec_ns(const struct task *task, uint64_t now_ns)
{
	for (size_t i = 1; i < task->nr_refs; i++) {
		if (task->refs[i].start_ns > now_ns)
			return task->refs[i].start_ns;
	}
	return UINT64_MAX;
}

int task_place_at(const struct task *task, unsigned reader, uint64_t time_ns,
		  struct task_place *place, struct uft_err *err)
{
	struct session *session = task_session(task, time_ns);
	uint64_t until_ns = UINT64_MAX;

	if (!session)
		return err_set(err, -ENODATA, "task %d has no session in task.txt", task->tid);

	struct addr_space *space = session_space(session, reader, time_ns, &until_ns);

	if (!space)
		return err_set_errno(err, -ENOMEM, "cannot name functions");
	until_ns = MIN(until_ns, task_next_exec_ns(task, time_ns));
	*place = (struct task_place){ session, space, until_ns };
	return 0;
}

int data_name_task(struct trace_data *data, int32_t tid, uint64_t time_ns, const char *name)
{
	struct task *task = data_task(data, tid);

	if (!task)
		return 0;

	struct task_name *names = vec_grow(task->names, task->nr_names, sizeof(*names));
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

static void forget_names(struct task *task)
{
	for (size_t i = 0; i < task->nr_names; i++)
		free(task->names[i].name);
	free(task->names);
	task->names = NULL;
	task->nr_names = 0;
}

struct task *task_list_get(struct task_list *list, int32_t tid)
{
	size_t at = (uintptr_t)intmap_get(&list->by_tid, (uint32_t)tid);
	struct task *all;

	if (at)
		return &list->all[at - 1];
	all = vec_grow(list->all, list->nr, sizeof(*all));
	if (!all)
		return NULL;
	list->all = all;
	if (intmap_put(&list->by_tid, (uint32_t)tid, (void *)(uintptr_t)(list->nr + 1)) < 0)
		return NULL;
	all[list->nr] = (struct task){ .tid = tid, .pid = tid };
	return &all[list->nr++];
}

void task_list_deinit(struct task_list *list)
{
	free(list->all);
	intmap_deinit(&list->by_tid);
	*list = (struct task_list){ 0 };
}

static int compare_starts(const void *a, const void *b)
{
	return task_order(a, b);
}

void task_list_sort_by_time(struct task_list *list)
{
	intmap_deinit(&list->by_tid);
	if (list->nr)
		qsort(list->all, list->nr, sizeof(*list->all), compare_starts);
}

int data_add_tasks(struct trace_data *data, const struct task_list *list)
{
	struct task *tasks = reallocarray(data->tasks, data->nr_tasks + list->nr, sizeof(*tasks));

	if (!tasks)
		return -ENOMEM;
	data->tasks = tasks;
	memcpy(tasks + data->nr_tasks, list->all, list->nr * sizeof(*tasks));
	for (size_t i = 0; data->nr_sessions && i < list->nr; i++) {
		int ret = task_add_ref(&tasks[data->nr_tasks], 0, data->sessions[0]);

		if (ret < 0)
			return ret;
		data->nr_tasks++;
	}
	data->nr_tasks += data->nr_sessions ? 0 : list->nr;
	qsort(tasks, data->nr_tasks, sizeof(*tasks), order_i32);
	for (size_t i = 0; i < data->nr_tasks; i++) {
		tasks[i].index = i;
		forget_names(&tasks[i]);
	}
	return 0;
}

void task_sort_names(struct task *task)
{
	if (task->nr_names > 1)
		qsort(task->names, task->nr_names, sizeof(*task->names), order_u64);
}

void data_sort_names(struct trace_data *data)
{
	for (size_t i = 0; i < data->nr_tasks; i++)
		task_sort_names(&data->tasks[i]);
}

/* Count the names that were given to @task at @time_ns or earlier. */
static size_t count_names(const struct task *task, uint64_t time_ns)
{
	return order_count_until(task->names, task->nr_names, sizeof(*task->names), time_ns);
}

const char *task_name_at(const struct task *task, uint64_t time_ns)
{
	const struct session *session = task_session(task, time_ns);
	size_t begun = count_refs(task, time_ns);
	uint64_t session_ns = begun > 1 ? task->refs[begun - 1].start_ns : 0;
	size_t named = count_names(task, time_ns);

	/* A name that was given before the last exec is not valid any more. */
	if (named && task->names[named - 1].start_ns >= session_ns)
		return task->names[named - 1].name;
	return session ? path_base(session->exename) : "";
}

static int load_all(struct trace_data *data, const struct strbuf *text, struct uft_err *err)
{
	struct loader list cleanup(loader_deinit) = { 0 };
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
