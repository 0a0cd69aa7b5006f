/* Runs a seccomp filter step by step, for one system call (see seal_filter.h). */
#include "libmcount/system/seal_filter.h"

#include <linux/seccomp.h>
#include <stddef.h>

#include "arch/arch.h"
#include "utils/base/compiler.h"

/*
 * The system call number and the machine are known. All other inputs of the filter are unknown, and
 * so are values computed from unknown inputs. If a jump depends on an unknown value, both paths are
 * followed. Each path ends, since jumps lead forward only.
 */
#define WORDS	  BPF_MEMWORDS
#define WAYS_MAX  32
#define STEPS_MAX 20000

struct value {
	uint32_t is_known;
	uint32_t number;
};

struct way {
	uint32_t at;
	struct value a;
	struct value x;
	struct value words[WORDS];
};

struct walk {
	const struct sock_filter *code;
	uint32_t len;
	uint32_t call;
	uint32_t nr_ways;
	uint32_t steps;
	struct way ways[WAYS_MAX];
};

static struct value known(uint32_t number)
{
	return (struct value){ 1, number };
}

static struct value load_field(const struct walk *w, uint32_t offset)
{
	if (offset == offsetof(struct seccomp_data, nr))
		return known(w->call);
	if (offset == offsetof(struct seccomp_data, arch) && ARCH_AUDIT != 0)
		return known(ARCH_AUDIT);
	return (struct value){ 0 };
}

static struct value compute(uint16_t op, struct value a, struct value b)
{
	if (!a.is_known || (op != BPF_NEG && !b.is_known))
		return (struct value){ 0 };
	switch (op) {
	case BPF_ADD:
		return known(a.number + b.number);
	case BPF_SUB:
		return known(a.number - b.number);
	case BPF_MUL:
		return known(a.number * b.number);
	case BPF_AND:
		return known(a.number & b.number);
	case BPF_OR:
		return known(a.number | b.number);
	case BPF_XOR:
		return known(a.number ^ b.number);
	case BPF_LSH:
		return b.number < 32 ? known(a.number << b.number) : (struct value){ 0 };
	case BPF_RSH:
		return b.number < 32 ? known(a.number >> b.number) : (struct value){ 0 };
	case BPF_DIV:
		return b.number ? known(a.number / b.number) : (struct value){ 0 };
	case BPF_NEG:
		return known(-a.number);
	default:
		return (struct value){ 0 };
	}
}

static bool compare_values(uint16_t op, uint32_t a, uint32_t b)
{
	switch (op) {
	case BPF_JEQ:
		return a == b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	default:
		return a & b;
	}
}

/*
 * Follows a jump. If the condition is unknown, one path becomes two. Returns false when there are
 * too many paths.
 */
static bool jump(struct walk *w, struct way *way, const struct sock_filter *insn, struct value b)
{
	uint16_t op = BPF_OP(insn->code);

	if (op == BPF_JA) {
		way->at += insn->k;
		return true;
	}
	if (way->a.is_known && b.is_known) {
		way->at += compare_values(op, way->a.number, b.number) ? insn->jt : insn->jf;
		return true;
	}
	if (insn->jt == insn->jf) {
		way->at += insn->jt;
		return true;
	}
	if (w->nr_ways == WAYS_MAX)
		return false;
	w->ways[w->nr_ways] = *way;
	w->ways[w->nr_ways++].at += insn->jf;
	way->at += insn->jt;
	return true;
}

static bool is_permission(uint32_t result)
{
	uint32_t action = result & SECCOMP_RET_ACTION_FULL;

	return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}

enum step {
	STEP_ON,
	STEP_ALLOWED,
	STEP_FORBIDDEN
};

static enum step load_or_store(const struct walk *w, struct way *way,
			       const struct sock_filter *insn)
{
	bool is_a = BPF_CLASS(insn->code) == BPF_LD || BPF_CLASS(insn->code) == BPF_ST;
	struct value *reg = is_a ? &way->a : &way->x;

	if (BPF_CLASS(insn->code) == BPF_ST || BPF_CLASS(insn->code) == BPF_STX) {
		if (insn->k >= WORDS)
			return STEP_FORBIDDEN;
		way->words[insn->k] = *reg;
	} else if (BPF_MODE(insn->code) == BPF_ABS) {
		*reg = load_field(w, insn->k);
	} else if (BPF_MODE(insn->code) == BPF_LEN) {
		*reg = known(sizeof(struct seccomp_data));
	} else if (BPF_MODE(insn->code) == BPF_IMM) {
		*reg = known(insn->k);
	} else if (BPF_MODE(insn->code) == BPF_MEM && insn->k < WORDS) {
		*reg = way->words[insn->k];
	} else {
		return STEP_FORBIDDEN;
	}
	return STEP_ON;
}

static enum step step_insn(struct walk *w, struct way *way)
{
	const struct sock_filter *insn = &w->code[way->at++];
	struct value b = BPF_SRC(insn->code) == BPF_X ? way->x : known(insn->k);

	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
		way->a = compute(BPF_OP(insn->code), way->a, b);
		return STEP_ON;
	case BPF_JMP:
		return jump(w, way, insn, b) ? STEP_ON : STEP_FORBIDDEN;
	case BPF_MISC:
		if (BPF_MISCOP(insn->code) == BPF_TAX)
			way->x = way->a;
		else
			way->a = way->x;
		return STEP_ON;
	case BPF_RET:
		if (BPF_RVAL(insn->code) == BPF_A)
			return way->a.is_known && is_permission(way->a.number) ? STEP_ALLOWED
									       : STEP_FORBIDDEN;
		return is_permission(insn->k) ? STEP_ALLOWED : STEP_FORBIDDEN;
	default:
		return load_or_store(w, way, insn);
	}
}

bool seal_filter_allows(const struct sock_filter *code, uint32_t len, uint32_t number)
{
	struct walk w = { .code = code, .len = len, .call = number, .nr_ways = 1 };

	w.ways[0] = (struct way){ .a = known(0), .x = known(0) };
	while (w.nr_ways) {
		struct way way = w.ways[--w.nr_ways];
		enum step now = STEP_ON;

		while (now == STEP_ON) {
			if (way.at >= len || ++w.steps > STEPS_MAX)
				return false;
			now = step_insn(&w, &way);
		}
		if (now == STEP_FORBIDDEN)
			return false;
	}
	return true;
}
