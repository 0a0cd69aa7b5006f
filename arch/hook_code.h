/*
 * Compilers leave room for hooks in functions: nops, sleds, calls. These pieces of code are
 * recognised by their bytes, without a disassembler.
 */
#ifndef UTRAIL_ARCH_HOOK_CODE_H
#define UTRAIL_ARCH_HOOK_CODE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A call of a hook.
 *
 * @target: the hook's address; with @is_slot the address of the word that has the hook's address
 */
struct hook_call {
	uint64_t target;
	bool is_slot;
	unsigned bytes;
};

/*
 * The functions of one instruction set. Each function recognises one kind of code at @at, and
 * returns 0 or false for other code. @left bytes can be read at @at.
 *
 * @nop: the length of the nop at @at, if compilers use such a nop as room for a hook
 * @landing_pad: the length of the instruction at @at, if this instruction marks a target of
 *               indirect calls (x86_64: `endbr64`)
 * @call: true when the code at @at is a call. The code has the address @addr in the program. Some
 *        of these calls are calls of hooks
 * @entry_sled, @exit_sled, @tail_sled: the number of bytes that XRay replaces in a sled. The code
 *         at @at must be an unpatched sled of the kind in the function's name
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
