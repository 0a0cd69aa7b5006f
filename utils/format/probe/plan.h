/* The plan: the recorder's orders to a probe. It contains addresses of functions, not names. */
#ifndef UTRAIL_FORMAT_PLAN_H
#define UTRAIL_FORMAT_PLAN_H

#include <stdint.h>

#include "utils/format/probe/capture.h"

#define SID_LEN 16 /* session id: lowercase hex digits, no NUL (doc/formats/tasks.md, "task.txt") */

enum plan_clock {
	PLAN_CLOCK_COUNTER = 0, /* the CPU's invariant counter, scaled to the ns of clock_id */
	PLAN_CLOCK_GETTIME = 1, /* clock_gettime(clock_id) for each record */
};

enum plan_flags {
	PLAN_TRACE_OFF = 1U << 0, /* --trace=off */
	PLAN_DROP = 1U << 1,	  /* --when-full=drop: records are dropped when the ring is full */
	PLAN_FLIGHT = 1U << 2,	  /* --flight: a full ring drops its oldest segment */
	/*
	 * Calls are not all recorded in the same way, for example because functions have rules, or
	 * because values are watched (-W)
	 */
	PLAN_SELECTIVE = 1U << 3,
	PLAN_WATCH_CPU = 1U << 4,    /* -W cpu */
	PLAN_CRASH_REPORT = 1U << 6, /* --crash-report: CONTROL_CRASH is sent */
	PLAN_STACKS = 1U << 7,	     /* the program has functions that switch stacks */
	/* -e: the probe replaces no return addresses. Used with PLAN_SELECTIVE */
	PLAN_ESTIMATE = 1U << 5,
	/*
	 * The comment beside each of the next three flags names a flag of enum plan_rule_flags. A
	 * call is recorded only if a rule with the named flag permits the call. If the process has
	 * no rule with the named flag, no call is recorded
	 */
	PLAN_OPT_IN_FILTER = 1U << 8,	 /* PLAN_FILTER */
	PLAN_OPT_IN_CALLER = 1U << 9,	 /* PLAN_CALLER */
	PLAN_OPT_IN_LOCATION = 1U << 10, /* PLAN_LOCATION */
	/* Other plans may follow (control_page.plan_generation). Used with PLAN_SELECTIVE */
	PLAN_STEERABLE = 1U << 11,
	/* The probe may replace a return address even if the address is not in a module's text */
	PLAN_REPLACE_ANY = 1U << 13,
	PLAN_LEAVES_OUT = 1U << 12,    /* rules may have PLAN_LEFT_OUT. Used with PLAN_STEERABLE */
	PLAN_TELLS_DEPTH = 1U << 14,   /* ring.too_deep counts the calls beyond plan.max_stack */
	PLAN_NO_LIBCALLS = 1U << 15,   /* --no-libcall; for Python only */
	PLAN_NEST_LIBCALLS = 1U << 16, /* --nest-libcall; for Python only */
	/*
	 * --patch applies to functions of the program's own file (PLAN_PATCHES_PROGRAM), or of
	 * libpython (PLAN_PATCHES_LIBPYTHON). The Python interpreter is in one of these two files.
	 * If the flag of that file is set, the interpreter's own C functions are to be recorded.
	 * Then the probe does not listen to the interpreter's events. Listening would change the
	 * calls of these C functions
	 */
	PLAN_PATCHES_PROGRAM = 1U << 17,
	PLAN_PATCHES_LIBPYTHON = 1U << 18,
	/*
	 * No function of the process' modules calls a hook. So the first thread's state is made at
	 * the thread's first recorded library call. Most short programs make no such call, and
	 * need no state
	 */
	PLAN_BEGINS_LATE = 1U << 19,
};

/*
 * The content of a rule. Each member of struct plan_rule, except @flags, is valid only if the flag
 * for that member is set.
 */
