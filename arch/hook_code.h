/*
 * Code that compilers leave in functions for hooks: nops, sleds, calls. Recognised by its bytes,
 * without a disassembler.
 */
#ifndef UTRAIL_ARCH_HOOK_CODE_H
#define UTRAIL_ARCH_HOOK_CODE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A call of a hook. @target: the hook's address, or, with @is_slot, the address of the word that
 * has it.
 */
struct hook_call {
	uint64_t target;
	bool is_slot;
	unsigned bytes;
};

/*
 * The functions that an instruction set must provide so that functions can be prepared. @left: the
 * number of bytes at @at.
 *
 * @nop: the length of the instruction at @at if it is a nop that compilers leave for hooks, else 0
 * @landing_pad: the length of a landing mark for indirect calls at @at (x86_64: `endbr64`), else 0
 * @call: true when the code at @at, of address @addr, is a call, perhaps of a hook
 * @entry_sled, @exit_sled, @tail_sled: the number of bytes that XRay replaces, if an unpatched sled
 *                 of that kind is at @at; else 0
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
