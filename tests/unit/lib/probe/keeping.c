/* Computes which calls are kept (see keeping.h). */
#include "tests/unit/lib/probe/keeping.h"

#include <sys/mman.h>
#include <unistd.h>

#include "libmcount/plan/plans.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"
#include "utils/format/event_ids.h"

/* An expected record. @payload: 0 if there is none */
struct expected {
	uint64_t data;
	uint64_t payload;
};

#define SPACING 64

uint64_t keeping_addr(unsigned func)
{
	unsigned half = KEEPING_FUNCS / 2;

	return 0x400000 + func % half * SPACING + func / half * PLANNED_PLACE_BYTES * PLANNED_CALLS;
}

uint64_t keeping_random(struct keeping *k, uint64_t below)
{
	return unit_random(&k->random) % below;
}

/* --- plans --- */

static const struct capture_step steps[] = {
	/* arguments, result, both */
	{ .op = CAPTURE_HEAD, .bytes = 1 },
	{ .op = CAPTURE_WORD, .bytes = 8, .index = 1 },
	{ .op = CAPTURE_HEAD, .index = 1 },
	{ .op = CAPTURE_WORD, .bytes = 8 },
	{ .op = CAPTURE_HEAD, .bytes = 1, .index = 1 },
	{ .op = CAPTURE_WORD, .bytes = 8, .index = 1 },
	{ .op = CAPTURE_WORD, .bytes = 8 },
};

static const struct plan_cond cond = {
	.kind = PLAN_COND_INT,
	.index = 1,
	.bytes = 8,
	.compare = PLAN_AND,
	.value = 1,
};

static void choose_rule(struct keeping *k, struct plan_rule *rule, uint32_t allowed)
{
	unsigned nr = 1 + keeping_random(k, 2);

	*rule = (struct plan_rule){
		.depth = 1 + keeping_random(k, 3),
		.time_ns = keeping_random(k, 3) * KEEPING_LIMIT_NS,
		.size = keeping_random(k, 3) * 16,
	};
	for (unsigned i = 0; i < 12 && nr; i++) {
		uint32_t flag = 1U << keeping_random(k, 17);

		if (!(flag & allowed))
			continue;
		if (flag == PLAN_LEFT_OUT)
			rule->flags = 0;
		rule->flags |= flag;
		nr = flag == PLAN_LEFT_OUT ? 0 : nr - 1;
	}
	rule->nr_conds = (rule->flags & PLAN_COND) != 0;
}

void keeping_choose(struct keeping *k, struct keeping_plan *plan)
{
	uint32_t allowed = 0;
	uint32_t all = 0;

	for (unsigned i = 0; i < 17; i++) {
		if (keeping_random(k, 3) == 0)
			allowed |= k->allowed & 1U << i;
	}
	plan->settings = probe.plan;
	plan->settings.threshold_ns = keeping_random(k, 4) == 0 ? KEEPING_LIMIT_NS : 0;
	plan->settings.size_filter = keeping_random(k, 4) == 0 ? 16 : 0;
	plan->settings.depth = keeping_random(k, 3) == 0 ? 1 + keeping_random(k, 4) : 1000;
	for (unsigned i = 0; i < KEEPING_FUNCS; i++) {
		struct keeping_func *f = &plan->funcs[i];
		unsigned what = keeping_random(k, 4);

		*f = (struct keeping_func){ .bytes = 15 + keeping_random(k, 3) };
		f->is_listed = what != 0;
		if (!f->is_listed)
			continue;
		f->has_args = keeping_random(k, 4) == 0;
		f->has_result = keeping_random(k, 4) == 0;
		choose_rule(k, &f->rule, what > 1 ? allowed : 0);
		f->has_rule = f->rule.flags != 0;
		all |= f->rule.flags;
	}
	plan->settings.flags &= PLANS_FIXED_FLAGS;
	plan->settings.flags |= PLAN_SELECTIVE;
	if (all & PLAN_FILTER)
		plan->settings.flags |= PLAN_OPT_IN_FILTER;
	if (all & PLAN_CALLER)
		plan->settings.flags |= PLAN_OPT_IN_CALLER;
	if (all & PLAN_LOCATION)
		plan->settings.flags |= PLAN_OPT_IN_LOCATION;
	if (all & PLAN_LEFT_OUT)
		plan->settings.flags |= PLAN_LEAVES_OUT;
}

void keeping_plain(struct keeping_plan *plan)
{
	*plan = (struct keeping_plan){ .settings = probe.plan };
	plan->settings.flags = (plan->settings.flags & PLANS_FIXED_FLAGS) | PLAN_SELECTIVE;
	for (unsigned i = 0; i < KEEPING_FUNCS; i++)
		plan->funcs[i] = (struct keeping_func){ .is_listed = true, .bytes = 16 };
}

