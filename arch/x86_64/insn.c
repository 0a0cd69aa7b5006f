/* Machine instructions of x86_64, with capstone (see insn.h). */
#include "arch/insn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/x86_64/capstone.h"
#include "arch/x86_64/steps.h"

/* Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2. */
#define OP_JMP_REL32  0xe9
#define OP_CALL_REL32 0xe8
#define OP_JMP_REL8   0xeb
#define OP_PUSH_IMM32 0x68
#define OP_GROUP5     0xff /* call, jmp and push of an operand in ModRM */
#define GROUP5_CALL   2
#define GROUP5_JMP    4

struct insns {
	const struct insn_set *set;
	const struct capstone *cs;
	csh handle;
	cs_insn *insn;
};

static void close_insns(struct insns *insns)
{
	if (insns->insn)
		insns->cs->free(insns->insn, 1);
	insns->cs->close(&insns->handle);
	free(insns);
}

static int open_insns(struct insns **out, struct uft_err *err)
{
	const struct capstone *cs;
	int ret = capstone_load(&cs, err);
	struct insns *insns;

	if (ret < 0)
		return ret;
	insns = calloc(1, sizeof(*insns));
	if (!insns || cs->open(CS_ARCH_X86, CS_MODE_64, &insns->handle) != CS_ERR_OK) {
		free(insns);
		return err_set_errno(err, -ENOMEM, "cannot open the disassembler");
	}
	insns->cs = cs;
	cs->option(insns->handle, CS_OPT_DETAIL, CS_OPT_ON);
	insns->insn = cs->malloc(insns->handle);
	if (!insns->insn) {
		close_insns(insns);
		return err_set_errno(err, -ENOMEM, "cannot open the disassembler");
	}
	insns->set = &x86_64_insns;
	*out = insns;
	return 0;
}

static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

static bool is_landing_pad(const uint8_t *at, uint64_t left)
{
	return left >= sizeof(endbr64) && memcmp(at, endbr64, sizeof(endbr64)) == 0;
}

/*
 * Capstone does not know three instructions: endbr64, rdssp of a register (f3 0f 1e /1), and incssp
 * of a register (f3 0f ae /5). Returns the length of the instruction at @at if it is one of the
 * three. Returns 0 for other instructions.
 */
static unsigned known_length(const uint8_t *at, uint64_t left)
{
	unsigned rex = left >= 5 && (at[1] & 0xf0) == 0x40;

	if (is_landing_pad(at, left))
		return sizeof(endbr64);
	if (left < 4 + rex || at[0] != 0xf3 || at[1 + rex] != 0x0f)
		return 0;
	return (at[2 + rex] == 0x1e && (at[3 + rex] & 0xf8) == 0xc8) ||
			       (at[2 + rex] == 0xae && (at[3 + rex] & 0xf8) == 0xe8)
		       ? 4 + rex
		       : 0;
}

/*
 * Decodes the instruction at @at, where @left bytes of code remain. Returns the length of the
 * instruction, or 0 when the instruction is invalid. insns->insn describes the instruction.
 * Instructions for which known_length() is not 0 are described as nops.
 */
static unsigned decode_insn(struct insns *insns, const uint8_t *at, uint64_t left, uint64_t addr)
{
	unsigned known = known_length(at, left);
	size_t size = left;

	if (known) {
		insns->insn->id = X86_INS_NOP;
		insns->insn->size = known;
		insns->insn->detail->groups_count = 0;
		memset(&insns->insn->detail->x86, 0, sizeof(insns->insn->detail->x86));
		return known;
	}
	return insns->cs->disasm_iter(insns->handle, &at, &size, &addr, insns->insn)
		       ? insns->insn->size
		       : 0;
}

static unsigned starts_before(struct insns *insns, const struct insn_text *text, uint64_t addr,
			      uint64_t *starts, unsigned max)
{
	unsigned nr = 0;
	uint64_t at = text->start;

	while (at < addr) {
		struct insn_step step;

		if (!x86_64_step(text->bytes + (at - text->start), text->end - at, at, &step))
			return 0;
		if (nr == max)
			nr--;
		memmove(starts + 1, starts, nr * sizeof(*starts));
		starts[0] = at;
		nr++;
		at += step.len;
	}
	return at == addr ? nr : 0;
}

/* --- moving --- */

