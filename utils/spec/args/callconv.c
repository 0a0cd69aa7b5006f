/* The calling convention (see callconv.h). */
#include "utils/spec/args/callconv.h"

#include <errno.h>
#include <string.h>

#include "utils/base/compiler.h"
#include "utils/format/probe/capture.h"

/*
 * Counts the registers and stack words that earlier arguments occupy.
 *
 * @nr_int, @nr_float: the numbers N of the last argN and of the last fpargN
 */
struct allocation {
	const struct isa *isa;
	unsigned int_regs;
	unsigned float_regs;
	unsigned stack_words;
	unsigned nr_int;
	unsigned nr_float;
};

static void take_stack(struct allocation *a, struct argspec *spec, uint32_t bytes,
		       uint32_t alignment)
{
	const uint32_t words = MAX(alignment / a->isa->word_bytes, 1U);

	a->stack_words += (words - a->stack_words % words) % words;
	spec->place = ARG_ON_STACK;
	spec->index = a->stack_words + 1;
	a->stack_words += (bytes + a->isa->word_bytes - 1) / a->isa->word_bytes;
}

static void take_int(struct allocation *a, struct argspec *spec)
{
	if (a->int_regs == a->isa->ints.nr) {
		take_stack(a, spec, a->isa->word_bytes, 0);
		return;
	}
	spec->place = ARG_IN_REGISTER;
	spec->regs[spec->nr_regs++] = a->isa->ints.first + a->int_regs++;
}

static void take_float(struct allocation *a, uint32_t bytes, struct argspec *spec)
{
	if (a->float_regs == a->isa->floats.nr && a->isa->floats_then_ints) {
		take_int(a, spec);
		return;
	}
	if (a->float_regs == a->isa->floats.nr) {
		take_stack(a, spec, bytes, 0);
		return;
	}
	spec->place = ARG_IN_REGISTER;
	spec->regs[spec->nr_regs++] = a->isa->floats.first + a->float_regs++;
}

static bool is_in_memory(const struct isa *isa, const struct dwarf_type *type)
{
	if (type->is_vector || type->classes[0] == DWARF_CLASS_X87)
		return false;
	return type->classes[0] == DWARF_CLASS_MEMORY || type->bytes > 2 * isa->word_bytes;
}

static void take_struct(struct allocation *a, const struct dwarf_type *type, struct argspec *spec)
{
	unsigned nr_int = 0;
	unsigned nr_sse = 0;

	if (type->is_by_reference || type->is_reference) {
		spec->how = ARG_HOW_POINTED;
		take_int(a, spec);
		return;
	}
	if (type->bytes == 0) {
		/* An empty struct is not passed, but has a place in the list of arguments. */
		spec->place = ARG_ON_STACK;
		spec->index = a->stack_words + 1;
		return;
	}
	for (size_t i = 0; i < 2; i++) {
		nr_int += type->classes[i] == DWARF_CLASS_INT;
		nr_sse += type->classes[i] == DWARF_CLASS_SSE;
	}
	/* A struct is either in registers as a whole, or in memory. */
	if (is_in_memory(a->isa, type) || a->int_regs + nr_int > a->isa->ints.nr ||
	    a->float_regs + nr_sse > a->isa->floats.nr || nr_int + nr_sse == 0) {
		take_stack(a, spec, type->bytes, type->alignment);
		return;
	}
	for (size_t i = 0; i < 2; i++) {
		if (type->classes[i] == DWARF_CLASS_INT)
			take_int(a, spec);
		else if (type->classes[i] == DWARF_CLASS_SSE)
			take_float(a, a->isa->word_bytes, spec);
	}
}

static bool is_long_double(const struct dwarf_type *type)
{
	return type->kind == DWARF_FLOAT && type->bytes > sizeof(double);
}

/*
 * True when @isa defines the place of a value of @type. If the place of an argument is unknown, the
 * places of all later arguments are unknown as well.
 */
