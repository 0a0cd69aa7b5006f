/* Makes the trees of callers and callees from events (see tree.h). */
#include "utils/view/graph/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"
#include "utils/view/graph/tree_nodes.h"

void tree_configure(struct pipeline_config *config)
{
	config->order = PIPELINE_BY_TASK;
	config->stages.closes_open_calls = true;
	config->stages.wants = STAGE_WANTS_DEPTHS;
}

/* Find the program that @task runs at @time_ns. The task's next program begins at *@until_ns. */
static struct tree_node *root_at(const struct tree *tree, const struct task *task, uint64_t time_ns,
				 uint64_t *until_ns)
{
	const struct trace_data *data = tree->pipe->data;
	const struct session *session = task_session(task, time_ns);

	*until_ns = UINT64_MAX;
	for (size_t i = 1; i < task->nr_refs; i++) {
		if (task->refs[i].start_ns > time_ns)
			*until_ns = MIN(*until_ns, task->refs[i].start_ns);
	}
	for (size_t i = 0; i < data->nr_sessions; i++) {
		if (data->sessions[i] == session)
			return tree->roots[i];
	}
	return tree->roots[data->nr_sessions];
}

static void begin_task(struct tree *tree, const struct task *task)
{
	tree->at = (struct tree_task){
		.task = task,
		.fork_ns = tree_next_fork_ns(tree, task, 0),
	};
	tree->at.root = root_at(tree, task, 0, &tree->at.session_ns);
	tree->at.top = tree->at.root;
}

/*
 * Make @task the current task. If the pipeline gives the view one window of time after the other,
 * the events of each task come in several parts. In this case, return to the position in the tree
 * that the previous events of @task have reached.
 */
static __attribute__((noinline)) int change_task(struct tree *tree, const struct task *task)
{
	if (!tree->pipe->runs_windows) {
		begin_task(tree, task);
		return 0;
	}
	if (!tree->parked)
		tree->parked = calloc(tree->pipe->data->nr_tasks + 1, sizeof(*tree->parked));
	if (!tree->parked)
		return -ENOMEM;
	if (tree->at.task)
		tree->parked[tree->at.task->index] = tree->at;
	if (tree->parked[task->index].task)
		tree->at = tree->parked[task->index];
	else
		begin_task(tree, task);
	return 0;
}

int tree_no_room(int code, struct uft_err *err)
{
	if (code != -EFBIG)
		return err_set_errno(err, code, "cannot hold the call tree");
	return err_set(err, code,
		       "more than %u calls were entered unseen, before records that are lost; that "
		       "is the limit: use -D to leave out what is deeper",
		       TREE_UNSEEN_MAX);
}

int tree_resume(void *self, const struct view_resume *at, struct uft_err *err)
{
	struct tree *tree = self;
	struct tree_task *task = &tree->at;

	if (at->is_start) {
		begin_task(tree, at->task);
		return 0;
	}
	*task = (struct tree_task){
		.task = at->task,
		.depth = at->nr_path,
		.fork_ns = tree_next_fork_ns(tree, at->task, at->last_ns + 1),
		.has_call = true,
	};
	task->root = root_at(tree, at->task, at->last_ns, &task->session_ns);
	task->top = task->root;
	for (size_t i = 0; i < at->nr_path; i++) {
		task->top = tree_child(tree, task->top, at->path[i]);
		if (!task->top)
			return err_set_errno(err, -ENOMEM, "cannot hold the call tree");
	}
	return 0;
}

/*
 * Handle what has happened before @event. If task.txt has announced forked children of the task,
 * store the task's innermost call as the call that forked these children. If the task has begun its
 * next program, go to the root of that program.
 */
static int on_special(struct tree *tree, const struct event *event)
{
	struct tree_task *at = &tree->at;

	if (event->time_ns >= at->fork_ns && tree_note_forks(tree, event->time_ns) < 0)
		return -ENOMEM;
	if (event->time_ns >= at->session_ns) {
		at->root = root_at(tree, at->task, event->time_ns, &at->session_ns);
		at->top = at->root;
		at->out = NULL;
		at->depth = 0;
	}
	return 0;
}

/* Enter a call whose function is not known yet. */
static int push_unseen(struct tree *tree)
{
	struct tree_task *at = &tree->at;
	struct tree_unseen *unseen;
	struct tree_node *node;

	if (tree->nr_unseen == TREE_UNSEEN_MAX)
		return -EFBIG;
	unseen = vec_grow(tree->unseen, tree->nr_unseen, sizeof(*unseen));
	node = tree_add_nameless(tree, at->top);
	if (unseen)
		tree->unseen = unseen;
	if (!unseen || !node)
		return -ENOMEM;
	unseen[tree->nr_unseen++] = (struct tree_unseen){
		.task = at->task,
		.node = node,
		.depth = at->depth,
		.is_inherited = !at->has_call,
	};
	at->top = node;
	at->depth++;
	return 0;
}

