/* Entry stubs and return trampoline: they change no register that a call must preserve. */
#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/arch.h"
#include "arch/x86_64/xsave.h"
#include "libmcount/hot/callers.h"
#include "libmcount/program/lend.h"
#include "libmcount/hot/planned.h"
#include "libmcount/hot/probe.h"
#include "tests/unit/lib/probe/step.h"
#include "tests/unit/lib/unit.h"

extern uint64_t trash_argument;

void traced_mcount(void);
void traced_fentry(void);
void traced_xray(void);
void traced_xray_tail(void);
void traced_slow(void);
void trash_registers(void);

/* The layout that traced.S describes. */
struct registers {
	uint64_t general[14];
	uint64_t flags;
	uint64_t pad;
	_Alignas(64) uint8_t vectors[4096];
};
_Static_assert(__builtin_offsetof(struct registers, vectors) == 128, "known to traced.S");

void call_with_registers(void (*fn)(void), const struct registers *in, struct registers *out);

/*
 * Replacements for libmcount's functions: they overwrite all registers and say whether the slot is
 * to be replaced.
 */
_Atomic(struct thread *) probe_threads;
__thread struct thread *self;
bool probe_skips;
struct callers callers = { .bytes = UINT64_MAX }; /* all return addresses may be replaced */
struct probe probe;

/* The stub of syscall(3) calls stand-ins for functions of the probe. They note their calls here. */
static struct {
	long number;
	uint64_t first;
	uint32_t is_fork;
	int nr_children;
	long failed;
} seen;

uint32_t probe_syscall(long number, uint64_t first, uint64_t second, uint64_t third)
{
	seen.number = number;
	seen.first = first;
	return seen.is_fork;
}

long probe_syscall_failed(long result)
{
	seen.failed = result;
	return -1;
}

void thread_after_fork(void)
{
	seen.nr_children++;
}

/* The stub of vfork(2) calls stand-ins for functions of the probe. They note their calls here. */
static struct thread lent_state;
static struct {
	uint64_t slot;
	int nr_begun;
	int nr_ended;
} lent;

struct thread *lend_prepare(uint64_t slot)
{
	lent.slot = slot;
	trash_registers();
	return &lent_state;
}

void lend_begin(struct thread *t)
{
	lent.nr_begun += t == &lent_state;
	trash_registers();
}

void lend_end(struct thread *t)
{
	lent.nr_ended += t == &lent_state;
	trash_registers();
}

static bool walks;
static void *walked[8];
static int nr_walked;

/* Take a backtrace. A macro, since a function might or might not have a frame. */
#define WALK()                                                             \
	do {                                                               \
		if (walks)                                                 \
			nr_walked = backtrace(walked, ARRAY_SIZE(walked)); \
	} while (0)

static bool replace;
static uint64_t *seen_slot;
static uint64_t seen_addr;
static uint64_t held;
static int exits;

uint32_t probe_entry(uint64_t *slot, uint64_t addr, const struct arch_regs *regs)
{
	WALK();
	seen_slot = slot;
	seen_addr = addr;
	if (replace) {
		held = *slot;
		*slot = (uint64_t)arch_return_trampoline;
	}
	trash_registers();
	return replace;
}

uint32_t probe_entry_guarded(uint64_t *slot, uint64_t addr, const struct arch_regs *regs)
{
	assert_int_equal(self->busy, 1);
	self->busy = 0;
	return probe_entry(slot, addr, regs);
}

uint32_t probe_entry_looked_up(uint64_t *slot, uint64_t addr, const struct arch_regs *regs)
{
	return probe_entry(slot, addr, regs);
}

uint32_t probe_entry_framed(uint64_t *slot, uint64_t addr, const struct arch_regs *regs,
			    uint64_t *other)
{
	return probe_entry(slot, addr, regs);
}

void traced_libcall(void);
void library_function(void);

/* The target of traced_libcall(): a stub that the test has written. */
uint64_t got_slot;
static uint64_t seen_index;

/* The content of r11 in library_function(). A PLT may pass a value in r11 to the linker's code. */
uint64_t r11_in_library;
#define R11_BEFORE 0x5566778899aabbccULL

struct libcall probe_libcall(uint64_t *slot, uint64_t index, struct arch_regs *regs)
{
	struct libcall call = { (uint64_t)library_function, probe_entry(slot, index, regs) };

	seen_index = index;
	return call;
}

#define FLAGS_BEFORE  0xcd7 /* with the carry, direction and overflow flags set */
#define FLAGS_COUNTED 0x8d7 /* without the direction flag, which is clear at each entry */

/* The target of traced_point(), the flags after and before the event, and the red zone after it. */
uint64_t point_stub;
uint64_t point_flags;
uint64_t point_flags_before = FLAGS_BEFORE;
uint64_t point_red_zone[2];
#define RED_ZONE_ABOVE 0x0123456789abcdefULL
#define RED_ZONE_BELOW 0xfedcba9876543210ULL

