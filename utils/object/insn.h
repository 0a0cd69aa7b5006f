/* Machine instructions: which places code leads to, and the same code made to run somewhere else (with capstone). */
#ifndef UTRAIL_OBJECT_INSN_H
#define UTRAIL_OBJECT_INSN_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/cleanup.h"
#include "utils/base/err.h"

/* A disassembler for x86_64. Keeps memory of its own; one per thread. */
struct insns;

/* -ENOSYS in a build without capstone, -ENOMEM. */
int insns_open(struct insns **out, struct uft_err *err);

/* NULL is fine. */
void insns_close(struct insns *insns);
void insns_close_at(struct insns **insns);
#define cleanup_insns cleanup(insns_close_at)

/* Code as it stands in the file: @bytes are those from address @start on, before @end. */
struct insn_text {
	const uint8_t *bytes;
	uint64_t start;
	uint64_t end;
};

/*
 * Where the instructions of @text before @addr begin, the last first, at most @max of them; how many. 0 also when @addr is not the
 * beginning of one.
 */
unsigned insns_before(struct insns *insns, const struct insn_text *text, uint64_t addr,
		      uint64_t *starts, unsigned max);

/*
 * Call @fn with each address that an instruction of @text names: where it jumps to or calls by a distance, and what it addresses
 * relative to itself, data too. 0; -EILSEQ when there is something in it that is no instruction, with the place.
 */
int insns_names(struct insns *insns, const struct insn_text *text,
		void (*fn)(uint64_t addr, void *arg), void *arg, struct uft_err *err);

#define INSN_CODE_MAX  64
#define INSN_FIXES_MAX 8

/*
 * Instructions that do what those at @from did, to be executed elsewhere within 2 GiB of it.
 *
 * @taken: how many bytes there they were
 * @fixes: places in @bytes of distances, 4 bytes each. They are as if @bytes stood at @from: whoever puts them elsewhere
 *         adds how far @from lies behind (or subtracts)
 * @ret_at: when it ends in a call: the place of the low half of the address that is pushed, which is @ret until a load address is
 *          added by insn_load_at(); the high half is INSN_RET_HIGH behind. 0: no call
 * @ends: what is behind @bytes is never reached
 */
struct insn_code {
	uint64_t from;
	uint64_t ret;
	uint8_t taken;
	uint8_t len;
	uint8_t nr_fixes;
	uint8_t ret_at;
	bool ends;
	uint8_t fixes[INSN_FIXES_MAX];
	uint8_t bytes[INSN_CODE_MAX];
};

#define INSN_RET_HIGH 8

/*
 * Move whole instructions, from address @from of @text on, until @nr_bytes of them are taken or one never goes on to the next.
 * -EXDEV with the reason when one cannot run elsewhere, or a call in it would come back to a place that is among the first @nr_bytes:
 * those are to be overwritten.
 */
int insns_move(struct insns *insns, const struct insn_text *text, uint64_t from, unsigned nr_bytes,
	       struct insn_code *out, struct uft_err *err);

/* Go on at @to behind what @code does, unless it ends. -EXDEV when there is no room. */
int insn_go_on(struct insn_code *code, uint64_t to, struct uft_err *err);

/* The file's addresses are @bias higher in this process. */
void insn_load_at(struct insn_code *code, uint64_t bias);

/* Where indirect jumps may land: `endbr64`. */
bool insn_is_landing_pad(const uint8_t *at, uint64_t left);

/* How many bytes from @at on, before @end, do nothing and go on to the next or are never meant to be reached (padding). */
unsigned insns_padding(struct insns *insns, const uint8_t *at, const uint8_t *end);

#endif
