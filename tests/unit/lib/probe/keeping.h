/* Which calls are kept, said as simply as can be: what a recording must hold, whatever fast ways the probe has. */
#ifndef UTRAIL_TESTS_KEEPING_H
#define UTRAIL_TESTS_KEEPING_H

#include "libmcount/hot/planned.h"
#include "libmcount/hot/state.h"
#include "utils/base/containers/strbuf.h"

#define KEEPING_FUNCS	 12
#define KEEPING_CALLS	 128
/* Longer than a test takes: times that pass are multiples of it, and thresholds of something longer that none of those is. */
#define KEEPING_UNIT_NS	 1000000000000ULL
#define KEEPING_LIMIT_NS (KEEPING_UNIT_NS * 3 / 2)

/* Some of them have one place in a thread's tables. */
uint64_t keeping_addr(unsigned func);

struct keeping_func {
	bool is_listed;
	bool has_rule;
	bool has_args;
	bool has_result;
	uint32_t bytes;
	struct plan_rule rule; /* PLAN_COND: bit 0 of the first argument is set */
};

struct keeping_plan {
	struct plan settings;
	struct plan_watch watch; /* none when it has no bytes */
	struct keeping_func funcs[KEEPING_FUNCS];
};

struct keeping_call {
	unsigned func;
	bool has_frame;
	uint16_t flags; /* enum planned_flags */
	uint16_t level;
	bool has_result;
	uint64_t arg; /* what was captured; 0: nothing */
	uint64_t ret; /* own return address */
	uint64_t began;
	struct selection before;
};

/* @plan: what the thread goes by; @next: what it will go by from its next call on */
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
	bool has_no_regs; /* nothing is captured */
};

uint64_t keeping_random(struct keeping *k, uint64_t below);

/* A plan by chance to @plan; and a memfd with its image, the caller's to close. */
void keeping_choose(struct keeping *k, struct keeping_plan *plan);
int keeping_image(const struct keeping_plan *plan);

/* All functions are listed, and that is all. */
void keeping_plain(struct keeping_plan *plan);

/* The first plan; another one in its place. */
void keeping_begin(struct keeping *k, uint64_t seed, uint32_t allowed);
void keeping_replace(struct keeping *k);

/* The event of the table in libmcount/hot/state.h that a call of @func is. */
enum thread_event keeping_event(const struct keeping *k, unsigned func);

/* A call of @func; whether it has a frame. */
bool keeping_enter(struct keeping *k, unsigned func, uint64_t arg, uint64_t ret);
/* The innermost one ends; @result: NULL when nobody sees what it returns. */
void keeping_leave(struct keeping *k, const uint64_t *result);
/* One that begins and ends at one moment. */
void keeping_instant(struct keeping *k, unsigned func, uint64_t arg);

/* What is in @file is what was expected. */
void keeping_check(const struct keeping *k, const struct strbuf *file);

/* So many units of time pass, for the model and for @t. */
void keeping_pass(struct keeping *k, struct thread *t, unsigned units);

#endif