/*
 * Code that is moved. steps.c and capstone must find the same length for each instruction of this
 * code.
 *
 * @step, @at: the current instruction
 * @moved_to: in move_all(), one element for each byte of the old code. If an old instruction begins
 *            at the byte, the element is 1 + the offset of the moved instruction in out->bytes. For
 *            other bytes the element is 0
 */
struct move {
	struct insns *insns;
	struct insn_step step;
	const uint8_t *at;
	struct insn_code *out;
	struct uft_err *err;
	uint8_t moved_to[INSN_CODE_MAX];
};

static int refuse_move(struct move *m, enum insn_refusal refusal)
{
	static const char *const texts[] = {
		[INSN_NOT_UNDERSTOOD] = "is not understood",
		[INSN_RETURNS_INTO] = "returns to what would be overwritten",
		[INSN_TOO_FAR] = "does not reach far enough",
		[INSN_TOO_MUCH] = "has no room any more",
	};

	m->out->refusal = refusal;
	return err_set(m->err, -EXDEV, "'%s %s' after it %s", m->insns->insn->mnemonic,
		       m->insns->insn->op_str, texts[refusal]);
}

static bool put_code_bytes(struct insn_code *out, const void *bytes, unsigned len)
{
	if (len > sizeof(out->bytes) - out->len)
		return false;
	memcpy(out->bytes + out->len, bytes, len);
	out->len += len;
	return true;
}

static bool put_fix(struct insn_code *out, unsigned at)
{
	if (out->nr_fixes == INSN_FIXES_MAX)
		return false;
	out->fixes[out->nr_fixes++] = at;
	return true;
}

static bool put_byte(struct insn_code *out, uint8_t byte)
{
	return put_code_bytes(out, &byte, 1);
}

/*
 * True when a 32-bit displacement can reach @target. The displacement belongs to an instruction
 * that will end @behind bytes after the present end of @out. The distance is computed as if the
 * first byte of @out were at the address out->from.
 */
static bool is_near(const struct insn_code *out, uint64_t target, unsigned behind)
{
	int64_t distance = target - (out->from + out->len + behind);

	return (int32_t)distance == distance;
}

/*
 * Appends a 32-bit displacement to @out. Adds the offset of the displacement to out->fixes. The
 * displacement is @target minus the address directly after the displacement. This address is
 * computed as if the first byte of @out were at the address out->from.
 */
static bool put_distance(struct insn_code *out, uint64_t target)
{
	int32_t word = target - (out->from + out->len + sizeof(int32_t));

	return put_fix(out, out->len) && put_code_bytes(out, &word, sizeof(word));
}

/* Writes code that pushes the return address @ret, and changes no register and no flag. */
static bool put_push_return(struct insn_code *out, uint64_t ret)
{
	static const uint8_t push[] = { OP_PUSH_IMM32, 0, 0, 0, 0 };
	static const uint8_t mov_high[] = {
		0xc7, 0x44, 0x24, 0x04, 0, 0, 0, 0
	}; /* movl $, 4(%rsp) */

	out->ret_at = out->len + 1;
	out->ret = ret;
	_Static_assert(INSN_RET_HIGH == sizeof(push) - 1 + sizeof(mov_high) - sizeof(int32_t),
		       "that is how far apart the halves are");
	return put_code_bytes(out, push, sizeof(push)) &&
	       put_code_bytes(out, mov_high, sizeof(mov_high));
}

/* Copies the instruction @bytes[@len]. Adjusts its displacement, if any, to the new place. */
static int put_same(struct move *m, const uint8_t *bytes, unsigned len)
{
	struct insn_code *out = m->out;
	unsigned at = out->len;
	int32_t word;

	if (m->step.has_name && !is_near(out, m->step.names, len))
		return refuse_move(m, INSN_TOO_FAR);
	if (!put_code_bytes(out, bytes, len))
		return refuse_move(m, INSN_TOO_MUCH);
	if (!m->step.has_name)
		return 0;
	word = m->step.names - (out->from + out->len);
	memcpy(out->bytes + at + m->step.name_at, &word, sizeof(word));
	return put_fix(out, at + m->step.name_at) ? 0 : refuse_move(m, INSN_TOO_MUCH);
}

/*
 * loop and jrcxz have no long form. So the moved instruction jumps to a long jump, which leads to
 * the target. If the moved instruction does not jump, a short jump skips the long jump.
 */
static bool put_short_only(struct move *m)
{
	static const uint8_t around[] = { 2, OP_JMP_REL8, 5, OP_JMP_REL32 };

	return put_code_bytes(m->out, m->at, m->step.len - 1) &&
	       put_code_bytes(m->out, around, sizeof(around)) &&
	       put_distance(m->out, m->step.names);
}

