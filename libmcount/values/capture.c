/* Arguments and return values (see capture.h). */
#include "libmcount/values/capture.h"

#include "libmcount/values/capture_box.h"
#include "libmcount/system/fault.h"

/* A run of a capture program. */
struct capture_run {
	const struct arch_regs *regs;
	const uint64_t *slot; /* NULL: a return value is captured */
	uint8_t *to;
	uint32_t len;
};

static inline uint64_t word_at(const struct capture_run *run, uint32_t index)
{
	if (!run->slot)
		return arch_int_ret(run->regs, index);
	if (index <= ARCH_INT_ARG_REGS)
		return arch_int_arg(run->regs, run->slot, index);

	/*
	 * The word with the number @index is on the program's stack. If @index is wrong, the
	 * address of this word may be invalid.
	 */
	uint64_t word = 0;

	fault_copy(&word, run->slot + (index - ARCH_INT_ARG_REGS), sizeof(word));
	return word;
}

/* Writes zeros up to the offset of the next value. */
static inline void pad(struct capture_run *run)
{
	while (run->len % ARGBLOB_ALIGN)
		run->to[run->len++] = 0;
}

#define VALUE_BYTES_MAX 16 /* the maximum number of bytes of a value in one register */

static void put_bytes(struct capture_run *run, const void *from, uint32_t bytes)
{
	/*
	 * All VALUE_BYTES_MAX bytes are copied, in a few moves. A loop or a call would cost more.
	 */
	__builtin_memcpy(run->to + run->len, from, VALUE_BYTES_MAX);
	run->len += bytes;
	pad(run);
}

static void put_from(struct capture_run *run, const void *from, uint32_t bytes)
{
	uint8_t *to = run->to + run->len;
	uint32_t copied = fault_copy(to, from, bytes);

	for (uint32_t i = copied; i < bytes; i++)
		to[i] = 0;
	run->len += bytes;
	pad(run);
}

/*
 * Ends a text of @len bytes. The caller has left two bytes free before the text. end_string()
 * stores @len in these two bytes.
 */
static void end_string(struct capture_run *run, uint32_t len)
{
	uint8_t *head = run->to + run->len;

	head[0] = len;
	head[1] = len >> 8;
	run->len += sizeof(uint16_t) + len;
	pad(run);
}

