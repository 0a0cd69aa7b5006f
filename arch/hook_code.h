/*
 * Code that compilers leave in functions for those who want to hook them: nops, sleds, calls. Known
 * by its bytes, without a disassembler.
 */
#ifndef UTRAIL_ARCH_HOOK_CODE_H
#define UTRAIL_ARCH_HOOK_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* A call of a hook: where it leads, or with @is_slot the address of the word that says where. */
struct hook_call {
	uint64_t target;
	bool is_slot;
	unsigned bytes;
};

/*
 * The functions that an instruction set has to have; NULL in its struct isa: functions cannot be
 * prepared. @left: the number of bytes at @at.
 *
 * @nop: how many bytes the one instruction at @at has if it does nothing and is one that compilers
 *       leave for this, else 0
 * @landing_pad: the bytes of a mark at @at that indirect calls may come here (x86_64: `endbr64`),
 *               else 0
 * @call: true when the code at @at, which is @addr, is a call that may be one of a hook
 * @entry_sled, @exit_sled, @tail_sled: XRay's, not patched: their bytes that are replaced, else 0
 */
struct hook_code {
	unsigned (*nop)(const uint8_t *at, uint64_t left);
	unsigned (*landing_pad)(const uint8_t *at, uint64_t left);
	bool (*call)(const uint8_t *at, uint64_t left, uint64_t addr, struct hook_call *call);
	unsigned (*entry_sled)(const uint8_t *at, uint64_t left);
	unsigned (*exit_sled)(const uint8_t *at, uint64_t left);
	unsigned (*tail_sled)(const uint8_t *at, uint64_t left);
};

extern const struct hook_code x86_64_hook_code;

#endif
