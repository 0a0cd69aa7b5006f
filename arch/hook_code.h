/*
 * Compilers put nops, sleds or calls into functions, as places for hooks. These pieces of code are
 * recognised by their bytes, without a disassembler.
 */
#ifndef UTRAIL_ARCH_HOOK_CODE_H
#define UTRAIL_ARCH_HOOK_CODE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A call instruction, which may call a hook.
 *
 * @target: the address of the called function; with @is_slot, the address of the word that contains
 *          the address of the called function
 * @bytes: the length of the instruction
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
 * @call: true when the code at @at is a call instruction. The instruction has the address @addr
 *        in the program. The called function may be a hook, or any other function
 * @entry_sled: the number of bytes to replace in the unpatched entry sled of XRay at @at
 * @exit_sled, @tail_sled: the same for exit sleds and tail call sleds
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
