/* Operands of x86_64 in AT&T syntax, the compilers' default (see arch/operand.h). */
#include "arch/operand.h"

#include <string.h>

#include "arch/isa.h"
#include "utils/base/compiler.h"

/* The text that is not parsed yet. */
struct cursor {
	const char *at;
	const char *end;
};

static bool take_char(struct cursor *c, char wanted)
{
	if (c->at == c->end || *c->at != wanted)
		return false;
	c->at++;
	return true;
}

/* --- registers --- */

/*
 * The names of the low 8, 4, 2 and 1 bytes of each register, in the order of DWARF's register
 * numbers (psABI 3.6.2).
 */
static const char general[][4][5] = {
	{ "rax", "eax", "ax", "al" },	   { "rdx", "edx", "dx", "dl" },
	{ "rcx", "ecx", "cx", "cl" },	   { "rbx", "ebx", "bx", "bl" },
	{ "rsi", "esi", "si", "sil" },	   { "rdi", "edi", "di", "dil" },
	{ "rbp", "ebp", "bp", "bpl" },	   { "rsp", "esp", "sp", "spl" },
	{ "r8", "r8d", "r8w", "r8b" },	   { "r9", "r9d", "r9w", "r9b" },
	{ "r10", "r10d", "r10w", "r10b" }, { "r11", "r11d", "r11w", "r11b" },
	{ "r12", "r12d", "r12w", "r12b" }, { "r13", "r13d", "r13w", "r13b" },
	{ "r14", "r14d", "r14w", "r14b" }, { "r15", "r15d", "r15w", "r15b" },
};

/* The names of bits 8 to 15 of rax, rdx, rcx and rbx. */
static const char second_bytes[][5] = { "ah", "dh", "ch", "bh" };

#define VECTORS	     16 /* xmm16 and above are not supported */
#define REGISTER_MAX 5

/* Reads the name after a '%' into @name, with a NUL. */
static bool take_name(struct cursor *c, char name[REGISTER_MAX + 1])
{
	size_t len = 0;

	while (len < (size_t)(c->end - c->at) && len <= REGISTER_MAX &&
	       ((c->at[len] >= 'a' && c->at[len] <= 'z') ||
		(c->at[len] >= '0' && c->at[len] <= '9')))
		len++;
	if (len == 0 || len > REGISTER_MAX)
		return false;
	memcpy(name, c->at, len);
	name[len] = '\0';
	c->at += len;
	return true;
}

static bool find_general(const char *name, struct operand *out)
{
	out->kind = OPERAND_REGISTER;
	for (uint8_t i = 0; i < ARRAY_SIZE(general); i++) {
		for (unsigned k = 0; k < ARRAY_SIZE(general[i]); k++) {
			if (strcmp(general[i][k], name) == 0) {
				out->base = i;
				out->bytes = 8 >> k;
				return true;
			}
		}
	}
	for (uint8_t i = 0; i < ARRAY_SIZE(second_bytes); i++) {
		if (strcmp(second_bytes[i], name) == 0) {
			out->base = i;
			out->bytes = 1;
			out->shift = 8;
			return true;
		}
	}
	return false;
}

/* Parses "xmm0" to "xmm15". A number with a leading zero is not accepted. */
static bool find_vector(const char *name, struct operand *out)
{
	const char *digits = name + 3;
	unsigned number = 0;

	if (strncmp(name, "xmm", 3) != 0 || !*digits || (digits[0] == '0' && digits[1]))
		return false;
	for (; *digits; digits++) {
		if (*digits < '0' || *digits > '9')
			return false;
		number = number * 10 + (*digits - '0');
	}
	if (number >= VECTORS)
		return false;
	out->kind = OPERAND_VECTOR;
	out->base = number;
	out->bytes = 16;
	return true;
}

static bool take_register(struct cursor *c, struct operand *out)
{
	char name[REGISTER_MAX + 1];

	return take_char(c, '%') && take_name(c, name) &&
	       (find_general(name, out) || find_vector(name, out));
}

