/* Tokens of preprocessed sources, and the checks of event macros made of them. */
#include "tests/unit/lib/unit.h"

#include "cmds/build/check_calls.h"
#include "cmds/build/check_scan.h"

/* Returns "LINE:TOKEN" for each token, with literals in <>. */
static const char *tokens(const char *source)
{
	static char out[512];
	struct strbuf text cleanup_strbuf = { 0 };
	struct strbuf shown cleanup_strbuf = { 0 };

	strbuf_addstr(&text, source);

	struct check_scan scan = check_scan_of(&text);

	while (check_scan_next(&scan))
		strbuf_addf(&shown, scan.kind == CHECK_LITERAL ? "%u:<%.*s> " : "%u:%.*s ",
			    scan.line, (int)(scan.left.at - scan.start), scan.start);
	snprintf(out, sizeof(out), "%s", strbuf_str(&shown));
	return out;
}

TEST(kinds_of_tokens)
{
	assert_string_equal(tokens(""), "");
	assert_string_equal(tokens("a_1+0x1f\n;"), "1:a_1 1:+ 1:0x1f 2:; ");
	assert_string_equal(tokens("\"a\\\"b\" '\\'' '\"'"), "1:<\"a\\\"b\"> 1:<'\\''> 1:<'\"'> ");
	assert_string_equal(tokens("1'000 L'x'"), "1:1'000 1:L 1:<'x'> ");
	assert_string_equal(tokens("# 7 \"f.c\" 2\nx\n#pragma y\nz"), "7:x 9:z ");
	assert_string_equal(tokens("x # 7 \"f.c\"\ny"), "1:x 1:# 1:7 1:<\"f.c\"> 2:y ");
	/* A string without an end reaches to the end of the line, or of the text. */
	assert_string_equal(tokens("\"a\nb"), "1:<\"a> 2:b ");
	assert_string_equal(tokens("\"a\\"), "1:<\"a\\> ");
	assert_string_equal(tokens("# 5 \"f"), "");
	assert_string_equal(tokens("# 5 \"f\\"), "");
}

TEST(raw_literals)
{
	assert_string_equal(tokens("R\"x()\" \n)x\" y"), "2:<R\"x()\" \n)x\"> 2:y ");
	assert_string_equal(tokens("u8R\"(a)\"b"), "1:<u8R\"(a)\"> 1:b ");
	assert_string_equal(tokens("R\"x(a)y\""), "1:<R\"x(a)y\"> ");
	assert_string_equal(tokens("R\""), "1:<R\"> ");
	assert_string_equal(tokens("XR\"(\")"), "1:XR 1:<\"(\"> 1:) ");
}

/* The text that a compiler gets for @source. */
static const char *rewritten(const char *source)
{
	static char out[1024];
	struct check_events global cleanup_check_events = { 0 };
	struct check_calls calls cleanup_check_calls = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };

	strbuf_addstr(&text, source);
	assert_int_equal(check_calls_collect(&text, &calls, &global), 0);
	assert_int_equal(check_calls_rewrite(&text, &calls, &global), 0);
	snprintf(out, sizeof(out), "%s", strbuf_str(&calls.text));
	return out;
}

TEST(uses)
{
	assert_string_equal(rewritten(""), "");
	assert_string_equal(rewritten("int x;"), "int x;");
	assert_string_equal(
		rewritten("fstrace_check_decl_(A, \"%d\"\n \"%z\");\nfstrace_check_use_(A, "
			  "f(1,\n2), x);"),
		";\n\n# 0 \"<utrail>\"\nfstrace_check_(\"%d%d%zd\", 0, f(1, 2), x)\n# 4 \"\"\n;");
	/* A value of 64 bits gets the length modifier (l or ll) of the type that is int64_t. */
	assert_string_equal(rewritten("typedef long int fstrace_check_int64_;"
				      "fstrace_check_decl_(A, \"%64d\")fstrace_check_use_(A, 1)"),
			    "typedef long int fstrace_check_int64_;"
			    "\n# 0 \"<utrail>\"\nfstrace_check_(\"%d%ld\", 0, 1)\n# 1 \"\"\n");
	assert_string_equal(rewritten("typedef long long int fstrace_check_int64_;"
				      "fstrace_check_decl_(A, \"%64x\")fstrace_check_use_(A, 1)"),
			    "typedef long long int fstrace_check_int64_;"
			    "\n# 0 \"<utrail>\"\nfstrace_check_(\"%d%llu\", 0, 1)\n# 1 \"\"\n");
	assert_string_equal(rewritten("t . x [ 1 ] = fstrace_declare(t, \"A\", \"%e\"); "
				      "fstrace_check_use_(t.x[1])"),
			    "t . x [ 1 ] = fstrace_declare(t, \"A\", \"%e\"); "
			    "\n# 0 \"<utrail>\"\nfstrace_check_(\"%d\", 0)\n# 1 \"\"\n");
}

TEST(uses_without_format)
{
	static const char unknown[] = "\n# 0 \"<utrail>\"\n((void)0, 1)\n# 1 \"\"\n";

	assert_string_equal(rewritten("fstrace_check_use_(A, 1)"), unknown);
	assert_string_equal(rewritten("fstrace_check_decl_(A, \"%q\")fstrace_check_use_(A, 1)"),
			    unknown);
	assert_string_equal(rewritten("fstrace_check_decl_(A, f)fstrace_check_use_(A, 1)"),
			    unknown);
	assert_string_equal(rewritten("fstrace_check_decl_(A, \"\")fstrace_check_decl_(A, \"%d\")"
				      "fstrace_check_use_(A, 1)"),
			    unknown);
	assert_string_equal(rewritten("a = fstrace_declare();"), "a = fstrace_declare();");
}

/* Nothing is read after the end. */
TEST(cut_sources)
{
	static const char source[] =
		"fstrace_check_decl_(A, \"%d\") x = fstrace_declare(t, \"X\", \"%s\");"
		"# 1 \"a\"\nfstrace_check_use_(A, f(\"\\\"\", '\\''), R\"x()x\")";

	for (size_t len = 0; len < sizeof(source); len++) {
		struct check_events global cleanup_check_events = { 0 };
		struct check_calls calls cleanup_check_calls = { 0 };
		struct strbuf text = { .data = exact_copy(source, len), .len = len };

		assert_int_equal(check_calls_collect(&text, &calls, &global), 0);
		assert_int_equal(check_calls_rewrite(&text, &calls, &global), 0);
		free(text.data);
	}
}