enum plan_rule_flags {
	PLAN_FILTER = 1U << 0,	     /* opt in: this function and the functions that it calls */
	PLAN_NOTRACE = 1U << 1,	     /* opt out: this function and the functions that it calls */
	PLAN_DEPTH = 1U << 2,	     /* keep plan_rule.depth levels of calls; level 1: this call */
	PLAN_TIME = 1U << 3,	     /* during the call, plan_rule.time_ns is the time threshold */
	PLAN_SIZE = 1U << 4,	     /* during the call, plan_rule.size is the size threshold */
	PLAN_CALLER = 1U << 5,	     /* keep this call and its callers; with PLAN_OPT_IN_CALLER, all
				  * other calls are dropped */
	PLAN_TRACE = 1U << 6,	     /* keep the call, however short */
	PLAN_TRACE_ON = 1U << 7,     /* switch recording on */
	PLAN_TRACE_OFF_AT = 1U << 8, /* switch recording off */
	PLAN_FINISH = 1U << 9,	     /* record the ENTRY of this call, and nothing afterwards */
	PLAN_CALLSITE = 1U << 10,    /* record the call site */
	PLAN_RECOVER = 1U << 11,     /* the program sees its own return addresses during the call */
	PLAN_READ = 1U << 12,
	/* With PLAN_OPT_IN_LOCATION, only functions whose rules have this flag are recorded */
	PLAN_LOCATION = 1U << 14,
	PLAN_LOCATION_OUT = 1U << 15, /* -L: calls to the function are not recorded */
	/* The function is not recorded, because of its cost (--overhead). No other flag is set */
	PLAN_LEFT_OUT = 1U << 16,
	/* PLAN_FILTER and PLAN_NOTRACE apply only if the conditions of the rule are met */
	PLAN_COND = 1U << 13,
};

/* The values that PLAN_READ reads at entry and at exit. */
enum plan_read {
	PLAN_READ_STATM = 1U << 0,
	PLAN_READ_PAGE_FAULT = 1U << 1,
	PLAN_READ_PMU_CYCLE = 1U << 2,
	PLAN_READ_PMU_CACHE = 1U << 3,
	PLAN_READ_PMU_BRANCH = 1U << 4,
	PLAN_READ_COUNTER = 1U << 8, /* the first of PLAN_COUNTERS_MAX bits, one for each counter */
};

#define PLAN_COUNTERS_MAX  8
#define PLAN_READ_COUNTERS (((1U << PLAN_COUNTERS_MAX) - 1) * PLAN_READ_COUNTER)

/* The event to count, as members of struct perf_event_attr. */
struct plan_counter {
	uint64_t config;
	uint32_t type;
	uint32_t pad;
};
_Static_assert(sizeof(struct plan_counter) == 16, "plan_counter is laid out without holes");

enum plan_compare {
	PLAN_EQ = 0,
	PLAN_NE = 1,
	PLAN_GT = 2,
	PLAN_GE = 3,
	PLAN_LT = 4,
	PLAN_LE = 5,
	PLAN_AND = 6, /* the compared integer has at least one of the bits of plan_cond.value */
};

/* The kinds of comparisons (see struct plan_cond). */
enum plan_cond_kind {
	PLAN_COND_INT, /* compares the lowest @bytes bytes of integer argument @index with @value */
	/*
	 * Compares floating-point argument @index with a double. The size of the argument is @bytes
	 * bytes. @value contains the bits of the double
	 */
	PLAN_COND_FLOAT,
	/*
	 * Compares a string with a text of @len bytes. Before the comparison, a long string is cut
	 * in the same way as for a record
	 */
	PLAN_COND_TEXT,
	PLAN_COND_PREFIX,    /* the string begins with a text of @len bytes */
	PLAN_COND_AUTOMATON, /* the struct automaton finds a match in the string */
	PLAN_COND_NUMBER,    /* Python: compares argument @index, as a number, with an integer */
	PLAN_COND_REAL,	     /* Python: compares argument @index, as a number, with a double */
};

/*
 * One comparison. The texts and automatons of a rule follow the rule's last comparison. Zeros pad
 * each text to a multiple of sizeof(struct plan_cond).
 *
 * @index: the number of the argument, counted from 1
 * @string: enum capture_op: the step that reads the string
 * @compare: enum plan_compare
 * @starts_alternative: this comparison follows an "or"
 * @value: a number. For a comparison with a text or an automaton, @value is the offset of the text
 *         or the automaton, in bytes from the end of the last comparison
 */
struct plan_cond {
	uint8_t kind; /* enum plan_cond_kind */
	uint8_t index;
	uint8_t bytes;	   /* 1, 2, 4, 8, or 10 */
	uint8_t is_signed; /* an integer is widened and compared as signed */
	uint8_t compare;
	uint8_t starts_alternative;
	uint8_t string;
	uint8_t len;
	int64_t value;
};
_Static_assert(sizeof(struct plan_cond) == 16, "plan_cond is laid out without holes");

