/*
 * Whole libraries, function by function: the code moved from each beginning does what it did
 * before, and no jump leads into overwritten bytes.
 */
#include "tests/unit/lib/unit.h"

#include <capstone/capstone.h>
#include <elf.h>

#include "arch/isa.h"
#include "utils/object/code/functions.h"
#include "utils/object/code/sites.h"

#define ELSEWHERE 0x12345678 /* the distance from a site to its moved code */

static const char *const libraries[] = {
	"/usr/lib/x86_64-linux-gnu/libc.so.6",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
};

static csh handle;
static cs_insn *insn;

/* One disassembled instruction. @len is 0 when the bytes are not an instruction. */
struct plain {
	const uint8_t *bytes;
	uint64_t addr;
	unsigned len;
	char text[256];	 /* the text without what depends on the address */
	uint64_t target; /* target of a jump or call, or a relative address */
	bool is_jump;
	bool is_call;
};

static struct plain read_one(const uint8_t *at, size_t left, uint64_t addr)
{
	struct plain p = { .bytes = at, .addr = addr };
	const uint8_t *next = at;
	uint64_t next_addr = addr;
	const cs_x86 *x86;

	if (!cs_disasm_iter(handle, &next, &left, &next_addr, insn))
		return p;
	x86 = &insn->detail->x86;
	p.len = insn->size;
	for (unsigned i = 0; i < insn->detail->groups_count; i++) {
		p.is_jump |= insn->detail->groups[i] == CS_GRP_JUMP ||
			     insn->detail->groups[i] == CS_GRP_BRANCH_RELATIVE;
		p.is_call |= insn->detail->groups[i] == CS_GRP_CALL;
	}
	snprintf(p.text, sizeof(p.text), "%s %s", insn->mnemonic, insn->op_str);
	if ((p.is_jump || p.is_call) && x86->op_count && x86->operands[0].type == X86_OP_IMM) {
		p.target = x86->operands[0].imm;
		snprintf(p.text, sizeof(p.text), "%s", insn->mnemonic);
	}
	for (unsigned i = 0; i < x86->op_count; i++) {
		if (x86->operands[i].type != X86_OP_MEM || x86->operands[i].mem.base != X86_REG_RIP)
			continue;

		char *distance = strstr(p.text, "[rip");
		char *end = distance ? strchr(distance, ']') : NULL;

		assert_non_null(end);
		memmove(distance + 4, end, strlen(end) + 1);
		p.target = addr + p.len + x86->operands[i].mem.disp;
	}
	return p;
}

/* The code of a site, as the probe writes it at site + ELSEWHERE. */
struct moved {
	uint8_t bytes[INSN_CODE_MAX];
	uint64_t addr;
	unsigned len;
	unsigned at; /* the number of bytes compared so far */
	uint16_t new_at[WINDOW_BEHIND +
			16]; /* for each byte of the original: the new place of its instruction */
};

static void place(const struct insn_code *code, struct moved *out)
{
	memset(out, 0, sizeof(*out));
	memcpy(out->bytes, code->bytes, code->len);
	out->len = code->len;
	out->addr = code->from + ELSEWHERE;
	for (unsigned i = 0; i < code->nr_fixes; i++) {
		int32_t distance;

		memcpy(&distance, out->bytes + code->fixes[i], sizeof(distance));
		distance -= ELSEWHERE;
		memcpy(out->bytes + code->fixes[i], &distance, sizeof(distance));
	}
}

static struct plain take(struct moved *m)
{
	struct plain p = read_one(m->bytes + m->at, m->len - m->at, m->addr + m->at);

	m->at += p.len;
	return p;
}

/*
 * True when @jump leads to @target, or to the place to which @target was moved.
 */
static bool leads_to(const struct code_site *site, const struct moved *m, const struct plain *jump,
		     uint64_t target)
{
	if (site->is_loop && target >= site->addr && target < site->addr + site->code.taken)
		return jump->target == m->addr + m->new_at[target - site->addr];
	return jump->target == target;
}

static bool is_same_call(const struct code_site *site, struct moved *m, const struct plain *was)
{
	struct plain push = take(m);
	struct plain high = take(m);
	struct plain jump;

	if (strncmp(push.text, "push ", 5) != 0 || !strstr(high.text, "dword ptr [rsp + 4]"))
		return false;
	if (site->code.ret != was->addr + was->len)
		return false;
	jump = take(m);
	if (was->target && !strstr(was->text, "[rip"))
		return strcmp(jump.text, "jmp") == 0 && jump.target == was->target;
	/*
	 * The jump uses the same register or memory as the call. Only places on the stack have
	 * other offsets, since the stack is one word deeper.
	 */
	if (strncmp(jump.text, "jmp ", 4) != 0 || jump.target != was->target)
		return false;
	return strstr(was->text, "[rsp") || strcmp(jump.text + 4, was->text + 5) == 0;
}