static int move_direct(struct move *m)
{
	struct insn_code *out = m->out;
	const struct insn_step *step = &m->step;
	/* the opcode's last byte */
	uint8_t op = m->at[step->name_at - 1];
	bool is_byte = step->len - step->name_at == 1;
	bool good;

	/*
	 * The new displacement must reach the target. Since @out holds at most INSN_CODE_MAX bytes,
	 * the displacement ends at most INSN_CODE_MAX bytes after the present end of @out. To be
	 * safe, the check allows twice this distance. If the target is near the present end, and
	 * near the address that is twice INSN_CODE_MAX bytes later, the target is also near each
	 * address between these two.
	 */
	if (!is_near(out, step->names, 0) || !is_near(out, step->names, 2 * INSN_CODE_MAX))
		return refuse_move(m, INSN_TOO_FAR);
	if (step->flow == INSN_CALL) {
		good = put_push_return(out, step->addr + step->len) &&
		       put_byte(out, OP_JMP_REL32) && put_distance(out, step->names);
		out->ends = true;
	} else if (step->flow == INSN_JUMP) {
		good = put_byte(out, OP_JMP_REL32) && put_distance(out, step->names);
		out->ends = true;
	} else if (is_byte && (op & 0xf0) == 0x70) {
		good = put_byte(out, 0x0f) && put_byte(out, op + 0x10) &&
		       put_distance(out, step->names);
	} else if (is_byte && (op & 0xfc) == 0xe0) {
		good = put_short_only(m);
	} else if (!is_byte && (op & 0xf0) == 0x80) {
		good = put_byte(out, 0x0f) && put_byte(out, op) && put_distance(out, step->names);
	} else if (!is_byte && op == 0xf8) { /* xbegin */
		good = put_byte(out, 0xc7) && put_byte(out, op) && put_distance(out, step->names);
	} else {
		return refuse_move(m, INSN_NOT_UNDERSTOOD);
	}
	return good ? 0 : refuse_move(m, INSN_TOO_MUCH);
}

/*
 * Writes a copy of the instruction at @bytes. The operand of the instruction is relative to the
 * stack pointer. The copy runs after a push, so the displacement in the copy is one word larger.
 */
static int put_above(struct move *m, const uint8_t *bytes, unsigned modrm_at)
{
	unsigned mod = bytes[modrm_at] >> 6;
	uint8_t long_form[16];
	int32_t distance = sizeof(uint64_t);

	if (mod == 1)
		distance += (int8_t)bytes[modrm_at + 2];
	else if (mod == 2)
		distance += distance_at(bytes + modrm_at + 2);
	memcpy(long_form, bytes, modrm_at + 2);
	long_form[modrm_at] = (bytes[modrm_at] & 0x3f) | 0x80;
	memcpy(long_form + modrm_at + 2, &distance, sizeof(distance));
	return put_code_bytes(m->out, long_form, modrm_at + 2 + sizeof(distance))
		       ? 0
		       : refuse_move(m, INSN_TOO_MUCH);
}

/*
 * Moves an indirect call. The new code pushes the return address, and then jumps indirectly. The
 * jump is encoded like the call, but with another opcode extension.
 */
static int move_indirect_call(struct move *m)
{
	const cs_x86 *x86 = &m->insns->insn->detail->x86;
	unsigned modrm_at = x86->encoding.modrm_offset;
	bool uses_sp = false;
	uint8_t bytes[16];

	for (unsigned i = 0; i < x86->op_count; i++)
		uses_sp |= x86->operands[i].type == X86_OP_MEM &&
			   x86->operands[i].mem.base == X86_REG_RSP;
	if (!modrm_at || m->step.len > sizeof(bytes) - sizeof(int32_t) ||
	    m->at[modrm_at - 1] != OP_GROUP5 || (m->at[modrm_at] >> 3 & 7) != GROUP5_CALL ||
	    m->at[modrm_at] == (0xc0 | GROUP5_CALL << 3 | 4))
		return refuse_move(m, INSN_NOT_UNDERSTOOD);
	memcpy(bytes, m->at, m->step.len);
	bytes[modrm_at] = (m->at[modrm_at] & ~0x38) | GROUP5_JMP << 3;
	m->out->ends = true;
	if (!put_push_return(m->out, m->step.addr + m->step.len))
		return refuse_move(m, INSN_TOO_MUCH);
	return uses_sp ? put_above(m, bytes, modrm_at) : put_same(m, bytes, m->step.len);
}