/* The actions at a call of a function. Several functions may share a rule. */
struct plan_rule {
	uint32_t flags; /* enum plan_rule_flags */
	uint32_t read;	/* enum plan_read bits */
	uint32_t depth;
	uint32_t size;
	uint64_t time_ns;
	uint32_t cond; /* index of the first condition */
	uint32_t nr_conds;
};
_Static_assert(sizeof(struct plan_rule) == 32, "plan_rule is laid out without holes");

#define PLAN_NO_RULE	UINT32_MAX
#define PLAN_NO_CAPTURE UINT32_MAX

/*
 * One function: [start, end) in the process' address space. A function without a rule is in the
 * list because of its captured values, or because of its size.
 */
struct plan_func {
	uint64_t start;
	uint64_t end;
	uint32_t rule; /* the index of the function's rule, or PLAN_NO_RULE */
	/*
	 * The index of the first step (CAPTURE_HEAD) of the function's capture program.
	 * PLAN_NO_CAPTURE: the function has no capture program
	 */
	uint32_t capture;
};
_Static_assert(sizeof(struct plan_func) == 24, "plan_func is laid out without holes");

/* The way to record a library call. */
enum plan_call {
	/*
	 * The probe must not change the call's return slot. The called function reads the return
	 * address (dlvsym), stores the return address (getcontext), returns more than once (setjmp,
	 * vfork), or does not return (longjmp). ENTRY and EXIT are written together
	 */
	PLAN_CALL_NO_RETURN_HOOK = 1U << 0,
	/*
	 * The call is not recorded. The called function is __cxa_begin_catch: the caller has caught
	 * an exception. The exception has ended all unfinished calls below the caller.
	 */
	PLAN_CALL_LANDING = 1U << 1,
	/* With NO_RETURN_HOOK: setjmp(3). It returns 0, and returns again by longjmp(3). */
	PLAN_CALL_SETJMP = 1U << 2,
	/*
	 * The function has two arguments, and uses its return address to find the module of the
	 * caller (dlopen, dlsym). See libmcount/program/caller.c.
	 */
	PLAN_CALL_BY_CALLER = 1U << 3,
	/*
	 * The call is not recorded. The probe makes the GOT slot point to a function of the probe.
	 * This function is hook number plan_call_site.flags >> PLAN_CALL_HOOK_SHIFT of enum
	 * plan_hook. If a recorded call uses the same slot, the list PLAN_CALLS has two entries for
	 * the slot. The entry with PLAN_CALL_HOOK comes before the entry of the recorded call.
	 */
	PLAN_CALL_HOOK = 1U << 4,
	/*
	 * With NO_RETURN_HOOK: the function is vfork(2). NO_RETURN_HOOK does not apply if the call
	 * leads to the probe's own vfork()
	 */
	PLAN_CALL_VFORK = 1U << 5,
};

#define PLAN_CALL_HOOK_SHIFT 16

/* The functions of the probe that programs call by name. */
enum plan_hook {
	PLAN_HOOK_MCOUNT,
	PLAN_HOOK_FENTRY,
	PLAN_HOOK_CYG_ENTER,
	PLAN_HOOK_CYG_EXIT,
	PLAN_HOOK_DLOPEN,
	PLAN_HOOK_LONGJMP,
	PLAN_HOOK_LONGJMP_BSD, /* _longjmp */
	PLAN_HOOK_SIGLONGJMP,
	PLAN_HOOK_LONGJMP_CHK,
	PLAN_HOOK_PRCTL,
	PLAN_HOOK_DLCLOSE,
	PLAN_HOOKS
};

#define PLAN_NO_RELOC UINT32_MAX

/*
 * A library function that a module calls through a GOT slot. In records, @addr stands for the
 * function. The entries are sorted by module.
 */
struct plan_call_site {
	uint64_t load_bias; /* the module's load bias, which identifies the module */
	uint64_t slot;	    /* the address of the GOT slot */
	uint64_t addr;	    /* the address in records */
	uint32_t reloc;	    /* the index of the slot in the module's DT_JMPREL, or PLAN_NO_RELOC */
	uint32_t flags;	    /* enum plan_call */
};
_Static_assert(sizeof(struct plan_call_site) == 32, "plan_call_site is laid out without holes");

