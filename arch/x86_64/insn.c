/* Machine instructions of x86_64, with capstone (see insn.h). */
#include "arch/insn.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2. */
#define OP_JMP_REL32  0xe9
#define OP_CALL_REL32 0xe8
#define OP_JMP_REL8   0xeb
#define OP_PUSH_IMM32 0x68
#define OP_GROUP5     0xff /* call, jmp and push of what ModRM says */
#define GROUP5_CALL   2
#define GROUP5_JMP    4

struct insns {
	const struct insn_set *set;
	csh handle;
	cs_insn *insn;
};

static void close_insns(struct insns *insns)
{
	if (insns->insn)
		cs_free(insns->insn, 1);
	cs_close(&insns->handle);
	free(insns);
}

static int open_insns(struct insns **out, struct uft_err *err)
{
	struct insns *insns = calloc(1, sizeof(*insns));

	if (!insns || cs_open(CS_ARCH_X86, CS_MODE_64, &insns->handle) != CS_ERR_OK) {
		free(insns);
		return err_set_errno(err, -ENOMEM, "cannot open the disassembler");
	}
	cs_option(insns->handle, CS_OPT_DETAIL, CS_OPT_ON);
	insns->insn = cs_malloc(insns->handle);
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
 * Instructions that the disassembler does not know: their length; 0 for all others. Those of shadow stacks are rdssp (f3 0f 1e /1) and
 * incssp (f3 0f ae /5) of a register, with or without REX.
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
 * The instruction at @at, of which there are @left bytes; its length, 0 when it is none. insns->insn tells of it, unless it is
 * one of those with a known length, which then counts as a plain one.
 */
static unsigned decode(struct insns *insns, const uint8_t *at, uint64_t left, uint64_t addr)
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
	return cs_disasm_iter(insns->handle, &at, &size, &addr, insns->insn) ? insns->insn->size
									     : 0;
}

static bool is_in_group(const struct insns *insns, unsigned group)
{
	const cs_detail *detail = insns->insn->detail;

	for (unsigned i = 0; i < detail->groups_count; i++) {
		if (detail->groups[i] == group)
			return true;
	}
	return false;
}

/* What an instruction addresses relative to itself (SDM 2.2.1.6): no SIB, mod 0, r/m 5. */
static bool has_own_distance(const struct insns *insns)
{
	const cs_x86 *x86 = &insns->insn->detail->x86;

	for (unsigned i = 0; i < x86->op_count; i++) {
		if (x86->operands[i].type == X86_OP_MEM && x86->operands[i].mem.base == X86_REG_RIP)
			return true;
	}
	return x86->encoding.modrm_offset && (x86->modrm & 0xc7) == 5;
}

static int32_t get_distance(const uint8_t *at)
{
	int32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* A jump or a call by a distance within the instruction. */
static bool is_direct_branch(const struct insns *insns)
{
	const cs_x86 *x86 = &insns->insn->detail->x86;

	return (is_in_group(insns, CS_GRP_JUMP) || is_in_group(insns, CS_GRP_CALL) ||
		is_in_group(insns, CS_GRP_BRANCH_RELATIVE) || insns->insn->id == X86_INS_XBEGIN) &&
	       x86->op_count > 0 && x86->operands[0].type == X86_OP_IMM;
}

static unsigned starts_before(struct insns *insns, const struct insn_text *text, uint64_t addr,
			      uint64_t *starts, unsigned max)
{
	unsigned nr = 0;
	uint64_t at = text->start;

	while (at < addr) {
		unsigned len = decode(insns, text->bytes + (at - text->start), text->end - at, at);

		if (!len)
			return 0;
		if (nr == max)
			nr--;
		memmove(starts + 1, starts, nr * sizeof(*starts));
		starts[0] = at;
		nr++;
		at += len;
	}
	return at == addr ? nr : 0;
}

static int each_name(struct insns *insns, const struct insn_text *text,
		     void (*fn)(uint64_t addr, void *arg), void *arg, struct uft_err *err)
{
	for (uint64_t addr = text->start; addr < text->end;) {
		const uint8_t *at = text->bytes + (addr - text->start);
		unsigned len = decode(insns, at, text->end - addr, addr);

		if (!len)
			return err_set(err, -EILSEQ,
				       "what is at %#llx is not known as an instruction",
				       (unsigned long long)addr);
		if (is_direct_branch(insns))
			fn(insns->insn->detail->x86.operands[0].imm, arg);
		if (has_own_distance(insns))
			fn(addr + len +
				   get_distance(at + insns->insn->detail->x86.encoding.disp_offset),
			   arg);
		addr += len;
	}
	return 0;
}

/* --- moving --- */

static int cannot(struct uft_err *err, const struct insns *insns, const char *why)
{
	return err_set(err, -EXDEV, "'%s %s' behind it %s", insns->insn->mnemonic,
		       insns->insn->op_str, why);
}

static bool put(struct insn_code *out, const void *bytes, unsigned len)
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

/* The distance from behind it to @target, as if the code stood at out->from. */
static bool put_distance(struct insn_code *out, uint64_t target)
{
	int64_t distance = target - (out->from + out->len + sizeof(int32_t));
	int32_t word = distance;

	return word == distance && put_fix(out, out->len) && put(out, &word, sizeof(word));
}

static bool put_byte(struct insn_code *out, uint8_t byte)
{
	return put(out, &byte, 1);
}

/* What a call pushes; no register and no flag is free for it. */
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
	return put(out, push, sizeof(push)) && put(out, mov_high, sizeof(mov_high));
}