extern const char traced_point_back[];
void traced_point(void);

static uint32_t seen_point;
static uint64_t seen_sp;

void probe_point(uint32_t event, uint64_t sp)
{
	WALK();
	seen_point = event;
	seen_sp = sp;
	trash_registers();
}

/* The data available to an event with arguments. */
static struct arch_point seen_args;
static uint64_t seen_vectors[16][2];

/*
 * The stub calls this function with any alignment of the stack. The probe's
 * code, which uses no vector registers, works with each. This function needs the attribute.
 */
__attribute__((force_align_arg_pointer)) void probe_point_args(const struct arch_point *point)
{
	const void *from = point;
	void *to = &seen_args;
	uint64_t words = sizeof(seen_args) / sizeof(uint64_t);

	WALK();
	for (unsigned i = 0; i < ARRAY_SIZE(seen_vectors); i++)
		arch_read_vector(seen_vectors[i], i);
	__asm__ volatile("rep movsq" : "+S"(from), "+D"(to), "+c"(words) : : "memory");
	seen_sp = arch_point_sp(point);
	trash_registers();
}

void probe_xray_entry(uint64_t *slot, uint64_t addr, const struct arch_regs *regs)
{
	probe_entry(slot, addr, regs);
}

static uint64_t seen_result;

void probe_xray_exit(uint64_t slot, const struct arch_regs *regs)
{
	assert_int_equal(slot, seen_slot);
	seen_result = regs ? regs->rax : 0;
	exits++;
	trash_registers();
}

uint64_t probe_exit(uint64_t slot, const struct arch_regs *regs)
{
	assert_int_equal(slot, seen_slot);
	exits++;
	trash_registers();
	return held;
}

static bool expects_return_to_top;

uint64_t probe_exit_guarded(uint64_t slot, const struct arch_regs *regs)
{
	assert_int_equal(self->busy, 1);
	self->busy = 0;
	if (expects_return_to_top) {
		seen_slot = (uint64_t *)self->top->slot;
		held = self->top->ret;
	}
	return probe_exit(slot, regs);
}

static int leaves;

void probe_leave(void)
{
	leaves++;
	self->busy = 0;
	trash_registers();
}

/*
 * Values that a wrong restore cannot produce by chance. The header of the area marks all parts as
 * used.
 */
static void fill(struct registers *r)
{
	memset(r, 0, sizeof(*r));
	for (size_t i = 0; i < ARRAY_SIZE(r->general); i++)
		r->general[i] = 0x1122334455667700ULL + i;

	/*
	 * The area for XRSTOR needs at least control words that mask all exceptions, as they do at
	 * the start of a program.
	 */
	const uint16_t x87_control = 0x37f;
	const uint32_t mxcsr = 0x1f80;
	struct registers *now = aligned_alloc(64, sizeof(*now));

	memcpy(r->vectors, &x87_control, sizeof(x87_control));
	memcpy(r->vectors + 24, &mxcsr, sizeof(mxcsr));

	/* A valid image: the CPU's current state, with our values in the registers. */
	memset(now, 0, sizeof(*now));
	call_with_registers(trash_registers, r, now);
	memcpy(r->vectors, now->vectors, sizeof(r->vectors));
	for (size_t i = 160; i < 416; i++) /* xmm0 to xmm15 */
		r->vectors[i] = i;
	if (arch_xsave_mask & XSAVE_AVX) { /* the upper halves of ymm0 to ymm15 */
		for (size_t i = 576; i < 832; i++)
			r->vectors[i] = i * 7;
	}
	memcpy(r->vectors + XSAVE_HEADER, &arch_xsave_mask, sizeof(arch_xsave_mask));
	free(now);
}

static void check(void (*fn)(void))
{
	struct registers *in = aligned_alloc(64, sizeof(*in));
	struct registers *out = aligned_alloc(64, sizeof(*out));

	fill(in);
	memset(out, 0, sizeof(*out));
	call_with_registers(fn, in, out);
	assert_memory_equal(in->general, out->general, sizeof(in->general));
	assert_int_equal(out->flags & 0x400, 0); /* DF */
	/*
	 * Compare x87 control, MXCSR, and the registers. The instruction pointers of the x87 may
	 * differ.
	 */
	assert_memory_equal(in->vectors, out->vectors, 4);
	assert_memory_equal(in->vectors + 24, out->vectors + 24, 4);
	assert_memory_equal(in->vectors + 32, out->vectors + 32, 416 - 32);
	if (arch_xsave_mask & XSAVE_AVX)
		assert_memory_equal(in->vectors + 576, out->vectors + 576, 256);
	free(in);
	free(out);
}

TEST(left_alone)
{
	replace = false;
	check(traced_mcount);
	check(traced_fentry);
}

/*
 * A call that the filters drop: the stub does not call the probe, unless a condition requires that.
 */
