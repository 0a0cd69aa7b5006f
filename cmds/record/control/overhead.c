/* Implements --overhead (see overhead.h). */
#include "cmds/record/control/overhead.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "arch/arch.h"
#include "cmds/record/base/rights.h"
#include "cmds/record/control/overhead_hooks.h"
#include "utils/base/containers/intmap.h"
#include "utils/base/containers/order.h"
#include "utils/base/units.h"
#include "utils/format/left_out.h"
#include "utils/format/record.h"
#include "utils/object/names/demangle.h"

/*
 * The time between two looks in milliseconds. A look is a regular measurement (overhead.h). The
 * time is short, because some programs make many calls from their start.
 */
#define LOOK_MS 30

/*
 * The shortest time between two calls of leave_out(), in nanoseconds. Shortly after leave_out(),
 * the buffers of the program's threads (rings) still contain earlier calls of the left-out
 * functions. So the measurements do not yet show the effect of leave_out().
 */
#define SETTLE_NS (60 * NSEC_PER_MSEC)

/*
 * The estimated costs of a recorded call and of a left-out call. The unit is the time to read the
 * clock and write a record (doc/internals/overhead.md).
 */
#define CALL_READS 3.0
#define LEFT_READS 0.25

/* A module in which functions were called, and the symbols of the module. */
struct known_symbols {
	struct known_module *module;
	struct symtab symbols;
};

/*
 * A called function, and facts about its calls in the sample.
 *
 * @is_program: the module of the function is the program
 * @sum_ns: the sum of the durations of the @ended calls
 * @ended: the number of calls whose end is in the sample
 * @seen: the number of calls in the sample
 */
struct called {
	struct known_module *module;
	const struct symbol *sym;
	bool is_program;
	double sum_ns;
	double ended;
	unsigned long seen;
};

/*
 * All functions in a sample. A function has the same index in @called and @funcs and @first.
 *
 * @first: for each function, 1 + the index of its first slot in the sample; 0: it has no slot
 * @next: for each slot, 1 + the index of the next slot of the same function; 0: it is the last
 * @by_sym: the key is a pointer to the function's struct symbol. The value is 1 + the index of the
 *          function, cast to a pointer
 */
struct candidates {
	struct called *called;
	struct budget_func *funcs;
	uint32_t *first;
	uint32_t *next;
	struct intmap by_sym;
	size_t nr;
	bool out_of_memory;
};

static void candidates_deinit(struct candidates *c)
{
	free(c->called);
	free(c->funcs);
	free(c->first);
	free(c->next);
	intmap_deinit(&c->by_sym);
}

/* Makes room for all functions that a sample can have. */
static bool candidates_init(struct candidates *c)
{
	*c = (struct candidates){
		.called = malloc(SAMPLE_SLOTS * sizeof(*c->called)),
		.funcs = malloc(SAMPLE_SLOTS * sizeof(*c->funcs)),
		.first = calloc(SAMPLE_SLOTS, sizeof(*c->first)),
		.next = calloc(SAMPLE_SLOTS, sizeof(*c->next)),
	};
	return c->called && c->funcs && c->first && c->next;
}

/* --- measurements --- */

#define PROBE_ROUNDS 2000

/*
 * Returns the time that it takes to read the recording's clock and write a record. The result is
 * the shortest of eight measurements, because other programs make some measurements longer.
 */
static double measure_read_ns(const struct record_settings *settings, bool reads_counter)
{
	static struct record records[PROBE_ROUNDS];
	double best = 1e9;

	for (unsigned k = 0; k < 8; k++) {
		uint64_t before = settings_now_ns(settings);

		for (unsigned i = 0; i < PROBE_ROUNDS; i++) {
			struct record r = { reads_counter ? arch_counter_read()
							  : settings_now_ns(settings),
					    i };

			*(volatile struct record *)&records[i] = r;
		}

		double ns = (double)(settings_now_ns(settings) - before) / PROBE_ROUNDS;

		best = MIN(best, ns);
	}
	return best;
}

