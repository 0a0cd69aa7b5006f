/*
 * Machine instructions (with capstone): finds the addresses to which instructions refer, and moves
 * code to other addresses.
 */
#ifndef UTRAIL_ARCH_INSN_H
#define UTRAIL_ARCH_INSN_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/cleanup.h"
#include "utils/base/err.h"

struct isa;

/*
 * A disassembler of one instruction set. A disassembler belongs to one thread. But any thread may
 * call insns_step(), insns_look_through(), insns_near_names() and insns_far_names(), because these
 * functions do not change the disassembler.
 */
struct insns;

/*
 * Opens a disassembler for the code of @isa (NULL: an unknown machine). Returns 0, -ENOMEM, or
 * -ENOSYS. The result is -ENOSYS when this build cannot read the code of @isa, or when capstone is
 * not installed.
 */
int insns_open(struct insns **out, const struct isa *isa, struct uft_err *err);

/*
 * Opens another disassembler of the instruction set of @insns, for another thread. Returns 0 or
 * -ENOMEM.
 */
int insns_open_same(struct insns **out, const struct insns *insns, struct uft_err *err);

/* @insns may be NULL. */
void insns_close(struct insns *insns);
void insns_close_at(struct insns **insns);
#define cleanup_insns cleanup(insns_close_at)

/* Code of a module's file, from address @start to the byte before @end. */
struct insn_text {
	const uint8_t *bytes;
	uint64_t start;
	uint64_t end;
};

/*
 * Stores in @starts the addresses of the last instructions of @text before @addr: at most @max
 * addresses, in descending order. Returns the number of these addresses. Returns 0 when the bytes
 * before @addr cannot be decoded, or when @addr is inside of an instruction.
 */
unsigned insns_before(struct insns *insns, const struct insn_text *text, uint64_t addr,
		      uint64_t *starts, unsigned max);

/*
 * Kinds of instructions, by the code that may run next. The target of an INSN_BRANCH, INSN_CALL or
 * INSN_JUMP is the address insn_step.names.
 */
enum insn_flow {
	INSN_PLAIN,	    /* the next instruction */
	INSN_BRANCH,	    /* either the next instruction or the instruction at the target */
	INSN_CALL,	    /* the function at the target; after a return, the next instruction */
	INSN_CALL_ANYWHERE, /* like INSN_CALL, but the address is in a register or in memory */
	INSN_JUMP,	    /* the instruction at the target */
	INSN_JUMP_ANYWHERE, /* the instruction whose address is in a register or in memory */
	INSN_RETURN,
	INSN_END, /* none: no code runs after the instruction */
};

/*
 * One instruction.
 *
 * @names: if @has_name is set: the address of the target or data to which the instruction refers.
 *         The displacement in the instruction is this address minus the address of the
 *         instruction's end
 * @name_at: the offset of the displacement in the instruction
 * @is_address: the instruction computes the address, but does not read or write the memory there
 *              (x86_64: `lea`)
 * @is_padding: compilers put such instructions between functions; they do nothing, or are never
 *              reached
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

/*
 * Decodes the instruction at @at, where @left bytes of code remain. @addr is the address of the
 * instruction. Returns false when the instruction is unknown.
 */
bool insns_step(struct insns *insns, const uint8_t *at, uint64_t left, uint64_t addr,
		struct insn_step *out);

/*
 * Calls @fn with each instruction of @text, in order. Returns 0, or -EILSEQ with the place in @err
 * when bytes are not an instruction.
 */
int insns_look_through(struct insns *insns, const struct insn_text *text,
		       void (*fn)(const struct insn_step *step, void *arg), void *arg,
		       struct uft_err *err);

/* The reason why instructions cannot be moved. */
enum insn_refusal {
	INSN_MOVES,
	INSN_UNKNOWN,	     /* the bytes are not a known instruction */
	INSN_LANDS,	     /* an indirect jump may lead to the second or a later instruction */
	INSN_RETURNS_INTO,   /* a call would return to overwritten code */
	INSN_NOT_UNDERSTOOD, /* an instruction depends on its address in an unknown way */
	INSN_TOO_FAR,	     /* no form of an instruction reaches far enough */
	INSN_TOO_MUCH,	     /* no room for the moved code, for example in struct insn_code */
};

#define INSN_CODE_MAX  64
#define INSN_FIXES_MAX 8

