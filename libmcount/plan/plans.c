/* The plan in force (see plans.h). */
#include "libmcount/plan/plans.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "libmcount/hot/callers.h"
#include "libmcount/plan/conds.h"
#include "libmcount/values/counters.h"
#include "libmcount/system/fault.h"
#include "libmcount/system/module_lock.h"
#include "libmcount/patch/patches.h"
#include "libmcount/hot/planned.h"
#include "libmcount/system/signal_switches.h"

/*
 * @lock: protects the other members. Only COLD code (libmcount/hot/probe.h) waits for this lock.
 *        plans_replace() and plans_add_patches() already hold the module lock when they take this
 *        lock
 * @retired: plans that were replaced and may still be in use
 * @serial: the serial number of the newest plan
 * @spawn: the address of posix_spawn(3) in the C library. An attached probe does not call
 *        find_functions(), so its @spawn is NULL
 */
static struct {
	pthread_mutex_t lock;
	struct live_plan *retired;
	uint64_t serial;
	const void *spawn;
} plans = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* --- making a plan --- */

/*
 * Returns memory for a plan with @funcs functions, @rules rules, @conds conditions and @steps
 * steps. Returns NULL when a number is too large, or when there is no memory.
 */
static struct live_plan *make_room(uint64_t funcs, uint64_t rules, uint64_t conds, uint64_t steps)
{
	uint64_t bytes = sizeof(struct live_plan) + funcs * sizeof(struct live_func) +
			 rules * sizeof(struct plan_rule) + conds * sizeof(struct plan_cond) +
			 steps * sizeof(struct capture_step);
	struct live_plan *plan = MAP_FAILED;

	if (MAX(MAX(funcs, rules), MAX(conds, steps)) < UINT32_MAX)
		plan = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
	if (plan == MAP_FAILED)
		return NULL;
	plan->bytes = bytes;
	plan->funcs = (struct live_func *)(plan + 1);
	plan->rules = (struct plan_rule *)(plan->funcs + funcs);
	plan->conds = (struct plan_cond *)(plan->rules + rules);
	plan->steps = (struct capture_step *)(plan->conds + conds);
	return plan;
}

/*
 * Returns a copy of @func, a function of plan @from, for plan @to. The pointers of the copy lead to
 * rules and steps of @to. The rules and steps of @from have the same indexes in @to as in @from.
 */
static struct live_func move_func(const struct live_plan *to, const struct live_plan *from,
				  struct live_func func)
{
	if (func.rule)
		func.rule = to->rules + (func.rule - from->rules);
	if (func.args)
		func.args = to->steps + (func.args - from->steps);
	if (func.result)
		func.result = to->steps + (func.result - from->steps);
	return func;
}

static struct live_func make_func(const struct live_plan *plan, const struct plan_func *from,
				  uint32_t first_rule, uint32_t first_step)
{
	struct live_func func = { .start = from->start, .end = from->end };
	const struct capture_step *head = plan->steps + first_step + from->capture;

	if (from->rule != PLAN_NO_RULE)
		func.rule = plan->rules + first_rule + from->rule;
	if (from->capture != PLAN_NO_CAPTURE && head->bytes)
		func.args = head;
	if (from->capture != PLAN_NO_CAPTURE && head->index)
		func.result = head;
	return func;
}

/*
 * Merges the functions of @old (may be NULL) and the functions of the image in @view. The two lists
 * are sorted by start address. The merged list, plan->funcs, has the same order.
 */
static void add_funcs(struct live_plan *plan, const struct live_plan *old,
		      const struct plan_view *view)
{
	const struct plan_list *list = &view->lists[PLAN_FUNCS];
	uint32_t nr_old = old ? old->nr_funcs : 0;
	uint32_t i = 0;

	for (uint32_t k = 0; k < list->nr; k++) {
		const struct plan_func *func = (const void *)((const char *)list->entries +
							      (uint64_t)k * list->entry_bytes);

		while (i < nr_old && old->funcs[i].start < func->start)
			plan->funcs[plan->nr_funcs++] = move_func(plan, old, old->funcs[i++]);
		plan->funcs[plan->nr_funcs++] = make_func(plan, func, old ? old->nr_rules : 0,
							  old ? old->nr_steps : 0);
	}
	while (i < nr_old)
		plan->funcs[plan->nr_funcs++] = move_func(plan, old, old->funcs[i++]);
}