/* The kinds of changes in the code of a module. */
enum plan_patch_what {
	/*
	 * An event of the program (-E). The code at plan_patch.site becomes a jump to a stub. The
	 * stub records the event, runs the replaced instructions, and continues in the program.
	 */
	PATCH_EVENT = 0,
	/*
	 * The start of a function. The code at plan_patch.site becomes a jump to a stub that acts
	 * like a call of __fentry__.
	 */
	PATCH_ENTRY = 1,
	/* Nops at the start of a function. The nops become a call of __fentry__. */
	PATCH_CALL = 2,
	/*
	 * Sleds of clang's XRay, at the start of a function, at its returns, and at its tail calls.
	 */
	PATCH_XRAY_ENTRY = 3,
	PATCH_XRAY_EXIT = 4,
	PATCH_XRAY_TAIL = 5,
	/* A call to mcount or __fentry__. The call becomes nops. */
	PATCH_NOP = 6,
	PATCH_KINDS
};

enum plan_patch_flags {
	/*
	 * Without PLAN_PATCH_SHORT: the patch is within the bytes that the previous patch replaces.
	 * Nothing is written at the site of this patch, because the code of the previous patch
	 * continues in the stub of this patch
	 */
	PLAN_PATCH_INNER = 1U << 0,
	/*
	 * The patch records nothing. Its jump is used by the next patch, which has no room for a
	 * long jump.
	 */
	PLAN_PATCH_SILENT = 1U << 1,
	/*
	 * With PLAN_PATCH_INNER: the patch has room only for a short jump, which leads to the site
	 * of the previous patch. The previous patch is an island: a patch with PLAN_PATCH_SILENT
	 * and without @code
	 */
	PLAN_PATCH_SHORT = 1U << 2,
	/*
	 * PATCH_ENTRY: the site is a call of the function. This call becomes a call of the stub,
	 * whose code jumps to the function.
	 */
	PLAN_PATCH_BY_CALLER = 1U << 3,
};

/* The length of a long jump or a call. plan_patch.bytes is at least as large. */
#define PLAN_PATCH_JUMP	    5
#define PLAN_PATCH_ORIGINAL 16
#define PLAN_PATCH_CODE	    64
#define PLAN_PATCH_FIXES    8

/*
 * One change of the code of a module. The code at @site is replaced if it equals @original. The
 * patches of a module are in the order that PLAN_PATCH_INNER and PLAN_PATCH_SHORT require.
 *
 * PATCH_EVENT and PATCH_ENTRY have a stub within 2 GiB of @site. The stub runs the hook and then
 * @code. @code runs the replaced instructions and continues in the program.
 *
 * @semaphore: the address of a 16-bit counter, or 0 if there is no counter. If there is a counter,
 *             the program comes to @site only while the counter is positive
 * @addr: an address inside of the function. In records, this address stands for the function. Not
 *        used by PATCH_EVENT and PATCH_NOP
 * @event: PATCH_EVENT: the event's id in records
 * @slot: PATCH_ENTRY: the number of bytes from the stack pointer to the return slot; 0 at the first
 *        instruction of a function
 * @fixes: the offsets in @code of 32-bit displacements that are relative to @site
 * @clear: the size in bytes of the original instructions whose work @code does; 0: there is no
 *         @code. These instructions begin at @site. While the patch is written, the instruction
 *         pointer of a thread may be @site, but not the address of a later byte of these
 *         instructions
 * @operands: PATCH_EVENT: 1 + the index of the event's first argument among PLAN_OPERANDS; 0: the
 *            event has no arguments
 */
struct plan_patch {
	uint64_t load_bias; /* the module's load bias, which identifies the module */
	uint64_t site;
	uint64_t semaphore;
	uint64_t addr;
	uint32_t event;
	uint16_t slot;
	uint8_t what;  /* enum plan_patch_what */
	uint8_t flags; /* enum plan_patch_flags */
	uint8_t len;   /* the number of bytes in @code */
	uint8_t nr_fixes;
	uint8_t bytes; /* the number of bytes in @original */
	uint8_t fixes[PLAN_PATCH_FIXES];
	uint8_t original[PLAN_PATCH_ORIGINAL];
	uint8_t code[PLAN_PATCH_CODE];
	uint8_t clear;
	uint32_t operands;
};
_Static_assert(sizeof(struct plan_patch) == 136, "plan_patch is laid out without holes");