static bool is_known(const struct isa *isa, const struct dwarf_type *type)
{
	switch (type->kind) {
	case DWARF_UNKNOWN:
		return false;
	case DWARF_FLOAT:
		return isa->knows_floats && (!is_long_double(type) || isa->long_double_words);
	case DWARF_STRUCT:
		return isa->knows_structs || type->is_reference;
	default:
		return isa->knows_structs || type->bytes <= isa->word_bytes;
	}
}

static bool is_string_object(const struct dwarf_type *type)
{
	return type->kind == DWARF_STD_STRING || type->kind == DWARF_LLVM_STRING;
}

static struct arg_type format_of(const struct isa *isa, const struct dwarf_type *type)
{
	const unsigned word = isa->word_bytes;

	switch (type->kind) {
	case DWARF_CHAR:
		return (struct arg_type){ ARG_CHAR, 1 };
	case DWARF_FLOAT:
		return (struct arg_type){ ARG_FLOAT, type->bytes };
	case DWARF_POINTER:
		return (struct arg_type){ ARG_POINTER, word };
	case DWARF_STRING:
		return (struct arg_type){ ARG_STRING, word };
	case DWARF_ENUM:
		return (struct arg_type){ ARG_ENUM, word };
	case DWARF_STRUCT:
		return (struct arg_type){ ARG_STRUCT, MIN(type->bytes, (uint32_t)UINT16_MAX) };
	case DWARF_STD_STRING:
	case DWARF_LLVM_STRING:
		return (struct arg_type){ ARG_STD_STRING, word };
	case DWARF_INT:
		return (struct arg_type){ type->is_signed ? ARG_SIGNED : ARG_UNSIGNED, word };
	default:
		return (struct arg_type){ ARG_AUTO, word };
	}
}

/* Fill @spec for a value of @type, except for the place of the value. Returns 0 or -ENOMEM. */
static int begin_spec(const struct isa *isa, const struct dwarf_type *type, enum arg_kind kind,
		      struct argspec *spec)
{
	*spec = (struct argspec){ .kind = kind, .type = format_of(isa, type) };
	if (type->kind == DWARF_LLVM_STRING)
		spec->how = ARG_HOW_LLVM;
	if ((type->kind == DWARF_INT || type->kind == DWARF_ENUM) && type->bytes < isa->word_bytes)
		spec->narrow = type->bytes | (type->is_signed ? CAPTURE_SIGNED : 0);
	/*
	 * Extend a signed value to a full word. The full word is shown, or is compared with the
	 * values of an enum.
	 */
	if (type->is_signed && spec->narrow)
		spec->narrow |= CAPTURE_WIDE;
	if (type->name && (type->kind == DWARF_ENUM || type->kind == DWARF_STRUCT)) {
		spec->name = strdup(type->name);
		if (!spec->name)
			return -ENOMEM;
	}
	if (type->shape) {
		spec->shape = strdup(type->shape);
		spec->object_bytes = type->bytes;
	}
	if (type->fields)
		spec->fields = strdup(type->fields);
	if ((type->shape && !spec->shape) || (type->fields && !spec->fields)) {
		argspec_deinit(spec);
		return -ENOMEM;
	}
	return 0;
}

static void take_place(struct allocation *a, const struct dwarf_type *type, struct argspec *spec)
{
	if (is_long_double(type)) {
		uint32_t bytes = a->isa->long_double_words * a->isa->word_bytes;

		take_stack(a, spec, bytes, a->isa->long_double_words == 2 ? bytes : 0);
	} else if (type->kind == DWARF_FLOAT) {
		take_float(a, type->bytes, spec);
	} else if (type->kind == DWARF_STRUCT) {
		take_struct(a, type, spec);
	} else {
		take_int(a, spec);
	}
}

static bool take_known_place(const struct isa *isa, const struct dwarf_param *param,
			     struct argspec *spec)
{
	int reg = isa_arg_reg_of_dwarf(isa, param->reg);

