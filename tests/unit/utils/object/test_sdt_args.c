/*
 * Arguments of static probes: all forms of operands, wrong forms, all cuts of both, junk, and
 * ambiguous symbols.
 */
#include "tests/unit/lib/elf_image.h"

#include "arch/isa.h"
#include "utils/base/compiler.h"
#include "utils/object/sdt_args.h"

static const struct isa *isa(void)
{
	return isa_of(EM_X86_64, 0);
}

static void put_operand(const struct sdt_arg *arg, struct strbuf *out)
{
	static const char *const kinds[] = { "?", "const", "reg", "vec", "mem" };
	const struct operand *o = &arg->operand;

	strbuf_addstr(out, kinds[o->kind]);
	if (o->kind == OPERAND_UNKNOWN)
		return;
	if (o->kind == OPERAND_REGISTER || o->kind == OPERAND_VECTOR) {
		strbuf_addf(out, " %u", o->base);
		if (o->shift)
			strbuf_addf(out, ">>%u", o->shift);
		return;
	}
	strbuf_addf(out, " %lld", (long long)o->value);
	if (o->symbol && !arg->is_address)
		strbuf_addf(out, " %.*s", (int)o->symbol_len, o->symbol);
	if (arg->is_address)
		strbuf_addstr(out, " moved");
	if (o->base != OPERAND_NO_REGISTER)
		strbuf_addf(out, " (%u)", o->base);
	if (o->index != OPERAND_NO_REGISTER)
		strbuf_addf(out, " (%u<<%u)", o->index, o->shift);
}

/* Write "TYPE operand" for each argument, with "; " between them. */
static void put_args(const struct sdt_arg *args, size_t nr, struct strbuf *out)
{
	strbuf_reset(out);
	for (size_t i = 0; i < MIN(nr, (size_t)SDT_ARGS_MAX); i++) {
		if (i)
			strbuf_addstr(out, "; ");
		sdt_arg_put_type(&args[i], out);
		strbuf_addch(out, ' ');
		put_operand(&args[i], out);
	}
}

struct form {
	const char *text;
	const char *means;
};

static const struct form good[] = {
	{ "8@%rdi", "8 reg 5" },
	{ "-8@%rax", "-8 reg 0" },
	{ "-4@%edx", "-4 reg 1" },
	{ "2@%r9w", "2 reg 9" },
	{ "-2@%bp", "-2 reg 6" },
	{ "1@%r15b", "1 reg 15" },
	{ "-1@%spl", "-1 reg 7" },
	{ "1@%bh", "1 reg 3>>8" },
	{ "4@%r12d", "4 reg 12" },
	{ "1@%rsi", "1 reg 4" },
	{ "8f@%xmm0", "8f vec 0" },
	{ "-8f@%xmm15", "8f vec 15" },
	{ "4f@%xmm7", "4f vec 7" },
	{ "8f@%rax", "8f reg 0" },
	{ "-4@$3", "-4 const 3" },
	{ "-4@$-1", "-4 const -1" },
	{ "8@$18446744073709551615", "8 const -1" },
	{ "8@$0x7F", "8 const 127" },
	{ "8@$017", "8 const 15" },
	{ "8@$0", "8 const 0" },
	{ "8@$name", "8 const 0 name" },
	{ "8@$name+8", "8 const 8 name" },
	{ "-4@(%rsp)", "-4 mem 0 (7)" },
	{ "4@-20(%rbp)", "4 mem -20 (6)" },
	{ "8@16+8(%rsp)", "8 mem 24 (7)" },
	{ "8@-16+-8(%rsp)", "8 mem -24 (7)" },
	{ "8@0x10(%rax,%rcx,8)", "8 mem 16 (0) (2<<3)" },
	{ "8@16(%rax,%rcx)", "8 mem 16 (0) (2<<0)" },
	{ "1@(%r13,%r14,2)", "1 mem 0 (13) (14<<1)" },
	{ "8@(,%rax,4)", "8 mem 0 (0<<2)" },
	{ "8@table(,%rax,8)", "8 mem 0 table (0<<3)" },
	{ "8@name(%rip)", "8 mem 0 name" },
	{ "8@name+16(%rip)", "8 mem 16 name" },
	{ "8@name-16+4(%rip)", "8 mem -12 name" },
	{ "8@16+name(%rip)", "8 mem 16 name" },
	{ "-4@counter.0(%rip)", "-4 mem 0 counter.0" },
	{ "8f@.LC0(%rip)", "8f mem 0 .LC0" },
	{ "4f@-4(%rbp)", "4f mem -4 (6)" },
	{ "2@a$b(%rip)", "2 mem 0 a$b" },
};