/* Adds the parts of @old. These parts come first, so that their indexes do not change. */
static void add_old(struct live_plan *plan, const struct live_plan *old)
{
	memcpy(plan->rules, old->rules, old->nr_rules * sizeof(*old->rules));
	memcpy(plan->conds, old->conds, old->nr_conds * sizeof(*old->conds));
	memcpy(plan->steps, old->steps, old->nr_steps * sizeof(*old->steps));
	memcpy(plan->watches, old->watches, sizeof(old->watches));
	plan->settings = old->settings;
	plan->era = old->era;
	plan->nr_rules = old->nr_rules;
	plan->nr_conds = old->nr_conds;
	plan->nr_steps = old->nr_steps;
	plan->nr_watches = old->nr_watches;
}

/*
 * Makes a plan from the image in @view. If @old is not NULL, the new plan also gets all parts of
 * @old. Returns NULL when there is no memory.
 */
static struct live_plan *make_plan(const struct plan_view *view, const struct live_plan *old)
{
	const struct plan_list *lists = view->lists;
	struct live_plan *plan = make_room(
		(uint64_t)lists[PLAN_FUNCS].nr + (old ? old->nr_funcs : 0),
		(uint64_t)lists[PLAN_RULES].nr + (old ? old->nr_rules : 0),
		(uint64_t)lists[PLAN_CONDS].nr + (old ? old->nr_conds : 0),
		(uint64_t)lists[PLAN_STEPS].nr + (old ? old->nr_steps : 0));

	if (!plan)
		return NULL;
	if (old)
		add_old(plan, old);
	else
		plan_copy(view, PLAN_SETTINGS, &plan->settings);
	plan_copy(view, PLAN_RULES, plan->rules + plan->nr_rules);
	for (uint32_t i = 0; i < lists[PLAN_RULES].nr; i++)
		plan->rules[plan->nr_rules + i].cond += plan->nr_conds;
	plan_copy(view, PLAN_CONDS, plan->conds + plan->nr_conds);
	plan_copy(view, PLAN_STEPS, plan->steps + plan->nr_steps);
	if (!old) {
		plan_copy(view, PLAN_WATCHES, plan->watches);
		plan->nr_watches = lists[PLAN_WATCHES].nr;
	}
	add_funcs(plan, old, view);
	plan->nr_rules += lists[PLAN_RULES].nr;
	for (uint32_t i = 0; i < plan->nr_rules; i++)
		plan->has_depths |= (plan->rules[i].flags & PLAN_DEPTH) != 0;
	plan->nr_conds += lists[PLAN_CONDS].nr;
	plan->nr_steps += lists[PLAN_STEPS].nr;
	return plan;
}

static bool reads_memory(const struct capture_step *step)
{
	switch (step->op) {
	case CAPTURE_HEAD:
	case CAPTURE_VECTOR:
	case CAPTURE_X87:
	case CAPTURE_ZEROS:
		return false;
	case CAPTURE_WORD:
		return step->index > ARCH_INT_ARG_REGS;
	default:
		return true;
	}
}

static bool steps_read_memory(const struct live_plan *plan)
{
	for (uint32_t i = 0; i < plan->nr_steps; i++) {
		if (reads_memory(&plan->steps[i]))
			return true;
	}
	return false;
}

/* --- the end of a plan --- */

/*
 * True when a thread may still use @plan, which was replaced. No thread begins to use a replaced
 * plan, because threads take the plan from probe.live. On a machine with a weaker memory order than
 * x86, this function would have to call membarrier(2) first.
 */
static bool is_needed(const struct live_plan *plan)
{
	for (const struct thread *t = atomic_load(&probe_threads); t; t = t->next) {
		if (planned_needs(t, plan, (const char *)plan + plan->bytes))
			return true;
	}
	return false;
}