static void check_skipped(void (*fn)(void))
{
	static struct planned_place table[PLANNED_CALLS];
	static const struct planned_place empty[PLANNED_CALLS];
	static struct frame outermost = { .slot = INT64_MAX };
	static struct thread thread;

	self = NULL;
	check(fn);

	uint64_t addr = seen_addr;

	thread = (struct thread){ .top = &outermost, .calls = table };
	table[planned_place_of(addr)].alone = addr;
	self = &thread;
	seen_addr = 0;
	check(fn);
	assert_int_equal(seen_addr, 0);
	/*
	 * The stub calls the probe in these cases: a hook runs, frames must be ended, the table has
	 * another function at this place, or the table is empty.
	 */
	thread.busy = 1;
	check(fn);
	assert_int_equal(seen_addr, addr);
	thread.busy = 0;
	outermost.slot = (uint64_t)seen_slot;
	seen_addr = 0;
	check(fn);
	assert_int_equal(seen_addr, addr);
	outermost.slot = INT64_MAX;
	table[planned_place_of(addr)].alone = addr + 1;
	seen_addr = 0;
	check(fn);
	assert_int_equal(seen_addr, addr);
	thread.calls = empty;
	seen_addr = 0;
	check(fn);
	assert_int_equal(seen_addr, addr);
	self = NULL;
}

TEST(skipped)
{
	replace = false;
	probe_skips = true;
	check_skipped(traced_mcount);
	check_skipped(traced_fentry);
	probe_skips = false;
}

TEST(replaced)
{
	replace = true;
	exits = 0;
	check(traced_mcount);
	assert_int_equal(exits, 1);
	check(traced_fentry);
	assert_int_equal(exits, 2);
}

/* --- the fast paths of a call and of a return, which call no function --- */

static struct ring ring;
static struct record records[4];
/* A thread with room for three frames. */
static union {
	struct thread thread;
	char bytes[sizeof(struct thread) + 3 * sizeof(struct frame)];
} fast;

static struct thread *prepare_fast(void)
{
	struct thread *t = &fast.thread;

	memset(&ring, 0, sizeof(ring));
	memset(records, 0, sizeof(records));
	memset(&fast, 0, sizeof(fast));
	t->frames[0].slot = INT64_MAX;
	t->frames[0].data = record_data(RECORD_ENTRY, RECORD_DEPTH_MAX, 0);
	t->top = t->written = t->fast_base = t->frames;
	t->fast_limit = t->frames + 1;
	t->drop_limit = (struct frame *)UINTPTR_MAX;
	t->at = (char *)records;
	t->end = (char *)(records + 2);
	t->position = 4096 - (uint64_t)records;
	t->ring = &ring;
	t->refit_ticks = UINT64_MAX;
	t->base_ns = t->last_ns = UINT64_MAX / 2; /* time does not advance */
	replace = true;
	exits = leaves = 0;
	seen_addr = 0;
	return t;
}

static void check_fast(void (*fn)(void))
{
	struct thread *t = prepare_fast();

	self = NULL;
	check(fn);

	uint64_t addr = seen_addr;
	uint64_t slot = (uint64_t)seen_slot;

	for (int has_aside = 0; has_aside < 2; has_aside++) {
		t = prepare_fast();
		t->has_aside_records = has_aside;
		self = t;
		check(fn);
		assert_int_equal(seen_addr, 0);
		assert_int_equal(exits, 0);
		assert_int_equal(leaves, 2 * has_aside);
		assert_int_equal(t->busy, 0);
		assert_ptr_equal(t->top, t->frames);
		assert_ptr_equal(t->written, t->frames);
		assert_int_equal(t->frames[1].slot, slot);
		assert_int_equal(t->frames[1].ret, held);
		assert_int_equal(t->frames[1].time_ns, UINT64_MAX / 2);
		assert_int_equal(records[0].time_ns, UINT64_MAX / 2);
		assert_int_equal(records[0].data, record_data(RECORD_ENTRY, 0, addr));
		assert_int_equal(records[1].data, record_data(RECORD_EXIT, 0, addr));
		assert_ptr_equal(t->at, t->end);
		assert_int_equal(ring.head, 4096 + sizeof(records) / 2);
	}
}

enum obstacle {
	BUSY,
	NO_ROOM,
	NO_FRAME,
	REFIT,
	EARLIER,
	INSIDE,
	OTHER_STACK,
	NR_OBSTACLES
};

/*
 * With an obstacle the fast paths of a call and of its return change nothing, and call the probe's
 * functions.
 */