/* True when a patch writes no bytes at its site (PLAN_PATCH_INNER). @flags: plan_patch_flags */
static inline bool plan_patch_has_no_text(unsigned flags)
{
	return (flags & PLAN_PATCH_INNER) && !(flags & PLAN_PATCH_SHORT);
}

/* The kinds of places that can hold an event's argument when the program comes to the event. */
enum plan_operand_kind {
	PLAN_OPERAND_NONE,     /* unknown */
	PLAN_OPERAND_CONSTANT, /* @value */
	PLAN_OPERAND_REGISTER, /* the general register @base, shifted right by @shift bits */
	PLAN_OPERAND_VECTOR,   /* the lowest @bytes of vector register @base */
	PLAN_OPERAND_MEMORY,   /* the memory at @value + @base + (@index << @shift) */
	PLAN_OPERAND_KINDS
};

enum plan_operand_flags {
	PLAN_OPERAND_SIGNED = 1U << 0,
	PLAN_OPERAND_LAST = 1U << 1, /* this argument is the last argument of the event */
};

#define PLAN_NO_REGISTER  0xff
#define PLAN_REGISTERS	  16
#define PLAN_OPERANDS_MAX 16 /* the maximum number of arguments of an event */

/*
 * One argument of PATCH_EVENT. In the list PLAN_OPERANDS, the arguments of an event stand together,
 * from the first argument to the last.
 *
 * @bytes: the size of the value: 1, 2, 4 or 8. The value is widened to 64 bits by its sign
 *         (PLAN_OPERAND_SIGNED) or with zeros
 * @base, @index: DWARF numbers of general registers, or PLAN_NO_REGISTER. With the kind
 *                PLAN_OPERAND_VECTOR, @base is the number of a vector register, counted from 0
 */
struct plan_operand {
	uint8_t kind;  /* enum plan_operand_kind */
	uint8_t flags; /* enum plan_operand_flags */
	uint8_t bytes;
	uint8_t base;
	uint8_t index;
	uint8_t shift;
	uint8_t pad[2];
	uint64_t value;
};
_Static_assert(sizeof(struct plan_operand) == 16, "plan_operand is laid out without holes");

/*
 * A range of code. The probe does not replace a return address that lies in this range
 * (libmcount/hot/callers.h).
 */
struct plan_callers {
	uint64_t start;
	uint64_t end;
};
_Static_assert(sizeof(struct plan_callers) == 16, "plan_callers is laid out without holes");

#define PLAN_WATCHES_MAX 8

/* A watched variable of this process: its address, and its size of 1 to 8 bytes. */
struct plan_watch {
	uint64_t addr;
	uint32_t bytes;
	uint32_t pad;
};
_Static_assert(sizeof(struct plan_watch) == 16, "plan_watch is laid out without holes");

/*
 * Settings of the whole process. A later plan may change some of them (libmcount/plan/plans.h).
 *
 * @anchor_counter, @anchor_ns: the values of the CPU's counter and of the clock at one time, when
 *                              the recorder started
 * @signals_on, @signals_off, @signals_finish: --signal: bit N - 1 is for signal N. Used with
 *                                             PLAN_SELECTIVE
 * @generation: PLAN_STEERABLE: the number of this plan, as in control_page.plan_generation
 * @on_generation: PLAN_STEERABLE: the number of the plan by which the user last switched recording
 *                 on (`on`). If the probe's former plan has a lower number than @on_generation,
 *                 the probe switches recording on when it gets this plan, even if a trigger has
 *                 switched recording off. If this plan has PLAN_TRACE_OFF, the probe switches
 *                 recording off instead
 */
struct plan {
	uint64_t threshold_ns; /* -t: keep calls longer than this; 0 keeps all */
	uint64_t anchor_counter;
	uint64_t anchor_ns;
	uint32_t flags;	      /* enum plan_flags */
	uint32_t clock;	      /* enum plan_clock */
	int32_t clock_id;     /* clockid_t */
	uint32_t depth;	      /* -D: the number of levels of nested calls that are recorded */
	uint32_t max_stack;   /* --max-stack: the probe follows calls up to this depth */
	uint32_t size_filter; /* -Z: minimum size of functions in bytes. Used with PLAN_SELECTIVE */
	uint64_t signals_on;
	uint64_t signals_off;
	uint64_t signals_finish;
	uint32_t generation;
	uint32_t on_generation;
};
_Static_assert(sizeof(struct plan) == 80, "plan is laid out without holes");