/* Writes a pointer to unreadable memory as a text: "<0x10>". */
static uint32_t put_address(uint8_t *to, uint64_t address)
{
	uint32_t len = 0;
	int shift = 60;

	to[len++] = '<';
	to[len++] = '0';
	to[len++] = 'x';
	while (shift > 0 && !(address >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		to[len++] = "0123456789abcdef"[address >> shift & 15];
	to[len++] = '>';
	return len;
}

static void put_null(struct capture_run *run)
{
	__builtin_memcpy(run->to + run->len + sizeof(uint16_t), ARGBLOB_NULL, ARGBLOB_NULL_LEN);
	end_string(run, ARGBLOB_NULL_LEN);
}

/*
 * A text of ARGBLOB_STRING_MAX bytes or more is cut to that length, and its last three bytes become
 * dots. Returns the length of the result.
 */
static uint32_t cut_string(uint8_t *text, uint64_t len)
{
	if (len < ARGBLOB_STRING_MAX)
		return len;
	__builtin_memcpy(text + ARGBLOB_STRING_MAX - 3, ARGBLOB_STRING_CUT, 3);
	return ARGBLOB_STRING_MAX;
}

static void put_string(struct capture_run *run, uint64_t address)
{
	uint8_t *text = run->to + run->len + sizeof(uint16_t);

	if (!address) {
		put_null(run);
		return;
	}

	int64_t len = fault_copy_string(text, (const void *)address, ARGBLOB_STRING_MAX);

	/* If len < -1, the copy has failed after (-1 - len) bytes. These bytes are recorded. */
	if (len < -1)
		len = -1 - len;
	end_string(run, len < 0 ? put_address(text, address) : cut_string(text, len));
}

/*
 * Writes the @len bytes at @address as a text, which may contain NULs. @object: the pointer that is
 * shown if the bytes cannot be read
 */
static void put_text(struct capture_run *run, uint64_t object, uint64_t address, uint64_t len)
{
	uint8_t *text = run->to + run->len + sizeof(uint16_t);
	uint64_t wanted = MIN(len, (uint64_t)ARGBLOB_STRING_MAX);

	if (fault_copy(text, (const void *)address, wanted) < wanted)
		end_string(run, put_address(text, object));
	else
		end_string(run, cut_string(text, len));
}

static void put_std_string(struct capture_run *run, uint64_t object, bool is_llvm)
{
	uint64_t words[STRING_WORDS];
	uint32_t bytes = string_bytes(is_llvm);
	struct string_text text = { 0, 1 }; /* for a string that cannot be read */

	if (!object) {
		put_null(run);
		return;
	}
	if (fault_copy(words, (const void *)object, bytes) == bytes)
		text = string_text_of(words, object, is_llvm);
	put_text(run, object, text.at, text.len);
}

static inline void put_word(struct capture_run *run, const struct capture_step *step)
{
	uint64_t word = capture_widen(word_at(run, step->index), step->narrow);

	/* One store for all sizes, instead of a loop over bytes. */
	__builtin_memcpy(run->to + run->len, &word, sizeof(word));
	run->len += (step->bytes + ARGBLOB_ALIGN - 1) & ~(ARGBLOB_ALIGN - 1);
}

static void put_register(struct capture_run *run, const struct capture_step *step)
{
	uint64_t value[2] = { 0 };

	if (step->op == CAPTURE_X87)
		arch_read_x87(value);
	else
		arch_read_vector(value, step->index);
	put_bytes(run, value, MIN(step->bytes, (uint16_t)VALUE_BYTES_MAX));
}

/* Writes a text from memory of the probe (CAPTURE_TEXT), which is always readable. */
static void put_own_text(struct capture_run *run, uint32_t index)
{
	const struct capture_text *texts = (const struct capture_text *)word_at(run,
										run->slot ? 1 : 0);

	for (uint32_t i = 0; i < texts[index].len; i++)
		run->to[run->len + sizeof(uint16_t) + i] = texts[index].text[i];
	end_string(run, texts[index].len);
}

static void run_step(struct capture_run *run, const struct capture_step *step)
{
	switch (step->op) {
	case CAPTURE_VECTOR:
	case CAPTURE_X87:
		put_register(run, step);
		break;
	case CAPTURE_STACK:
		put_from(run, run->slot + step->index, step->bytes);
		break;
	case CAPTURE_POINTED:
		put_from(run, (const void *)word_at(run, step->index), step->bytes);
		break;
	case CAPTURE_STRING:
		put_string(run, word_at(run, step->index));
		break;
	case CAPTURE_TEXT:
		put_own_text(run, step->index);
		break;
	case CAPTURE_STD_STRING:
	case CAPTURE_STD_STRING_LLVM:
		put_std_string(run, word_at(run, step->index), step->op == CAPTURE_STD_STRING_LLVM);
		break;
	default:
		for (uint32_t k = 0; k < step->bytes; k++)
			run->to[run->len++] = 0;
		pad(run);
		break;
	}
}

/* Writes a container. Returns the number of capture steps that describe the container. */
static NOINLINE uint32_t put_box(struct capture_run *run, const struct capture_step *step)
{
	const struct capture_step *counts = step + 1;
	const struct capture_step *parts = step + 2;
	const struct capture_step *shape = parts + counts->bytes;
	uint8_t object[BOX_PARTS_BYTES + VALUE_BYTES_MAX];
	struct capture_run together = { run->regs, run->slot, object, 0 };
	uint64_t address = (uint64_t)object;

	if (step->narrow == BOX_POINTED)
		address = word_at(run, step->index);
	else if (step->narrow == BOX_ON_STACK)
		address = (uint64_t)(run->slot + step->index);
	for (uint32_t i = 0; i < counts->bytes && together.len <= BOX_PARTS_BYTES; i++) {
		if (parts[i].op == CAPTURE_WORD)
			put_word(&together, &parts[i]);
		else
			run_step(&together, &parts[i]);
	}
	capture_box((const struct box_step *)shape, counts->index / BOX_STEP_UNITS, address,
		    run->to + run->len, step->bytes);
	run->len += step->bytes;
	pad(run);
	return 2 + counts->bytes + counts->index;
}

/* Returns the maximum number of bytes that @step can add. */
static inline uint32_t room_for(const struct capture_step *step)
{
	bool is_string = step->op >= CAPTURE_STRING && step->op <= CAPTURE_TEXT;

	return is_string ? sizeof(uint16_t) + ARGBLOB_STRING_MAX : step->bytes;
}

static inline uint32_t run_steps(struct capture_run *run, const struct capture_step *steps,
				 uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		if (likely(steps[i].op == CAPTURE_WORD))
			put_word(run, &steps[i]);
		else if (unlikely(run->len + room_for(&steps[i]) > CAPTURE_MAX_BYTES))
			return 0;
		else if (steps[i].op == CAPTURE_BOX)
			i += put_box(run, &steps[i]) - 1;
		else
			run_step(run, &steps[i]);
		if (unlikely(run->len > CAPTURE_MAX_BYTES))
			return 0;
	}
	while (run->len % ARGBLOB_TOTAL_ALIGN)
		run->to[run->len++] = 0;
	return run->len;
}

uint32_t capture_args(const struct capture_step *head, const struct arch_regs *regs,
		      const uint64_t *slot, uint8_t *to)
{
	struct capture_run run = { regs, slot, to, 0 };

	return run_steps(&run, head + 1, head->bytes);
}

uint32_t capture_retval(const struct capture_step *head, const struct arch_regs *regs, uint8_t *to)
{
	struct capture_run run = { regs, NULL, to, 0 };

	return run_steps(&run, head + 1 + head->bytes, head->index);
}

uint32_t capture_text(const struct capture_step *step, const struct arch_regs *regs,
		      const uint64_t *slot, uint8_t *to)
{
	struct capture_run run = { regs, slot, to, 0 };

	run_step(&run, step);
	return to[0] | to[1] << 8;
}