static void check_not_fast(void (*fn)(void), enum obstacle o)
{
	struct thread *t = prepare_fast();

	switch (o) {
	case BUSY:
		t->busy = 1;
		break;
	case NO_ROOM:
		t->end--;
		t->at = t->end - sizeof(records[0]) + 1;
		break;
	case NO_FRAME:
		t->fast_limit = t->frames;
		break;
	case REFIT:
		t->refit_ticks = 0;
		break;
	case EARLIER:
		t->last_ns++;
		break;
	case INSIDE:
		t->frames[0].slot = (uint64_t)seen_slot;
		break;
	default:
		t->low = INT64_MAX;
	}

	struct thread before = *t;

	self = t;
	check(fn);
	assert_int_not_equal(seen_addr, 0);
	assert_int_equal(exits, 1);
	assert_memory_equal(t, &before, sizeof(before));
	assert_int_equal(ring.head, 0);
}

/*
 * A call that is too deep, or too short to be kept: no record is written, and no function is
 * called.
 */
static void check_beyond(void (*fn)(void), bool is_held)
{
	for (int has_aside = 0; has_aside < 2; has_aside++) {
		struct thread *t = prepare_fast();

		t->has_aside_records = has_aside;
		t->fast_limit = t->frames;
		t->fast_base = (struct frame *)UINTPTR_MAX;
		t->threshold_ns = UINT64_MAX;
		if (is_held)
			t->held_limit = t->frames + 1;
		else
			t->drop_limit = t->frames;
		self = t;
		check(fn);
		assert_int_equal(seen_addr, 0);
		assert_int_equal(exits, 0);
		assert_int_equal(leaves, has_aside * (is_held ? 2 : 1));
		assert_int_equal(t->busy, 0);
		assert_ptr_equal(t->top, t->frames);
		assert_ptr_equal(t->at, (char *)records);
		assert_int_equal(t->frames[1].time_ns, is_held ? UINT64_MAX / 2 : 0);
		assert_int_equal(ring.head, 0);
	}
}

/* The ENTRY record was held back, and the call took longer than the threshold. */
static void check_kept(void (*fn)(void))
{
	struct thread *t = prepare_fast();

	t->mult = 1ULL << 32;
	t->base_ns = t->last_ns = 0;
	t->fast_limit = t->frames;
	t->fast_base = (struct frame *)UINTPTR_MAX;
	t->held_limit = t->frames + 1;
	self = t;
	seen_slot = NULL;
	expects_return_to_top = true;
	check(fn);
	expects_return_to_top = false;
	assert_int_equal(seen_addr, 0);
	assert_int_equal(exits, 1);
	assert_ptr_equal(t->top, t->frames + 1);
	assert_ptr_equal(t->at, (char *)records);
}

/* Returns a thread that is ready to become open by a call of the function at @addr. */
static struct thread *prepare_ready(struct planned *p, uint64_t addr)
{
	struct thread *t = prepare_fast();

	memset(p, 0, sizeof(*p));
	p->skip_outside[planned_place_of(addr)].call = -addr;
	t->planned = p;
	t->calls = p->skip_outside;
	t->admitted = t->fast_base = t->frames + 1;
	return t;
}

static void check_ready(const struct thread *t)
{
	assert_ptr_equal(t->calls, t->planned->skip_outside);
	assert_int_equal(t->planned->now.in, 0);
	assert_ptr_equal(t->top, t->frames);
	assert_int_equal(t->busy, 0);
}

/* An admitted call may be entered and left by the fast path or by the slow one. */
static void check_admitted(void (*fn)(void))
{
	static struct planned planned;

	self = NULL;
	check(fn);

	uint64_t addr = seen_addr;

	for (int around = 0; around < 6; around++) {
		struct thread *t = prepare_ready(&planned, addr);

		t->has_aside_records = around == 5;
		t->alone_slot = around ? (uint64_t)INT64_MAX - 7 + around - 1 : 0;
		self = t;
		check(fn);
		assert_int_equal(seen_addr, 0);
		assert_int_equal(exits, 0);
		assert_int_equal(leaves, t->has_aside_records ? 2 : 0);
		check_ready(t);
		assert_int_equal(records[0].data, record_data(RECORD_ENTRY, 0, addr));
		assert_int_equal(records[1].data, record_data(RECORD_EXIT, 0, addr));
		assert_ptr_equal(t->at, t->end);
		assert_int_equal(ring.head, 4096 + sizeof(records) / 2);
	}
}

/* Inside of an admitted call, or without room for a call's end, the stub makes only the frame. */
static void check_admitted_alone(void (*fn)(void), bool is_admitted)
{
	static struct planned planned;

	self = NULL;
	check(fn);

	uint64_t addr = seen_addr;
	struct thread *t = prepare_ready(&planned, addr);

	if (is_admitted)
		t->end--;
	else
		t->admitted = NULL;
	self = t;
	seen_slot = NULL;
	expects_return_to_top = true;
	check(fn);
	expects_return_to_top = false;
	assert_int_equal(seen_addr, 0);
	assert_int_equal(exits, 1);
	assert_ptr_equal(t->top, t->frames + 1);
	assert_ptr_equal(t->calls, is_admitted ? planned.skip_outside : planned.pass);
	assert_int_equal(planned.now.in, !is_admitted);
}