static uint64_t process_took_ns(struct process *proc)
{
	clockid_t clock;
	uint64_t now = clock_getcpuclockid(proc->os_pid, &clock) ? 0 : clock_now_ns(clock);
	uint64_t took = now > proc->cpu_ns ? now - proc->cpu_ns : 0;

	proc->cpu_ns = MAX(now, proc->cpu_ns);
	return took;
}

static uint64_t writers_time_ns(const struct writers *writers)
{
	uint64_t ns = 0;

	for (unsigned i = 0; i < writers->nr; i++) {
		clockid_t clock;

		if (pthread_getcpuclockid(writers->threads[i], &clock) == 0)
			ns += clock_now_ns(clock);
	}
	return ns;
}

/*
 * Returns the mean CPU time of the writers for one call, over the whole recording. The result is at
 * most the time that the program loses by a recorded call. The mean of a single interval (o->time)
 * would be wrong, because writers may take calls that the program made in an earlier interval.
 */
static double writer_call_ns(const struct overhead *o)
{
	return o->calls > 0 ? MIN((double)writers_time_ns(o->writers) / o->calls, o->budget.call_ns)
			    : 0;
}

/*
 * Measures the recorder's work without two parts: the work of writers, and the search for functions
 * in files. This search would not be shorter if the recording left out more functions.
 */
static void measure_recorder(struct overhead *o)
{
	double all = (double)(clock_now_ns(CLOCK_PROCESS_CPUTIME_ID) - o->began_ns);
	double rest = all - (double)o->planner->patches.took_ns - o->calls * writer_call_ns(o);

	o->own_ns += budget_own_ns(&o->budget, &o->time);
	o->budget.recorder_part = o->own_ns > 0 ? MAX(rest, 0.0) / o->own_ns : 0;
}

static void measure_cpu(struct overhead *o)
{
	for (struct process *p = o->processes->live; p; p = p->next_live)
		o->time.cpu_ns += process_took_ns(p);
}

static void measure_calls(struct overhead *o)
{
	const struct sample *taken = o->taken;

	sample_move(o->writers->sample, o->taken);
	if (taken->looked_at)
		o->time.calls = (double)taken->entries * (double)taken->bytes /
				(double)taken->looked_at;
	o->calls += o->time.calls;
	o->time.writer_ns = (uint64_t)(o->time.calls * writer_call_ns(o));
}

/* --- functions --- */

static const struct symtab *symbols_of(struct overhead *o, struct known_module *module,
				       const struct process *proc)
{
	struct known_symbols *known = (struct known_symbols *)o->symbols.data;
	size_t nr = o->symbols.len / sizeof(*known);
	struct known_symbols fresh = { .module = module };
	struct rights before;

	for (size_t i = 0; i < nr; i++) {
		if (known[i].module == module)
			return &known[i].symbols;
	}
	if (rights_enter(&proc->peer, &before) == 0) {
		o->planner->modules.reads_as_peer = before.is_changed;
		known_symbols_load(&o->steering->now, module, &fresh.symbols);
		patches_find_calls(module);
	}
	rights_leave(&before);
	o->planner->modules.reads_as_peer = false;
	strbuf_add(&o->symbols, &fresh, sizeof(fresh));
	if (strbuf_oom(&o->symbols)) {
		symtab_deinit(&fresh.symbols);
		return NULL;
	}
	return &((struct known_symbols *)o->symbols.data)[nr].symbols;
}

/* Finds the function at @addr in @proc. Returns false when no function is known there. */
static bool find_function(struct overhead *o, const struct process *proc, uint64_t addr,
			  struct called *out)
{
	for (size_t i = 0; addr && i < proc->nr_kept_modules; i++) {
		const struct control_module *m = proc->modules[i];
		struct known_module *known;
		const struct symtab *symbols;

		if (addr < m->start || addr >= m->end)
			continue;
		known = known_module_get(&o->planner->modules, m->path);
		symbols = known ? symbols_of(o, known, proc) : NULL;
		*out = (struct called){
			.module = known,
			.sym = symbols ? symtab_find(symbols, addr - m->start) : NULL,
			.is_program = i == 0,
		};
		return out->sym && symbol_is_function(out->sym) && out->sym->size;
	}
	return false;
}