static int move_one(struct move *m)
{
	m->out->ends = false;
	switch (m->step.flow) {
	case INSN_JUMP:
	case INSN_BRANCH:
	case INSN_CALL:
		return move_direct(m);
	case INSN_CALL_ANYWHERE:
		return move_indirect_call(m);
	default:
		break;
	}
	switch (m->insns->insn->id) {
	case X86_INS_LJMP:
	case X86_INS_LCALL:
	case X86_INS_INT3:
		return refuse_move(m, INSN_NOT_UNDERSTOOD);
	default:
		break;
	}
	m->out->ends = m->step.flow == INSN_RETURN || m->step.flow == INSN_JUMP_ANYWHERE ||
		       m->step.flow == INSN_END;
	return put_same(m, m->at, m->step.len);
}

/* Reads the instruction at @addr into m->step, m->at and the disassembler's instruction. */
static int read_one(struct move *m, const struct insn_text *text, uint64_t addr)
{
	m->at = text->bytes + (addr - text->start);
	if (addr >= text->end || !x86_64_step(m->at, text->end - addr, addr, &m->step) ||
	    decode_insn(m->insns, m->at, text->end - addr, addr) != m->step.len) {
		m->out->refusal = INSN_UNKNOWN;
		return err_set(m->err, -EXDEV,
			       "what comes after it is not known as an instruction");
	}
	if (addr > m->out->from && is_landing_pad(m->at, text->end - addr)) {
		m->out->refusal = INSN_LANDS;
		return err_set(m->err, -EXDEV, "something may jump to what is after it");
	}
	return 0;
}

static int move_insns(struct insns *insns, const struct insn_text *text, uint64_t from,
		      unsigned nr_bytes, struct insn_code *out, struct uft_err *err)
{
	struct move m = { .insns = insns, .out = out, .err = err };

	*out = (struct insn_code){ .from = from };
	while (out->taken < nr_bytes && !out->ends) {
		int ret = read_one(&m, text, from + out->taken);

		if (ret == 0)
			ret = move_one(&m);
		if (ret < 0)
			return ret;
		out->taken += m.step.len;
		if (out->ret_at && out->taken < nr_bytes)
			return refuse_move(&m, INSN_RETURNS_INTO);
	}
	return 0;
}

/*
 * Finds each moved jump whose target was moved, too. Sets the displacement of such a jump, so that
 * the jump leads to the moved target. Such a displacement does not depend on the new place of the
 * code. Therefore the displacement is removed from out->fixes.
 */
static void turn_inwards(struct move *m, uint64_t until)
{
	struct insn_code *out = m->out;
	unsigned kept = 0;

	for (unsigned i = 0; i < out->nr_fixes; i++) {
		uint8_t at = out->fixes[i];
		uint64_t target = out->from + at + sizeof(int32_t) + distance_at(out->bytes + at);
		int32_t distance;

		if (target < out->from || target >= until) {
			out->fixes[kept++] = at;
			continue;
		}
		distance = m->moved_to[target - out->from] - 1 - (at + (int)sizeof(distance));
		memcpy(out->bytes + at, &distance, sizeof(distance));
	}
	out->nr_fixes = kept;
}

static int move_all(struct insns *insns, const struct insn_text *text, uint64_t from,
		    uint64_t until, struct insn_code *out, struct uft_err *err)
{
	struct move m = { .insns = insns, .out = out, .err = err };
	uint64_t named[INSN_FIXES_MAX];
	unsigned nr_named = 0;

	*out = (struct insn_code){ .from = from };
	while (from + out->taken < until) {
		int ret = read_one(&m, text, from + out->taken);

		if (ret < 0)
			return ret;
		if (out->taken >= sizeof(m.moved_to) || m.step.len > until - m.step.addr)
			return refuse_move(&m, INSN_TOO_MUCH);
		m.moved_to[out->taken] = out->len + 1;
		if (m.step.flow == INSN_CALL || m.step.flow == INSN_CALL_ANYWHERE)
			return refuse_move(&m, INSN_RETURNS_INTO);
		/*
		 * If a jump leads into the moved range, the jump is adjusted later. Any other
		 * instruction that refers to the range is refused. For example, an instruction
		 * that reads the range could read bytes that are overwritten later.
		 */
		if (m.step.has_name && m.step.names >= from && m.step.names < until) {
			if (m.step.flow != INSN_JUMP && m.step.flow != INSN_BRANCH)
				return refuse_move(&m, INSN_NOT_UNDERSTOOD);
			if (nr_named == INSN_FIXES_MAX)
				return refuse_move(&m, INSN_TOO_MUCH);
			named[nr_named++] = m.step.names;
		}
		ret = move_one(&m);
		if (ret < 0)
			return ret;
		out->taken += m.step.len;
	}
	/* Refuse the move if a jump leads into the middle of a moved instruction. */
	for (unsigned i = 0; i < nr_named; i++) {
		if (!m.moved_to[named[i] - from])
			return refuse_move(&m, INSN_NOT_UNDERSTOOD);
	}
	turn_inwards(&m, until);
	return 0;
}