/* If a condition prevents the fast path, the stub calls the function and has changed nothing. */
static void check_not_admitted(void (*fn)(void), unsigned what)
{
	static struct planned planned;

	self = NULL;
	check(fn);

	struct thread *t = prepare_ready(&planned, seen_addr);

	if (what == 0)
		t->at = t->end;
	else if (what == 1)
		t->fast_limit = t->frames;
	else if (what == 2)
		t->refit_ticks = 0;
	else if (what == 3)
		probe.is_on = false;
	else
		t->low = INT64_MAX;
	self = t;
	check(fn);
	probe.is_on = true;
	assert_int_not_equal(seen_addr, 0);
	assert_int_equal(ring.head, 0);
	assert_ptr_equal(t->top, t->frames);
	assert_ptr_equal(t->calls, planned.skip_outside);
	assert_int_equal(planned.now.in, 0);
}

static unsigned nr_steps;
static unsigned nr_bad;

/*
 * A signal handler may jump out of a stub at any instruction. So a thread must never be open
 * without a frame, since the end of that frame closes it. Outside of hooks, a thread with a frame
 * is open, too.
 */
static void on_step(int sig)
{
	const struct thread *t = &fast.thread;
	bool is_open = t->top != t->frames;
	bool has_pass = t->calls == t->planned->pass;
	bool is_in = t->planned->now.in;

	nr_steps++;
	nr_bad += !is_open && (has_pass || is_in);
	nr_bad += !t->busy && (has_pass != is_open || is_in != is_open);
}

static void check_each_step(void (*fn)(void))
{
	static struct planned planned;
	struct sigaction action = { .sa_handler = on_step };
	struct sigaction before;

	self = NULL;
	check(fn);

	uint64_t addr = seen_addr;

	assert_int_equal(sigaction(SIGTRAP, &action, &before), 0);
	nr_bad = 0;
	for (int around = 0; around < 2; around++) {
		struct thread *t = prepare_ready(&planned, addr);

		t->alone_slot = around ? (uint64_t)INT64_MAX - 7 : 0;
		self = t;
		nr_steps = 0;
		STEPPED(fn());
		check_ready(t);
		assert_ptr_equal(t->at, t->end);
		if (nr_steps)
			assert_in_range(nr_steps, 150, 300);
	}
	assert_int_equal(nr_bad, 0);
	sigaction(SIGTRAP, &before, NULL);
}

TEST(opened)
{
	void (*const traced[])(void) = { traced_mcount, traced_fentry };

	replace = true;
	probe_skips = probe.tracing = probe.is_on = true;
	for (size_t i = 0; i < ARRAY_SIZE(traced); i++) {
		check_admitted(traced[i]);
		check_each_step(traced[i]);
		check_admitted_alone(traced[i], false);
		check_admitted_alone(traced[i], true);
		for (unsigned what = 0; what < 5; what++)
			check_not_admitted(traced[i], what);
	}
	probe_skips = probe.tracing = false;
	self = NULL;
}

/* Check that a call of @fn records nothing. */
static void check_quiet(void (*fn)(void))
{
	struct thread *t = prepare_fast();

	replace = probe.plain = probe.tracing = false;
	self = t;
	check(fn);
	assert_int_equal(seen_addr, 0);
	t->frames[0].slot = 0; /* the frame of this call must be ended first */
	check(fn);
	assert_int_not_equal(seen_addr, 0);
	t = prepare_fast();
	replace = false;
	t->busy = 1;
	check(fn);
	assert_int_not_equal(seen_addr, 0);
	probe.plain = true;
}

TEST(fast_paths)
{
	void (*const traced[])(void) = { traced_mcount, traced_fentry };

	probe.plain = probe.is_on = true;
	for (size_t i = 0; i < ARRAY_SIZE(traced); i++) {
		check_fast(traced[i]);
		for (enum obstacle o = 0; o < NR_OBSTACLES; o++)
			check_not_fast(traced[i], o);
		check_quiet(traced[i]);
		check_beyond(traced[i], false);
		check_beyond(traced[i], true);
		check_kept(traced[i]);
	}
	probe.plain = false;
	self = NULL;
}

/* Make an executable page with the stub of call site 0x12345678. */
static void make_call_stub(void)
{
	uint64_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			      0);
	uint8_t *code = (uint8_t *)page + 64;

	assert_ptr_not_equal(page, MAP_FAILED);
	page[0] = (uint64_t)arch_libcall;
	arch_write_call_stub(code, 0x12345678, page);
	assert_int_equal(code[ARCH_CALL_STUB_BYTES], 0);
	assert_memory_equal(code, "\xf3\x0f\x1e\xfa", 4); /* endbr64 */
	assert_int_equal(mprotect(page, 4096, PROT_READ | PROT_EXEC), 0);
	got_slot = (uint64_t)code;
}