/* --- sums of numbers and at most one symbol --- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_symbol_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
	       c == '.' || c == '$';
}

static int digit_of(char c, unsigned base)
{
	int digit = is_digit(c)		   ? c - '0'
		    : c >= 'a' && c <= 'f' ? c - 'a' + 10
		    : c >= 'A' && c <= 'F' ? c - 'A' + 10
					   : 16;

	return digit < (int)base ? digit : -1;
}

/* Reads a number as assemblers do: 0x10 and 020 are 16. */
static bool take_number(struct cursor *c, uint64_t *out)
{
	struct cursor rest = *c;
	unsigned base = 10;
	bool has_any = false;

	*out = 0;
	if (take_char(&rest, '0')) {
		has_any = true;
		base = 8;
		if (take_char(&rest, 'x') || take_char(&rest, 'X')) {
			has_any = false;
			base = 16;
		}
	}
	for (int digit; rest.at < rest.end && (digit = digit_of(*rest.at, base)) >= 0; rest.at++) {
		if (__builtin_mul_overflow(*out, (uint64_t)base, out) ||
		    __builtin_add_overflow(*out, (uint64_t)digit, out))
			return false;
		has_any = true;
	}
	/* "8b" is a label, and "09" is not an octal number. */
	if (!has_any || (rest.at < rest.end && is_symbol_char(*rest.at)))
		return false;
	*c = rest;
	return true;
}

static bool take_symbol(struct cursor *c, struct operand *out)
{
	const char *start = c->at;

	if (start == c->end || !is_symbol_char(*start) || is_digit(*start) || *start == '$' ||
	    out->symbol)
		return false;
	while (c->at < c->end && is_symbol_char(*c->at))
		c->at++;
	out->symbol = start;
	out->symbol_len = c->at - start;
	return true;
}

/* Reads a sum like "-4+16+name" into the value and the symbol of @out. */
static bool take_sum(struct cursor *c, struct operand *out)
{
	bool is_minus = take_char(c, '-');

	for (;;) {
		uint64_t number;

		if (c->at < c->end && is_digit(*c->at)) {
			if (!take_number(c, &number))
				return false;
			out->value += is_minus ? -number : number;
		} else if (is_minus || !take_symbol(c, out)) {
			return false;
		}
		if (take_char(c, '-'))
			is_minus = true;
		else if (take_char(c, '+'))
			is_minus = take_char(c, '-');
		else
			return true;
	}
}

/* --- memory --- */

static bool take_address_register(struct cursor *c, uint8_t *number)
{
	struct operand reg = { 0 };

	if (!take_register(c, &reg) || reg.kind != OPERAND_REGISTER || reg.bytes != 8)
		return false;
	*number = reg.base;
	return true;
}

static bool take_scale(struct cursor *c, uint8_t *shift)
{
	uint64_t scale;

	if (!take_number(c, &scale) || scale == 0 || scale > 8 || (scale & (scale - 1)))
		return false;
	*shift = __builtin_ctz((unsigned)scale);
	return true;
}

/*
 * Reads "%rip" after a symbol. The symbol determines the address. Without a symbol, the address
 * would depend on the address of the next instruction, which an operand does not tell.
 */
static bool take_counter(struct cursor *c, const struct operand *out)
{
	struct cursor rest = *c;
	char name[REGISTER_MAX + 1];

	if (!out->symbol || !take_char(&rest, '%') || !take_name(&rest, name) ||
	    strcmp(name, "rip") != 0)
		return false;
	*c = rest;
	return true;
}

/*
 * Parses the rest of "(base,index,scale)" after the '('. If there is an index, the base and the
 * scale may be left out. If there is no index, the base stands alone.
 */
static bool take_place(struct cursor *c, struct operand *out)
{
	bool has_base = c->at < c->end && *c->at == '%';

	if (take_counter(c, out))
		return take_char(c, ')');
	if (has_base && !take_address_register(c, &out->base))
		return false;
	if (!has_base && (c->at == c->end || *c->at != ','))
		return false;
	if (take_char(c, ',')) {
		/* The stack pointer cannot be an index. */
		if (!take_address_register(c, &out->index) ||
		    strcmp(general[out->index][0], "rsp") == 0)
			return false;
		if (take_char(c, ',') && !take_scale(c, &out->shift))
			return false;
	}
	return take_char(c, ')');
}

/*
 * A memory operand must have brackets: without them, a number is a constant in Intel's syntax and
 * an address in AT&T's, and a name may be a register in Intel's.
 */
static bool take_memory(struct cursor *c, struct operand *out)
{
	out->kind = OPERAND_MEMORY;
	if (!take_char(c, '(')) {
		if (!take_sum(c, out) || !take_char(c, '('))
			return false;
	}
	return take_place(c, out);
}

bool x86_64_parse_operand(const char *text, size_t len, struct operand *out)
{
	struct cursor c = { text, text + len };

	if (len && *text == '%')
		return take_register(&c, out) && c.at == c.end;
	if (take_char(&c, '$')) {
		out->kind = OPERAND_CONSTANT;
		return take_sum(&c, out) && c.at == c.end;
	}
	return take_memory(&c, out) && c.at == c.end;
}
