/* Makes steps of capture programs from argument specifications (see capture_steps.h). */
#include "cmds/record/plan/values/capture_steps.h"

#include "arch/arch.h"
#include "arch/isa.h"
#include "utils/spec/args/shape.h"

#define WORD 8U

/*
 * Returns the instruction set for which this utrail is built. The probe has the same instruction
 * set.
 */
static const struct isa *own_isa(void)
{
	return isa_of(arch_elf_machine, WORD);
}

static void put_step(struct strbuf *steps, enum capture_op op, uint32_t bytes, uint32_t index)
{
	struct capture_step step = { .op = op, .bytes = bytes, .index = index };

	strbuf_add(steps, &step, sizeof(step));
}

static void put_word(struct strbuf *steps, const struct argspec *spec, uint32_t bytes,
		     uint32_t index)
{
	struct capture_step step = {
		.op = CAPTURE_WORD,
		.narrow = spec->narrow	 ? spec->narrow
			  : bytes < WORD ? bytes
					 : 0,
		.bytes = bytes,
		.index = index,
	};

	strbuf_add(steps, &step, sizeof(step));
}

static bool is_vector_register(unsigned reg)
{
	return reg >= own_isa()->floats.first &&
	       reg < own_isa()->floats.first + own_isa()->floats.nr;
}

/*
 * Captures a struct that is in several registers. Each register except the last register gives
 * eight bytes of the struct. The last register gives the remaining bytes.
 */
static void put_parts(struct strbuf *steps, const struct argspec *spec)
{
	uint32_t left = spec->type.size;
	/*
	 * CAPTURE_WORD counts the general registers of a return value from 0, and the general
	 * registers of arguments from 1.
	 */
	uint32_t first = spec->kind == ARG_KIND_RETVAL ? 0 : 1;

	for (size_t i = 0; i < spec->nr_regs && left; i++) {
		uint32_t bytes = left > WORD && i + 1 < spec->nr_regs ? WORD : left;
		unsigned reg = spec->regs[i];

		if (is_vector_register(reg))
			put_step(steps, CAPTURE_VECTOR, bytes, reg - own_isa()->floats.first);
		else
			put_step(steps, CAPTURE_WORD, bytes < WORD ? bytes : WORD,
				 reg - own_isa()->ints.first + first);
		/*
		 * If the user's spec asks for more bytes than the register has, the missing bytes
		 * are zeros.
		 */
		if (!is_vector_register(reg) && bytes > WORD)
			put_step(steps, CAPTURE_ZEROS, bytes - WORD, 0);
		if (is_vector_register(reg) && bytes > 2 * WORD)
			put_step(steps, CAPTURE_ZEROS, bytes - 2 * WORD, 0);
		left -= bytes;
	}
	if (left)
		put_step(steps, CAPTURE_ZEROS, left, 0);
}

/* Returns the index of the word that @spec captures: 0 for a result, from 1 on for arguments. */
static uint32_t word_of(const struct argspec *spec)
{
	if (spec->kind == ARG_KIND_RETVAL)
		return 0;
	if (spec->place == ARG_ON_STACK)
		return own_isa()->ints.nr + spec->index;
	if (spec->place == ARG_IN_REGISTER)
		return spec->regs[0] - own_isa()->ints.first + 1;
	return spec->index;
}