static uint32_t capture_of(const struct keeping_func *f)
{
	if (f->has_args)
		return f->has_result ? 4 : 0;
	return f->has_result ? 2 : PLAN_NO_CAPTURE;
}

int keeping_image(const struct keeping_plan *plan)
{
	struct plan_func funcs[KEEPING_FUNCS];
	struct plan_rule rules[KEEPING_FUNCS];
	struct plan_view view = { 0 };
	unsigned nr = 0;
	unsigned nr_rules = 0;

	for (unsigned i = 0; i < KEEPING_FUNCS; i++) {
		const struct keeping_func *f = &plan->funcs[i];

		if (!f->is_listed)
			continue;
		funcs[nr] = (struct plan_func){ keeping_addr(i), keeping_addr(i) + f->bytes,
						PLAN_NO_RULE, capture_of(f) };
		if (f->has_rule)
			funcs[nr].rule = nr_rules;
		if (f->has_rule)
			rules[nr_rules++] = f->rule;
		nr++;
	}

	struct plan settings = plan->settings;

	settings.flags |= PLAN_REPLACE_ANY; /* the tests' return addresses are made up */
	view.lists[PLAN_SETTINGS] = plan_list(PLAN_SETTINGS, &settings, 1);
	view.lists[PLAN_FUNCS] = plan_list(PLAN_FUNCS, funcs, nr);
	view.lists[PLAN_RULES] = plan_list(PLAN_RULES, rules, nr_rules);
	view.lists[PLAN_CONDS] = plan_list(PLAN_CONDS, &cond, 1);
	view.lists[PLAN_STEPS] = plan_list(PLAN_STEPS, steps, ARRAY_SIZE(steps));

	view.lists[PLAN_WATCHES] = plan_list(PLAN_WATCHES, &plan->watch, plan->watch.bytes != 0);

	uint64_t len = plan_image_bytes(&view);
	void *image = malloc(len);
	int fd = memfd_create("plan", MFD_CLOEXEC);

	assert_non_null(image);
	plan_image_put(&view, image);
	assert_int_equal(write(fd, image, len), len);
	free(image);
	return fd;
}

/* --- the model --- */

static struct selection outermost(const struct keeping_plan *plan)
{
	return (struct selection){
		.threshold_ns = plan->settings.threshold_ns,
		.size = plan->settings.size_filter,
		.depth = plan->settings.depth,
	};
}

void keeping_begin(struct keeping *k, uint64_t seed, uint32_t allowed)
{
	*k = (struct keeping){ .random = seed, .allowed = allowed, .is_on = true };
	keeping_choose(k, &k->plan);
	k->inside = outermost(&k->plan);
}

void keeping_replace(struct keeping *k)
{
	keeping_choose(k, &k->next);
	k->is_behind = true;
}

static bool has(const struct keeping_plan *plan, uint32_t flag)
{
	return plan->settings.flags & flag;
}

static void limit(struct selection *s, const struct plan_rule *rule)
{
	if (rule->flags & PLAN_DEPTH)
		s->depth = rule->depth;
	if (rule->flags & PLAN_TIME)
		s->threshold_ns = rule->time_ns;
	if (rule->flags & PLAN_SIZE)
		s->size = rule->size;
}

/*
 * Calls that are open when a plan comes count as if they had been entered under it. Their arguments
 * are not available any more.
 */
static void catch_up(struct keeping *k)
{
	if (!k->is_behind)
		return;
	k->is_behind = false;
	k->plan = k->next;
	k->inside = outermost(&k->plan);
	for (unsigned i = 0; i < k->nr; i++) {
		struct keeping_call *c = &k->calls[i];
		const struct keeping_func *f = &k->plan.funcs[c->func];

		if (!c->has_frame)
			continue;
		c->before = k->inside;
		if (f->has_rule && !(f->rule.flags & PLAN_COND)) {
			k->inside.out += (f->rule.flags & PLAN_NOTRACE) != 0;
			if (f->rule.flags & PLAN_FILTER) {
				k->inside.in++;
				k->inside.depth = k->plan.settings.depth;
			}
			limit(&k->inside, &f->rule);
		}
		if (c->flags & PLANNED_RECORD) {
			k->inside.level++;
			k->inside.depth -= k->inside.depth != 0;
		}
	}
}

static void expect(struct keeping *k, uint64_t data, uint64_t payload)
{
	struct expected e = { data, payload };

	strbuf_add(&k->expected, &e, sizeof(e));
}