TEST(library_call)
{
	make_call_stub();
	replace = false;
	check(traced_libcall);
	assert_int_equal(seen_index, 0x12345678);
	assert_int_equal(r11_in_library, R11_BEFORE);
	replace = true;
	exits = 0;
	r11_in_library = 0;
	check(traced_libcall);
	assert_int_equal(exits, 1);
	assert_int_equal(r11_in_library, R11_BEFORE);
}

/* Make the stub of a patch, followed by a jump to traced_point_back, where the program goes on. */
static void make_stub(void (*write)(uint8_t *code, const uint64_t *cell), enum arch_hook hook,
		      uint32_t bytes, uint32_t start)
{
	static const uint8_t jump[] = { 0xff, 0x25, 0, 0, 0, 0 }; /* jmp *0(%rip) */
	uint64_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			      0);
	uint8_t *code = (uint8_t *)page + 64;
	uint64_t back = (uint64_t)traced_point_back;

	assert_ptr_not_equal(page, MAP_FAILED);
	page[0] = (uint64_t)arch_hooks[hook];
	write(code, page);
	assert_int_equal(code[bytes], 0);
	memcpy(code + bytes, jump, sizeof(jump));
	memcpy(code + bytes + sizeof(jump), &back, sizeof(back));
	assert_int_equal(mprotect(page, 4096, PROT_READ | PROT_EXEC), 0);
	point_stub = (uint64_t)code + start;
}

static void write_point_stub(uint8_t *code, const uint64_t *cell)
{
	arch_write_point_stub(code, 0x12345678, (uint64_t)traced_point, cell);
}

static void make_point_stub(void)
{
	make_stub(write_point_stub, ARCH_HOOK_POINT, ARCH_POINT_STUB_BYTES, 0);
}

static void write_entry_stub(uint8_t *code, const uint64_t *cell)
{
	arch_write_entry_stub(code, (uint64_t)traced_point + 5, (uint64_t)traced_point, 0, cell);
}

static void make_entry_stub(void)
{
	make_stub(write_entry_stub, ARCH_HOOK_ENTRY, ARCH_ENTRY_STUB_BYTES, ARCH_ENTRY_STUB_START);
}

/*
 * A hook at the entry of a function preserves the registers that only handwritten code relies upon,
 * too. The direction flag is clear, as at each entry.
 */
TEST(entry)
{
	point_flags_before = FLAGS_COUNTED;
	make_entry_stub();
	exits = 0;
	for (int i = 0; i < 2; i++) {
		replace = i;
		check(traced_point);
		assert_int_equal(exits, i);
		assert_int_equal(seen_addr, (uint64_t)traced_point + 5);
		assert_int_equal(point_flags & FLAGS_BEFORE, FLAGS_COUNTED);
		assert_int_equal(point_red_zone[0], RED_ZONE_ABOVE);
		assert_int_equal(point_red_zone[1], RED_ZONE_BELOW);
	}
	replace = false;
	probe_skips = true;
	check_skipped(traced_point);
	probe_skips = false;
}

TEST(walk_from_entry)
{
	point_flags_before = FLAGS_COUNTED;
	make_entry_stub();
	walks = true;
	traced_point();
	walks = false;
	assert_in_range(nr_walked, 4, ARRAY_SIZE(walked));
	assert_in_range(walked[1], arch_hooks[ARCH_HOOK_ENTRY], arch_hooks[ARCH_HOOK_ENTRY] + 256);
	assert_ptr_equal(walked[2], traced_point);
	assert_in_range(walked[3], walk_from_entry, (uint64_t)walk_from_entry + 512);
}

/* traced_xray() and traced_xray_tail() have the code of XRay's sleds after they were patched. */
TEST(xray)
{
	replace = false;
	exits = 0;
	check(traced_xray);
	assert_int_equal(exits, 1);
	assert_int_not_equal(seen_result, 0);
	assert_int_equal(seen_addr, (uint64_t)traced_xray + 5);
	check(traced_xray_tail);
	assert_int_equal(exits, 2);
	assert_int_equal(seen_result, 0);
	assert_int_equal(point_flags & FLAGS_COUNTED, FLAGS_COUNTED);
}

/*
 * An event may be anywhere in a function: its stub preserves the flags and the memory below the
 * stack pointer, too.
 */
TEST(point)
{
	point_flags_before = FLAGS_BEFORE;
	make_point_stub();
	check(traced_point);
	assert_int_equal(seen_point, 0x12345678);
	assert_int_equal(point_flags & FLAGS_BEFORE, FLAGS_BEFORE);
	assert_int_equal(point_red_zone[0], RED_ZONE_ABOVE);
	assert_int_equal(point_red_zone[1], RED_ZONE_BELOW);
	/* The address of the stack slot with traced_point()'s return address. */
	assert_int_equal(seen_sp % 8, 0);
	assert_in_range(seen_sp, (uint64_t)&state - 65536, (uint64_t)&state);
}

