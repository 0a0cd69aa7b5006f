/* Plans in few words (see sketch.h). */
#include "tests/unit/lib/probe/sketch.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/lib/unit.h"

static const struct capture_step steps[] = {
	{ .op = CAPTURE_HEAD, .bytes = 1, .index = 1 },
	{ .op = CAPTURE_WORD, .bytes = 8, .index = 1 },
	{ .op = CAPTURE_WORD, .bytes = 8, .index = 0 },
};

static const struct plan_rule rules[] = {
	{ .flags = PLAN_FILTER },
	{ .flags = PLAN_NOTRACE },
	{ .flags = PLAN_DEPTH, .depth = 1 },
	{ .flags = PLAN_TIME, .time_ns = 1000 },
	{ .flags = PLAN_FILTER | PLAN_COND, .nr_conds = 1 },
	{ .flags = PLAN_LEFT_OUT },
};
static const struct plan_cond conds[] = {
	{ .kind = PLAN_COND_INT, .index = 1, .bytes = 8, .compare = PLAN_NE },
};
static const char rule_names[] = "fndtcl";

int sketch_image(const struct sketch *sketch)
{
	struct plan settings = probe.plan;
	struct plan_func funcs[SKETCH_FUNCS];
	struct plan_view view = { 0 };
	unsigned nr = 0;

	settings.flags |= sketch->flags;
	settings.threshold_ns = sketch->threshold_ns;
	settings.depth = sketch->depth;
	for (unsigned i = 0; i < SKETCH_FUNCS; i++) {
		char c = sketch->rules[i];
		const char *name = strchr(rule_names, c | 0x20);

		if (c == '.')
			continue;
		funcs[nr] = (struct plan_func){ SKETCH_ADDR(i), SKETCH_ADDR(i) + 16, PLAN_NO_RULE,
						PLAN_NO_CAPTURE };
		if (name)
			funcs[nr].rule = name - rule_names;
		if (c == '+' || (c >= 'A' && c <= 'Z'))
			funcs[nr].capture = 0;
		nr++;
	}
	settings.flags |= PLAN_REPLACE_ANY; /* the tests' return addresses are made up */
	view.lists[PLAN_CONDS] = plan_list(PLAN_CONDS, conds, ARRAY_SIZE(conds));
	view.lists[PLAN_SETTINGS] = plan_list(PLAN_SETTINGS, &settings, !sketch->is_more);
	view.lists[PLAN_FUNCS] = plan_list(PLAN_FUNCS, funcs, nr);
	view.lists[PLAN_RULES] = plan_list(PLAN_RULES, rules, ARRAY_SIZE(rules));
	view.lists[PLAN_STEPS] = plan_list(PLAN_STEPS, steps, ARRAY_SIZE(steps));

	uint64_t len = plan_image_bytes(&view);
	void *image = malloc(len);
	int fd = memfd_create("plan", MFD_CLOEXEC);

	plan_image_put(&view, image);
	assert_int_equal(write(fd, image, len), len);
	free(image);
	return fd;
}

void sketch_call(uint64_t *slot, unsigned func)
{
	struct arch_regs regs = arch_regs_of(SKETCH_ADDR(func), 0, 0);

	*slot = 0x500000;
	/* The same look-up as FAST_LOOK_UP in the stubs. */
	if (!self->busy &&
	    self->calls[planned_place_of(SKETCH_ADDR(func))].alone == SKETCH_ADDR(func))
		return;
	probe_entry(slot, SKETCH_ADDR(func), &regs);
}

void sketch_leave(uint64_t *slot, unsigned func)
{
	struct arch_regs regs = arch_regs_of(0, 0, SKETCH_ADDR(func) + 1);

	if (*slot == (uint64_t)arch_return_trampoline)
		assert_int_equal(probe_exit((uint64_t)slot, &regs), 0x500000);
}

void sketch_tree(uint64_t *slot, unsigned func)
{
	sketch_call(slot, func);
	/* Let other threads run here, so that they may replace the plan in the middle of a tree. */
	if (func % 4 == 1)
		sched_yield();
	if (2 * func + 1 < SKETCH_FUNCS) {
		sketch_tree(slot - 2, 2 * func);
		sketch_tree(slot - 2, 2 * func + 1);
	}
	sketch_leave(slot, func);
}

unsigned sketch_read(struct sketch_reader *r)
{
	const struct record *rec = (const struct record *)(r->file.data + r->at);
	bool is_entry = record_type(rec->data) == RECORD_ENTRY;

	r->at += sizeof(*rec);
	assert_true(is_entry || record_type(rec->data) == RECORD_EXIT);
	assert_true(is_entry ? r->depth < SKETCH_LEVELS : r->depth > 0);
	if (!is_entry)
		assert_int_equal(record_addr(rec->data), r->open[--r->depth]);
	assert_int_equal(record_depth(rec->data), r->depth);
	if (is_entry)
		r->open[r->depth++] = record_addr(rec->data);
	if (record_has_more(rec->data)) {
		assert_int_equal(*(const uint64_t *)(rec + 1), record_addr(rec->data) + !is_entry);
		r->at += sizeof(uint64_t);
		r->payloads++;
	}
	return (record_addr(rec->data) - SKETCH_ADDR(0)) / 16;
}

void sketch_check_end(struct sketch_reader *r)
{
	unsigned payloads_before = 0;
	size_t ends_at = 0;

	/* With each plan, the EXIT of function 0 has a payload, as its ENTRY has. */
	while (r->at < r->file.len) {
		unsigned before = r->payloads;

		if (sketch_read(r) == 0 && r->depth == 0) {
			assert_int_equal(r->payloads, before + 1);
			ends_at = r->at;
			payloads_before = r->payloads;
		}
	}
	assert_int_equal(r->depth, 0);
	/* All records of the last plan follow. */
	assert_int_equal(r->file.len - ends_at,
			 2 * (SKETCH_FUNCS - 1) * (sizeof(struct record) + sizeof(uint64_t)));
	assert_int_equal(r->payloads - payloads_before, 2 * (SKETCH_FUNCS - 1));
}