static void expect_entry(struct keeping *k, const struct keeping_call *c)
{
	if (c->flags & PLANNED_CALLSITE)
		expect(k, record_data(RECORD_EVENT, 0, EVENT_ID_CALLSITE), c->ret);
	expect(k, record_data(RECORD_ENTRY, c->level, keeping_addr(c->func)), c->arg);
}

/* Expect the ENTRY records of all open calls that were held back. */
static void expect_entries(struct keeping *k)
{
	for (unsigned i = 0; i < k->nr; i++) {
		struct keeping_call *c = &k->calls[i];

		if (!(c->flags & PLANNED_RECORD) || (c->flags & (PLANNED_OFF | PLANNED_WRITTEN)))
			continue;
		expect_entry(k, c);
		c->flags |= PLANNED_WRITTEN;
	}
}

static void obey_switches(struct keeping *k, const struct plan_rule *rule)
{
	if (rule->flags & PLAN_TRACE_ON)
		k->is_on = true;
	if (rule->flags & PLAN_TRACE_OFF_AT) {
		if (k->is_on)
			expect_entries(k);
		k->is_on = false;
	}
}

/*
 * Fills @c->flags, and @inside with the choice that holds inside of the call. Returns whether this
 * choice differs from the one outside.
 */
static bool decide(struct keeping *k, unsigned func, uint64_t arg, struct keeping_call *c,
		   struct selection *inside)
{
	static const struct {
		uint32_t rule;
		uint16_t flag;
	} actions[] = { { PLAN_TRACE, PLANNED_KEEP },
			{ PLAN_CALLER, PLANNED_CALLER },
			{ PLAN_CALLSITE, PLANNED_CALLSITE } };
	const struct keeping_plan *plan = &k->plan;
	const struct keeping_func *f = &plan->funcs[func];
	const struct plan_rule *rule = &f->rule;
	uint32_t flags = f->has_rule ? rule->flags : 0;
	bool has_change = false;

	*inside = k->inside;
	if (k->inside.out)
		return false;
	if ((flags & PLAN_COND) && !(arg & 1))
		flags &= ~(uint32_t)(PLAN_FILTER | PLAN_NOTRACE);
	if (flags & PLAN_FILTER) {
		inside->in++;
		inside->depth = plan->settings.depth;
		has_change = true;
	}
	if (flags & PLAN_NOTRACE) {
		inside->out++;
		obey_switches(k, rule);
		return true;
	}
	if (has(plan, PLAN_OPT_IN_FILTER) && !inside->in)
		return has_change;
	if ((flags & (PLAN_LOCATION_OUT | PLAN_LEFT_OUT)) ||
	    (has(plan, PLAN_OPT_IN_LOCATION) && !(flags & PLAN_LOCATION)))
		return has_change;
	if (f->has_rule) {
		obey_switches(k, rule);
		limit(inside, rule);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(actions); i++) {
		if (flags & actions[i].rule)
			c->flags |= actions[i].flag;
	}
	has_change |= (flags & (PLAN_DEPTH | PLAN_TIME | PLAN_SIZE)) != 0;
	if ((f->is_listed && f->bytes < inside->size) || inside->depth == 0)
		return has_change;
	inside->depth--;
	inside->level++;
	c->flags |= PLANNED_RECORD;
	if (!k->is_on)
		c->flags |= PLANNED_OFF;
	if (f->has_args && !k->has_no_regs)
		c->arg = arg;
	c->has_result = f->has_result && !k->has_no_regs;
	return has_change;
}

static bool is_written_at_once(const struct keeping *k, const struct keeping_call *c,
			       const struct selection *inside)
{
	if (!(c->flags & PLANNED_RECORD) || (c->flags & PLANNED_OFF))
		return false;
	if (c->flags & PLANNED_KEEP)
		return true;
	return !inside->threshold_ns &&
	       (!has(&k->plan, PLAN_OPT_IN_CALLER) || (c->flags & PLANNED_CALLER));
}

/* True when a limit of the depth may leave out calls although there is room for more frames. */
static bool depth_counts(const struct keeping_plan *plan)
{
	for (unsigned i = 0; i < KEEPING_FUNCS; i++) {
		if (plan->funcs[i].is_listed && (plan->funcs[i].rule.flags & PLAN_DEPTH))
			return true;
	}
	return plan->settings.depth < probe.plan.max_stack;
}

enum thread_event keeping_event(const struct keeping *k, unsigned func)
{
	const struct keeping_func *f = &k->plan.funcs[func];
	bool has_values = f->has_args || f->has_result;

