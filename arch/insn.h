/* Machine instructions: the targets of code, and moving code to other places (with capstone). */
#ifndef UTRAIL_ARCH_INSN_H
#define UTRAIL_ARCH_INSN_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/cleanup.h"
#include "utils/base/err.h"

struct isa;

/*
 * A disassembler of one instruction set. It has memory of its own; one per thread, except for
 * insns_step(), insns_look_through(), insns_near_names() and insns_far_names(), which several
 * threads may call with the same one.
 */
struct insns;

/*
 * -ENOSYS when this build cannot read the code of @isa (NULL: a machine that is not in the table),
 * -ENOMEM.
 */
int insns_open(struct insns **out, const struct isa *isa, struct uft_err *err);

/* Open another one for the same instruction set, for another thread. -ENOMEM. */
int insns_open_same(struct insns **out, const struct insns *insns, struct uft_err *err);

/* NULL is fine. */
void insns_close(struct insns *insns);
void insns_close_at(struct insns **insns);
#define cleanup_insns cleanup(insns_close_at)

/* Code in the file: @bytes are those from address @start on, before @end. */
struct insn_text {
	const uint8_t *bytes;
	uint64_t start;
	uint64_t end;
};

/*
 * Find the addresses where the instructions of @text before @addr begin, the last first, at most
 * @max of them. Returns their number. 0 also when no instruction begins at @addr.
 */
unsigned insns_before(struct insns *insns, const struct insn_text *text, uint64_t addr,
		      uint64_t *starts, unsigned max);

/* The code that follows an instruction. */
enum insn_flow {
	INSN_PLAIN,	    /* the next instruction */
	INSN_BRANCH,	    /* the next instruction, or the one that it names */
	INSN_CALL,	    /* the one that it names; then mostly the next one */
	INSN_CALL_ANYWHERE, /* the same by a register or memory */
	INSN_JUMP,	    /* the one that it names */
	INSN_JUMP_ANYWHERE, /* the one whose address is in a register or in memory */
	INSN_RETURN,
	INSN_END, /* none: programs do not mean to get here */
};

/*
 * One instruction.
 *
 * @names: with @has_name: its relative target, or the address that it accesses relative to itself,
 * data too
 * @name_at: offset of the displacement in the instruction
 * @is_address: the address is computed, not read from or jumped to (x86_64: `lea`)
 * @is_padding: it does nothing, or is never meant to be reached: compilers' padding between
 * functions
 */
struct insn_step {
	uint64_t addr;
	uint64_t names;
	uint8_t name_at;
	uint8_t len;
	uint8_t flow; /* enum insn_flow */
	bool has_name;
	bool is_address;
	bool is_padding;
};

/* Decode the instruction at @at, with @left bytes, at address @addr. False when it is unknown. */
bool insns_step(struct insns *insns, const uint8_t *at, uint64_t left, uint64_t addr,
		struct insn_step *out);

/*
 * Call @fn with each instruction of @text, from the first one on. 0; -EILSEQ with the place of
 * bytes that are no instruction.
 */
int insns_look_through(struct insns *insns, const struct insn_text *text,
		       void (*fn)(const struct insn_step *step, void *arg), void *arg,
		       struct uft_err *err);

/* Why instructions cannot be moved. */
enum insn_refusal {
	INSN_MOVES,
	INSN_UNKNOWN,	     /* the bytes are not a known instruction */
	INSN_LANDS,	     /* where an indirect jump may land */
	INSN_RETURNS_INTO,   /* a call returns to what would be overwritten */
	INSN_NOT_UNDERSTOOD, /* it depends on its own address in a way of its own */
	INSN_TOO_FAR,	     /* no form of it reaches far enough */
	INSN_TOO_MUCH,	     /* there is no room for all code that would have to be moved */
};

#define INSN_CODE_MAX  64
#define INSN_FIXES_MAX 8

/*
 * Instructions equivalent to those at @from, to be executed elsewhere within 2 GiB of it.
 *
 * @taken: the number of their bytes there
 * @fixes: offsets in @bytes of displacements, 4 bytes each. They are relative to @from: code
 *         that places @bytes elsewhere adds the distance of @from after that place (or subtracts)
 * @ret_at: when it ends in a call: the offset of the low half of the pushed address, which is
 *          @ret until a load address is added by insn_load_at(); the high half follows after
 *          INSN_RET_HIGH bytes. 0: no call
 * @ends: the place after @bytes is never reached
 * @refusal: enum insn_refusal, set with a return of -EXDEV
 */