/* Set the number of open calls to @depth, after entries or returns that were not recorded. */
static __attribute__((noinline)) int set_depth(struct tree *tree, size_t depth)
{
	struct tree_task *at = &tree->at;
	int ret = 0;

	for (; at->depth > depth; at->depth--)
		at->top = at->top->parent;
	while (ret == 0 && at->depth < depth)
		ret = push_unseen(tree);
	return ret;
}

static __attribute__((noinline)) void add_details(struct tree_node *node, const struct event *event)
{
	struct tree_details *details = node->details;
	uint64_t total_ns = time_abs(event->total_ns);
	uint64_t self_ns = time_abs(event->self_ns);

	details->total_min_ns = MIN(details->total_min_ns, total_ns);
	details->total_max_ns = MAX(details->total_max_ns, total_ns);
	details->self_min_ns = MIN(details->self_min_ns, self_ns);
	details->self_max_ns = MAX(details->self_max_ns, self_ns);
}

static inline void add_times(struct tree *tree, struct tree_node *node, const struct event *event)
{
	node->total_ns += event->total_ns;
	node->self_ns += event->self_ns;
	if (unlikely(tree->wants_details))
		add_details(node, event);
}

/*
 * HOT: returns the child of @top that stands for calls of @func. @top->last is the child that was
 * called last. After an earlier call of this child, the child @top->last->after was called. Calls
 * often come in the same order again, so the function first tests @top->last->after.
 */
static inline struct tree_node *next_child(struct tree *tree, struct tree_node *top,
					   const struct func *func)
{
	struct tree_node *last = top->last;
	struct tree_node *guess = last ? last->after : NULL;

	if (unlikely(!guess || guess->func != func)) {
		guess = tree_child(tree, top, func);
		if (unlikely(!guess))
			return NULL;
		if (last)
			last->after = guess;
		else
			guess->after = guess;
	}
	top->last = guess;
	return guess;
}

static __attribute__((noinline)) int note_fork_call(struct tree *tree, struct tree_node *node,
						    uint64_t time_ns)
{
	struct tree_fork_call *calls = vec_grow(tree->fork_calls, tree->nr_fork_calls,
						sizeof(*calls));

	if (!calls)
		return -ENOMEM;
	tree->fork_calls = calls;
	calls[tree->nr_fork_calls++] = (struct tree_fork_call){
		.pid = tree->at.task->pid,
		.time_ns = time_ns,
		.node = node,
	};
	return 0;
}

static inline int enter_node(struct tree *tree, const struct event *event)
{
	struct tree_task *at = &tree->at;

	if (unlikely(event->indent != at->depth)) {
		int ret = set_depth(tree, event->indent);

		if (ret < 0)
			return ret;
	}

	struct tree_node *node = next_child(tree, at->top, event->func);

	if (unlikely(!node))
		return -ENOMEM;
	node->calls++;
	if (unlikely(event->time_ns < node->first_ns)) {
		node->first_ns = event->time_ns;
		node->addr = event->addr;
	}
	at->top = node;
	at->depth++;
	at->has_call = true;
	if (unlikely(node->func->is_fork))
		return note_fork_call(tree, node, event->time_ns);
	return 0;
}

/* Name a call whose entry was not recorded. @event is the call's return, and has the function. */
static void name_unseen(struct tree *tree, struct tree_node *node, const struct event *event)
{
	node->func = tree_canon(tree, event->func);
	node->calls = 1;
	node->addr = event->addr;
	node->first_ns = MIN(node->first_ns, event->time_ns - event->total_ns);
}

/* Add time off the CPU as a call below @parent. */
static int add_wait(struct tree *tree, struct tree_node *parent, const struct event *event)
{
	struct tree_node *node = tree_child(tree, parent, event->func);

	if (!node)
		return -ENOMEM;
	node->calls++;
	node->first_ns = MIN(node->first_ns, event->time_ns - event->total_ns);
	node->addr = event->flags & EVENT_PREEMPTED ? EVENT_ID_SCHED_OUT_PREEMPT
						    : EVENT_ID_SCHED_OUT;
	add_times(tree, node, event);
	return 0;
}

/*
 * Handle a call that, by the recorded times, ends while its task is off the CPU. Such times occur,
 * because the clocks of calls and of the scheduler's events differ. Count the time off the CPU only
 * up to the end of the call. If out_event.total_ns is not 0, an inner call has already counted the
 * time off the CPU.
 */
static __attribute__((noinline)) int cut_wait(struct tree *tree, const struct event *event)
{
	struct tree_task *at = &tree->at;
	struct event wait = at->out_event;

	at->out = at->top->parent;
	if (wait.total_ns)
		return 0;
	wait.total_ns = event->time_ns - wait.time_ns;
	wait.self_ns = wait.total_ns;
	wait.time_ns = event->time_ns;
	at->top->self_ns -= wait.total_ns;
	at->out_event.total_ns = wait.total_ns;
	return add_wait(tree, at->top, &wait);
}

