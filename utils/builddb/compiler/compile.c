/* Finds the files that a command line of gcc or clang compiles (see compile.h). */
#include "utils/builddb/compiler/compile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/compiler.h"
#include "utils/base/path.h"
#include "utils/builddb/compiler/arguments.h"
#include "utils/builddb/compiler/compile_assembler.h"
#include "utils/builddb/compiler/compile_options.h"

static const char *const linker_alone[] = {
	"--shared",    "--static",
	"-bundle",     "-dead_strip",
	"-dynamiclib", "-mconsole",
	"-no-pie",     "-nodefaultlibs",
	"-nolibc",     "-nopie",
	"-noprebind",  "-nostartfiles",
	"-nostdlib",   "-nostdlib++",
	"-pie",	       "-r",
	"-rdynamic",   "-s",
	"-shared",     "-shared-libgcc",
	"-static",     "-static-openmp",
	"-static-pie", "-t",
};

static const char *const linker_starts[] = {
	"--ld-path=", "--rtlib=",  "--unwindlib=", "-L",	  "-T",
	"-Wl,",	      "-fuse-ld=", "-rtlib=",	   "-static-lib", "-unwindlib=",
};

/* An option that starts with one of these texts only prints information. Nothing is compiled. */
static const char *const question_starts[] = {
	"--autocomplete=", "--help=",	 "--print-",	 "-ccc-print-", "-dumpfullversion",
	"-dumpmachine",	   "-dumpspecs", "-dumpversion", "-help",	"-print-",
};

static const char *const source_suffixes[] = {
	"C",   "CC",  "CPP",   "CXX", "F",   "F03",  "F08", "F90", "F95",  "FOR",
	"FPP", "FTN", "M",     "S",   "adb", "ads",  "c",   "c++", "c++m", "cc",
	"ccm", "cl",  "clcpp", "cp",  "cpp", "cppm", "cu",  "cxx", "cxxm", "d",
	"di",  "f",   "f03",   "f08", "f90", "f95",  "for", "fpp", "ftn",  "hip",
	"i",   "ii",  "ixx",   "m",   "mi",  "mii",  "mm",  "s",   "sx",
};

static const char *const header_suffixes[] = {
	"H", "HPP", "h", "h++", "hh", "hp", "hpp", "hxx", "tcc",
};

/*
 * A fast strcmp(): each word of a command is compared with all options. Most options differ from
 * the word in the second letter.
 */
static bool is_same(const char *a, const char *b)
{
	return a[0] == b[0] && (!a[0] || (a[1] == b[1] && strcmp(a, b) == 0));
}

static bool is_one_of(const char *const words[], size_t nr, const char *word)
{
	for (size_t i = 0; i < nr; i++) {
		if (is_same(words[i], word))
			return true;
	}
	return false;
}

#define IS_ONE_OF(words, word) is_one_of(words, ARRAY_SIZE(words), word)

static bool starts_with(const char *word, const char *start)
{
	return strncmp(word, start, strlen(start)) == 0;
}

/*
 * Arguments of -x for languages that are compiled. After any other argument ("none"), the name of a
 * file determines its language.
 */
static const char *const languages[] = {
	"ada",
	"assembler",
	"assembler-with-cpp",
	"c",
	"c++",
	"c++-cpp-output",
	"c++-header",
	"c++-module",
	"c++-system-header",
	"c++-user-header",
	"c-header",
	"cpp-output",
	"cl",
	"clcpp",
	"cu",
	"cuda",
	"d",
	"f77",
	"f77-cpp-input",
	"f95",
	"f95-cpp-input",
	"hip",
	"objective-c",
	"objective-c++",
	"objective-c++-cpp-output",
	"objective-c++-header",
	"objective-c-cpp-output",
	"objective-c-header",
};

static const char *suffix(const char *path)
{
	const char *base = path_base(path);
	const char *dot = strrchr(base, '.');

	return dot && dot != base ? dot + 1 : "";
}

static bool ends_with(const char *word, const char *end)
{
	size_t len = strlen(word);

	return len >= strlen(end) && strcmp(word + len - strlen(end), end) == 0;
}

/* True when the source is a header: the compiler precompiles it, and links nothing. */
static bool is_header(const char *path, const char *language)
{
	return language ? ends_with(language, "-header") : IS_ONE_OF(header_suffixes, suffix(path));
}

/*
 * The state while the words are parsed.
 *
 * @at: index of the current word
 * @language: the argument of -x; NULL: the name of a file determines its language
 * @has_ended: "--" has ended the options
 */
struct parsing {
	struct compile *out;
	const struct words *argv;
	size_t at;
	const char *language;
	bool has_ended;
};

static const char *word_of(const struct parsing *p)
{
	return p->argv->words[p->at];
}