/* Unwinders see the program's registers as they were at the site, and its callers. */
TEST(walk_from_point)
{
	point_flags_before = FLAGS_BEFORE;
	make_point_stub();
	walks = true;
	traced_point();
	walks = false;
	assert_in_range(nr_walked, 4, ARRAY_SIZE(walked));
	assert_in_range(walked[1], arch_hooks[ARCH_HOOK_POINT], arch_hooks[ARCH_HOOK_POINT] + 256);
	assert_ptr_equal(walked[2], traced_point);
	assert_in_range(walked[3], walk_from_point, (uint64_t)walk_from_point + 512);
}

static void write_point_args_stub(uint8_t *code, const uint64_t *cell)
{
	arch_write_point_args_stub(code, 0x12345678, (uint64_t)traced_point, cell, cell + 3);
}

static void make_point_args_stub(void)
{
	point_flags_before = FLAGS_BEFORE;
	make_stub(write_point_args_stub, ARCH_HOOK_POINT_ARGS, ARCH_POINT_ARGS_STUB_BYTES, 0);
}

/* The hook sees all registers as they are at the site, and changes none. */
TEST(point_with_args)
{
	/*
	 * Indexes into struct registers, in the order of DWARF's numbers of registers. The struct
	 * lacks the stack pointer and r11: -1.
	 */
	static const int8_t places[] = { 0, 3, 2, 1, 4, 5, 6, -1, 7, 8, 9, -1, 10, 11, 12, 13 };
	uint8_t vectors[sizeof(seen_vectors)];

	make_point_args_stub();
	check(traced_point);
	assert_int_equal(seen_args.event, 0x12345678);
	assert_ptr_equal(seen_args.site, traced_point);
	/* The cell that leads back is 64 bytes before the stub. */
	assert_int_equal(seen_args.back + seen_args.operands, point_stub - 64 + 24);
	assert_int_equal(seen_sp % 8, 0);
	assert_in_range(seen_sp, (uint64_t)&state - 65536, (uint64_t)&state);
	for (unsigned i = 0; i < ARRAY_SIZE(places); i++) {
		if (places[i] >= 0)
			assert_int_equal(arch_point_register(&seen_args, i),
					 0x1122334455667700ULL + places[i]);
	}
	assert_int_equal(arch_point_register(&seen_args, 11), RED_ZONE_BELOW);
	/* The address of the saved registers is in the copy on the stack. */
	assert_ptr_equal(arch_point_register(&seen_args, 7), &seen_args + 1);
	assert_memory_equal(seen_args.red_zone + 120, &(uint64_t){ RED_ZONE_ABOVE }, 8);
	assert_memory_equal(seen_args.red_zone, &(uint64_t){ RED_ZONE_BELOW }, 8);
	for (size_t i = 0; i < sizeof(vectors); i++)
		vectors[i] = 160 + i;
	assert_memory_equal(seen_vectors, vectors, sizeof(vectors));
	assert_int_equal(point_flags & FLAGS_BEFORE, FLAGS_BEFORE);
	assert_int_equal(point_red_zone[0], RED_ZONE_ABOVE);
	assert_int_equal(point_red_zone[1], RED_ZONE_BELOW);
}

TEST(walk_from_point_with_args)
{
	make_point_args_stub();
	walks = true;
	traced_point();
	walks = false;
	assert_in_range(nr_walked, 4, ARRAY_SIZE(walked));
	assert_in_range(walked[1], arch_hooks[ARCH_HOOK_POINT_ARGS],
			arch_hooks[ARCH_HOOK_POINT_ARGS] + 256);
	assert_ptr_equal(walked[2], traced_point);
	assert_in_range(walked[3], walk_from_point_with_args,
			(uint64_t)walk_from_point_with_args + 512);
}

TEST(jumps_and_distances)
{
	uint8_t jump[ARCH_JUMP_BYTES];
	uint8_t word[] = { 0xf0, 0xff, 0xff, 0xff };
	uint8_t nops[11];

	arch_write_jump(jump, 0x1000, 0x1005);
	assert_memory_equal(jump, "\xe9\0\0\0\0", sizeof(jump));
	arch_write_jump(jump, 0x2000, 0x1005);
	assert_memory_equal(jump, "\xe9\0\xf0\xff\xff", sizeof(jump));
	arch_write_call(jump, 0x1000, 0x1005);
	assert_memory_equal(jump, "\xe8\0\0\0\0", sizeof(jump));
	arch_write_nops(nops, 11);
	assert_memory_equal(nops, "\x0f\x1f\x84\0\0\0\0\0\x0f\x1f\0", sizeof(nops));
	assert_true(arch_write_short_jump(jump, 0x1000, 0x1002 + 127));
	assert_memory_equal(jump, "\xeb\x7f", ARCH_SHORT_JUMP_BYTES);
	assert_true(arch_write_short_jump(jump, 0x1000, 0x1002 - 128));
	assert_memory_equal(jump, "\xeb\x80", ARCH_SHORT_JUMP_BYTES);
	assert_false(arch_write_short_jump(jump, 0x1000, 0x1002 + 128));
	assert_true(arch_move_distance(word, 0x20));
	assert_memory_equal(word, "\x10\0\0\0", sizeof(word));
	assert_false(arch_move_distance(word, INT32_MAX));
}

