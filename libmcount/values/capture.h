/*
 * Runs the plan's capture programs. These programs write arguments and return values to payloads.
 */
#ifndef UTRAIL_LIBMCOUNT_CAPTURE_H
#define UTRAIL_LIBMCOUNT_CAPTURE_H

#include "libmcount/hot/probe.h"
#include "utils/format/probe/capture.h"

/*
 * The number of bytes that a capture program may write. This number exceeds the length of the
 * longest payload, since stores of whole words go beyond the end of a value.
 */
#define CAPTURE_ROOM (ARGBLOB_MAX_BYTES + 128)

/*
 * HOT: writes the traced function's arguments to @to, as the capture program at @head says. @to has
 * CAPTURE_ROOM bytes. Returns the payload's length, a multiple of 8. Returns 0 when there is no
 * payload, or when the payload would be too long. Makes no system call while the thread is
 * FAULT_GUARDED (fault.h). In an attached probe no thread is FAULT_GUARDED.
 *
 * @slot: the return slot
 */
uint32_t capture_args(const struct capture_step *head, const struct arch_regs *regs,
		      const uint64_t *slot, uint8_t *to);

/* HOT. Writes the return value as capture_args() writes arguments. */
uint32_t capture_retval(const struct capture_step *head, const struct arch_regs *regs, uint8_t *to);

/*
 * HOT: runs @step, which reads a string. Writes two bytes with the length of the string, and then
 * the string. Returns the length.
 *
 * @to: CAPTURE_TEXT_ROOM bytes
 */
#define CAPTURE_TEXT_ROOM (ARGBLOB_STRING_MAX + 32)
uint32_t capture_text(const struct capture_step *step, const struct arch_regs *regs,
		      const uint64_t *slot, uint8_t *to);

/* Returns the low bytes of @word, extended to 64 bits. @narrow: as in struct capture_step. */
static inline uint64_t capture_widen(uint64_t word, uint8_t narrow)
{
	unsigned bytes = narrow & ~(CAPTURE_SIGNED | CAPTURE_WIDE);
	unsigned unused = 64 - 8 * bytes;

	if (bytes == 0 || bytes >= 8)
		return word;
	if (narrow & CAPTURE_WIDE)
		return (int64_t)(word << unused) >> unused;
	if (narrow & CAPTURE_SIGNED)
		return (uint32_t)((int64_t)(word << unused) >> unused);
	return word << unused >> unused;
}

/* Like capture_args(), but faster if the only value to capture is an integer in a register. */
static inline uint32_t capture_args_quick(const struct capture_step *head,
					  const struct arch_regs *regs, const uint64_t *slot,
					  uint8_t *to)
{
	const struct capture_step *step = head + 1;

	if (head->bytes != 1 || step->op != CAPTURE_WORD || step->index > ARCH_INT_ARG_REGS)
		return capture_args(head, regs, slot, to);
	/* One store suffices: even a narrow value is padded to eight bytes. */
	*(uint64_t *)to = capture_widen(arch_int_arg(regs, slot, step->index), step->narrow);
	return sizeof(uint64_t);
}

static inline uint32_t capture_retval_quick(const struct capture_step *head,
					    const struct arch_regs *regs, uint8_t *to)
{
	const struct capture_step *step = head + 1 + head->bytes;

	if (head->index != 1 || step->op != CAPTURE_WORD)
		return capture_retval(head, regs, to);
	*(uint64_t *)to = capture_widen(arch_int_ret(regs, step->index), step->narrow);
	return sizeof(uint64_t);
}

#endif