static unsigned reclaim(void)
{
	struct live_plan **link = &plans.retired;
	unsigned left = 0;

	while (*link) {
		struct live_plan *plan = *link;

		if (is_needed(plan)) {
			link = &plan->older;
			left++;
		} else {
			*link = plan->older;
			munmap(plan, plan->bytes);
		}
	}
	return left;
}

unsigned plans_reclaim(void)
{
	pthread_mutex_lock(&plans.lock);

	unsigned left = reclaim();

	pthread_mutex_unlock(&plans.lock);
	return left;
}

void plans_drop(void)
{
	struct live_plan *live = probe.live;

	if (!live)
		return;
	live->older = plans.retired;
	for (struct live_plan *plan = live, *older; plan; plan = older) {
		older = plan->older;
		munmap(plan, plan->bytes);
	}
	probe.live = NULL;
	plans.retired = NULL;
}

void plans_after_fork(void)
{
	/*
	 * During fork(2), another thread of the parent may have held the lock. In the child, no
	 * thread would release the lock. The list of plans is consistent at any time, and needs no
	 * repair.
	 */
	pthread_mutex_init(&plans.lock, NULL);
}

/* --- replacing a plan --- */

static void publish_plan(struct live_plan *plan)
{
	struct live_plan *old = probe.live;

	/*
	 * If the plan reads memory of the program, a read may fault. The fault must not end the
	 * program.
	 */
	if (steps_read_memory(plan) || conds_read_memory(plan->rules, plan->nr_rules, plan->conds))
		fault_guard_begin();
	plan->serial = ++plans.serial;
	if (!plan->era)
		plan->era = plan->serial;
	__atomic_store_n(&probe.live, plan, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!old)
		return;
	old->older = plans.retired;
	plans.retired = old;
	/*
	 * A thread takes up the new plan when the thread runs a hook. For functions in the thread's
	 * tables (struct planned_place), the stubs run no hook. planned_forget_calls() empties the
	 * tables of all threads.
	 */
	planned_forget_calls();
	reclaim();
}

static bool operands_read_memory(const struct plan_operand *operands, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		if (operands[i].kind == PLAN_OPERAND_MEMORY)
			return true;
	}
	return false;
}

/*
 * True when the patches can be used without a copy, at their place in the mapped image. If the
 * recorder has another version than the probe, struct plan_patch may have another size in the
 * image. In this case the patches must be copied.
 */
static bool can_stay(const struct plan_list *patches)
{
	return patches->entry_bytes == sizeof(struct plan_patch) &&
	       (uintptr_t)patches->entries % _Alignof(struct plan_patch) == 0;
}

/*
 * Puts hooks on the library calls in an image, and makes the stubs of the image's patches. @text
 * tells whether this function also writes the patches into the code. This function is the last step
 * of a new plan, because other threads may enter the probe as soon as a call is hooked or a patch
 * is written.
 */