struct insn_code {
	uint64_t from;
	uint64_t ret;
	uint8_t taken;
	uint8_t len;
	uint8_t nr_fixes;
	uint8_t ret_at;
	bool ends;
	uint8_t refusal;
	uint8_t fixes[INSN_FIXES_MAX];
	uint8_t bytes[INSN_CODE_MAX];
};

#define INSN_RET_HIGH 8

/*
 * Move whole instructions, from address @from of @text on, until @nr_bytes of them are taken or one
 * does not fall through. -EXDEV with the reason when one cannot run elsewhere, or a call in it
 * would return into the first @nr_bytes, which will be overwritten.
 */
int insns_move(struct insns *insns, const struct insn_text *text, uint64_t from, unsigned nr_bytes,
	       struct insn_code *out, struct uft_err *err);

/*
 * Move all of [@from, @until) of @text: jumps within it lead to the moved code. So the old code is
 * reached only by its first byte, if there are no other references into it. It must not contain
 * calls, since they return there. -EXDEV with the reason, as for insns_move().
 */
int insns_move_all(struct insns *insns, const struct insn_text *text, uint64_t from, uint64_t until,
		   struct insn_code *out, struct uft_err *err);

/* Append a jump to @to after the code of @code, unless it ends. -EXDEV when there is no room. */
int insns_go_on(struct insns *insns, struct insn_code *code, uint64_t to, struct uft_err *err);

/*
 * Adjust for a load address: the file's addresses are @bias higher in this process. @isa: of the
 * code, as made by insns_move().
 */
void insn_load_at(const struct isa *isa, struct insn_code *code, uint64_t bias);

/*
 * True when it marks a landing place for indirect jumps (x86_64: `endbr64`); there are @left bytes.
 */
bool insns_is_landing_pad(struct insns *insns, const uint8_t *at, uint64_t left);

/*
 * The @left bytes at @at, of address @addr, are a program's start code, which calls
 * __libc_start_main() with main() as first argument: the address of main(). False when they are
 * not, or load the address in another way than the start files of C libraries.
 */
bool insns_main(struct insns *insns, const uint8_t *at, uint64_t left, uint64_t addr,
		uint64_t *address);

/*
 * The number of bytes from @at on, before @end, that do nothing and fall through, or are never
 * reached (padding).
 */
unsigned insns_padding(struct insns *insns, const uint8_t *at, const uint8_t *end);

/*
 * For bytes with unknown instruction boundaries: call @fn with each possible jump target, decoding
 * from any byte. insns_near_names(): of jumps that reach insns_near_reach() bytes, before and
 * after. insns_far_names(): of all others; and @base with each possible start of a table, with only
 * its place (0, or its result below 0).
 */
void insns_near_names(struct insns *insns, const struct insn_text *text,
		      void (*fn)(uint64_t addr, void *arg), void *arg);
int insns_far_names(struct insns *insns, const struct insn_text *text,
		    void (*fn)(uint64_t addr, void *arg), int (*base)(uint64_t addr, void *arg),
		    void *arg);
unsigned insns_near_reach(const struct insns *insns);

/*
 * The functions that an instruction set must provide: see the functions above of the same names. A
 * struct insns begins with a pointer to it, which open() sets.
 */
struct insn_set {
	int (*open)(struct insns **out, struct uft_err *err);
	void (*close)(struct insns *insns);
	unsigned (*before)(struct insns *insns, const struct insn_text *text, uint64_t addr,
			   uint64_t *starts, unsigned max);
	bool (*step)(const uint8_t *at, uint64_t left, uint64_t addr, struct insn_step *out);
	int (*move)(struct insns *insns, const struct insn_text *text, uint64_t from,
		    unsigned nr_bytes, struct insn_code *out, struct uft_err *err);
	int (*move_all)(struct insns *insns, const struct insn_text *text, uint64_t from,
			uint64_t until, struct insn_code *out, struct uft_err *err);
	int (*go_on)(struct insn_code *code, uint64_t to, struct uft_err *err);
	void (*load_at)(struct insn_code *code, uint64_t bias);
	bool (*is_landing_pad)(const uint8_t *at, uint64_t left);
	bool (*main_of)(const uint8_t *at, uint64_t left, uint64_t addr, uint64_t *address);
	unsigned (*padding)(struct insns *insns, const uint8_t *at, const uint8_t *end);
	void (*near_names)(const struct insn_text *text, void (*fn)(uint64_t addr, void *arg),
			   void *arg);
	int (*far_names)(const struct insn_text *text, void (*fn)(uint64_t addr, void *arg),
			 int (*base)(uint64_t addr, void *arg), void *arg);
	unsigned near_reach;
};

/*
 * Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2. In a build without
 * capstone it only reports that.
 */
extern const struct insn_set x86_64_insns;

#endif