static void give_role(struct parsing *p, enum compile_role role)
{
	p->out->roles[p->at] = role;
}

/*
 * Take the argument of an option: the rest of the word, or the next word. Returns NULL when there
 * is no argument.
 *
 * @len: the length of the option without the argument
 * @role: the role of the option and of its argument
 */
static const char *take_argument(struct parsing *p, size_t len, enum compile_role role)
{
	const char *word = word_of(p);

	give_role(p, role);
	if (word[len])
		return word + len;
	if (p->at + 1 == p->argv->nr)
		return NULL;
	p->at++;
	give_role(p, role);
	return word_of(p);
}

static void take_file(struct parsing *p)
{
	const char *word = word_of(p);
	bool makes_header = is_header(word, p->language);
	bool is_source = makes_header || p->language || IS_ONE_OF(source_suffixes, suffix(word));

	/* "-" is standard input, and "@..." is a response file that could not be read. */
	if (!word[0] || strcmp(word, "-") == 0 || word[0] == '@')
		is_source = false;
	give_role(p, is_source ? ROLE_SOURCE : ROLE_INPUT);
	p->out->nr_sources += is_source;
	p->out->nr_headers += is_source && makes_header;
}

static void set_language(struct parsing *p, const char *language)
{
	p->language = language && IS_ONE_OF(languages, language) ? language : NULL;
	p->out->makes_other |= language && (ends_with(language, "-user-header") ||
					    ends_with(language, "-system-header"));
}

/*
 * Store the last step of the compiler if @word is an option that states it, such as -c or -S. If
 * there are several of these options, the earliest step counts. Returns false for any other word.
 */
static bool take_until(struct parsing *p, const char *word)
{
	static const struct {
		const char *word;
		enum compile_until until;
	} options[] = {
		{ "-c", COMPILE_OBJECT },
		{ "--compile", COMPILE_OBJECT },
		{ "-S", COMPILE_ASSEMBLY },
		{ "--assemble", COMPILE_ASSEMBLY },
		{ "-fsyntax-only", COMPILE_CHECKED },
		{ "--syntax-only", COMPILE_CHECKED },
		{ "-gnatc", COMPILE_CHECKED },
		{ "-gnats", COMPILE_CHECKED },
		{ "-E", COMPILE_PREPROCESSED },
		{ "-M", COMPILE_PREPROCESSED },
		{ "-MM", COMPILE_PREPROCESSED },
		{ "--preprocess", COMPILE_PREPROCESSED },
		{ "--dependencies", COMPILE_PREPROCESSED },
		{ "--user-dependencies", COMPILE_PREPROCESSED },
		/* With -###, no command is run. With --analyze, no object is made. */
		{ "-###", COMPILE_PREPROCESSED },
		{ "--analyze", COMPILE_PREPROCESSED },
		/* These options print information; no source is read. */
		{ "--version", COMPILE_PREPROCESSED },
		{ "--help", COMPILE_PREPROCESSED },
		{ "--target-help", COMPILE_PREPROCESSED },
		/* The output is a module or a syntax tree, and nothing is linked. */
		{ "--precompile", COMPILE_OBJECT },
		{ "-emit-ast", COMPILE_OBJECT },
	};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		if (!is_same(options[i].word, word))
			continue;
		p->out->until = MAX(p->out->until, (int)options[i].until);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(question_starts); i++) {
		if (!starts_with(word, question_starts[i]))
			continue;
		p->out->until = COMPILE_PREPROCESSED;
		return true;
	}
	return false;
}