/* True when the next moved instruction does what @was does. */
static bool is_same(const struct code_site *site, struct moved *m, const struct plain *was)
{
	struct plain now;

	if (was->is_call)
		return is_same_call(site, m, was);
	now = take(m);
	/* Bytes that the disassembler does not know cannot be compared. */
	if (!was->len || !now.len)
		return false;
	if (strncmp(was->text, "loop", 4) == 0 || strncmp(was->text, "jrcxz", 5) == 0) {
		struct plain over = take(m);
		struct plain there = take(m);

		return strcmp(now.text, was->text) == 0 && now.target == over.addr + over.len &&
		       over.target == there.addr + there.len &&
		       leads_to(site, m, &there, was->target);
	}
	if (strcmp(now.text, was->text) != 0)
		return false;
	if (was->is_jump && !strchr(was->text, '['))
		return leads_to(site, m, &now, was->target);
	/* Other instructions have the same bytes, apart from a relative address. */
	return now.target == was->target &&
	       (was->target || (now.len == was->len && !memcmp(now.bytes, was->bytes, was->len)));
}

/*
 * Find the new place of each instruction, so that jumps between instructions can be compared. The
 * instructions keep their order, and each has the length of its new form.
 */
static void find_places(const struct code *code, const struct code_site *site, struct moved *m)
{
	uint64_t addr = site->addr;
	unsigned at = 0;

	while (site->is_loop && addr < site->addr + site->code.taken) {
		struct plain was = read_one(code_bytes(code, addr, 1), 16, addr);
		bool is_short_only = !strncmp(was.text, "loop", 4) ||
				     !strncmp(was.text, "jrcxz", 5);
		bool is_direct = was.is_jump && was.target && !strchr(was.text, '[');

		m->new_at[addr - site->addr] = at;
		at += is_short_only			? was.len + 7
		      : is_direct && was.text[1] == 'm' ? 5
		      : is_direct			? 6
							: was.len;
		addr += was.len;
	}
}

static unsigned nr_compared;

static void compare(const struct code *code, const struct code_site *site, const char *name)
{
	uint64_t end = site->code.from + site->code.taken;
	uint64_t addr = site->addr;
	struct moved m;

	place(&site->code, &m);
	find_places(code, site, &m);
	assert_int_equal(site->code.from, site->addr);
	assert_memory_equal(site->original, code_bytes(code, site->jump_at, WINDOW_BYTES),
			    WINDOW_BYTES);
	while (addr < end) {
		struct plain was = read_one(code_bytes(code, addr, 1), end - addr, addr);

		if (!was.len) {
			/*
			 * The disassembler does not know endbr64 and some others. They end the
			 * comparison.
			 */
			return;
		}
		if (!is_same(site, &m, &was))
			fail_msg("%s at %#lx: '%s' was moved wrongly", name ? name : "?", addr,
				 was.text);
		addr += was.len;
	}
	/* The moved code ends with a jump back, unless its last instruction never goes on. */
	if (m.at < m.len) {
		struct plain jump = take(&m);

		if (strcmp(jump.text, "jmp") != 0 || jump.target != end || m.at != m.len)
			fail_msg("%s at %#lx: goes on at %#lx", name ? name : "?", site->addr,
				 jump.target);
	}
	nr_compared++;
}

TEST(all_functions)
{
	struct insns *insns cleanup_insns = NULL;
	unsigned nr_libraries = 0;

	assert_int_equal(insns_open(&insns, isa_of(EM_X86_64, 0), NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++) {
		struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
		struct code code cleanup_code = { 0 };
		struct functions functions cleanup_functions = { 0 };
		struct code_site *sites;
		size_t nr = 0;
		size_t nr_done = 0;

		if (elf_file_open(&file, libraries[i], NULL) < 0)
			continue;
		nr_libraries++;
		assert_int_equal(code_load(&file, &code), 0);
		assert_int_equal(functions_find(&code, insns, NULL, &functions), 0);
		sites = calloc(functions.nr + 1, sizeof(*sites));
		for (size_t k = 0; k < functions.nr; k++) {
			if (functions.list[k].kind == FUNCTION_WHOLE)
				sites[nr++] =
					(struct code_site){ .addr = functions.list[k].start,
							    .entry = functions.list[k].start };
		}
		assert_int_equal(sites_prepare(&code, insns, sites, nr), 0);
		for (size_t k = 0; k < nr; k++) {
			if (sites[k].refusal)
				continue;
			compare(&code, &sites[k], NULL);
			nr_done++;
			/* No two sites write to the same bytes. */
			if (k && !sites[k - 1].refusal && !sites[k - 1].island)
				assert_true(sites[k - 1].jump_at + WINDOW_BYTES <=
					    sites[k].jump_at);
		}
		print_message("%s: %zu of %zu functions\n", libraries[i], nr_done, nr);
		assert_true(nr_done > nr * 95 / 100);
		free(sites);
	}
	print_message("%u functions moved\n", nr_compared);
	if (!nr_libraries)
		skip_because("none of the libraries is installed here");
}

int main(void)
{
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK)
		return 1;
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	insn = cs_malloc(handle);

	int failed = unit_run();

	cs_free(insn, 1);
	cs_close(&handle);
	return failed;
}