TEST(reported_addresses)
{
	replace = false;
	check(traced_fentry);
	assert_int_equal(seen_addr, (uint64_t)traced_fentry + 5);
	check(traced_mcount);
	assert_in_range(seen_addr, (uint64_t)traced_mcount + 5, (uint64_t)traced_mcount + 10);
}

TEST(slow_path)
{
	uint64_t before = trash_argument;

	check(traced_slow);
	assert_int_equal(trash_argument, before + 1);
}

TEST(finds_a_return)
{
	static const uint8_t code[] = { 0x90, 0x0f, 0xc3, 0x90 };

	assert_ptr_equal(arch_find_return(code, code + sizeof(code)), code + 2);
	assert_null(arch_find_return(code, code + 2));
}

/* All six arguments arrive. Errors are those of libc. A child of a fork is marked as a child. */
TEST(system_calls)
{
	char text[] = "0123456789";
	int ends[2];
	int status = -1;
	long page = syscall(SYS_mmap, NULL, 8192L, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);

	assert_true(page > 0);
	assert_int_equal(syscall(SYS_munmap, page, 8192L), 0);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(syscall(SYS_write, ends[1], text, sizeof(text)), sizeof(text));
	close(ends[0]);
	close(ends[1]);

	seen.number = 0;
	assert_int_equal(syscall(SYS_close, -1), -1);
	assert_int_equal(seen.failed, -EBADF);
	assert_int_equal(seen.number, 0);
	assert_int_equal(syscall(SYS_seccomp, ~0L, 0L, NULL), -1);
	assert_int_equal(seen.failed, -EINVAL);
	assert_int_equal(seen.number, SYS_seccomp);
	assert_int_equal(seen.first, ~0L);

	for (seen.is_fork = 0; seen.is_fork < 2; seen.is_fork++) {
		long pid = syscall(SYS_clone, (long)SIGCHLD, NULL, NULL, NULL, 0L);

		if (pid == 0)
			_exit(seen.nr_children);
		assert_true(pid > 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(WEXITSTATUS(status), seen.is_fork);
		assert_int_equal(seen.nr_children, 0);
	}
}

/* Overwrite the stack below the parent's frame, where the return address of vfork() has been. */
NOINLINE static void overwrite_stack(void)
{
	volatile char below[512];

	for (size_t i = 0; i < sizeof(below); i++)
		below[i] = i;
}

TEST(vfork_returns_twice)
{
	pid_t (*volatile fn)(void) = vfork;
	int status;
	pid_t pid = fn();

	if (pid == 0) {
		overwrite_stack();
		_exit(lent.nr_begun * 10 + lent.nr_ended);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 10);
	assert_int_equal(lent.nr_begun, 1);
	assert_int_equal(lent.nr_ended, 1);
	assert_true(lent.slot && lent.slot % sizeof(uint64_t) == 0);

	seen.is_fork = 2;
	pid = syscall(SYS_vfork);
	if (pid == 0)
		syscall(SYS_exit, 7L);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_int_equal(lent.nr_ended, 2);
	seen.is_fork = 0;
}

static void change_nothing(void *arg)
{
	++*(int *)arg;
}

static void change_low(void *arg)
{
	++*(int *)arg;
	__asm__ volatile("pxor %xmm9, %xmm9");
}

static void change_high(void *arg)
{
	++*(int *)arg;
	if (arch_xsave_mask & XSAVE_AVX)
		__asm__ volatile("vzeroupper");
	else
		__asm__ volatile("pxor %xmm0, %xmm0");
}

static void change_x87(void *arg)
{
	++*(int *)arg;
	__asm__ volatile("fld1");
}

struct looking {
	void (*fn)(void *arg);
	int nr_calls;
	bool leaves;
};

static void look(void *arg)
{
	struct looking *looking = arg;

	looking->leaves = arch_leaves_vectors(looking->fn, &looking->nr_calls);
}

static bool leaves_vectors(void (*fn)(void *arg))
{
	struct looking looking = { .fn = fn };

	arch_call_preserving_vectors(look, &looking);
	assert_int_equal(looking.nr_calls, arch_xsave_mask ? 1 : 0);
	return looking.leaves;
}

TEST(who_leaves_vector_registers_alone)
{
	assert_false(leaves_vectors(change_low));
	assert_false(leaves_vectors(change_high));
	assert_false(leaves_vectors(change_x87));
	assert_int_equal(leaves_vectors(change_nothing), arch_xsave_mask != 0);
}

int main(void)
{
	arch_init();
	return unit_run();
}