/* The instruction's bytes as they are, with the distance in it, if there is one, as the new place needs it. */
static bool put_same(struct insns *insns, const uint8_t *at, unsigned len, uint64_t addr,
		     struct insn_code *out)
{
	unsigned distance_at = insns->insn->detail->x86.encoding.disp_offset;
	uint8_t bytes[16];

	if (len > sizeof(bytes))
		return false;
	memcpy(bytes, at, len);
	if (has_own_distance(insns)) {
		int64_t distance = (int64_t)get_distance(at + distance_at) +
				   (int64_t)(addr - out->from) - out->len;
		int32_t word = distance;

		if (word != distance || !put_fix(out, out->len + distance_at))
			return false;
		memcpy(bytes + distance_at, &word, sizeof(word));
	}
	return put(out, bytes, len);
}

static int move_direct(struct insns *insns, const uint8_t *at, uint64_t addr, unsigned len,
		       struct insn_code *out, struct uft_err *err)
{
	uint64_t target = insns->insn->detail->x86.operands[0].imm;
	/* Distances of jumps stand at the end; the last byte of the opcode is before them. */
	uint8_t op8 = at[len - 2];
	uint8_t op32 = len >= 5 ? at[len - 5] : 0;
	bool good;

	if (is_in_group(insns, CS_GRP_CALL) && op32 == OP_CALL_REL32) {
		good = put_push_return(out, addr + len) && put_byte(out, OP_JMP_REL32) &&
		       put_distance(out, target);
		out->ends = true;
	} else if (insns->insn->id == X86_INS_JMP && (op32 == OP_JMP_REL32 || op8 == OP_JMP_REL8)) {
		good = put_byte(out, OP_JMP_REL32) && put_distance(out, target);
		out->ends = true;
	} else if (len <= 3 && op8 >= 0x70 && op8 <= 0x7f) {
		good = put_byte(out, 0x0f) && put_byte(out, op8 + 0x10) &&
		       put_distance(out, target);
	} else if (len >= 6 && at[len - 6] == 0x0f && (op32 & 0xf0) == 0x80) {
		good = put_byte(out, 0x0f) && put_byte(out, op32) && put_distance(out, target);
	} else {
		return cannot(err, insns, "has no form that reaches far enough");
	}
	return good ? 0 : cannot(err, insns, "does not reach far enough");
}

/* call *r/m: push and jmp *r/m, which is the same instruction with another number in it. */
static int move_indirect_call(struct insns *insns, const uint8_t *at, uint64_t addr, unsigned len,
			      struct insn_code *out, struct uft_err *err)
{
	const cs_x86 *x86 = &insns->insn->detail->x86;
	unsigned modrm_at = x86->encoding.modrm_offset;
	bool uses_sp = false;
	uint8_t bytes[16];

	for (unsigned i = 0; i < x86->op_count; i++)
		uses_sp |= x86->operands[i].type == X86_OP_MEM &&
			   x86->operands[i].mem.base == X86_REG_RSP;
	if (!modrm_at || len > sizeof(bytes) || at[modrm_at - 1] != OP_GROUP5 ||
	    (at[modrm_at] >> 3 & 7) != GROUP5_CALL || uses_sp)
		return cannot(err, insns, "cannot be taken apart");
	memcpy(bytes, at, len);
	bytes[modrm_at] = (at[modrm_at] & ~0x38) | GROUP5_JMP << 3;
	out->ends = true;
	if (!put_push_return(out, addr + len) || !put_same(insns, bytes, len, addr, out))
		return cannot(err, insns, "does not reach far enough");
	return 0;
}