/* Returns the entry of @list for the function @sym, or NULL. @list is sorted like PLAN_FUNCS. */
static const struct plan_func *find_listed(const struct strbuf *list, const struct symbol *sym)
{
	const struct plan_func *funcs = (const struct plan_func *)list->data;
	size_t nr = list->len / sizeof(*funcs);
	size_t until = order_count_until(funcs, nr, sizeof(*funcs), sym->addr);

	return until && funcs[until - 1].start == sym->addr ? &funcs[until - 1] : NULL;
}

/*
 * True when a rule of the user names the function, or when the recorder cannot tell whether a rule
 * names the function. Such a function is not chosen to be left out.
 */
static bool is_wanted(const struct overhead *o, const struct called *f)
{
	const struct plan_func *func = find_listed(&f->module->funcs, f->sym);

	/*
	 * A new module gets the user's rules when the next plan is made. Before this plan, it is
	 * not known which functions the rules name.
	 */
	if (!f->module->is_bound && settings_are_selective(&o->steering->now))
		return true;
	return func && func->rule != PLAN_NO_RULE;
}

/*
 * Returns the index of function @f in @c, or SIZE_MAX if memory is short. A new function is first
 * added to @c.
 */
static size_t number_of(struct candidates *c, const struct called *f)
{
	uintptr_t known = (uintptr_t)intmap_get(&c->by_sym, (uintptr_t)f->sym);

	if (known)
		return known - 1;
	if (intmap_put(&c->by_sym, (uintptr_t)f->sym, (void *)(uintptr_t)(c->nr + 1)) < 0) {
		c->out_of_memory = true;
		return SIZE_MAX;
	}
	c->called[c->nr] = *f;
	c->funcs[c->nr] = (struct budget_func){ 0 };
	return c->nr++;
}

static void add_calls(struct candidates *c, const struct called *f, const struct sampled_call *call,
		      size_t slot, double times)
{
	size_t i = number_of(c, f);

	if (i == SIZE_MAX)
		return;
	c->next[slot] = c->first[i];
	c->first[i] = (uint32_t)slot + 1;
	c->funcs[i].calls += call->calls * times;
	c->called[i].sum_ns += (double)call->sum_ns;
	c->called[i].ended += call->ended;
	c->called[i].seen += call->calls;
}

/*
 * The assumed mean duration of a function's calls, if no call of the function ends in the sample.
 * The sample has only the first records of each buffer (LOOK_AT_PART in sample.c). Calls that end
 * in later records are assumed to be long.
 */
#define LONG_NS 100000.0

/* A function that has fewer calls than this in the sample is not chosen to be left out. */
#define SEEN_LEAST 4

/*
 * Subtract @calls from the number of calls in @o->time, and reduce the CPU time of the writers in
 * @o->time in proportion. @calls is the number of calls whose functions are already left out.
 * A writer that had to wait for a CPU may take the records of these calls after the functions were
 * left out. These calls are no reason to leave out more functions.
 */
static void forget_calls(struct overhead *o, double calls)
{
	double rest = o->time.calls > calls ? o->time.calls - calls : 0;

	if (o->time.calls > 0)
		o->time.writer_ns = (uint64_t)((double)o->time.writer_ns * rest / o->time.calls);
	o->time.calls = rest;
}

static void collect_candidates(struct overhead *o, struct candidates *c, double times)
{
	double gone = 0;

	for (size_t i = 0; i < SAMPLE_SLOTS; i++) {
		const struct sampled_call *call = &o->taken->calls[i];
		const struct module_left_out *left;
		struct called f;

		if (!call->proc || !find_function(o, call->proc, call->addr, &f))
			continue;
		left = known_left_out_at(f.module, f.sym->addr);
		if (left && !left->is_back)
			gone += call->calls * times;
		else if (!left && !is_wanted(o, &f))
			add_calls(c, &f, call, i, times);
	}
	forget_calls(o, gone);
	for (size_t i = 0; i < c->nr; i++) {
		const struct called *f = &c->called[i];

		if (f->seen < SEEN_LEAST)
			c->funcs[i].calls = 0;
		c->funcs[i].mean_ns = f->ended ? f->sum_ns / f->ended : LONG_NS;
		c->funcs[i].can_go = patches_can_go(f->module, f->is_program, f->sym->addr,
						    f->sym->addr + f->sym->size);
	}
}

