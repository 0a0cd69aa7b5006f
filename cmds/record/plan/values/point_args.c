/* Finds the arguments of static probes (see point_args.h). */
#include "cmds/record/plan/values/point_args.h"

#include "arch/isa.h"
#include "utils/object/sdt_args.h"

static struct found_operand find_operand(const struct sdt_arg *arg)
{
	static const uint8_t kinds[] = {
		[OPERAND_UNKNOWN] = PLAN_OPERAND_NONE,
		[OPERAND_CONSTANT] = PLAN_OPERAND_CONSTANT,
		[OPERAND_REGISTER] = PLAN_OPERAND_REGISTER,
		[OPERAND_VECTOR] = PLAN_OPERAND_VECTOR,
		[OPERAND_MEMORY] = PLAN_OPERAND_MEMORY,
	};
	const struct operand *from = &arg->operand;

	_Static_assert(PLAN_NO_REGISTER == OPERAND_NO_REGISTER, "none is the same in both");
	return (struct found_operand){
		.operand = {
			.kind = kinds[from->kind],
			.flags = arg->is_signed ? PLAN_OPERAND_SIGNED : 0,
			.bytes = arg->bytes,
			.base = from->base,
			.index = from->index,
			.shift = from->shift,
			.value = from->value,
		},
		.is_address = arg->is_address,
	};
}

size_t point_args_find(const struct elf_file *file, const char *args, struct strbuf *found,
		       struct strbuf *types)
{
	struct sdt_arg list[SDT_ARGS_MAX];
	size_t nr = sdt_args_parse(isa_of(file->head.e_machine, 0), args, list);
	size_t kept = MIN(nr, (size_t)SDT_ARGS_MAX);

	_Static_assert(SDT_ARGS_MAX == PLAN_OPERANDS_MAX, "what is found fits a plan");
	sdt_args_find_symbols(file, list, kept);
	for (size_t i = 0; i < kept; i++) {
		struct found_operand one = find_operand(&list[i]);

		if (i + 1 == kept)
			one.operand.flags |= PLAN_OPERAND_LAST;
		if (i)
			strbuf_addch(types, ' ');
		sdt_arg_put_type(&list[i], types);
		strbuf_add(found, &one, sizeof(one));
	}
	return nr;
}

uint32_t point_args_bind(const struct strbuf *found, uint32_t first, uint64_t bias,
			 struct strbuf *out)
{
	const struct found_operand *list = (const struct found_operand *)found->data;
	size_t nr = found->len / sizeof(*list);
	uint32_t place = out->len / sizeof(struct plan_operand) + 1;

	for (size_t i = first - 1; i < nr; i++) {
		struct plan_operand operand = list[i].operand;

		if (list[i].is_address)
			operand.value += bias;
		strbuf_add(out, &operand, sizeof(operand));
		if (operand.flags & PLAN_OPERAND_LAST)
			break;
	}
	return place;
}