/* The type of these is known, but the operand is wrong. */
static const char *const bad[] = {
	"8@",
	"8@%",
	"8@rax",
	"8@%rip",
	"8@%zmm0",
	"8@%xmm0", /* a vector of integers, or a double that an old header states in this way */
	"8f@%xmm16",
	"8f@%xmm00",
	"8f@%xmm",
	"8f@%xmm0a",
	"8f@%ymm0",
	"8f@%st(0)",
	"8f@$0",
	"8@%eax", /* the register has fewer bytes than the value */
	"4@%ax",
	"2@%bh",
	"8@%RAX",
	"8@%rax,",
	"8@%r16",
	"8@%r8dd",
	"8@$",
	"8@$-",
	"8@$+3",
	"8@$3+",
	"8@$--3",
	"8@$3-+4",
	"8@$08",
	"8@$0x",
	"8@$1f",
	"8@$18446744073709551616",
	"8@$0x10000000000000000",
	"8@$a+b",
	"8@$-a",
	"8@$3-a",
	"8@$$a",
	"8@3",
	"8@-3",
	"8@name",
	"8@name+4",
	"8@()",
	"8@(",
	"8@4(",
	"8@4(%rax",
	"8@4(%rax))",
	"8@4(%rax)x",
	"8@4(%eax)",
	"8@4(%xmm0)",
	"8@4(%rax,)",
	"8@4(%rax,,8)",
	"8@4(%rax,%rcx,)",
	"8@4(%rax,%rcx,3)",
	"8@4(%rax,%rcx,0)",
	"8@4(%rax,%rcx,16)",
	"8@4(%rax,%rcx,8,1)",
	"8@4(%rax,%rsp,1)",
	"8@4(%rax,%rip)",
	"8@4(,)",
	"8@4(,%rax",
	"8@4(%rip)",
	"8@(%rip)",
	"8@name(%rip,%rax,8)",
	"8@name(%eip)",
	"8@name@GOTPCREL(%rip)",
	"8@name@tpoff(%rax)",
	"8@%fs:40",
	"8@%fs:name@tpoff",
	"8@%gs:0(%rax)",
	"8@*4(%rax)",
	"8@4*2(%rax)",
	"8@-(%rax)",
	"8@ (%rax)",
	"8@4 (%rax)",
	"8@\"name\"(%rip)",
	/* Operands in Intel's syntax. */
	"8@QWORD PTR [rbp-8]",
	"8@QWORD PTR -8[rbp]",
	"8@name[rip]",
	"8@5",
	"8@OFFSET FLAT:name",
	/* Operands of other machines. */
	"8@x0",
	"8@[sp, 8]",
	"8@8(sp)",
	"8@%r3",
};

static void check(const char *text, const char *means)
{
	struct sdt_arg args[SDT_ARGS_MAX];
	struct strbuf out cleanup_strbuf = { 0 };
	char *copy cleanup_free = exact_copy(text, strlen(text) + 1);

	put_args(args, sdt_args_parse(isa(), copy, args), &out);
	if (strcmp(strbuf_str(&out), means) != 0)
		fail_msg("%s: '%s' and not '%s'", text, strbuf_str(&out), means);
}

TEST(forms)
{
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		check(good[i].text, good[i].means);
}

TEST(no_forms)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		check(bad[i], bad[i][1] == 'f'	 ? "8f ?"
			      : bad[i][0] == '8' ? "8 ?"
			      : bad[i][0] == '4' ? "4 ?"
						 : "2 ?");
}