	if (!f->has_rule)
		return k->inside.depth ? CALL_UNRULED : CALL_TOO_DEEP;
	if (f->rule.flags == PLAN_FILTER && !depth_counts(&k->plan))
		return CALL_LET_IN;
	if (f->rule.flags == PLAN_FILTER && !has_values)
		return CALL_OPT_IN;
	if (f->rule.flags == PLAN_NOTRACE)
		return CALL_OPT_OUT;
	return f->rule.flags == PLAN_LEFT_OUT ? CALL_LEFT_OUT : CALL_RULED;
}

bool keeping_enter(struct keeping *k, unsigned func, uint64_t arg, uint64_t ret)
{
	struct keeping_call *c = &k->calls[k->nr];
	struct selection inside;
	bool has_change;

	assert_true(k->nr < KEEPING_CALLS);
	catch_up(k);
	*c = (struct keeping_call){
		.func = func,
		.ret = ret,
		.began = k->now,
		.level = k->inside.level,
		.before = k->inside,
	};
	has_change = decide(k, func, arg, c, &inside);
	c->has_frame = k->nr_frames < probe.plan.max_stack &&
		       (has_change || (c->flags & PLANNED_RECORD));
	k->nr++;
	if (!c->has_frame) {
		c->flags = 0;
		return false;
	}
	k->nr_frames++;
	k->inside = inside;
	if (is_written_at_once(k, c, &inside))
		expect_entries(k);
	return true;
}

static void end(struct keeping *k, struct keeping_call *c, const uint64_t *result)
{
	uint64_t took_ns = (k->now - c->began) * KEEPING_UNIT_NS;

	if (!(c->flags & PLANNED_RECORD) || !k->is_on)
		return;
	if (!(c->flags & PLANNED_WRITTEN)) {
		if (!(c->flags & PLANNED_KEEP) &&
		    (took_ns < k->inside.threshold_ns ||
		     (has(&k->plan, PLAN_OPT_IN_CALLER) && !(c->flags & PLANNED_CALLER))))
			return;
		expect_entries(k);
	}
	expect(k, record_data(RECORD_EXIT, c->level, keeping_addr(c->func)),
	       result && c->has_result ? *result : 0);
}

void keeping_leave(struct keeping *k, const uint64_t *result)
{
	struct keeping_call *c = &k->calls[k->nr - 1];

	if (c->has_frame) {
		end(k, c, result);
		k->inside = c->before;
		k->nr_frames--;
	}
	k->nr--;
}

void keeping_instant(struct keeping *k, unsigned func, uint64_t arg)
{
	struct keeping_call c = { .func = func };
	struct selection inside;

	/* Here, a call beyond the limit does not even switch tracing. No test depends on that. */
	if (k->nr_frames >= probe.plan.max_stack)
		return;
	catch_up(k);
	c.level = k->inside.level;
	decide(k, func, arg, &c, &inside);
	if (!is_written_at_once(k, &c, &inside))
		return;
	expect_entries(k);
	c.flags &= ~PLANNED_CALLSITE;
	expect_entry(k, &c);
	expect(k, record_data(RECORD_EXIT, c.level, keeping_addr(func)), 0);
}

void keeping_pass(struct keeping *k, struct thread *t, unsigned units)
{
	k->now += units;
	pair_pass(units * KEEPING_UNIT_NS);
	t->base_ns += units * KEEPING_UNIT_NS;
}

/* --- the records in a file --- */

static uint64_t payload_of(const struct record *r, size_t *len)
{
	bool is_event = record_type(r->data) == RECORD_EVENT;
	uint64_t payload;

	if (!record_has_more(r->data))
		return 0;
	/* An event's payload begins with its length. */
	memcpy(&payload, (const char *)(r + 1) + is_event * sizeof(uint16_t), sizeof(payload));
	*len += is_event ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
	return payload;
}

void keeping_check(const struct keeping *k, const struct strbuf *file)
{
	const struct expected *expected = (const struct expected *)strbuf_str(&k->expected);
	size_t nr = k->expected.len / sizeof(*expected);
	uint64_t last_ns = 0;
	size_t i = 0;

	for (size_t at = 0; at < file->len; i++) {
		const struct record *r = (const struct record *)(file->data + at);
		size_t len = sizeof(*r);
		uint64_t payload = payload_of(r, &len);

		assert_true(i < nr);
		if ((r->data & ~RECORD_MORE) != expected[i].data || payload != expected[i].payload)
			fail_msg("record %zu of %zu is %#lx with %#lx, not %#lx with %#lx", i, nr,
				 r->data, payload, expected[i].data, expected[i].payload);
		/*
		 * An ENTRY that was held back can have an earlier time than the record before it,
		 * so only the times of EXIT records must rise.
		 */
		if (record_type(r->data) == RECORD_EXIT) {
			assert_true(r->time_ns >= last_ns);
			last_ns = r->time_ns;
		}
		at += len;
	}
	assert_int_equal(i, nr);
}