/*
 * The image is the content of a memfd that the recorder sends to a probe. The image consists of a
 * header, a directory and sections. Each section is an array of entries of one kind. A reader skips
 * sections of unknown kinds. If entries are longer than the reader expects, the reader skips the
 * end of each entry.
 *
 * Only plan.c writes and reads the image. A new kind needs an enumerator here, a row in plan.c, and
 * code that uses entries of this kind.
 */
enum plan_kind {
	PLAN_SETTINGS = 1,  /* one struct plan. An image without settings extends an earlier plan */
	PLAN_FUNCS = 2,	    /* struct plan_func, sorted by start; functions do not overlap */
	PLAN_CALLS = 3,	    /* struct plan_call_site, sorted by module */
	PLAN_PATCHES = 4,   /* struct plan_patch, sorted by module */
	PLAN_RULES = 5,	    /* struct plan_rule */
	PLAN_CONDS = 6,	    /* struct plan_cond, or a part of a text or of an automaton */
	PLAN_STEPS = 7,	    /* struct capture_step; each box_step fills BOX_STEP_UNITS entries */
	PLAN_WATCHES = 8,   /* struct plan_watch: -W var:NAME. Used with PLAN_SELECTIVE */
	PLAN_COUNTERS = 9,  /* struct plan_counter: counters of `read=`. Used with PLAN_SELECTIVE */
	PLAN_OPERANDS = 10, /* struct plan_operand: arguments of events */
	PLAN_CALLERS = 11,  /* struct plan_callers */
	PLAN_KINDS
};

#define PLAN_MAGIC	  0x4e414c50 /* "PLAN" */
#define PLAN_ALIGN	  16
#define PLAN_SECTIONS_MAX 64

struct plan_header {
	uint32_t magic;
	uint32_t nr_sections; /* the number of struct plan_section that follow */
	uint64_t pad;
};

struct plan_section {
	uint32_t kind;
	uint32_t entry_bytes;
	uint64_t nr;
	uint64_t offset; /* counted from the start of the image */
};
_Static_assert(sizeof(struct plan_header) == 16 && sizeof(struct plan_section) == 24,
	       "the directory is laid out without holes");

/* The entries of one kind. */
struct plan_list {
	const void *entries;
	uint32_t nr;
	uint32_t entry_bytes; /* the distance from an entry to the next one */
};

/* The lists of an image, by kind. Absent kinds have an empty list. */
struct plan_view {
	struct plan_list lists[PLAN_KINDS];
};

/*
 * Find the sections of the image @bytes[@len]. @bytes must be aligned as by mmap(2).
 *
 * Returns 0 if all references (indexes, capture programs, texts) are within their sections, or
 * -EINVAL.
 *
 * @why: gets the text of the error, or NULL on success. The caller may pass NULL as @why
 */
int plan_open(struct plan_view *view, const void *bytes, uint64_t len, const char **why);

/* Returns the size of an entry of @kind in this build. */
uint32_t plan_entry_bytes(enum plan_kind kind);

/* Copy the entries of @kind to the array @to. */
void plan_copy(const struct plan_view *view, enum plan_kind kind, void *to);

/* Returns a list of @nr entries. Each has the size that an entry of @kind has in this build. */
static inline struct plan_list plan_list(enum plan_kind kind, const void *entries, uint32_t nr)
{
	return (struct plan_list){ entries, nr, plan_entry_bytes(kind) };
}

/* Returns the size of the image of the lists in @view. plan_image_put() writes the image to @to. */
uint64_t plan_image_bytes(const struct plan_view *view);
void plan_image_put(const struct plan_view *view, void *to);

/*
 * For callers that write the image in pieces. plan_image_head_bytes() returns the size of the head,
 * and plan_image_place() the offset of the list of @kind (0: the list is empty). The caller leaves
 * zeros in the gaps between lists.
 */
uint64_t plan_image_head_bytes(const struct plan_view *view);
void plan_image_put_head(const struct plan_view *view, void *to);
uint64_t plan_image_place(const struct plan_view *view, enum plan_kind kind);

#endif