TEST(types)
{
	static const struct form all[] = {
		{ "", "" },
		{ "   ", "" },
		{ "3@%rax", "? ?" },
		{ "0@%rax", "? ?" },
		{ "16@%rax", "? ?" },
		{ "-16f@-32(%rbp)", "? ?" },
		{ "2f@%xmm0", "? ?" },
		{ "10f@(%rax)", "? ?" },
		{ "99999999999999999999@%rax", "? ?" },
		{ "4294967300@%rax", "? ?" },
		{ "8g@%rax", "? ?" },
		{ "--8@%rax", "? ?" },
		{ "%rax", "? ?" },
		{ "-@%rax", "? ?" },
		{ "@", "? ?" },
		/* Known and unknown operands. An unknown one does not change the numbers of the others. */
		{ "8@%rdi -4@$3 4@-20(%rbp) 8@16(%rax,%rcx,8) 8f@%xmm0",
		  "8 reg 5; -4 const 3; 4 mem -20 (6); 8 mem 16 (0) (2<<3); 8f vec 0" },
		{ " 8@%rdi  4@%esi ", "8 reg 5; 4 reg 4" },
		{ "8@what 4@DWORD PTR [rbp - 4] 2@%ax", "8 ?; 4 ?; 2 reg 0" },
		{ "%rax %rbx 2@%ax", "? ?; 2 reg 0" },
		{ "16@(%rax) -1@$-1", "? ?; -1 const -1" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		check(all[i].text, all[i].means);
}

TEST(too_many)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct sdt_arg args[SDT_ARGS_MAX];

	for (unsigned i = 0; i < 1000; i++)
		strbuf_addf(&text, "8@$%u ", i);
	assert_int_equal(sdt_args_parse(isa(), strbuf_str(&text), args), 1000);
	for (unsigned i = 0; i < SDT_ARGS_MAX; i++)
		assert_int_equal(args[i].operand.value, i);
}

/* The machine is not supported, or is unknown. */
TEST(other_machines)
{
	struct sdt_arg args[SDT_ARGS_MAX];
	const struct isa *const none[] = { NULL, isa_of(EM_386, 0), isa_of(EM_AARCH64, 0) };

	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		assert_int_equal(sdt_args_parse(none[i], "-8@%rax 4@$1", args), 2);
		assert_int_equal(args[0].bytes, 8);
		assert_int_equal(args[0].operand.kind, OPERAND_UNKNOWN);
		assert_int_equal(args[1].operand.kind, OPERAND_UNKNOWN);
	}
}

/* Check that each part of the result is in its range, for any text. */
static void check_sane(const char *text)
{
	struct sdt_arg args[SDT_ARGS_MAX];
	char *copy = exact_copy(text, strlen(text) + 1);
	size_t nr = sdt_args_parse(isa(), copy, args);

	for (size_t i = 0; i < MIN(nr, (size_t)SDT_ARGS_MAX); i++) {
		const struct operand *o = &args[i].operand;
		bool is_general = o->kind == OPERAND_REGISTER || o->kind == OPERAND_MEMORY;

		assert_true(o->kind == OPERAND_UNKNOWN || args[i].bytes);
		assert_true(args[i].bytes <= 8 && !(args[i].bytes & (args[i].bytes - 1)));
		if (o->kind == OPERAND_UNKNOWN)
			continue;
		assert_true(o->base < 16 || (o->base == OPERAND_NO_REGISTER && is_general) ||
			    o->kind == OPERAND_CONSTANT);
		assert_true(o->index < 16 || o->index == OPERAND_NO_REGISTER);
		assert_true(o->shift <= 3 || (o->kind == OPERAND_REGISTER && o->shift == 8));
		assert_true(!o->symbol || (o->symbol_len && o->symbol >= copy &&
					   o->symbol + o->symbol_len <= copy + strlen(copy)));
	}
	free(copy);
}

TEST(cut_at_every_byte)
{
	for (size_t i = 0; i < ARRAY_SIZE(good) + ARRAY_SIZE(bad); i++) {
		const char *text = i < ARRAY_SIZE(good) ? good[i].text : bad[i - ARRAY_SIZE(good)];
		char *copy cleanup_free = strdup(text);

		for (size_t len = strlen(copy); len-- > 0;) {
			copy[len] = '\0';
			check_sane(copy);
		}
	}
}

static uint32_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 33;
}

TEST(junk)
{
	static const char letters[] = "%$@()-+,0123456789xrabcdspimf.: ";
	static const char *const pieces[] = {
		"8@",  "-4@",  "8f@", "%rax", "%xmm3", "$",    "(",   ")",	",", "%rip", "name",
		"-20", "0x1f", " ",   "+",    "8",     "%eax", "-1@", "(%rbp)", "@", "\xff"
	};
	uint64_t seed = 16;

	for (unsigned i = 0; i < 20000; i++) {
		struct strbuf text cleanup_strbuf = { 0 };

		for (unsigned nr = next_random(&seed) % 24; nr; nr--) {
			if (i % 2)
				strbuf_addch(&text,
					     letters[next_random(&seed) % (sizeof(letters) - 1)]);
			else
				strbuf_addstr(&text,
					      pieces[next_random(&seed) % ARRAY_SIZE(pieces)]);
		}
		check_sane(strbuf_str(&text));
	}
}