static void put_struct(struct strbuf *steps, const struct argspec *spec)
{
	uint32_t bytes = spec->type.size;

	if (!bytes)
		return;
	if (spec->how == ARG_HOW_POINTED) {
		put_step(steps, CAPTURE_POINTED, bytes, word_of(spec));
	} else if (spec->how == ARG_HOW_X87) {
		put_step(steps, CAPTURE_X87, MIN(bytes, 2U * WORD), 0);
		if (bytes > 2 * WORD)
			put_step(steps, CAPTURE_ZEROS, bytes - 2 * WORD, 0);
	} else if (spec->place == ARG_IN_REGISTER) {
		put_parts(steps, spec);
	} else if (spec->kind == ARG_KIND_RETVAL) {
		struct argspec both = *spec;

		/*
		 * The spec names no registers. A small struct is taken from the first general
		 * registers. A larger struct is taken from memory. The first general register then
		 * has the address of the struct.
		 */
		both.nr_regs = bytes > WORD ? 2 : 1;
		both.regs[0] = own_isa()->ints.first;
		both.regs[1] = own_isa()->ints.first + 1;
		if (bytes > 2 * WORD)
			put_step(steps, CAPTURE_POINTED, bytes, 0);
		else
			put_parts(steps, &both);
	} else if (spec->place == ARG_IN_ORDER && bytes <= WORD &&
		   spec->index <= own_isa()->ints.nr) {
		put_step(steps, CAPTURE_WORD, bytes, spec->index);
	} else {
		put_step(steps, CAPTURE_STACK, bytes,
			 spec->place == ARG_ON_STACK ? spec->index : 1);
	}
}

/*
 * Captures a floating point number. A long double takes two words on the stack, and is returned on
 * the floating point stack.
 */
static void put_float(struct strbuf *steps, const struct argspec *spec)
{
	uint32_t bytes = spec->type.size;
	bool is_long = bytes > WORD;

	if (spec->kind == ARG_KIND_RETVAL)
		put_step(steps, is_long ? CAPTURE_X87 : CAPTURE_VECTOR, bytes, 0);
	else if (spec->place == ARG_ON_STACK)
		put_step(steps, CAPTURE_STACK, bytes, spec->index);
	else if (spec->place == ARG_IN_REGISTER && is_vector_register(spec->regs[0]))
		put_step(steps, CAPTURE_VECTOR, bytes, spec->regs[0] - own_isa()->floats.first);
	else if (spec->place == ARG_IN_REGISTER)
		put_step(steps, CAPTURE_WORD, bytes, word_of(spec));
	else if (is_long)
		put_step(steps, CAPTURE_STACK, bytes, 2 * (spec->index - 1) + 1);
	else if (spec->index <= own_isa()->floats.nr)
		put_step(steps, CAPTURE_VECTOR, bytes, spec->index - 1);
	else
		put_step(steps, CAPTURE_STACK, bytes, spec->index - own_isa()->floats.nr);
}

/*
 * For each letter of a shape (utils/spec/args/shape.h), the enum box_op of the letter's step. A
 * letter without an entry gets BOX_BYTES (0).
 */
static const uint8_t box_ops[UINT8_MAX + 1] = {
	['z'] = BOX_STRING,	   ['s'] = BOX_STD_STRING,   ['S'] = BOX_STD_STRING_LLVM,
	['w'] = BOX_TEXT,	   ['r'] = BOX_RANGE,	     ['n'] = BOX_COUNTED,
	['k'] = BOX_FIXED,	   ['a'] = BOX_ARRAY,	     ['m'] = BOX_MEMBERS,
	['o'] = BOX_OPTIONAL,	   ['q'] = BOX_FOLLOW,	     ['v'] = BOX_VARIANT,
	['l'] = BOX_CHAIN,	   ['T'] = BOX_TREE,	     ['L'] = BOX_LINKS,
	['b'] = BOX_BITS,	   ['B'] = BOX_COUNTED_BITS, ['d'] = BOX_DEQUE,
	['D'] = BOX_COUNTED_DEQUE, ['Q'] = BOX_FOLLOW_WEAK,  ['x'] = BOX_FIELDS,
};

static void put_shape(struct strbuf *steps, const struct shape *shape, unsigned elements)
{
	for (size_t i = 0; i < shape->nr; i++) {
		const struct shape_node *node = &shape->nodes[i];
		struct box_step step = {
			.op = box_ops[(uint8_t)node->letter],
			.limit = elements,
			.skip = node->skip,
			.a = node->numbers[0],
			.b = node->numbers[1],
			.c = node->numbers[2],
			.d = node->numbers[3],
			.e = node->numbers[4],
			.f = node->numbers[5],
		};

		strbuf_add(steps, &step, sizeof(step));
	}
}

