/*
 * Code that compilers leave in functions for hooks: nops, sleds, calls. It is recognised by its
 * bytes, without a disassembler.
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
 * An instruction set's functions that recognise calls of hooks, and the code that compilers write
 * to leave room for hooks. @left bytes can be read at @at. Each function returns 0 or false for
 * code that it does not recognise.
 *
 * @nop: the length of a nop that compilers leave for hooks, at @at
 * @landing_pad: the length of a mark for targets of indirect calls (x86_64: `endbr64`), at @at
 * @call: true when the code at @at, of address @addr, is a call, perhaps of a hook
 * @entry_sled, @exit_sled, @tail_sled: the number of bytes that XRay replaces in an unpatched sled
 *                                      of that kind, at @at
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
