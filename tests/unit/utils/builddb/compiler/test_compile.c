/*
 * A table of command lines: their sources, the command that compiles each source alone, and its
 * output.
 */
#include "tests/unit/lib/unit.h"

#include "utils/builddb/compiler/compile.h"

#define SOURCES_MAX 2

/*
 * @alone: the command that compiles this source alone; @outputs: its output, NULL when there is none.
 * Words are separated by blanks.
 */
struct row {
	const char *command;
	const char *sources[SOURCES_MAX + 1];
	const char *alone[SOURCES_MAX];
	const char *outputs[SOURCES_MAX];
};

static const struct row rows[] = {
	{ "gcc -c a.c", { "a.c" }, { "gcc -c a.c" }, { "a.o" } },
	{ "gcc -O2 -c -o x/a.o src/a.c",
	  { "src/a.c" },
	  { "gcc -O2 -c -o x/a.o src/a.c" },
	  { "x/a.o" } },
	{ "gcc -oa.o -c a.c", { "a.c" }, { "gcc -oa.o -c a.c" }, { "a.o" } },
	{ "gcc -c --output=a.o a.c", { "a.c" }, { "gcc -c --output=a.o a.c" }, { "a.o" } },
	{ "g++ -c d/a.cc -I inc.c b.C",
	  { "d/a.cc", "b.C" },
	  { "g++ -c d/a.cc -I inc.c", "g++ -c -I inc.c b.C" },
	  { "a.o", "b.o" } },
	/* The command compiles and links: options for the linker are dropped. */
	{ "gcc -g a.c b.o -o prog -Llib -lm -l z -Wl,-O1 -Xlinker x.c -shared -undef",
	  { "a.c" },
	  { "gcc -c -g a.c -undef" },
	  { NULL } },
	{ "gcc a.c b.c", { "a.c", "b.c" }, { "gcc -c a.c", "gcc -c b.c" }, { NULL, NULL } },
	{ "gcc -o prog a.o b.o", { NULL }, { NULL }, { NULL } },
	{ "gcc -S a.c", { "a.c" }, { "gcc -S a.c" }, { "a.s" } },
	{ "gcc -fsyntax-only a.c", { "a.c" }, { "gcc -fsyntax-only a.c" }, { NULL } },
	/* These commands compile nothing. */
	{ "gcc -E a.c", { NULL }, { NULL }, { NULL } },
	{ "gcc -c a.c -E", { NULL }, { NULL }, { NULL } },
	{ "gcc -M -c a.c", { NULL }, { NULL }, { NULL } },
	{ "gcc -MM a.c", { NULL }, { NULL }, { NULL } },
	{ "gcc --version", { NULL }, { NULL }, { NULL } },
	{ "gcc", { NULL }, { NULL }, { NULL } },
	{ "gcc -c -x c -", { NULL }, { NULL }, { NULL } },
	{ "gcc -c @x.c", { NULL }, { NULL }, { NULL } },
	{ "clang -cc1 -emit-obj -main-file-name a.c a.c", { NULL }, { NULL }, { NULL } },
	/* These commands write dependencies beside the object. */
	{ "gcc -MD -MF a.c -MT b.c -MQ c.c -c d.c",
	  { "d.c" },
	  { "gcc -MD -MF a.c -MT b.c -MQ c.c -c d.c" },
	  { "d.o" } },
	/* Some arguments of options look like sources. */
	{ "gcc -include a.c -D b.c -isystem c.c --param d.c -Xclang e.c -aux-info f.c -c z.c",
	  { "z.c" },
	  { "gcc -include a.c -D b.c -isystem c.c --param d.c -Xclang e.c -aux-info f.c -c z.c" },
	  { "z.o" } },
	{ "gfortran -J mod.f90 -c a.f90",
	  { "a.f90" },
	  { "gfortran -J mod.f90 -c a.f90" },
	  { "a.o" } },
	{ "clang++ --config c.cc -stdlib++-isystem d.cc -c a.cc",
	  { "a.cc" },
	  { "clang++ --config c.cc -stdlib++-isystem d.cc -c a.cc" },
	  { "a.o" } },
	{ "gcc -shared -h lib.c -R b.c -Ttext c.c -o lib.so -fPIC a.c",
	  { "a.c" },
	  { "gcc -c -fPIC a.c" },
	  { NULL } },
	/* These options make the compiler print something, and compile nothing. */
	{ "gcc --version -c a.c", { NULL }, { NULL }, { NULL } },
	{ "gcc -### -c a.c", { NULL }, { NULL }, { NULL } },
	{ "gcc -dumpmachine a.c", { NULL }, { NULL }, { NULL } },
	{ "gcc --help=common -c a.c", { NULL }, { NULL }, { NULL } },
	{ "clang -ccc-print-phases -c a.c", { NULL }, { NULL }, { NULL } },
	{ "gcc -dumpdir a.c -c b.c", { "b.c" }, { "gcc -dumpdir a.c -c b.c" }, { "b.o" } },
	{ "clang -rtlib=libgcc -nostdlib a.c -shared-libgcc",
	  { "a.c" },
	  { "clang -c a.c" },
	  { NULL } },
	/* C++ modules. */
	{ "clang++ --precompile m/a.cppm -o a.pcm",
	  { "m/a.cppm" },
	  { "clang++ --precompile m/a.cppm -o a.pcm" },
	  { "a.pcm" } },
	{ "clang++ --precompile m/a.cppm",
	  { "m/a.cppm" },
	  { "clang++ --precompile m/a.cppm" },
	  { "a.pcm" } },
	/* CUDA sources. */
	{ "clang++ -x cuda -c a", { "a" }, { "clang++ -x cuda -c a" }, { "a.o" } },
	{ "nvcc -dc -G -lineinfo -arch sm_90 -odir b.cu -Xcompiler -fPIC a.cu",
	  { "a.cu" },
	  { "nvcc -dc -G -lineinfo -arch sm_90 -odir b.cu -Xcompiler -fPIC a.cu" },
	  { "a.o" } },
	{ "nvcc -Llib -lcublas a.cu", { "a.cu" }, { "nvcc -c a.cu" }, { NULL } },
	{ "gdc -c a.d -Xf b.d", { "a.d" }, { "gdc -c a.d -Xf b.d" }, { "a.o" } },
	{ "gcc -c a.adb b.ads",
	  { "a.adb", "b.ads" },
	  { "gcc -c a.adb", "gcc -c b.ads" },
	  { "a.o", "b.o" } },
	{ "clang -c a.cl", { "a.cl" }, { "clang -c a.cl" }, { "a.o" } },
	{ "nvcc -lineinfo a.cu b.o -L lib -l cublas -Xlinker x.cu -shared -o prog",
	  { "a.cu" },
	  { "nvcc -c -lineinfo a.cu" },
	  { NULL } },
	{ "nvcc -ptx a.cu -o=a.ptx", { "a.cu" }, { "nvcc -ptx a.cu -o=a.ptx" }, { "a.ptx" } },
	{ "nvcc --dryrun -c a.cu", { NULL }, { NULL }, { NULL } },
	/* Other languages. */
	{ "gfortran -c a.F95 b.FTN",
	  { "a.F95", "b.FTN" },
	  { "gfortran -c a.F95", "gfortran -c b.FTN" },
	  { "a.o", "b.o" } },
	{ "gcc -c -x c a.txt -xc++ b.txt",
	  { "a.txt", "b.txt" },
	  { "gcc -c -x c a.txt", "gcc -c -x c -xc++ b.txt" },
	  { "a.o", "b.o" } },
	{ "gcc -c -x c a.txt -x none b.txt",
	  { "a.txt" },
	  { "gcc -c -x c a.txt -x none b.txt" },
	  { "a.o" } },
	{ "gcc -x lto -c a.o", { NULL }, { NULL }, { NULL } },
	{ "gcc -c a.S", { "a.S" }, { "gcc -c a.S" }, { "a.o" } },
	{ "gcc -c a.m b.mm", { "a.m", "b.mm" }, { "gcc -c a.m", "gcc -c b.mm" }, { "a.o", "b.o" } },
	{ "clang -c -emit-llvm a.c", { "a.c" }, { "clang -c -emit-llvm a.c" }, { "a.bc" } },
	{ "clang -S -emit-llvm a.c", { "a.c" }, { "clang -S -emit-llvm a.c" }, { "a.ll" } },
	{ "clang -emit-ast a.c", { "a.c" }, { "clang -emit-ast a.c" }, { "a.ast" } },
	{ "gcc -S a.c -o -", { "a.c" }, { "gcc -S a.c -o -" }, { NULL } },
	{ "g++ -x c++-user-header a.h", { "a.h" }, { "g++ -x c++-user-header a.h" }, { NULL } },
	{ "gcc -o d/a.h.gch d/a.h", { "d/a.h" }, { "gcc -o d/a.h.gch d/a.h" }, { "d/a.h.gch" } },
	{ "gcc -x c++-header d/a", { "d/a" }, { "gcc -x c++-header d/a" }, { "d/a.gch" } },
	{ "clang -c -- -a.c", { "-a.c" }, { "clang -c -- -a.c" }, { "-a.o" } },
	{ "cc1 -quiet a.c -dumpbase a.c -o a.s",
	  { "a.c" },
	  { "cc1 -quiet a.c -dumpbase a.c -o a.s" },
	  { "a.s" } },
	{ "cc1 -quiet a.c", { "a.c" }, { "cc1 -quiet a.c" }, { NULL } },
	/* Sources of assemblers. */
	{ "as --defsym a.s=1 -I b.s c.s",
	  { "c.s" },
	  { "as --defsym a.s=1 -I b.s c.s" },
	  { "a.out" } },
	{ "as -o a.o -", { NULL }, { NULL }, { NULL } },
	{ "nasm -felf64 -MD a.d x/a.text",
	  { "x/a.text" },
	  { "nasm -felf64 -MD a.d x/a.text" },
	  { "a.o" } },
	{ "nasm -f win64 a.asm", { "a.asm" }, { "nasm -f win64 a.asm" }, { "a.obj" } },
	{ "nasm a.asm -o", { "a.asm" }, { "nasm a.asm -o" }, { "a" } },
	{ "nasm -E a.asm", { NULL }, { NULL }, { NULL } },
	{ "yasm -m amd64 -f elf64 a.asm -ob.o",
	  { "a.asm" },
	  { "yasm -m amd64 -f elf64 a.asm -ob.o" },
	  { "b.o" } },
	{ "gcc -gnatc -c a.ads", { "a.ads" }, { "gcc -gnatc -c a.ads" }, { NULL } },
	/* The option lacks its argument, or the file its name. */
	{ "gcc -c a.c -o", { "a.c" }, { "gcc -c a.c -o" }, { "a.o" } },
	{ "gcc -c a.c -include", { "a.c" }, { "gcc -c a.c -include" }, { "a.o" } },
	{ "gcc -c .c", { NULL }, { NULL }, { NULL } },
};