static void add_places(const struct plan_view *view, enum patches_text text,
		       const struct plan_file *file)
{
	const struct plan_list *calls = &view->lists[PLAN_CALLS];
	const struct plan_list *patches = &view->lists[PLAN_PATCHES];
	const struct plan_list *operands = &view->lists[PLAN_OPERANDS];
	uint64_t nr_copied = can_stay(patches) ? 0 : patches->nr;
	uint64_t bytes = (uint64_t)calls->nr * sizeof(struct plan_call_site) +
			 nr_copied * sizeof(struct plan_patch) +
			 (uint64_t)operands->nr * sizeof(struct plan_operand);
	/* One more byte is mapped, since mmap(2) refuses a length of 0. */
	void *copy = calls->nr || patches->nr ? mmap(NULL, bytes + 1, PROT_READ | PROT_WRITE,
						     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
					      : MAP_FAILED;

	if (copy == MAP_FAILED)
		return;

	struct plan_call_site *sites = copy;
	struct plan_patch *first = (struct plan_patch *)(sites + calls->nr);
	struct plan_operand *args = (struct plan_operand *)(first + nr_copied);

	plan_copy(view, PLAN_CALLS, sites);
	if (nr_copied)
		plan_copy(view, PLAN_PATCHES, first);
	plan_copy(view, PLAN_OPERANDS, args);
	if (operands_read_memory(args, operands->nr))
		fault_guard_begin();
	libcall_hook(sites, calls->nr, patches->nr > 0 || patches_are_there());
	patches_adopt(nr_copied ? first : patches->entries, patches->nr, args, text,
		      nr_copied ? NULL : file);
	libcall_find_patched();
	/*
	 * A child of posix_spawn(3) calls functions of the C library on another stack than the
	 * parent does. So if the C library, which contains posix_spawn(3), has patches, the probe
	 * must follow stacks (libmcount/hot/stacks.h).
	 */
	if (plans.spawn && patches_are_around(plans.spawn))
		probe.follows_stacks = true;
	munmap(copy, bytes + 1);
}

/*
 * Finds the functions that later plans need. When a later plan is installed, a call of dlsym(3)
 * could deadlock: this thread would hold module_lock and wait for the dynamic linker's lock, while
 * another thread holds the linker's lock and waits for module_lock.
 */
static void find_functions(void)
{
	plans.spawn = dlsym(RTLD_NEXT, "posix_spawn");
	fault_find_functions();
}

/* Applies the settings of the first plan to the process. */
static void begin_plan(const struct plan *settings)
{
	probe.plan = *settings;
	probe.is_on = !(settings->flags & PLAN_TRACE_OFF);
	probe.follows_stacks = settings->flags & PLAN_STACKS;
	/* If PLAN_SELECTIVE is set, a trigger or a signal may switch recording on later. */
	probe.tracing = probe.is_on || (settings->flags & PLAN_SELECTIVE);
	probe.plain = probe.tracing && !(settings->flags & PLAN_SELECTIVE);
	probe_skips = (settings->flags & PLAN_SELECTIVE) && !(settings->flags & PLAN_ESTIMATE);
	if (!probe.is_attached)
		find_functions();
}

/*
 * Applies @settings to the process. Fixed settings stay (PLANS_FIXED_FLAGS). A thread that began
 * under a plan without rules has no `struct planned`. When such a thread next calls a hooked
 * function, planned_begin_late() makes the struct. All calls of the thread that are open at this
 * moment count as recorded, because there were no rules that could exclude a call.
 */
static void turn_plan(const struct plan *settings)
{
	uint32_t former = probe.plan.flags;
	bool was_off = !(former & PLAN_SELECTIVE) && (former & PLAN_TRACE_OFF);

	/*
	 * This store comes before the store of PLAN_SELECTIVE. A new thread that sees
	 * PLAN_SELECTIVE makes a `struct planned`, and must not take the code path for plans
	 * without rules.
	 */
	__atomic_store_n(&probe.plain, false, __ATOMIC_SEQ_CST);
	probe.plan.signals_on = settings->signals_on;
	probe.plan.signals_off = settings->signals_off;
	probe.plan.signals_finish = settings->signals_finish;
	__atomic_store_n(&probe.plan.flags,
			 (former & (PLANS_FIXED_FLAGS | PLAN_STACKS)) | PLAN_SELECTIVE |
				 (settings->flags & ~(PLANS_FIXED_FLAGS | PLAN_STACKS)),
			 __ATOMIC_RELAXED);
	if (((former ^ settings->flags) & PLAN_TRACE_OFF) ||
	    settings->on_generation > probe.plan.generation)
		__atomic_store_n(&probe.is_on, !(settings->flags & PLAN_TRACE_OFF),
				 __ATOMIC_RELAXED);
	probe.plan.generation = settings->generation;
	if (was_off && !probe.is_finished)
		probe.tracing = true;
	probe_skips = !(probe.plan.flags & PLAN_ESTIMATE);
	fault_watch_crashes();
	signal_switches_begin();
}

static bool can_turn(const struct plan *to)
{
	const struct plan *from = &probe.plan;

	return to->clock == from->clock && to->clock_id == from->clock_id &&
	       to->max_stack == from->max_stack &&
	       ((to->flags ^ from->flags) & PLANS_FIXED_FLAGS) == 0;
}

enum how {
	BEGIN,
	EXTEND,
	REPLACE
};

/* Chooses the counters to read. The choice holds as long as the process is recorded. */
static void choose_counters(const struct plan_view *view)
{
	struct plan_counter counters[PLAN_COUNTERS_MAX];

	plan_copy(view, PLAN_COUNTERS, counters);
	counters_choose(counters, view->lists[PLAN_COUNTERS].nr);
}

/*
 * Stores the code ranges of PLAN_CALLERS. Return addresses in these ranges are not replaced. So the
 * ranges must be stored before a patch can replace return addresses. Each range is copied on its
 * own, since an array of all ranges could be too large for the stack.
 */
static void keep_callers(const struct plan_view *view)
{
	const struct plan_list *list = &view->lists[PLAN_CALLERS];

	for (uint32_t i = 0; i < list->nr; i++) {
		struct plan_callers one;

		memcpy(&one, (const uint8_t *)list->entries + (uint64_t)i * list->entry_bytes,
		       sizeof(one));
		callers_keep(&one, 1);
	}
}

static int install_view(const struct plan_view *view, enum how how, const struct plan_file *file)
{
	bool extends = how == EXTEND;
	struct plan settings;
	struct live_plan *plan;

	if (view->lists[PLAN_SETTINGS].nr != !extends || (how != BEGIN && !probe.live))
		return -EINVAL;
	if (!extends)
		plan_copy(view, PLAN_SETTINGS, &settings);
	if (how == REPLACE && !can_turn(&settings))
		return -EINVAL;
	if (how == REPLACE && reclaim() >= PLANS_RETIRED_MAX)
		return -EBUSY;
	if (!extends || view->lists[PLAN_FUNCS].nr) {
		plan = make_plan(view, extends ? probe.live : NULL);
		if (!plan)
			return -ENOMEM;
		if (how == BEGIN)
			callers_begin(settings.flags & PLAN_REPLACE_ANY);
		keep_callers(view);
		if (how == BEGIN)
			begin_plan(&settings);
		if (how == BEGIN)
			choose_counters(view);
		publish_plan(plan);
		if (how == REPLACE)
			turn_plan(&settings);
	} else {
		keep_callers(view);
	}
	add_places(view, PATCHES_WRITE, file);
	return 0;
}

static int install_plan(int fd, enum how how)
{
	struct plan_view view;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size <= 0)
		return -EINVAL;

	void *image = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (image == MAP_FAILED)
		return -errno;
	pthread_mutex_lock(&plans.lock);

	int ret = plan_open(&view, image, st.st_size, NULL);

	if (ret == 0)
		ret = install_view(&view, how, &(struct plan_file){ fd, image });
	pthread_mutex_unlock(&plans.lock);
	munmap(image, st.st_size);
	return ret;
}

int plans_begin(int fd)
{
	return install_plan(fd, BEGIN);
}

int plans_extend(int fd)
{
	return install_plan(fd, EXTEND);
}

int plans_replace(int fd)
{
	return install_plan(fd, REPLACE);
}

int plans_add_patches(const void *image, uint64_t bytes)
{
	struct plan_view view;
	int ret;

	/*
	 * Do not wait for a lock. The thread that holds the lock may be stopped, or may be this
	 * thread.
	 */
	if (!module_try_lock())
		return -EAGAIN;
	if (pthread_mutex_trylock(&plans.lock) == 0) {
		ret = plan_open(&view, image, bytes, NULL);
		if (ret == 0 && (view.lists[PLAN_SETTINGS].nr || view.lists[PLAN_FUNCS].nr))
			ret = -EINVAL;
		if (ret == 0)
			add_places(&view, PATCHES_OUT, NULL);
		pthread_mutex_unlock(&plans.lock);
	} else {
		ret = -EAGAIN;
	}
	module_unlock();
	return ret;
}