/*
 * Instructions with the effect of the instructions at @from, to be executed at another place within
 * 2 GiB.
 *
 * @taken: the number of bytes of the original instructions at @from
 * @fixes: each element is the offset of a 4-byte displacement in @bytes. If @bytes are placed at
 *         address A, add @from - A to each displacement
 * @ret_at: if the last instruction is a call: the offset in @bytes of the low half of the return
 *          address that @bytes pushes. The high half is at the offset @ret_at + INSN_RET_HIGH. If
 *          the last instruction is no call, @ret_at is 0
 * @ret: the return address before relocation. insn_load_at() relocates the return address, and
 *       writes the result into @bytes
 * @ends: code after @bytes would never be reached
 * @refusal: enum insn_refusal, set when insns_move(), insns_move_all() or insns_go_on() returns
 *           -EXDEV
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
 * Moves whole instructions of @text, beginning at @from, until @nr_bytes are taken or an
 * instruction does not lead to the next one. Returns 0, or -EXDEV with the reason in @err when an
 * instruction cannot be moved. A call that returns into the first @nr_bytes cannot be moved, since
 * these bytes will be overwritten.
 */
int insns_move(struct insns *insns, const struct insn_text *text, uint64_t from, unsigned nr_bytes,
	       struct insn_code *out, struct uft_err *err);

/*
 * Moves all of [@from, @until) of @text. If a moved direct jump has a target in the range, this
 * jump leads to the moved target. The function does not check whether code outside of the range
 * refers to the range. Returns 0, or -EXDEV with the reason in @err, for example if the range
 * contains a call.
 */
int insns_move_all(struct insns *insns, const struct insn_text *text, uint64_t from, uint64_t until,
		   struct insn_code *out, struct uft_err *err);

/*
 * If the program can run past the end of @code, appends a jump to @to. Returns 0, or -EXDEV when
 * there is no room for the jump.
 */
int insns_go_on(struct insns *insns, struct insn_code *code, uint64_t to, struct uft_err *err);

/*
 * Adapts @code, which insns_move() has made for code of @isa, to a load address. Addresses in this
 * process are @bias higher than in the file.
 */
void insn_load_at(const struct isa *isa, struct insn_code *code, uint64_t bias);

/*
 * True when the instruction at @at, where @left bytes of code remain, marks a target of indirect
 * jumps (x86_64: `endbr64`).
 */
bool insns_is_landing_pad(struct insns *insns, const uint8_t *at, uint64_t left);

/*
 * Finds the address of main() in a program's start code, which calls __libc_start_main() with
 * main() as first argument. Returns false when the bytes are not start code of a C library.
 *
 * @at, @left: the bytes of the code
 * @addr: the address of @at
 * @address: where to store the address of main()
 */
bool insns_main(struct insns *insns, const uint8_t *at, uint64_t left, uint64_t addr,
		uint64_t *address);

/* Returns the number of bytes at @at, before @end, that do nothing or are never reached. */
unsigned insns_padding(struct insns *insns, const uint8_t *at, const uint8_t *end);

/*
 * These functions search bytes whose instruction boundaries are unknown. A direct jump or call may
 * begin at any byte. For each such jump or call, the functions call @fn with the target of the jump
 * or call.
 *
 * - insns_near_names() finds jumps with a reach of insns_near_reach() bytes in both directions.
 * - insns_far_names() finds jumps and calls with a 32-bit displacement (x86_64: except xbegin).
 *   The function also finds instructions that compute an address (x86_64: `lea`), such as the
 *   address of a jump table. The function calls @base with each such address. If @base returns a
 *   negative value, insns_far_names() returns this value at once. Otherwise insns_far_names()
 *   returns 0.
 */
void insns_near_names(struct insns *insns, const struct insn_text *text,
		      void (*fn)(uint64_t addr, void *arg), void *arg);
int insns_far_names(struct insns *insns, const struct insn_text *text,
		    void (*fn)(uint64_t addr, void *arg), int (*base)(uint64_t addr, void *arg),
		    void *arg);
unsigned insns_near_reach(const struct insns *insns);

/*
 * The functions that an instruction set must provide for the functions above. A struct insns begins
 * with a pointer to the struct insn_set of the instruction set. @open stores this pointer.
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
 * See Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2. In a build without
 * capstone, x86_64_insns.open() always fails.
 */
extern const struct insn_set x86_64_insns;

#endif