static int add_sched(struct tree *tree, const struct event *event)
{
	struct tree_task *at = &tree->at;
	struct tree_node *parent = at->out ? at->out : at->top;
	bool is_cut = at->out && at->out_event.total_ns;

	if (event->type == EVENT_SCHED_OUT) {
		at->out = at->top;
		at->out_event = *event;
		at->out_event.total_ns = 0;
		return 0;
	}
	at->out = NULL;
	if (is_cut) {
		/*
		 * The pipeline has subtracted the time off the CPU from the caller's self time.
		 * Undo the subtraction, because cut_wait() has counted the time off the CPU in the
		 * call that has ended.
		 */
		parent->self_ns += event->total_ns;
		return 0;
	}
	if ((event->flags & EVENT_UNPAIRED) ||
	    ((event->flags & EVENT_OUTSIDE) && !tree->counts_outside))
		return 0;
	return add_wait(tree, parent, event);
}

static inline int exit_node(struct tree *tree, const struct event *event)
{
	struct tree_task *at = &tree->at;

	if (unlikely(event->indent + 1U != at->depth)) {
		/* A call whose entry was not recorded is left out, since its time is unknown. */
		if (at->depth == 0 && !(event->flags & EVENT_INHERITED))
			return 0;

		int ret = set_depth(tree, event->indent + 1);

		if (ret < 0)
			return ret;
	}
	at->has_call = true;
	if (unlikely(at->out == at->top) && cut_wait(tree, event) < 0)
		return -ENOMEM;
	if (unlikely(!at->top->func))
		name_unseen(tree, at->top, event);
	add_times(tree, at->top, event);
	at->top = at->top->parent;
	at->depth--;
	return 0;
}

/* Returns the function that represents events of @id, or NULL when memory is short. */
static const struct func *func_of_point(struct tree *tree, uint64_t id)
{
	struct module_set *modules = &tree->pipe->data->modules;
	struct strbuf name cleanup_strbuf = { 0 };
	const struct func *func = intmap_get(&tree->point_funcs, id);

	if (func)
		return func;
	event_kind_put_name(event_kinds_find(tree->kinds, id), id, &name);
	pthread_mutex_lock(&modules->lock);
	func = module_set_add_func(modules, strbuf_str(&name));
	pthread_mutex_unlock(&modules->lock);
	return func && intmap_put(&tree->point_funcs, id, (void *)func) == 0 ? func : NULL;
}

/*
 * Add to @node how much a counter grew during the innermost call. The event of the counter comes
 * before the end of the call. If the tree does not contain this call, nothing is added.
 */
static void add_counter(struct tree *tree, struct tree_node *node, const struct event *event)
{
	size_t index = (event->id - EVENT_ID_COUNTER) / 2;
	uint64_t value;

	if (!tree->wants_counters || !event_id_is_counter_diff(event->id) ||
	    index >= COUNTERS_MAX || !event->func || !event->data ||
	    tree_canon(tree, event->func) != tree->at.top->func ||
	    !event_counter_value(event->data, event->data_len, tree->pipe->data->is_big_endian,
				 &value))
		return;
	node->counter = index + 1;
	node->value += value;
}

static __attribute__((noinline)) int add_point(struct tree *tree, const struct event *event)
{
	const struct func *func;
	struct tree_node *node;

	if (!tree->kinds) {
		tree->nr_dropped++;
		return 0;
	}
	func = func_of_point(tree, event->id);
	node = func ? tree_child(tree, tree->at.top, func) : NULL;
	if (!node)
		return -ENOMEM;
	node->calls++;
	if (event->time_ns < node->first_ns) {
		node->first_ns = event->time_ns;
		node->addr = event->id;
	}
	add_counter(tree, node, event);
	return 0;
}

static inline int add_event(struct tree *tree, const struct event *event)
{
	if (unlikely(event->time_ns >= tree->at.session_ns || event->time_ns >= tree->at.fork_ns) &&
	    on_special(tree, event) < 0)
		return -ENOMEM;
	if (event->type == EVENT_ENTRY)
		return enter_node(tree, event);
	if (event->type == EVENT_EXIT)
		return exit_node(tree, event);
	if (event->type == EVENT_SCHED_OUT || event->type == EVENT_SCHED_IN)
		return add_sched(tree, event);
	if (event->type == EVENT_POINT)
		return add_point(tree, event);
	return 0;
}

int tree_events(void *self, const struct event_span *span, struct uft_err *err)
{
	struct tree *tree = self;

	if (unlikely(span->task != tree->at.task) && change_task(tree, span->task) < 0)
		return err_set_errno(err, -ENOMEM, "cannot hold the call tree");
	for (size_t i = 0; i < span->nr; i++) {
		int ret = add_event(tree, &span->events[i]);

		if (unlikely(ret < 0))
			return tree_no_room(ret, err);
	}
	return 0;
}