/* --- leaving out --- */

static void put_line(struct overhead *o, const struct left_out *line)
{
	struct strbuf text cleanup_strbuf = { 0 };

	left_out_encode(line, &text);
	store_append_line(o->store, &o->notes, LEFT_OUT_NAME, &text);
}

static void add_line(struct overhead *o, uint64_t time_ns, enum left_out_kind kind,
		     const struct called *f, double part)
{
	const struct left_out line = { kind, time_ns, (unsigned)(part * 1000), f->sym->addr,
				       f->module->path };

	put_line(o, &line);
}

/*
 * Adds a line to left-out.txt for each caller that function @number has in the sample. From now on,
 * a caller's own time includes the time of function @number.
 */
static void add_callers(struct overhead *o, uint64_t time_ns, const struct candidates *c,
			size_t number)
{
	struct intmap seen cleanup_intmap = { 0 };

	for (uint32_t at = c->first[number]; at; at = c->next[at - 1]) {
		const struct sampled_call *call = &o->taken->calls[at - 1];
		struct called caller;

		if (!find_function(o, call->proc, call->caller, &caller) ||
		    intmap_get(&seen, (uintptr_t)caller.sym) ||
		    intmap_put(&seen, (uintptr_t)caller.sym, (void *)caller.sym) < 0)
			continue;
		add_line(o, time_ns, LEFT_OUT_CALLER, &caller, 0);
	}
}

static void add_left_out(struct overhead *o, const struct called *f, const struct budget_func *func)
{
	const struct module_left_out left = {
		.func = { f->sym->addr, f->sym->addr + f->sym->size, PLAN_NO_RULE,
			  PLAN_NO_CAPTURE },
		.rate = func->rate,
		.rules = o->settings->patches->generation,
		.can_go = func->can_go,
	};

	struct strbuf text cleanup_strbuf = { 0 };

	if (known_left_out_add(f->module, &left) < 0 || left.can_go)
		return;
	strbuf_addf(&text, "--overhead: '");
	demangle(f->sym->name, o->steering->now.demangle, &text);
	strbuf_addf(&text, "' is left out, but its hooks cannot be taken out: a call of it still "
			   "costs some nanoseconds");
	strbuf_list_add(&o->said, strbuf_str(&text));
}

/* Writes notes on functions into which the user has put hooks again. */
static void tell_who_is_back(struct overhead *o)
{
	for (struct known_module *m = o->planner->modules.first; m; m = m->next) {
		known_left_out_each (m, left) {
			const struct left_out line = { LEFT_OUT_AGAIN, o->steering->changed_ns, 0,
						       left->func.start, m->path };

			if (!left->is_back || left->is_told)
				continue;
			left->is_told = true;
			put_line(o, &line);
		}
	}
}

static void leave_out(struct overhead *o, const struct candidates *c, size_t nr)
{
	struct strbuf text cleanup_strbuf = { 0 };
	uint64_t time_ns = settings_now_ns(o->settings);

	strbuf_addf(&text, "not recorded from here on, by --overhead:");
	for (size_t i = 0; i < c->nr; i++) {
		const struct called *f = &c->called[i];
		double part = c->funcs[i].calls / o->time.calls;

		if (!c->funcs[i].is_chosen)
			continue;
		add_left_out(o, f, &c->funcs[i]);
		add_line(o, time_ns, LEFT_OUT_FUNCTION, f, part);
		add_callers(o, time_ns, c, i);
		strbuf_addch(&text, ' ');
		demangle(f->sym->name, o->steering->now.demangle, &text);
		strbuf_addf(&text, " (%.0f %% of calls)%s", part * 100, --nr ? "," : "");
	}
	for (struct known_module *m = o->planner->modules.first; m; m = m->next)
		patches_leave_out(m);
	steering_leave_out(o->steering, strbuf_str(&text));
	o->left_out_generation = o->steering->generation;
	overhead_take_hooks_out(o);
	o->not_before_ns = settings_now_ns(o->settings) + SETTLE_NS;
}

