/*
 * The calling convention: the places of parameters and results of all kinds (psABI x86_64, section
 * 3.2.3).
 */
#include "tests/unit/lib/unit.h"

#include <elf.h>

#include "utils/base/compiler.h"
#include "utils/spec/args/callconv.h"

#define INT(n)                                                   \
	{                                                        \
		.kind = DWARF_INT, .bytes = n, .is_signed = true \
	}
#define POINTER                                   \
	{                                         \
		.kind = DWARF_POINTER, .bytes = 8 \
	}
#define STRING                                   \
	{                                        \
		.kind = DWARF_STRING, .bytes = 8 \
	}
#define FLOAT(n)                                \
	{                                       \
		.kind = DWARF_FLOAT, .bytes = n \
	}
#define STD_STRING                                    \
	{                                             \
		.kind = DWARF_STD_STRING, .bytes = 32 \
	}
#define STRUCT(n, a, b)                                                     \
	{                                                                   \
		.kind = DWARF_STRUCT, .bytes = n, .name = "s", .classes = { \
			DWARF_CLASS_##a,                                    \
			DWARF_CLASS_##b                                     \
		}                                                           \
	}
#define OWNER(n)                                                                       \
	{                                                                              \
		.kind = DWARF_STRUCT, .bytes = n, .name = "o", .is_by_reference = true \
	}
#define UNKNOWN                       \
	{                             \
		.kind = DWARF_UNKNOWN \
	}
#define NONE                       \
	{                          \
		.kind = DWARF_VOID \
	}

#define PARAMS_MAX 12

static const struct {
	struct dwarf_type params[PARAMS_MAX]; /* up to the first one that is void */
	struct dwarf_type result;
	const char *args;
	const char *retval;
} functions[] = {
	{ { NONE }, NONE, "", "" },
	{ { INT(4), STRING, POINTER }, INT(8), "arg1/i%rdi,arg2/s%rsi,arg3/p%rdx", "retval/i" },
	{ { INT(4), INT(4), INT(4), INT(4), INT(4), INT(4), INT(4), INT(1) },
	  NONE,
	  "arg1/i%rdi,arg2/i%rsi,arg3/i%rdx,arg4/i%rcx,arg5/i%r8,arg6/i%r9,arg1/i%stack+1,arg1/"
	  "i%stack+2",
	  "" },
	{ { FLOAT(4), INT(4), FLOAT(8) },
	  FLOAT(4),
	  "fparg1/32%xmm0,arg1/i%rdi,fparg2/64%xmm1",
	  "retval/f32" },
	/* A long double is on the stack, aligned to 16 bytes. */
	{ { FLOAT(10), FLOAT(10), INT(4) },
	  FLOAT(10),
	  "fparg1/80%stack+1,fparg1/80%stack+3,arg1/i%rdi",
	  "retval/f80" },
	{ { STRUCT(24, MEMORY, NONE), FLOAT(10) },
	  NONE,
	  "arg1/t24:s%stack+1,fparg1/80%stack+5",
	  "" },
	{ { STRUCT(8, INT, NONE), STRUCT(16, SSE, SSE), STRUCT(16, SSE, INT), INT(4) },
	  STRUCT(16, INT, SSE),
	  "arg1/t8:s%rdi,arg2/t16:s%xmm0+xmm1,arg3/t16:s%xmm2+rsi,arg4/i%rdx",
	  "retval/t16:s" },
	/*
	 * The struct is in registers completely or not at all. The last register is left for later
	 * parameters.
	 */
	{ { INT(8), INT(8), INT(8), INT(8), INT(8), STRUCT(16, INT, INT), INT(8) },
	  NONE,
	  "arg1/i%rdi,arg2/i%rsi,arg3/i%rdx,arg4/i%rcx,arg5/i%r8,arg1/t16:s%stack+1,arg7/i%r9",
	  "" },
	/* The address of a result in memory is in the first register. */
	{ { INT(4) }, STRUCT(40, MEMORY, NONE), "arg1/i%rsi", "retval/t40:s" },
	{ { INT(4) }, STD_STRING, "arg1/i%rsi", "retval/S" },
	{ { INT(4) }, OWNER(8), "arg1/i%rsi", "retval/t8:o" },
	/* These objects are passed by reference, whatever their size. */
	{ { OWNER(40), STD_STRING, INT(4) }, NONE, "arg1/t40:o%rdi,arg2/S%rsi,arg3/i%rdx", "" },
	/* A struct without bytes is not passed, but has its place in the list. */
	{ { STRUCT(0, NONE, NONE), INT(4) }, NONE, "arg1/t0:s%stack+1,arg2/i%rdi", "" },
	{ { INT(4), UNKNOWN, INT(4) }, INT(4), "arg1/i%rdi", "retval/i" },
	{ { INT(4) }, UNKNOWN, "", "" },
};

static void put_list(const struct argspecs *list, struct strbuf *out)
{
	for (size_t i = 0; i < list->nr; i++) {
		if (i)
			strbuf_addch(out, ',');
		argspec_put(&list->specs[i], 8, out);
	}
}