	if (reg < 0)
		return false;
	spec->place = ARG_IN_REGISTER;
	spec->regs[spec->nr_regs++] = reg;
	return true;
}

static int add_param(struct allocation *a, const struct dwarf_param *param, enum callconv_kind kind,
		     struct argspecs *args)
{
	const struct dwarf_type *type = &param->type;
	bool is_float = type->kind == DWARF_FLOAT;
	struct argspec spec;
	bool has_place = true;
	int ret = begin_spec(a->isa, type, is_float ? ARG_KIND_FLOAT : ARG_KIND_INT, &spec);

	if (ret < 0)
		return ret;
	if (kind == CALLCONV_CLONE)
		has_place = take_known_place(a->isa, param, &spec);
	else
		take_place(a, type, &spec);
	if (!has_place) {
		argspec_deinit(&spec);
		return 0;
	}
	/*
	 * If the value is in a register, spec.index is the N of argN or fpargN. If the value is on
	 * the stack, take_place() has set spec.index to the number of the stack word.
	 */
	unsigned number = is_float ? ++a->nr_float : ++a->nr_int;

	if (spec.place == ARG_IN_REGISTER)
		spec.index = number;
	/* Append instead of merging: two empty structs have the same place, but are two values. */
	return argspecs_append(args, &spec);
}

static void place_result(const struct isa *isa, const struct dwarf_type *type, struct argspec *spec)
{
	unsigned int_regs = 0;
	unsigned sse_regs = 0;

	if (type->kind != DWARF_STRUCT)
		return;
	if (type->is_by_reference || type->is_reference || is_in_memory(isa, type)) {
		spec->how = ARG_HOW_POINTED;
		return;
	}
	if (type->classes[0] == DWARF_CLASS_X87) {
		spec->how = ARG_HOW_X87;
		return;
	}
	for (size_t i = 0; i < 2 && type->bytes; i++) {
		if (type->classes[i] == DWARF_CLASS_INT)
			spec->regs[spec->nr_regs++] = isa->ints.first + int_regs++;
		else if (type->classes[i] == DWARF_CLASS_SSE)
			spec->regs[spec->nr_regs++] = isa->floats.first + sse_regs++;
	}
	if (spec->nr_regs)
		spec->place = ARG_IN_REGISTER;
}

static int add_result(const struct isa *isa, const struct dwarf_type *type, struct argspecs *retval)
{
	struct argspec spec;

	if (type->kind == DWARF_VOID || !is_known(isa, type))
		return 0;

	int ret = begin_spec(isa, type, ARG_KIND_RETVAL, &spec);

	if (ret < 0)
		return ret;
	place_result(isa, type, &spec);
	return argspecs_append(retval, &spec);
}

int callconv_specs(const struct isa *isa, const struct dwarf_func *func, enum callconv_kind kind,
		   struct argspecs *args, struct argspecs *retval)
{
	const struct dwarf_type *result = &func->result;
	struct allocation a = { .isa = isa };
	/*
	 * If the compiler has changed the function's parameters (CALLCONV_CLONE), leave out the
	 * result. The compiler may have removed the result, or changed the type of the result.
	 */
	int ret = kind == CALLCONV_CLONE ? 0 : add_result(isa, result, retval);

	/* For a result in memory, the caller passes an address as a hidden first argument. */
	if (!result->is_reference &&
	    (is_string_object(result) || (result->kind == DWARF_STRUCT &&
					  (result->is_by_reference || is_in_memory(isa, result)))))
		a.int_regs++;
	/*
	 * A result of unknown place may be in memory. In that case, a hidden argument may shift the
	 * other arguments. So the places of the other arguments are unknown.
	 */
	if (!is_known(isa, result))
		return ret;
	for (uint32_t i = 0; ret == 0 && i < func->nr_params; i++) {
		if (!is_known(isa, &func->params[i].type))
			break;
		ret = add_param(&a, &func->params[i], kind, args);
	}
	return ret;
}
