/* Machine instructions (see insn.h). This file calls the functions of each instruction set. */
#include "arch/insn.h"

#include <errno.h>

#include "arch/isa.h"

struct insns {
	const struct insn_set *set;
};

int insns_open(struct insns **out, const struct isa *isa, struct uft_err *err)
{
	if (!isa || !isa->insns)
		return err_set(err, -ENOSYS, "machine code of %s is not read by utrail yet",
			       isa ? isa->name : "this machine");
	return isa->insns->open(out, err);
}

int insns_open_same(struct insns **out, const struct insns *insns, struct uft_err *err)
{
	return insns->set->open(out, err);
}

void insns_close(struct insns *insns)
{
	if (insns)
		insns->set->close(insns);
}

void insns_close_at(struct insns **insns)
{
	insns_close(*insns);
}

unsigned insns_before(struct insns *insns, const struct insn_text *text, uint64_t addr,
		      uint64_t *starts, unsigned max)
{
	return insns->set->before(insns, text, addr, starts, max);
}

bool insns_step(struct insns *insns, const uint8_t *at, uint64_t left, uint64_t addr,
		struct insn_step *out)
{
	return insns->set->step(at, left, addr, out);
}

int insns_look_through(struct insns *insns, const struct insn_text *text,
		       void (*fn)(const struct insn_step *step, void *arg), void *arg,
		       struct uft_err *err)
{
	const struct insn_set *set = insns->set;
	struct insn_step step;

	for (uint64_t addr = text->start; addr < text->end; addr += step.len) {
		if (!set->step(text->bytes + (addr - text->start), text->end - addr, addr, &step))
			return err_set(err, -EILSEQ,
				       "what is at %#llx is not known as an instruction",
				       (unsigned long long)addr);
		fn(&step, arg);
	}
	return 0;
}

int insns_move(struct insns *insns, const struct insn_text *text, uint64_t from, unsigned nr_bytes,
	       struct insn_code *out, struct uft_err *err)
{
	return insns->set->move(insns, text, from, nr_bytes, out, err);
}

int insns_move_all(struct insns *insns, const struct insn_text *text, uint64_t from, uint64_t until,
		   struct insn_code *out, struct uft_err *err)
{
	return insns->set->move_all(insns, text, from, until, out, err);
}

int insns_go_on(struct insns *insns, struct insn_code *code, uint64_t to, struct uft_err *err)
{
	return insns->set->go_on(code, to, err);
}

void insn_load_at(const struct isa *isa, struct insn_code *code, uint64_t bias)
{
	isa->insns->load_at(code, bias);
}

bool insns_is_landing_pad(struct insns *insns, const uint8_t *at, uint64_t left)
{
	return insns->set->is_landing_pad(at, left);
}

bool insns_main(struct insns *insns, const uint8_t *at, uint64_t left, uint64_t addr,
		uint64_t *address)
{
	return insns->set->main_of(at, left, addr, address);
}

unsigned insns_padding(struct insns *insns, const uint8_t *at, const uint8_t *end)
{
	return insns->set->padding(insns, at, end);
}

void insns_near_names(struct insns *insns, const struct insn_text *text,
		      void (*fn)(uint64_t addr, void *arg), void *arg)
{
	insns->set->near_names(text, fn, arg);
}

int insns_far_names(struct insns *insns, const struct insn_text *text,
		    void (*fn)(uint64_t addr, void *arg), int (*base)(uint64_t addr, void *arg),
		    void *arg)
{
	return insns->set->far_names(text, fn, base, arg);
}

unsigned insns_near_reach(const struct insns *insns)
{
	return insns->set->near_reach;
}
