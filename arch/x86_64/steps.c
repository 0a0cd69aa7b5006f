/* Lengths of x86_64 instructions (see steps.h). */
#include "arch/x86_64/steps.h"

#include <string.h>

#include "utils/base/compiler.h"

#define LENGTH_MAX 15

/*
 * Opcode maps. Each row is for 16 opcodes. A letter names the bytes that follow the last byte of an
 * opcode. The sources are Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2,
 * appendix A, and for XOP and 3DNow, AMD64 Architecture Programmer's Manual, volume 3.
 *
 *  .  nothing                                      b  8 bits
 *  m  ModRM                                        w  16 bits
 *  M  ModRM and 8 bits                             z  16 or 32 bits
 *  Z  ModRM and 16 or 32 bits                      v  16, 32 or 64 bits
 *  3  ModRM, and 8 bits if ModRM.reg is 0 or 1     e  16 and 8 bits
 *  4  like 3, but with 16 or 32 bits               o  an address
 *  j  a distance of 8 bits                         J  a distance of 32 bits
 *  -  no instruction, a prefix, or another map
 */
static const char *const one_byte[16] = {
	"mmmmbz--mmmmbz--", /* 00 */
	"mmmmbz--mmmmbz--", /* 10 */
	"mmmmbz--mmmmbz--", /* 20 */
	"mmmmbz--mmmmbz--", /* 30 */
	"----------------", /* 40 */
	"................", /* 50 */
	"---m----zZbM....", /* 60 */
	"jjjjjjjjjjjjjjjj", /* 70 */
	"MZ-Mmmmmmmmmmmmm", /* 80 */
	"..........-.....", /* 90 */
	"oooo....bz......", /* a0 */
	"bbbbbbbbvvvvvvvv", /* b0 */
	"MMw.--MZe.w..b-.", /* c0 */
	"mmmm---.mmmmmmmm", /* d0 */
	"jjjjbbbbJJ-j....", /* e0 */
	"-.--..34......mm", /* f0 */
};

static const char *const two_bytes[16] = {
	"mmmm-.....-.-m.M", /* 0f 00 */
	"mmmmmmmmmmmmmmmm", /* 10 */
	"mmmm----mmmmmmmm", /* 20 */
	"......-.--------", /* 30 */
	"mmmmmmmmmmmmmmmm", /* 40 */
	"mmmmmmmmmmmmmmmm", /* 50 */
	"mmmmmmmmmmmmmmmm", /* 60 */
	"MMMMmmm.mm--mmmm", /* 70 */
	"JJJJJJJJJJJJJJJJ", /* 80 */
	"mmmmmmmmmmmmmmmm", /* 90 */
	"...mMmmm...mMmmm", /* a0 */
	"mmmmmmmmmmMmmmmm", /* b0 */
	"mmMmMMMm........", /* c0 */
	"mmmmmmmmmmmmmmmm", /* d0 */
	"mmmmmmmmmmmmmmmm", /* e0 */
	"mmmmmmmmmmmmmmmm", /* f0 */
};

/* One instruction being decoded: the bytes before @at have been read. */
struct scan {
	const uint8_t *start;
	const uint8_t *at;
	const uint8_t *end;
	bool has_66;
	bool has_f3;
	bool has_f2;
	uint8_t rex;
	uint8_t opcode;
	uint8_t modrm;
	/*
	 * the opcode map of @opcode. 1: opcodes of one byte; 0x0f: opcodes after the byte 0f;
	 * 0x38: opcodes after the bytes 0f 38; 0x3a: opcodes after the bytes 0f 3a; 0: opcodes
	 * after a VEX, EVEX or XOP prefix
	 */
	uint8_t map;
	const uint8_t *distance; /* the displacement from the instruction's end; NULL: none */
};

static bool skip_bytes(struct scan *s, unsigned bytes)
{
	if (bytes > (uint64_t)(s->end - s->at))
		return false;
	s->at += bytes;
	return true;
}

/* Reads the prefixes. REX has an effect only if it is directly before the opcode. */
static bool take_prefixes(struct scan *s)
{
	for (; s->at < s->end; s->at++) {
		uint8_t byte = *s->at;

		if ((byte & 0xf0) == 0x40) {
			s->rex = byte;
			continue;
		}
		switch (byte) {
		case 0x66:
			s->has_66 = true;
			break;
		case 0xf2:
			s->has_f2 = true;
			break;
		case 0xf3:
			s->has_f3 = true;
			break;
		default:
			/* prefixes: a segment, a 32-bit address (67), or lock (f0) */
			if (!byte || !strchr("\x26\x2e\x36\x3e\x64\x65\x67\xf0", byte))
				return true;
		}
		s->rex = 0;
	}
	return false;
}

