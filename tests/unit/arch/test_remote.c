/* Words on another thread's stack that may be return addresses. */
#include "tests/unit/lib/unit.h"

#include <capstone/capstone.h>
#include <string.h>
#include <ucontext.h>

#include "arch/remote.h"
#include "utils/base/compiler.h"

/* Put the bytes at the end of the code, after nops. */
static void put_at_end(uint8_t code[ARCH_REMOTE_CALL_BYTES], const uint8_t *bytes, size_t len)
{
	memset(code, 0x90, ARCH_REMOTE_CALL_BYTES);
	memcpy(code + ARCH_REMOTE_CALL_BYTES - len, bytes, len);
}

static bool may_end(const uint8_t *bytes, size_t len)
{
	uint8_t code[ARCH_REMOTE_CALL_BYTES];

	put_at_end(code, bytes, len);
	return arch_remote_may_end_call(code);
}

/* True when capstone finds a call that ends at the end of @bytes, wherever it begins. */
static bool ends_call(csh handle, const uint8_t *bytes, size_t len)
{
	uint8_t code[ARCH_REMOTE_CALL_BYTES];
	bool is_call = false;

	put_at_end(code, bytes, len);
	for (size_t left = 2; left <= sizeof(code) && !is_call; left++) {
		cs_insn *insn;
		size_t nr = cs_disasm(handle, code + sizeof(code) - left, left, 0x1000, 1, &insn);

		is_call = nr == 1 && insn->id == X86_INS_CALL && insn->size == left;
		if (nr)
			cs_free(insn, nr);
	}
	return is_call;
}

TEST(test_indirect_calls)
{
	csh handle;

	if (!arch_has_remote)
		skip();
	assert_int_equal(cs_open(CS_ARCH_X86, CS_MODE_64, &handle), CS_ERR_OK);
	for (unsigned modrm = 0; modrm < 256; modrm++) {
		for (unsigned sib = 0; sib < 256; sib++) {
			const uint8_t bytes[ARCH_REMOTE_CALL_BYTES] = { 0xff, modrm, sib };

			/* Only capstone takes these bytes for a call to an address of 16 bits. */
			if (modrm == 0x66 && sib == 0xe8)
				continue;
			for (size_t len = 2; len <= sizeof(bytes); len++)
				assert_int_equal(may_end(bytes, len),
						 ends_call(handle, bytes, len));
		}
	}
	cs_close(&handle);
}

TEST(test_others)
{
	static const uint8_t direct[] = { 0xe8, 1, 2, 3, 4 };
	static const uint8_t through_r8[] = { 0x41, 0xff, 0xd0 };
	static const uint8_t jump[] = { 0xe9, 1, 2, 3, 4 };
	static const uint8_t begin[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x55 };

	if (!arch_has_remote)
		skip();
	assert_true(may_end(direct, sizeof(direct)));
	assert_true(may_end(through_r8, sizeof(through_r8)));
	assert_false(may_end(jump, sizeof(jump)));
	assert_false(may_end(begin, sizeof(begin)));
}

#ifdef __x86_64__
static uint64_t *interrupted_words(ucontext_t *context, size_t *nr)
{
	*nr = (sizeof(context->uc_mcontext.gregs) / sizeof(uint64_t)) - REG_RIP;
	return (uint64_t *)&context->uc_mcontext.gregs[REG_RIP];
}

TEST(test_interrupted)
{
	ucontext_t context = { 0 };
	size_t nr;
	uint64_t *words = interrupted_words(&context, &nr);

	context.uc_mcontext.gregs[REG_EFL] = 0x246;
	context.uc_mcontext.gregs[REG_CSGSFS] = 0x2b000000000033;
	assert_true(arch_remote_may_be_interrupted(words, nr));
	assert_true(arch_remote_may_be_interrupted(words, 3));
	assert_false(arch_remote_may_be_interrupted(words, 2));
	context.uc_mcontext.gregs[REG_EFL] = 0x46;
	assert_false(arch_remote_may_be_interrupted(words, nr));
	context.uc_mcontext.gregs[REG_EFL] = 0x100000246;
	assert_false(arch_remote_may_be_interrupted(words, nr));
	context.uc_mcontext.gregs[REG_EFL] = 0x246;
	context.uc_mcontext.gregs[REG_CSGSFS] = 0x2b;
	assert_false(arch_remote_may_be_interrupted(words, nr));
}
#endif