static void assert_words(const struct words *words, const char *right)
{
	struct strbuf text cleanup_strbuf = { 0 };

	for (size_t i = 0; i < words->nr; i++) {
		strbuf_addstr(&text, i ? " " : "");
		strbuf_addstr(&text, words->words[i]);
	}
	assert_string_equal(strbuf_str(&text), right);
}

static void check_source(const struct row *row, const struct compile *compile,
			 const struct words *argv, size_t at, size_t nr)
{
	struct words alone cleanup_words = { 0 };
	struct strbuf output cleanup_strbuf = { 0 };

	assert_non_null(row->sources[nr]);
	assert_string_equal(argv->words[at], row->sources[nr]);
	assert_int_equal(compile_of_one(compile, argv, at, &alone), 0);
	assert_words(&alone, row->alone[nr]);
	assert_int_equal(compile_output(compile, argv->words[at], &output),
			 row->outputs[nr] != NULL);
	if (row->outputs[nr])
		assert_string_equal(strbuf_str(&output), row->outputs[nr]);
}

TEST(what_is_compiled)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct words argv cleanup_words = { 0 };
		struct compile compile cleanup_compile = { 0 };
		size_t nr = 0;

		assert_int_equal(words_add(&argv, rows[i].command, NULL), 0);
		assert_int_equal(compile_parse(&compile, compiler_kind(argv.words[0]), &argv), 0);
		for (size_t at = 1; at < argv.nr && compile.nr_sources; at++) {
			if (compile.roles[at] == ROLE_SOURCE)
				check_source(&rows[i], &compile, &argv, at, nr++);
		}
		if (rows[i].sources[nr])
			fail_msg("%s: %s is not found", rows[i].command, rows[i].sources[nr]);
	}
}

