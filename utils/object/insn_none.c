/* Machine instructions in a build without capstone: nothing is known of them (see insn.h). */
#include "utils/object/insn.h"

#include <errno.h>

int insns_open(struct insns **out, struct uft_err *err)
{
	return err_set(err, -ENOSYS, "utrail was built without capstone, which reads machine code");
}

void insns_close(struct insns *insns)
{
}

void insns_close_at(struct insns **insns)
{
}

unsigned insns_before(struct insns *insns, const struct insn_text *text, uint64_t addr,
		      uint64_t *starts, unsigned max)
{
	return 0;
}

int insns_names(struct insns *insns, const struct insn_text *text,
		void (*fn)(uint64_t addr, void *arg), void *arg, struct uft_err *err)
{
	return -ENOSYS;
}

int insns_move(struct insns *insns, const struct insn_text *text, uint64_t from, unsigned nr_bytes,
	       struct insn_code *out, struct uft_err *err)
{
	return -ENOSYS;
}

int insn_go_on(struct insn_code *code, uint64_t to, struct uft_err *err)
{
	return -ENOSYS;
}

void insn_load_at(struct insn_code *code, uint64_t bias)
{
}

bool insn_is_landing_pad(const uint8_t *at, uint64_t left)
{
	return false;
}

unsigned insns_padding(struct insns *insns, const uint8_t *at, const uint8_t *end)
{
	return 0;
}
