/*
 * A model, as simple as possible, of the choice of the calls that are kept. A recording must agree
 * with it, whatever fast paths the probe has.
 */
#ifndef UTRAIL_TESTS_KEEPING_H
#define UTRAIL_TESTS_KEEPING_H

#include "libmcount/hot/planned.h"
#include "libmcount/hot/state.h"
#include "utils/base/containers/strbuf.h"

#define KEEPING_FUNCS	 12
#define KEEPING_CALLS	 128
/*
 * A unit of time is longer than a test takes. The clock advances by multiples of it, and thresholds
 * fall between these multiples.
 */
#define KEEPING_UNIT_NS	 1000000000000ULL
#define KEEPING_LIMIT_NS (KEEPING_UNIT_NS * 3 / 2)

/*
 * Returns the address that stands for function number @func. Some of these addresses share one
 * place in a thread's tables.
 */
uint64_t keeping_addr(unsigned func);

struct keeping_func {
	bool is_listed;
	bool has_rule;
	bool has_args;
	bool has_result;
	uint32_t bytes;
	struct plan_rule rule; /* its PLAN_COND condition: bit 0 of the first argument is set */
};

struct keeping_plan {
	struct plan settings;
	struct plan_watch watch; /* with 0 bytes no value is watched */
	struct keeping_func funcs[KEEPING_FUNCS];
};

struct keeping_call {
	unsigned func;
	bool has_frame;
	uint16_t flags; /* enum planned_flags */
	uint16_t level;
	bool has_result;
	uint64_t arg; /* the captured argument; 0: none */
	uint64_t ret; /* the return address of the call */
	uint64_t began;
	struct selection before;
};

/* @plan: the plan of the thread; @next: the plan from its next call on */
struct keeping {
	struct keeping_plan plan;
	struct keeping_plan next;
	bool is_behind;
	bool is_on;
	uint64_t now; /* units */
	unsigned nr_frames;
	struct selection inside;
	struct keeping_call calls[KEEPING_CALLS];
	unsigned nr;
	struct strbuf expected;
	uint64_t random;
	uint32_t allowed; /* enum plan_rule_flags that plans may have */
	bool has_no_regs; /* no values are captured */
};

uint64_t keeping_random(struct keeping *k, uint64_t below);

/* Put a random plan into @plan. */
void keeping_choose(struct keeping *k, struct keeping_plan *plan);
/* Returns a memfd with the image of the plan. The caller closes it. */
int keeping_image(const struct keeping_plan *plan);

/* Make the plan that lists all functions, and has no rules. */
void keeping_plain(struct keeping_plan *plan);

/* Begin with a first plan. */
void keeping_begin(struct keeping *k, uint64_t seed, uint32_t allowed);
/* Replace the plan by another one. */
void keeping_replace(struct keeping *k);

/* Returns the event that stands for a call of @func in the table of libmcount/hot/state.h. */
enum thread_event keeping_event(const struct keeping *k, unsigned func);

/* Begin a call of @func. Returns true when the call has a frame. */
bool keeping_enter(struct keeping *k, unsigned func, uint64_t arg, uint64_t ret);
/* End the innermost call. @result: its return value; NULL when no hook sees the return */
void keeping_leave(struct keeping *k, const uint64_t *result);
/* Begin a call and end it at the same moment. */
void keeping_instant(struct keeping *k, unsigned func, uint64_t arg);

/* Check that @file has the expected content. */
void keeping_check(const struct keeping *k, const struct strbuf *file);

/*
 * Let @units units of time pass, for the model and for @t.
 */
void keeping_pass(struct keeping *k, struct thread *t, unsigned units);

#endif
