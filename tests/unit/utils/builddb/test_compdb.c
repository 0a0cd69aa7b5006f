/*
 * Compilation databases of processes: wrappers, launchers and scripts, entries that cover others,
 * and entries that repeat.
 */
#include "tests/unit/lib/unit.h"

#include "utils/base/compiler.h"
#include "utils/builddb/compdb.h"

/*
 * One execution. @before: the index of the execution that forked it; with @is_exec, the index of
 * the execution before it in the same process; -1: none
 */
struct run {
	int before;
	bool is_exec;
	const char *program;
	const char *args; /* the arguments, with blanks between them */
	const char *interpreter;
};

/*
 * Put "directory file output: arguments" of each entry into @out. They are read from the entry's
 * text.
 */
static void list(const struct compdb *db, struct strbuf *out)
{
	for (size_t i = 0; i < db->nr; i++) {
		const char *entry = db->entries[i];

		if (!entry)
			continue;

		const char *args = strstr(entry, "\"arguments\": [") + strlen("\"arguments\": [");
		const char *output = strstr(entry, "\"output\": \"");

		for (; *args != ']'; args++) {
			if (*args != '"' && *args != ',')
				strbuf_addch(out, *args);
		}
		if (output) {
			output += strlen("\"output\": \"");
			strbuf_addstr(out, " > ");
			strbuf_add(out, output, strchr(output, '"') - output);
		}
		strbuf_addch(out, '\n');
	}
}

#define RUNS_MAX 8

static void make(const struct run *runs, size_t nr, struct execution *all, char (*args)[256])
{
	for (size_t i = 0; i < nr; i++) {
		const struct run *run = &runs[i];
		bool is_exec = run->is_exec;

		strcpy(args[i], run->args);
		for (char *c = args[i]; *c; c++)
			*c = *c == ' ' ? '\0' : *c;
		all[i] = (struct execution){
			.index = 1,
			.parent = is_exec || run->before < 0 ? EXECUTION_NONE : (size_t)run->before,
			.previous = is_exec ? (size_t)run->before : EXECUTION_NONE,
			.program = run->program,
			.interpreter = run->interpreter ? run->interpreter : run->program,
			.cwd = "/src",
			.args = args[i],
			.args_len = strlen(run->args) + 1,
		};
	}
}

static void check(const struct run *runs, size_t nr, const char *right)
{
	struct execution all[RUNS_MAX];
	char args[RUNS_MAX][256];
	struct executions executions = { .all = all, .nr = nr };
	struct compdb db cleanup_compdb = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };

	make(runs, nr, all, args);
	assert_int_equal(compdb_add_executions(&db, &executions), 0);
	list(&db, &text);
	assert_string_equal(strbuf_str(&text), right);
}

#define CHECK(right, ...)                                   \
	do {                                                \
		const struct run runs_[] = { __VA_ARGS__ }; \
		check(runs_, ARRAY_SIZE(runs_), right);     \
	} while (0)

TEST(the_driver_and_not_what_it_runs)
{
	CHECK("gcc -c a.c > a.o\n", { -1, false, "/bin/make", "make" },
	      { 0, false, "/bin/x86_64-linux-gnu-gcc-12", "gcc -c a.c" },
	      { 1, false, "/lib/cc1", "/lib/cc1 -quiet a.c -o /tmp/x.s" },
	      { 1, false, "/bin/as", "as -o a.o /tmp/x.s" });
	CHECK("", { -1, false, "/bin/gcc", "gcc -E a.c" },
	      { 0, false, "/lib/cc1", "/lib/cc1 -E a.c -o a.i" });
	CHECK("", { -1, false, "/bin/gcc", "gcc -o prog a.o" },
	      { 0, false, "/lib/collect2", "collect2 -o prog a.o" });
	CHECK("/lib/cc1 a.c -o a.s > a.s\n", { -1, false, "/bin/make", "make" },
	      { 0, false, "/lib/cc1", "/lib/cc1 a.c -o a.s" });
}

TEST(wrappers_are_no_second_compilation)
{
	/*
	 * A wrapper may have any name. It runs the compiler in its own process or in another one.
	 */
	CHECK("gcc -c a.c > a.o\n", { -1, false, "/bin/wrap", "wrap gcc -c a.c" },
	      { 0, true, "/bin/gcc", "gcc -c a.c" });
	CHECK("gcc -c a.c > a.o\n",
	      { -1, false, "/bin/libtool", "/bin/sh libtool gcc -c a.c", "/bin/sh" },
	      { 0, false, "/bin/gcc", "gcc -c a.c" });
	/* A compiler may run itself under its own name. */
	CHECK("zig cc -c a.c\n", { -1, false, "/bin/zig", "zig cc a.c -o a" },
	      { 0, false, "/bin/zig", "zig clang -c a.c -o /tmp/a.o" },
	      { 0, false, "/bin/clang", "clang -c a.c -o /tmp/a.o" });
	CHECK("", { -1, false, "/bin/zig", "zig build a.c" });
	/* A wrapper may be started under the name of a compiler. */
	CHECK("cc -c a.c > a.o\n", { -1, false, "/bin/wrap", "cc -c a.c" },
	      { 0, true, "/bin/gcc", "gcc -c -DMORE a.c" }, { 1, false, "/lib/cc1", "cc1 a.c" });
}