TEST(names)
{
	static const char *const drivers[] = {
		"gcc",
		"/usr/bin/gcc",
		"g++",
		"cc",
		"c++",
		"clang",
		"clang++",
		"gcc-12",
		"clang++-14",
		"gcc12",
		"x86_64-linux-gnu-gcc-12.2",
		"arm-none-eabi-g++",
		"c99",
		"x86_64-w64-mingw32-gcc-win32",
		"x86_64-w64-mingw32-g++-12-posix",
		"./my-cc",
	};
	static const char *const others[] = {
		"gcc-ar", "gcc-nm-12", "clang-tidy-14", "clang-format", "cpp", "collect2",
		"as-new", "ld",	       "ccache",	"gcc/",		"",    "tcc",
		"12",	  "-",	       "c++filt",	"gccgo",
	};

	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		assert_int_equal(compiler_kind(drivers[i]), COMPILER_DRIVER);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (compiler_kind(others[i]) != COMPILER_NONE)
			fail_msg("%s is no compiler", others[i]);
	}
	assert_int_equal(compiler_kind("/usr/lib/gcc/x/12/cc1plus"), COMPILER_PROPER);
	assert_int_equal(compiler_kind("/usr/bin/aarch64-linux-gnu-as"), COMPILER_AS);
	assert_int_equal(compiler_kind("nasm"), COMPILER_NASM);
	assert_int_equal(compiler_kind("yasm"), COMPILER_YASM);
	assert_true(compiler_is_launcher("/usr/bin/ccache"));
	assert_false(compiler_is_launcher("ccache-swig"));
}