static unsigned padding_at(struct insns *insns, const uint8_t *at, const uint8_t *end)
{
	const uint8_t *start = at;

	while (at < end) {
		unsigned len = decode_insn(insns, at, end - at, 0);

		if (!len || (insns->insn->id != X86_INS_NOP && insns->insn->id != X86_INS_INT3) ||
		    known_length(at, end - at))
			break;
		at += len;
	}
	return at - start;
}

static int go_on(struct insn_code *code, uint64_t to, struct uft_err *err)
{
	if (code->ends)
		return 0;
	code->refusal = INSN_TOO_MUCH;
	if (!put_byte(code, OP_JMP_REL32) || !put_distance(code, to))
		return err_set(err, -EXDEV, "too much would have to be moved");
	code->refusal = INSN_MOVES;
	code->ends = true;
	return 0;
}

static void load_at(struct insn_code *code, uint64_t bias)
{
	uint64_t ret = code->ret + bias;
	uint32_t halves[] = { ret, ret >> 32 };

	if (!code->ret_at)
		return;
	memcpy(code->bytes + code->ret_at, &halves[0], sizeof(halves[0]));
	memcpy(code->bytes + code->ret_at + INSN_RET_HIGH, &halves[1], sizeof(halves[1]));
}

/* --- bytes with unknown instruction boundaries --- */

/* Finds byte pairs that may be jcc, jmp, loop or jrcxz with an 8-bit displacement. */
static void near_names(const struct insn_text *text, void (*fn)(uint64_t addr, void *arg),
		       void *arg)
{
	for (uint64_t at = text->start; at + 1 < text->end; at++) {
		const uint8_t *code = text->bytes + (at - text->start);

		if ((code[0] & 0xf0) == 0x70 || code[0] == OP_JMP_REL8 || (code[0] & 0xfc) == 0xe0)
			fn(at + 2 + (int8_t)code[1], arg);
	}
}

/*
 * Finds byte sequences that may be a jump or call with a 32-bit displacement: e8, e9, or 0f 80 to
 * 0f 8f. Also finds byte sequences that may be a `lea` of a table's address. These sequences begin
 * with 48 8d, or with 4c 8d if the destination is r8 to r15. Then comes a ModRM byte for an address
 * relative to rip.
 */
static int far_names(const struct insn_text *text, void (*fn)(uint64_t addr, void *arg),
		     int (*base)(uint64_t addr, void *arg), void *arg)
{
	uint64_t len = text->end - text->start;

	for (uint64_t i = 0; i + 5 <= len; i++) {
		const uint8_t *at = text->bytes + i;

		if ((at[0] & 0xfe) == OP_CALL_REL32) {
			fn(text->start + i + 5 + distance_at(at + 1), arg);
		} else if (at[0] == 0x0f && (at[1] & 0xf0) == 0x80 && i + 6 <= len) {
			fn(text->start + i + 6 + distance_at(at + 2), arg);
		} else if ((at[0] & 0xfb) == 0x48 && at[1] == 0x8d && (at[2] & 0xc7) == 5 &&
			   i + 7 <= len) {
			int ret = base(text->start + i + 7 + distance_at(at + 3), arg);

			if (ret < 0)
				return ret;
		}
	}
	return 0;
}

const struct insn_set x86_64_insns = {
	.open = open_insns,
	.close = close_insns,
	.before = starts_before,
	.step = x86_64_step,
	.move = move_insns,
	.move_all = move_all,
	.go_on = go_on,
	.load_at = load_at,
	.is_landing_pad = is_landing_pad,
	.main_of = x86_64_main_of,
	.padding = padding_at,
	.near_names = near_names,
	.far_names = far_names,
	.near_reach = 128 + 2,
};