static bool is_end(const struct insns *insns)
{
	return is_in_group(insns, CS_GRP_RET) || insns->insn->id == X86_INS_JMP ||
	       insns->insn->id == X86_INS_UD2;
}

static int move_one(struct insns *insns, const uint8_t *at, uint64_t addr, unsigned len,
		    struct insn_code *out, struct uft_err *err)
{
	if (is_direct_branch(insns))
		return move_direct(insns, at, addr, len, out, err);
	if (is_in_group(insns, CS_GRP_CALL))
		return move_indirect_call(insns, at, addr, len, out, err);
	switch (insns->insn->id) {
	case X86_INS_LJMP:
	case X86_INS_LCALL:
	case X86_INS_INT3:
		return cannot(err, insns, "is not understood");
	default:
		break;
	}
	out->ends = is_end(insns);
	return put_same(insns, at, len, addr, out)
		       ? 0
		       : cannot(err, insns, "does not reach far enough");
}

static int move_insns(struct insns *insns, const struct insn_text *text, uint64_t from,
		      unsigned nr_bytes, struct insn_code *out, struct uft_err *err)
{
	*out = (struct insn_code){ .from = from };
	while (out->taken < nr_bytes && !out->ends) {
		uint64_t addr = from + out->taken;
		const uint8_t *at = text->bytes + (addr - text->start);
		unsigned len = addr < text->end ? decode(insns, at, text->end - addr, addr) : 0;

		if (!len)
			return err_set(err, -EXDEV,
				       "what is behind it is not known as an instruction");
		/* Where an indirect jump may land. */
		if (out->taken && is_landing_pad(at, text->end - addr))
			return err_set(err, -EXDEV, "something may jump behind it");

		int ret = move_one(insns, at, addr, len, out, err);

		if (ret < 0)
			return ret;
		out->taken += len;
		if (out->ret_at && out->taken < nr_bytes)
			return cannot(err, insns, "returns to what would be overwritten");
	}
	return 0;
}

static unsigned padding_at(struct insns *insns, const uint8_t *at, const uint8_t *end)
{
	const uint8_t *start = at;

	while (at < end) {
		unsigned len = decode(insns, at, end - at, 0);

		if (!len || (insns->insn->id != X86_INS_NOP && insns->insn->id != X86_INS_INT3) ||
		    is_landing_pad(at, end - at))
			break;
		at += len;
	}
	return at - start;
}

static int go_on(struct insn_code *code, uint64_t to, struct uft_err *err)
{
	if (code->ends)
		return 0;
	if (!put_byte(code, OP_JMP_REL32) || !put_distance(code, to))
		return err_set(err, -EXDEV, "too much would have to be moved");
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

/* --- bytes of which nobody knows where instructions begin --- */

/* jcc, jmp, loop and jrcxz with a distance of 8 bits. */
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
 * What could be a jump or a call of 32 bits (e8, e9, 0f 80 to 0f 8f), and what could be a `lea` of an address (48 8d, ModRM of a
 * distance; 4c for the upper registers) from which a table is read.
 */
static int far_names(const struct insn_text *text, void (*fn)(uint64_t addr, void *arg),
		     int (*base)(uint64_t addr, void *arg), void *arg)
{
	uint64_t len = text->end - text->start;

	for (uint64_t i = 0; i + 5 <= len; i++) {
		const uint8_t *at = text->bytes + i;

		if ((at[0] & 0xfe) == OP_CALL_REL32) {
			fn(text->start + i + 5 + get_distance(at + 1), arg);
		} else if (at[0] == 0x0f && (at[1] & 0xf0) == 0x80 && i + 6 <= len) {
			fn(text->start + i + 6 + get_distance(at + 2), arg);
		} else if ((at[0] & 0xfb) == 0x48 && at[1] == 0x8d && (at[2] & 0xc7) == 5 &&
			   i + 7 <= len) {
			int ret = base(text->start + i + 7 + get_distance(at + 3), arg);

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
	.names = each_name,
	.move = move_insns,
	.go_on = go_on,
	.load_at = load_at,
	.is_landing_pad = is_landing_pad,
	.padding = padding_at,
	.near_names = near_names,
	.far_names = far_names,
	.near_reach = 128 + 2,
};
