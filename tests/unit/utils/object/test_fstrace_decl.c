/* Declared events in hand-made ELF files: good entries, cut ones, damaged ones. */
#include "tests/unit/lib/elf_image.h"

#include <errno.h>

#include "utils/object/fstrace_decl.h"

/* Write "ID: FORMAT", one in a line; or the error's text. */
static int load(const void *entries, size_t len, struct strbuf *out)
{
	struct fstrace_decls decls cleanup_fstrace_decls = { 0 };
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	struct elf_image img cleanup_image = { 0 };
	struct uft_err err = { 0 };

	image_section(&img, "fstrace_decl",
		      (Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC }, entries, len);
	image_finish(&img);

	char *copy cleanup_free = exact_copy(img.data.data, img.data.len);

	assert_int_equal(elf_file_open_image(&file, copy, img.data.len), 0);

	int ret = fstrace_decls_load(&file, "shop", &decls, &err);

	strbuf_reset(out);
	if (ret < 0) {
		assert_int_equal(decls.nr, 0);
		assert_int_equal(err.code, ret);
		strbuf_addstr(out, err.text);
	}
	for (size_t i = 0; i < decls.nr; i++)
		strbuf_addf(out, "%s: %s\n", decls.decls[i].id, decls.decls[i].format ?: "(none)");
	assert_false(decls.has_others);
	return ret;
}

#define TEXT_OF(entries) text_of_entries(entries, sizeof(entries))

static const char *text_of_entries(const char *entries, size_t len)
{
	static char text[512];
	struct strbuf out cleanup_strbuf = { 0 };

	load(entries, len, &out);
	snprintf(text, sizeof(text), "%s", strbuf_str(&out));
	return text;
}

TEST(good_entries)
{
	assert_string_equal(TEXT_OF(""), "");
	/* Events are sorted, and each is there once. The compiler puts zeros between entries. */
	assert_string_equal(TEXT_OF("SHOP_SOLD \"NR=%d\"\0\0\0SHOP_OPEN \"\"\0SHOP_SOLD \"NR=%d\"\0"
				    "SHOP_SOLD \"NR=%u\""),
			    "SHOP-OPEN: \nSHOP-SOLD: NR=%d\nSHOP-SOLD: NR=%u\n");
}

TEST(literals)
{
	assert_string_equal(TEXT_OF("A \"N=%\" \"64u\"   \" X\""), "A: N=%64u X\n");
	assert_string_equal(TEXT_OF("A \"\\\"\\\\\\?\\'\\x41\\1012\\n\""), "A: \"\\?'AA2\n\n");
	assert_string_equal(TEXT_OF("A FORMAT"), "A: (none)\n");
	assert_string_equal(TEXT_OF("A "), "A: (none)\n");
	assert_string_equal(TEXT_OF("A \"open"), "A: (none)\n");
	assert_string_equal(TEXT_OF("A \"x\" + 1"), "A: (none)\n");
	assert_string_equal(TEXT_OF("A \"\\"), "A: (none)\n");
	assert_string_equal(TEXT_OF("A \"\\x\""), "A: (none)\n");
	assert_string_equal(TEXT_OF("A \"\\q\""), "A: (none)\n");
	/* A NUL ends the format, as in the program. The rest is not guessed. */
	assert_string_equal(TEXT_OF("A \"\\0\""), "A: (none)\n");
}

TEST(damaged_entries)
{
	static const char cut[] = { 'A', ' ', '"', 'x', '"', '\0', 'B', ' ', '"' };

#define DAMAGED(at) "cannot read 'shop': section fstrace_decl: the entry at " #at " is damaged"
	assert_string_equal(text_of_entries(cut, sizeof(cut)), DAMAGED(6));
	assert_string_equal(TEXT_OF("A \"\"\0B"), DAMAGED(5));
	assert_string_equal(TEXT_OF(" \"x\""), DAMAGED(0));
	assert_string_equal(TEXT_OF("A\033B \"x\""), DAMAGED(0));
	assert_string_equal(TEXT_OF("\xff \"x\""), DAMAGED(0));
}