static const struct isa *x86_64;

TEST(places)
{
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		struct dwarf_param params[PARAMS_MAX];
		struct dwarf_func func = { .params = params, .result = functions[i].result };
		struct argspecs args cleanup_argspecs = { 0 };
		struct argspecs retval cleanup_argspecs = { 0 };
		struct strbuf args_text cleanup_strbuf = { 0 };
		struct strbuf retval_text cleanup_strbuf = { 0 };

		while (functions[i].params[func.nr_params].kind != DWARF_VOID) {
			params[func.nr_params] = (struct dwarf_param){
				.type = functions[i].params[func.nr_params],
				.reg = -1,
			};
			func.nr_params++;
		}
		assert_int_equal(callconv_specs(x86_64, &func, CALLCONV_PLAIN, &args, &retval), 0);
		put_list(&args, &args_text);
		put_list(&retval, &retval_text);
		assert_string_equal(strbuf_str(&args_text), functions[i].args);
		assert_string_equal(strbuf_str(&retval_text), functions[i].retval);
	}
}

/* The compiler has changed the function, so only facts from debug information count. */
TEST(clones)
{
	struct dwarf_param params[] = {
		{ .type = INT(4), .reg = -1 },
		{ .type = STRING, .reg = 5 }, /* 5 is rdi in DWARF */
		{ .type = FLOAT(8), .reg = 17 },
		{ .type = INT(4), .reg = 0 }, /* rax, which takes no arguments */
	};
	struct dwarf_func func = { .params = params, .nr_params = 4, .result = INT(4) };
	struct argspecs args cleanup_argspecs = { 0 };
	struct argspecs retval cleanup_argspecs = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };

	assert_int_equal(callconv_specs(x86_64, &func, CALLCONV_CLONE, &args, &retval), 0);
	put_list(&args, &text);
	assert_string_equal(strbuf_str(&text), "arg1/s%rdi,fparg1/64%xmm0");
	assert_int_equal(retval.nr, 0);
}

/* Functions on other machines. utrail knows only parts of the calling conventions there. */
TEST(other_machines)
{
	static const struct {
		unsigned machine;
		struct dwarf_type params[PARAMS_MAX];
		const char *args;
	} rows[] = {
		{ EM_AARCH64,
		  { INT(4), FLOAT(8), STRING, FLOAT(4), INT(8) },
		  "arg1/i%x0,fparg1/64%d0,arg2/s%x1,fparg2/32%d1,arg3/i%x2" },
		{ EM_AARCH64,
		  { INT(8), INT(8), INT(8), INT(8), INT(8), INT(8), INT(8), INT(8), INT(8) },
		  "arg1/i%x0,arg2/i%x1,arg3/i%x2,arg4/i%x3,arg5/i%x4,arg6/i%x5,arg7/i%x6,arg8/"
		  "i%x7,arg1/i%stack+1" },
		{ EM_AARCH64, { INT(4), STRUCT(8, INT, NONE), INT(4) }, "arg1/i%x0" },
		{ EM_AARCH64, { FLOAT(16), INT(4) }, "" },
		{ EM_RISCV,
		  { INT(4), FLOAT(8), FLOAT(8), FLOAT(8), FLOAT(8), FLOAT(8), FLOAT(8), FLOAT(8),
		    FLOAT(8), FLOAT(8) },
		  "arg1/i%a0,fparg1/64%fa0,fparg2/64%fa1,fparg3/64%fa2,fparg4/64%fa3,fparg5/"
		  "64%fa4,fparg6/64%fa5,fparg7/64%fa6,fparg8/64%fa7,fparg9/64%a1" },
		{ EM_ARM, { INT(4), INT(4), FLOAT(8), INT(4) }, "arg1/i32%r0,arg2/i32%r1" },
		{ EM_ARM,
		  { INT(4), INT(4), INT(4), INT(4), INT(4) },
		  "arg1/i32%r0,arg2/i32%r1,arg3/i32%r2,arg4/i32%r3,arg1/i32%stack+1" },
		{ EM_386,
		  { INT(4), FLOAT(8), INT(4) },
		  "arg1/i32%stack+1,fparg1/64%stack+2,arg1/i32%stack+4" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct isa *isa = isa_of(rows[i].machine, 0);
		struct dwarf_param params[PARAMS_MAX];
		struct dwarf_func func = { .params = params, .result = NONE };
		struct argspecs args cleanup_argspecs = { 0 };
		struct argspecs retval cleanup_argspecs = { 0 };
		struct strbuf text cleanup_strbuf = { 0 };

		for (; rows[i].params[func.nr_params].kind != DWARF_VOID; func.nr_params++)
			params[func.nr_params] = (struct dwarf_param){
				.type = rows[i].params[func.nr_params],
				.reg = -1,
			};
		assert_int_equal(callconv_specs(isa, &func, CALLCONV_PLAIN, &args, &retval), 0);
		put_list(&args, &text);
		assert_string_equal(strbuf_str(&text), rows[i].args);
	}
}

int main(void)
{
	x86_64 = isa_of(EM_X86_64, 8);

	return unit_run();
}