TEST(launchers_hide_what_they_run)
{
	CHECK("gcc -c a.c > a.o\n", { -1, false, "/bin/ccache", "ccache gcc -c a.c" },
	      { 0, false, "/bin/gcc", "gcc -E a.c" },
	      { 0, false, "/bin/gcc", "gcc -c -x cpp-output /tmp/a.i -o a.o" });
	/* The object comes from the cache, so no compiler runs. */
	CHECK("gcc -c a.c > a.o\n", { -1, false, "/bin/ccache", "gcc -c a.c" });
	CHECK("gcc-12 -c a.c > a.o\n",
	      { -1, false, "/bin/ccache", "ccache X=1 Y=2 distcc gcc-12 -c a.c" });
	CHECK("", { -1, false, "/bin/ccache", "ccache --version" });
	CHECK("", { -1, false, "/bin/ccache", "ccache" });
	CHECK("", { -1, false, "/bin/distcc", "distcc X=1" });
}

TEST(scripts_have_an_interpreter_in_front)
{
	CHECK("/x/cc -c a.c > a.o\n", { -1, false, "/x/cc", "/bin/sh /x/cc -c a.c", "/bin/dash" });
	CHECK("/x/cc -c a.c > a.o\n",
	      { -1, false, "/x/cc", "/bin/sh -e /x/cc -c a.c", "/bin/dash" });
	CHECK("cc -c a.c > a.o\n", { -1, false, "/x/real", "/bin/sh cc -c a.c", "/bin/dash" });
	CHECK("", { -1, false, "/x/cc", "", "/bin/dash" });
}

TEST(a_response_file_that_is_gone)
{
	CHECK("cc1 -quiet a.c -o a.s > a.s\n", { -1, false, "/bin/gcc", "gcc @/none/x" },
	      { 0, false, "/lib/cc1", "cc1 -quiet a.c -o a.s" });
}

static void add(struct compdb *db, const char *file, const char *output, const char *line)
{
	struct words argv cleanup_words = { 0 };

	assert_int_equal(words_add(&argv, line, NULL), 0);
	assert_int_equal(compdb_add(db, "/src", file, output, &argv), 0);
}

TEST(the_last_one_counts)
{
	struct compdb db cleanup_compdb = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };

	add(&db, "a.c", "a.o", "gcc -O0 -c a.c");
	add(&db, "b.c", "b.o", "gcc -c b.c");
	add(&db, "a.c", "a.lo", "gcc -fPIC -c a.c");
	for (int i = 0; i < 3; i++)
		add(&db, "a.c", "a.o", i < 2 ? "gcc -O1 -c a.c" : "gcc -O2 -c a.c");
	/* Commands without an output differ if their arguments do. */
	add(&db, "a.c", NULL, "gcc -DX -c a.c");
	add(&db, "a.c", NULL, "gcc -DY -c a.c");
	add(&db, "a.c", NULL, "gcc -DX -c a.c");
	list(&db, &text);
	assert_string_equal(strbuf_str(&text), "gcc -c b.c > b.o\n"
					       "gcc -fPIC -c a.c > a.lo\n"
					       "gcc -O2 -c a.c > a.o\n"
					       "gcc -DY -c a.c\n"
					       "gcc -DX -c a.c\n");
	assert_int_equal(db.nr_left, 5);
}

TEST(the_text)
{
	struct compdb db cleanup_compdb = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };
	struct sink sink cleanup_sink = { 0 };

	assert_int_equal(sink_init_text(&sink, &text), 0);
	compdb_write(&db, &sink);
	assert_int_equal(sink_flush(&sink), 0);
	assert_string_equal(strbuf_str(&text), "[\n]\n");
	strbuf_reset(&text);
	add(&db, "\xc3\xa4 \xef\xbf\xbd.c", "x", "gcc '-DA=\"\\'");
	add(&db, "not \xff text", "x", "gcc");
	assert_int_equal(db.nr_not_text, 1);
	compdb_write(&db, &sink);
	assert_int_equal(sink_flush(&sink), 0);
	assert_string_equal(
		strbuf_str(&text),
		"[\n{\n  \"directory\": \"/src\",\n  \"file\": \"\xc3\xa4 \xef\xbf\xbd.c\",\n"
		"  \"output\": \"x\",\n  \"arguments\": [\"gcc\", \"-DA=\\\"\\\\\"]\n}\n]\n");
}