/*
 * Returns the estimated number of recorded calls, divided by the number of calls that have a slot
 * in the sample. There are two reasons why a call has no slot: sample_take() has not read the
 * record of the call, or no slot was free. The caller of this function assumes that a function's
 * share of the calls with a slot is also the function's share of all recorded calls.
 */
static double calls_for_one(const struct overhead *o)
{
	double placed = 0;

	for (size_t i = 0; i < SAMPLE_SLOTS; i++)
		placed += o->taken->calls[i].calls;
	return o->time.calls / MAX(placed, 1.0);
}

static void decide_leaving_out(struct overhead *o)
{
	struct candidates c cleanup(candidates_deinit);
	double times = calls_for_one(o);
	size_t nr = 0;

	if (!candidates_init(&c))
		return;
	collect_candidates(o, &c, times);
	if (!c.out_of_memory)
		nr = budget_decide(&o->budget, &o->time, c.funcs, c.nr);
	if (nr)
		leave_out(o, &c, nr);
}

static void look_at_overhead(struct overhead *o)
{
	tell_who_is_back(o);
	overhead_take_hooks_out(o);
	measure_cpu(o);
	if (o->time.cpu_ns < BUDGET_CPU_MIN_NS)
		return;
	measure_calls(o);
	measure_recorder(o);
	if (settings_now_ns(o->settings) >= o->not_before_ns &&
	    budget_overhead(&o->budget, &o->time) > o->budget.limit)
		decide_leaving_out(o);
	o->time = (struct budget_time){ 0 };
}

static void serve_timer(struct served *served, uint32_t epoll_events)
{
	struct overhead *o = container_of(served, struct overhead, timer);
	uint64_t nr;

	/*
	 * The event loop runs even while hooks are taken out. service_hold() then returns false,
	 * and nothing is measured. The next look measures the whole time since the previous look.
	 */
	if (read(o->timer_fd, &nr, sizeof(nr)) != sizeof(nr) || !service_hold(o->service))
		return;
	look_at_overhead(o);
	service_release(o->service);
}

/* --- */

static int start_timer(struct overhead *o)
{
	o->timer = (struct served){ serve_timer, o };
	o->timer_fd = loop_add_timer(o->loop, LOOK_MS * NSEC_PER_MSEC, &o->timer);
	return MIN(o->timer_fd, 0);
}

int overhead_begin(struct overhead *o, struct uft_err *err)
{
	double read_ns;
	int ret;

	if (!o->settings->overhead_percent)
		return 0;
	read_ns = measure_read_ns(o->settings, o->steering->plan->clock == PLAN_CLOCK_COUNTER);
	o->budget = (struct budget){
		.limit = o->settings->overhead_percent / 100.0,
		.call_ns = CALL_READS * read_ns,
		.left_ns = LEFT_READS * read_ns,
	};
	o->began_ns = clock_now_ns(CLOCK_PROCESS_CPUTIME_ID);
	o->taken = sample_new();
	o->writers->sample = sample_new();
	ret = o->taken && o->writers->sample ? start_timer(o) : -ENOMEM;
	return ret < 0 ? err_set_errno(err, ret, "cannot measure what recording costs") : 0;
}

void overhead_end(struct overhead *o)
{
	struct known_symbols *known = (struct known_symbols *)o->symbols.data;

	if (!o->settings)
		return;
	tell_who_is_back(o);
	for (size_t i = 0; i < o->symbols.len / sizeof(*known); i++)
		symtab_deinit(&known[i].symbols);
	strbuf_deinit(&o->symbols);
	strbuf_deinit(&o->said);
	loop_close_fd(o->loop, &o->timer_fd, &o->timer);
	if (o->notes >= 0)
		store_close(o->store, o->notes);
	o->notes = -1;
	sample_free(o->taken);
	sample_free(o->writers->sample);
	o->taken = o->writers->sample = NULL;
}