/*
 * Captures a container of the C++ library (shape.h). The calling convention passes a container like
 * any other C++ object.
 */
static void put_box(struct strbuf *steps, const struct argspec *spec)
{
	struct strbuf parts cleanup_strbuf = { 0 };
	struct argspec object = *spec;
	struct shape shape;
	struct capture_step box = { .op = CAPTURE_BOX, .bytes = spec->type.size };

	object.type.size = spec->object_bytes;
	if (!shape_parse(&shape, spec->shape)) {
		put_step(steps, CAPTURE_ZEROS, spec->type.size, 0);
		return;
	}
	if (spec->how == ARG_HOW_POINTED) {
		box.narrow = BOX_POINTED;
		box.index = word_of(spec);
	} else if (spec->place == ARG_IN_REGISTER) {
		box.narrow = BOX_IN_PARTS;
		put_parts(&parts, &object);
	} else {
		box.narrow = BOX_ON_STACK;
		box.index = spec->place == ARG_ON_STACK ? spec->index : 1;
	}

	struct capture_step counts = {
		.bytes = parts.len / sizeof(box),
		.index = shape.nr * BOX_STEP_UNITS,
	};

	strbuf_add(steps, &box, sizeof(box));
	strbuf_add(steps, &counts, sizeof(counts));
	strbuf_add(steps, parts.data, parts.len);
	put_shape(steps, &shape, spec->elements);
}

static void put_value(struct strbuf *steps, const struct argspec *spec)
{
	bool is_vector = spec->place == ARG_IN_REGISTER && is_vector_register(spec->regs[0]);

	switch (spec->type.format) {
	case ARG_STRING:
		put_step(steps, is_vector ? CAPTURE_ZEROS : CAPTURE_STRING, sizeof(uint16_t),
			 word_of(spec));
		break;
	case ARG_STD_STRING:
		put_step(steps,
			 spec->how == ARG_HOW_LLVM ? CAPTURE_STD_STRING_LLVM : CAPTURE_STD_STRING,
			 sizeof(uint16_t), word_of(spec));
		break;
	case ARG_STRUCT:
		if (spec->shape)
			put_box(steps, spec);
		else
			put_struct(steps, spec);
		break;
	case ARG_FLOAT:
		put_float(steps, spec);
		break;
	default:
		if (is_vector)
			put_step(steps, CAPTURE_VECTOR, spec->type.size,
				 spec->regs[0] - own_isa()->floats.first);
		else
			put_word(steps, spec, spec->type.size, word_of(spec));
		break;
	}
}

/*
 * True when this machine has all registers of @spec. The user may have named registers of another
 * machine.
 */
static bool is_possible(const struct argspec *spec)
{
	for (size_t i = 0; i < spec->nr_regs; i++) {
		if (spec->regs[i] >= own_isa()->floats.first + own_isa()->floats.nr)
			return false;
	}
	return true;
}

bool capture_steps_add(struct strbuf *steps, const struct argspecs *args,
		       const struct argspecs *retval, uint32_t *index)
{
	size_t start = steps->len;
	struct capture_step head = { .op = CAPTURE_HEAD };

	strbuf_add(steps, &head, sizeof(head));
	for (size_t i = 0; i < args->nr; i++) {
		if (is_possible(&args->specs[i]))
			put_value(steps, &args->specs[i]);
		else
			put_step(steps, CAPTURE_ZEROS, argblob_value_bytes(args->specs[i].type), 0);
	}

	size_t nr_args = (steps->len - start) / sizeof(head) - 1;

	if (retval->nr && is_possible(&retval->specs[0]))
		put_value(steps, &retval->specs[0]);

	size_t nr_retval = (steps->len - start) / sizeof(head) - 1 - nr_args;

	if (strbuf_oom(steps))
		return false;
	if (nr_args + nr_retval == 0 || nr_args > CAPTURE_STEPS_MAX) {
		steps->len = start;
		return false;
	}
	head.bytes = nr_args;
	head.index = nr_retval;
	memcpy(steps->data + start, &head, sizeof(head));
	*index = start / sizeof(head);
	return true;
}
