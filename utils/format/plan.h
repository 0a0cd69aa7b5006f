/* The plan: what the recorder tells a probe to do, in terms the probe can obey without looking anything up. */
#ifndef UTRAIL_FORMAT_PLAN_H
#define UTRAIL_FORMAT_PLAN_H

#include <stdint.h>

#define SID_LEN 16 /* session id: lowercase hex digits, no NUL (spec/data-format.md section 2) */

enum plan_clock {
	PLAN_CLOCK_COUNTER = 0, /* the CPU's invariant counter, fitted to clock_id */
	PLAN_CLOCK_GETTIME = 1, /* clock_gettime(clock_id) for each record */
};

enum plan_flags {
	PLAN_TRACE_OFF = 1U << 0, /* --trace=off */
};

/* What to do with a function; 0 is "record it". */
enum plan_action {
	PLAN_SKIP = 1U << 0, /* neither record nor count as a level of depth (-Z) */
};

/* One function: [start, end) in the process' address space. */
struct plan_func {
	uint64_t start;
	uint64_t end;
	uint32_t action; /* enum plan_action bits */
	uint32_t pad;
};
_Static_assert(sizeof(struct plan_func) == 24, "plan_func is laid out without holes");

/* How a library call is recorded. */
enum plan_call {
	/*
	 * Its return slot must stay as it is, since the function looks at it, keeps it for later, or returns more than
	 * once (setjmp, vfork, dlsym ...): ENTRY and EXIT are written together.
	 */
	PLAN_CALL_NO_RETURN_HOOK = 1U << 0,
};

#define PLAN_NO_RELOC UINT32_MAX

/*
 * One library call of one module: the GOT slot through which it goes, and the address that stands
 * for it in records. Sorted by module.
 */
struct plan_call_site {
	uint64_t load_bias; /* of the module: which one it is */
	uint64_t slot;	    /* address of the GOT slot */
	uint64_t addr;	    /* recorded address */
	uint32_t reloc;	    /* the slot's index in the module's DT_JMPREL, or PLAN_NO_RELOC */
	uint32_t flags;	    /* enum plan_call */
};
_Static_assert(sizeof(struct plan_call_site) == 32, "plan_call_site is laid out without holes");

/*
 * Settings for the whole process, then (in the plan's memfd) nr_funcs of struct plan_func, sorted
 * by start, without overlap, and nr_calls of struct plan_call_site. Only functions with an action are listed.
 */
struct plan {
	char sid[SID_LEN];
	uint64_t threshold_ns;	 /* -t: keep calls longer than this; 0 keeps all */
	uint64_t anchor_counter; /* a pair read together by the recorder at its start, so that a */
	uint64_t anchor_ns;	 /* probe has a baseline to fit the counter's scale with */
	uint32_t flags;		 /* enum plan_flags */
	uint32_t clock;		 /* enum plan_clock */
	int32_t clock_id;	 /* clockid_t */
	uint32_t depth;		 /* -D: levels that are recorded */
	uint32_t max_stack;	 /* levels that are followed at all */
	uint32_t nr_funcs;
	uint32_t nr_calls;
	uint32_t pad;
};
_Static_assert(sizeof(struct plan) == 72, "plan is laid out without holes");

#endif