/* Reads ModRM, SIB and the displacement (SDM volume 2, 2.1.5 and 2.2.1.6). */
static bool take_modrm(struct scan *s)
{
	if (s->at >= s->end)
		return false;
	s->modrm = *s->at++;

	unsigned mod = s->modrm >> 6;
	unsigned rm = s->modrm & 7;
	unsigned bytes = mod == 1 ? 1 : mod == 2 ? 4 : 0;

	if (mod == 3)
		return true;
	if (rm == 4) {
		if (s->at >= s->end)
			return false;
		if (mod == 0 && (*s->at & 7) == 5)
			bytes = 4;
		s->at++;
	} else if (mod == 0 && rm == 5) {
		s->distance = s->at;
		bytes = 4;
	}
	return skip_bytes(s, bytes);
}

/* Decodes the rest of an instruction after its VEX, EVEX or XOP prefix, which names the @map. */
static bool take_vector(struct scan *s, unsigned map)
{
	bool has_byte;

	if (s->at >= s->end || s->has_66 || s->has_f2 || s->has_f3 || s->rex)
		return false;
	s->map = 0;
	s->opcode = *s->at++;
	if (map == 1 && s->opcode == 0x77) /* vzeroupper */
		return true;
	has_byte = map == 3 || map == 8 ||
		   (map == 1 && ((s->opcode & 0xfc) == 0x70 || s->opcode == 0xc2 ||
				 (s->opcode >= 0xc4 && s->opcode <= 0xc6)));
	return take_modrm(s) && skip_bytes(s, map == 10 ? 4 : has_byte ? 1 : 0);
}

/*
 * Returns 1 for a vector instruction, 0 for an instruction of another kind, -1 for an invalid one.
 */
static int try_vector(struct scan *s)
{
	uint64_t left = s->end - s->at;
	const uint8_t *p = s->at;
	unsigned map;

	if (p[0] == 0xc5 && left >= 3) {
		s->at += 2;
		return take_vector(s, 1) ? 1 : -1;
	}
	if (p[0] == 0xc4 && left >= 4) {
		map = p[1] & 0x1f;
		s->at += 3;
		return map >= 1 && map <= 3 && take_vector(s, map) ? 1 : -1;
	}
	if (p[0] == 0x62 && left >= 6) {
		map = p[1] & 7;
		if ((p[1] & 8) || !(p[2] & 4) || map == 0 || map == 4 || map == 7)
			return -1;
		s->at += 4;
		return take_vector(s, map) ? 1 : -1;
	}
	if (p[0] == 0x8f && left >= 4 && (p[1] & 0x1f) >= 8) {
		map = p[1] & 0x1f;
		s->at += 3;
		return map <= 10 && take_vector(s, map) ? 1 : -1;
	}
	return 0;
}

/* Returns the opcode's letter in the maps above. */
static char take_opcode(struct scan *s)
{
	s->map = 1;
	s->opcode = *s->at++;
	if (s->opcode != 0x0f)
		return one_byte[s->opcode >> 4][s->opcode & 15];
	if (s->at >= s->end)
		return '-';
	s->map = 0x0f;
	s->opcode = *s->at++;
	if (s->opcode != 0x38 && s->opcode != 0x3a)
		return two_bytes[s->opcode >> 4][s->opcode & 15];
	s->map = s->opcode;
	if (s->at >= s->end)
		return '-';
	s->opcode = *s->at++;
	return s->map == 0x38 ? 'm' : 'M';
}

static bool take_rest(struct scan *s, char letter)
{
	unsigned word = s->has_66 && !(s->rex & 8) ? 2 : 4;
	bool is_test;

	switch (letter) {
	case '.':
		return true;
	case 'm':
		return take_modrm(s);
	case 'M':
		return take_modrm(s) && skip_bytes(s, 1);
	case 'Z':
		return take_modrm(s) && skip_bytes(s, word);
	case 'b':
	case 'j':
		return skip_bytes(s, 1);
	case 'w':
		return skip_bytes(s, 2);
	case 'e':
		return skip_bytes(s, 3);
	case 'z':
		return skip_bytes(s, word);
	case 'v':
		return skip_bytes(s, s->rex & 8 ? 8 : word);
	case 'J':
		/*
		 * After the prefix 0x66, Intel's CPUs read a displacement of 32 bits, but
		 * AMD's CPUs read a displacement of 16 bits.
		 */
		return (!s->has_66 || (s->rex & 8)) && skip_bytes(s, 4);
	case 'o':
		return skip_bytes(s, memchr(s->start, 0x67, s->at - s->start) ? 4 : 8);
	case '3':
	case '4':
		if (!take_modrm(s))
			return false;
		is_test = (s->modrm & 0x38) < 0x10;
		return !is_test || skip_bytes(s, letter == '3' ? 1 : word);
	default:
		return false;
	}
}

/* True for xbegin (c7 f8), which is a branch with a 32-bit displacement. */
static bool is_transaction(const struct scan *s)
{
	return s->map == 1 && s->opcode == 0xc7 && s->modrm == 0xf8;
}

static enum insn_flow flow_of(const struct scan *s, char letter)
{
	unsigned reg = s->modrm >> 3 & 7;