/* Take an option that only nvcc has. */
static bool take_nvcc_until(struct parsing *p, const char *word)
{
	static const struct {
		const char *word;
		enum compile_until until;
		bool makes_other;
	} options[] = {
		{ "-dc", COMPILE_OBJECT, false },
		{ "--device-c", COMPILE_OBJECT, false },
		{ "-dw", COMPILE_OBJECT, false },
		{ "--device-w", COMPILE_OBJECT, false },
		{ "-ptx", COMPILE_OBJECT, true },
		{ "--ptx", COMPILE_OBJECT, true },
		{ "-cubin", COMPILE_OBJECT, true },
		{ "--cubin", COMPILE_OBJECT, true },
		{ "-fatbin", COMPILE_OBJECT, true },
		{ "--fatbin", COMPILE_OBJECT, true },
		{ "-cuda", COMPILE_OBJECT, true },
		{ "--cuda", COMPILE_OBJECT, true },
		{ "-optix-ir", COMPILE_OBJECT, true },
		{ "--optix-ir", COMPILE_OBJECT, true },
		{ "-ltoir", COMPILE_OBJECT, true },
		{ "--ltoir", COMPILE_OBJECT, true },
		{ "--generate-dependencies", COMPILE_PREPROCESSED, false },
		{ "--generate-nonsystem-dependencies", COMPILE_PREPROCESSED, false },
		{ "-dryrun", COMPILE_PREPROCESSED, false },
		{ "--dryrun", COMPILE_PREPROCESSED, false },
		{ "-V", COMPILE_PREPROCESSED, false },
		{ "-h", COMPILE_PREPROCESSED, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		if (!is_same(options[i].word, word))
			continue;
		p->out->until = MAX(p->out->until, (int)options[i].until);
		p->out->makes_other |= options[i].makes_other;
		return true;
	}
	return false;
}

/*
 * Take an option of nvcc. The options of nvcc are whole words: -lineinfo is not -l with a library
 * "ineinfo", and -odir is not -o with an output "dir".
 */
static void take_nvcc_option(struct parsing *p, const char *word)
{
	static const char *const no_libraries[] = { "-lib", "-lineinfo", "-lto" };
	static const char *const linker[] = { "-shared", "--shared", "-link", "--link", "-r" };
	static const char *const linker_with_word[] = {
		"-L",	    "--library-path",	"-Xlinker", "--linker-options",
		"-Xnvlink", "--nvlink-options", "-l",	    "--library",
	};

	if (take_until(p, word) || take_nvcc_until(p, word))
		return;
	if (strcmp(word, "-o") == 0 || strcmp(word, "--output-file") == 0) {
		p->out->output = take_argument(p, strlen(word), ROLE_OUTPUT);
	} else if (starts_with(word, "-o=") || starts_with(word, "--output-file=")) {
		give_role(p, ROLE_OUTPUT);
		p->out->output = strchr(word, '=') + 1;
	} else if (strcmp(word, "-x") == 0 || strcmp(word, "--x") == 0) {
		set_language(p, take_argument(p, strlen(word), ROLE_OPTION));
	} else if (starts_with(word, "-x=") || starts_with(word, "--x=")) {
		set_language(p, strchr(word, '=') + 1);
	} else if (IS_ONE_OF(linker, word)) {
		give_role(p, ROLE_LINKER);
	} else if (IS_ONE_OF(linker_with_word, word)) {
		take_argument(p, strlen(word), ROLE_LINKER);
	} else if (compile_option_has_word(COMPILER_NVCC, word)) {
		take_argument(p, strlen(word), ROLE_OPTION);
	} else if (starts_with(word, "-L")) {
		give_role(p, ROLE_LINKER);
	} else if (starts_with(word, "-l") && !IS_ONE_OF(no_libraries, word)) {
		give_role(p, ROLE_INPUT);
	}
}

static bool take_linker_option(struct parsing *p, const char *word)
{
	if (compile_linker_option_has_word(word)) {
		take_argument(p, strlen(word), ROLE_LINKER);
		return true;
	}
	if (IS_ONE_OF(linker_alone, word)) {
		give_role(p, ROLE_LINKER);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(linker_starts); i++) {
		if (starts_with(word, linker_starts[i])) {
			give_role(p, ROLE_LINKER);
			return true;
		}
	}
	return false;
}

static bool take_input_option(struct parsing *p, const char *word)
{
	if (starts_with(word, "-x")) {
		set_language(p, take_argument(p, 2, ROLE_LANGUAGE));
	} else if (strcmp(word, "--language") == 0) {
		set_language(p, take_argument(p, strlen(word), ROLE_LANGUAGE));
	} else if (starts_with(word, "--language=")) {
		give_role(p, ROLE_LANGUAGE);
		set_language(p, word + strlen("--language="));
	} else if (starts_with(word, "-l")) {
		take_argument(p, 2, ROLE_INPUT);
	} else if (strcmp(word, "--output") == 0) {
		p->out->output = take_argument(p, strlen(word), ROLE_OUTPUT);
	} else if (starts_with(word, "--output=")) {
		give_role(p, ROLE_OUTPUT);
		p->out->output = word + strlen("--output=");
	} else if (starts_with(word, "-o") && !starts_with(word, "-objc")) {
		p->out->output = take_argument(p, 2, ROLE_OUTPUT);
	} else {
		return false;
	}
	return true;
}

static void take_option(struct parsing *p)
{
	const char *word = word_of(p);

	give_role(p, ROLE_OPTION);
	if (p->out->kind == COMPILER_NVCC) {
		take_nvcc_option(p, word);
		return;
	}
	p->out->makes_other |= starts_with(word, "-fmodule-header");
	p->out->makes_llvm |= strcmp(word, "-emit-llvm") == 0;
	p->out->makes_ast |= strcmp(word, "-emit-ast") == 0;
	p->out->makes_module |= strcmp(word, "--precompile") == 0;
	if (take_until(p, word) || take_input_option(p, word))
		return;
	if (compile_option_has_word(p->out->kind, word))
		take_argument(p, strlen(word), ROLE_OPTION);
	else if (p->out->kind == COMPILER_DRIVER)
		take_linker_option(p, word);
}

static void take_word(struct parsing *p)
{
	const char *word = word_of(p);

	if (!p->has_ended && strcmp(word, "--") == 0) {
		p->has_ended = true;
		give_role(p, ROLE_OPTION);
	} else if (!p->has_ended && word[0] == '-' && word[1]) {
		take_option(p);
	} else {
		take_file(p);
	}
}

int compile_parse(struct compile *compile, enum compiler_kind kind, const struct words *argv)
{
	struct parsing p = { .out = compile, .argv = argv };

	*compile = (struct compile){
		.kind = kind,
		.until = kind == COMPILER_PROPER ? COMPILE_ASSEMBLY : COMPILE_LINKED,
		.roles = calloc(argv->nr + 1, 1),
	};
	if (!compile->roles)
		return -ENOMEM;
	if (compiler_is_assembler(kind)) {
		compile->nr_names = 1;
		compile_parse_assembler(compile, argv);
		if (compile->until == COMPILE_PREPROCESSED)
			compile->nr_sources = 0;
		return 0;
	}
	if (argv->nr)
		compile->nr_names = compiler_name_words(argv->words[0],
							argv->nr > 1 ? argv->words[1] : NULL);
	for (p.at = compile->nr_names; p.at < argv->nr; p.at++)
		take_word(&p);
	/*
	 * clang's driver starts "clang -cc1" for each source. The driver's own command names the
	 * same sources, so the sources of "clang -cc1" are not counted again.
	 */
	if (argv->nr > 1 && starts_with(argv->words[1], "-cc1"))
		compile->nr_sources = 0;
	if (compile->until == COMPILE_PREPROCESSED)
		compile->nr_sources = 0;
	if (compile->nr_sources && compile->nr_headers == compile->nr_sources)
		compile->until = MAX(compile->until, (int)COMPILE_OBJECT);
	return 0;
}

void compile_deinit(struct compile *compile)
{
	free(compile->roles);
	*compile = (struct compile){ 0 };
}

static bool belongs(const struct compile *compile, size_t at, size_t source)
{
	bool links = compile->until == COMPILE_LINKED;

	switch (compile->roles[at]) {
	case ROLE_SOURCE:
		return at == source;
	case ROLE_OUTPUT:
	case ROLE_INPUT:
	case ROLE_LINKER:
		return !links;
	case ROLE_LANGUAGE:
		/*
		 * -x sets the language of the files after -x. If the command has several sources,
		 * the -x options after this source are left out. clangd moves the source to the end
		 * of the command, and would apply these options to the source.
		 */
		return at < source || compile->nr_sources == 1;
	default:
		return true;
	}
}

int compile_of_one(const struct compile *compile, const struct words *argv, size_t source,
		   struct words *out)
{
	int ret = 0;

	for (size_t i = 0; i < compile->nr_names && ret == 0; i++)
		ret = arguments_add(out, argv->words[i], strlen(argv->words[i]));
	if (ret == 0 && compile->until == COMPILE_LINKED)
		ret = arguments_add(out, "-c", 2);
	for (size_t i = compile->nr_names; i < argv->nr && ret == 0; i++) {
		if (belongs(compile, i, source))
			ret = arguments_add(out, argv->words[i], strlen(argv->words[i]));
	}
	return ret;
}

static const char *written_suffix(const struct compile *compile)
{
	bool is_object = compile->until == COMPILE_OBJECT;

	if (compile->makes_module)
		return ".pcm";
	if (compile->makes_ast)
		return ".ast";
	if (compile->makes_llvm)
		return is_object ? ".bc" : ".ll";
	return is_object ? ".o" : ".s";
}

bool compile_output(const struct compile *compile, const char *source, struct strbuf *out)
{
	const char *base = path_base(source);
	const char *dot = strrchr(base, '.');
	size_t len = dot ? (size_t)(dot - base) : strlen(base);

	if (compile->until == COMPILE_LINKED || compile->until == COMPILE_CHECKED)
		return false;
	if (compile->output) {
		strbuf_addstr(out, compile->output);
		/* "-" means standard output. */
		return strcmp(compile->output, "-") != 0;
	}
	if (compile->kind == COMPILER_PROPER || compile->makes_other)
		return false;
	if (compiler_is_assembler(compile->kind)) {
		compile_assembler_output(compile, source, out);
		return true;
	}
	if (compile->nr_headers) {
		strbuf_addstr(out, source);
		strbuf_addstr(out, ".gch");
		return true;
	}
	strbuf_add(out, base, len);
	strbuf_addstr(out, written_suffix(compile));
	return true;
}