/* --- symbols --- */

struct symbol_row {
	const char *name;
	uint64_t address;
	uint8_t type;
	uint16_t section;
};

static void add_table(struct elf_image *img, uint32_t type, const struct symbol_row *rows,
		      size_t nr)
{
	struct image_symbols symbols = { 0 };

	for (size_t i = 0; i < nr; i++)
		image_symbol(&symbols, rows[i].name, rows[i].address, 8,
			     ELF64_ST_INFO(STB_GLOBAL, rows[i].type), rows[i].section);
	image_symbol_sections(img, &symbols, type);
}

static void find(const struct symbol_row *plain, size_t nr_plain, const struct symbol_row *dynamic,
		 size_t nr_dynamic, const char *text, const char *means)
{
	struct elf_image img cleanup_image = { 0 };
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	struct strbuf out cleanup_strbuf = { 0 };
	struct sdt_arg args[SDT_ARGS_MAX];
	size_t nr = sdt_args_parse(isa(), text, args);

	if (nr_plain)
		add_table(&img, SHT_SYMTAB, plain, nr_plain);
	if (nr_dynamic)
		add_table(&img, SHT_DYNSYM, dynamic, nr_dynamic);
	image_section(&img, "more", (Elf64_Shdr){ .sh_type = SHT_PROGBITS }, "", 1);
	image_finish(&img);

	char *copy cleanup_free = exact_copy(img.data.data, img.data.len);

	assert_int_equal(elf_file_open_image(&file, copy, img.data.len), 0);
	sdt_args_find_symbols(&file, args, nr);
	put_args(args, nr, &out);
	assert_string_equal(strbuf_str(&out), means);
}

TEST(symbols)
{
	static const struct symbol_row table[] = {
		{ "a.c", 0, STT_FILE, SHN_ABS },
		{ "one", 0x1000, STT_OBJECT, 1 },
		{ "twice", 0x2000, STT_OBJECT, 1 },
		{ "twice", 0x2008, STT_OBJECT, 1 },
		{ "same", 0x3000, STT_OBJECT, 1 },
		{ "same", 0x3000, STT_NOTYPE, 1 },
		{ "zero", 0, STT_FUNC, 1 },
		{ "own", 5, STT_TLS, 1 },
		{ "fixed", 5, STT_OBJECT, SHN_ABS },
		{ "elsewhere", 0, STT_FUNC, SHN_UNDEF },
		{ "resolved", 0x4000, STT_GNU_IFUNC, 1 },
		{ "version@V1", 0x5000, STT_OBJECT, 1 },
	};
	static const struct symbol_row dynamic[] = {
		{ "version", 0x5000, STT_OBJECT, 1 },
		{ "one", 0x1000, STT_OBJECT, 1 },
		{ "zero", 0x6000, STT_OBJECT, 1 },
	};
	static const struct form all[] = {
		{ "8@one(%rip)", "8 mem 4096 moved" },
		{ "8@one-16(%rip) 4@$3", "8 mem 4080 moved; 4 const 3" },
		{ "8@$one+1", "8 const 4097 moved" },
		{ "8@twice(%rip)", "8 ?" },
		{ "8@same(%rip)", "8 mem 12288 moved" },
		{ "8@own(%rip)", "8 ?" },
		{ "8@fixed(%rip)", "8 ?" },
		{ "8@elsewhere(%rip)", "8 ?" },
		{ "8@resolved(%rip)", "8 ?" },
		{ "8@version(%rip)", "8 mem 20480 moved" },
		{ "8@zero(%rip)", "8 ?" },
		{ "8@on(%rip)", "8 ?" },
		{ "8@ones(%rip)", "8 ?" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		find(table, ARRAY_SIZE(table), dynamic, ARRAY_SIZE(dynamic), all[i].text,
		     all[i].means);
	/*
	 * If symbols of static variables are missing, a static variable may have the same name as
	 * the only symbol. So no symbol is chosen.
	 */
	find(table + 1, ARRAY_SIZE(table) - 1, NULL, 0, all[0].text, "8 ?");
	find(NULL, 0, dynamic, ARRAY_SIZE(dynamic), all[0].text, "8 ?");
	find(NULL, 0, NULL, 0, "8@one(%rip) 8@%rax", "8 ?; 8 reg 0");
}