	if (s->map == 0x0f) {
		if (letter == 'J')
			return INSN_BRANCH;
		/* ud2, ud1, ud0 */
		return s->opcode == 0x0b || s->opcode == 0xb9 || s->opcode == 0xff ? INSN_END
										   : INSN_PLAIN;
	}
	if (s->map != 1)
		return INSN_PLAIN;
	switch (s->opcode) {
	case 0xe8:
		return INSN_CALL;
	case 0xe9:
	case 0xeb:
		return INSN_JUMP;
	case 0xc2:
	case 0xc3:
	case 0xca:
	case 0xcb:
	case 0xcf:
		return INSN_RETURN;
	case 0xcc:
	case 0xf4:
		return INSN_END;
	case 0xc7:
		return is_transaction(s) ? INSN_BRANCH : INSN_PLAIN;
	case 0xff:
		return reg == 2 || reg == 3   ? INSN_CALL_ANYWHERE
		       : reg == 4 || reg == 5 ? INSN_JUMP_ANYWHERE
					      : INSN_PLAIN;
	default:
		return letter == 'j' ? INSN_BRANCH : INSN_PLAIN;
	}
}

/* True for nop in all its forms, and for int3. */
static bool is_padding(const struct scan *s)
{
	if (s->map == 0x0f)
		return s->opcode == 0x1f;
	return s->map == 1 &&
	       (s->opcode == 0xcc || (s->opcode == 0x90 && !s->has_f3 && !(s->rex & 1)));
}

bool x86_64_step(const uint8_t *at, uint64_t left, uint64_t addr, struct insn_step *out)
{
	struct scan s = { .start = at, .at = at, .end = at + MIN(left, (uint64_t)LENGTH_MAX) };
	char letter = 'm';
	int vector;

	if (!take_prefixes(&s))
		return false;
	vector = try_vector(&s);
	if (vector < 0)
		return false;
	if (!vector) {
		letter = take_opcode(&s);
		if (!take_rest(&s, letter))
			return false;
		/* These opcodes are invalid: fe /2 and higher, ff /7, and 8f other than `pop`. */
		if (s.map == 1 && ((s.opcode == 0xfe && (s.modrm & 0x38) > 0x08) ||
				   (s.opcode == 0xff && (s.modrm & 0x38) == 0x38) ||
				   (s.opcode == 0x8f && (s.modrm & 0x38))))
			return false;
		/* extrq and insertq (SSE4a) end with two immediate bytes. */
		if (s.map == 0x0f && s.opcode == 0x78 && (s.has_66 || s.has_f2) &&
		    !skip_bytes(&s, 2))
			return false;
	}

	uint64_t len = s.at - at;

	*out = (struct insn_step){
		.addr = addr, .len = len, .flow = flow_of(&s, letter), .is_padding = is_padding(&s)
	};
	unsigned bytes = letter == 'j' ? 1 : 4;
	const uint8_t *distance = s.distance;

	if (!distance && (letter == 'J' || letter == 'j' || is_transaction(&s)))
		distance = s.at - bytes;
	if (!distance)
		return true;
	out->name_at = distance - at;
	out->names = addr + len + (int64_t)(bytes == 1 ? (int8_t)*distance : distance_at(distance));
	out->has_name = true;
	out->is_address = s.distance && s.map == 1 && s.opcode == 0x8d;
	return true;
}

/*
 * True when the instruction loads an address into %rdi, the first argument of a call. These forms
 * are recognized: lea DISTANCE(%rip),%rdi; mov $ADDRESS,%rdi; mov $ADDRESS,%edi.
 */
static bool takes_first_argument(const uint8_t *at, const struct insn_step *step, uint64_t *value)
{
	static const uint8_t lea[] = { 0x48, 0x8d, 0x3d };
	static const uint8_t mov[] = { 0x48, 0xc7, 0xc7 };

	if (step->len == 7 && memcmp(at, lea, sizeof(lea)) == 0)
		*value = step->addr + step->len + (int64_t)distance_at(at + 3);
	else if (step->len == 7 && memcmp(at, mov, sizeof(mov)) == 0)
		*value = (uint32_t)distance_at(at + 3);
	else if (step->len == 5 && at[0] == 0xbf)
		*value = (uint32_t)distance_at(at + 1);
	else
		return false;
	return true;
}

#define START_MAX 24 /* instructions */

bool x86_64_main_of(const uint8_t *at, uint64_t left, uint64_t addr, uint64_t *address)
{
	bool is_known = false;
	uint64_t value = 0;

	for (int i = 0; i < START_MAX; i++) {
		struct insn_step step;

		if (!x86_64_step(at, left, addr, &step) || step.len > left)
			return false;
		/* call DISTANCE; call *DISTANCE(%rip) */
		if (at[0] == 0xe8 || (step.len == 6 && at[0] == 0xff && at[1] == 0x15)) {
			*address = value;
			return is_known;
		}
		is_known |= takes_first_argument(at, &step, &value);
		at += step.len;
		addr += step.len;
		left -= step.len;
	}
	return false;
}
