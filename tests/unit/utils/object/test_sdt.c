/* Static probes in hand-made ELF files: good notes, cut ones, damaged ones. */
#include "tests/unit/lib/elf_image.h"

#include <errno.h>

#include "utils/object/sdt.h"

#define NOTES_BASE 0x3000

/* Adds a note as <sys/sdt.h> makes it. @texts has @len bytes: several strings with their NULs. */
static void add_note(struct strbuf *out, const char *owner, uint32_t type, const uint64_t words[3],
		     const char *texts, size_t len)
{
	Elf64_Nhdr head = { strlen(owner) + 1, 3 * sizeof(*words) + len, type };

	strbuf_add(out, &head, sizeof(head));
	strbuf_add(out, owner, strlen(owner) + 1);
	strbuf_addchars(out, '\0', -out->len & 3);
	strbuf_add(out, words, 3 * sizeof(*words));
	strbuf_add(out, texts, len);
	strbuf_addchars(out, '\0', -out->len & 3);
}

static void make_notes(struct strbuf *out)
{
	static const char first[] = "shop\0paid\0-4@%eax 8@-8(%rbp)";
	static const char second[] = "shop\0closed\0";

	add_note(out, "stapsdt", 3, (uint64_t[]){ 0x401000, NOTES_BASE, 0x404010 }, first,
		 sizeof(first));
	add_note(out, "GNU", 3, (uint64_t[]){ 1, 2, 3 }, "x", 2);
	add_note(out, "stapsdt", 4, (uint64_t[]){ 1, 2, 3 }, "x", 2);
	add_note(out, "stapsdt", 3, (uint64_t[]){ 0x401020, NOTES_BASE, 0 }, second,
		 sizeof(second));
}

/*
 * Write "provider:name pc semaphore (args)", one in a line; or the error's text. Returns the result
 * of loading.
 */
static int load(const void *notes, size_t len, uint64_t base, struct strbuf *out)
{
	struct elf_image img cleanup_image = { 0 };
	struct sdt_probes probes cleanup_sdt_probes = { 0 };
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	struct uft_err err = { 0 };

	image_section(&img, ".note.stapsdt", (Elf64_Shdr){ .sh_type = SHT_NOTE }, notes, len);
	image_section(
		&img, ".stapsdt.base",
		(Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_addr = base }, "",
		1);
	image_finish(&img);

	char *copy cleanup_free = exact_copy(img.data.data, img.data.len);

	assert_int_equal(elf_file_open_image(&file, copy, img.data.len), 0);

	int ret = sdt_probes_load(&file, "shop", &probes, &err);

	strbuf_reset(out);
	if (ret < 0) {
		assert_int_equal(probes.nr, 0);
		assert_int_equal(err.code, ret);
		strbuf_addstr(out, err.text);
	}
	for (size_t i = 0; i < probes.nr; i++)
		strbuf_addf(out, "%s:%s %llx %llx (%s)\n", probes.probes[i].provider,
			    probes.probes[i].name, (unsigned long long)probes.probes[i].pc,
			    (unsigned long long)probes.probes[i].semaphore, probes.probes[i].args);
	return ret;
}

TEST(good_notes)
{
	struct strbuf notes cleanup_strbuf = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };

	make_notes(&notes);
	assert_int_equal(load(notes.data, notes.len, NOTES_BASE, &text), 0);
	assert_string_equal(strbuf_str(&text), "shop:paid 401000 404010 (-4@%eax 8@-8(%rbp))\n"
					       "shop:closed 401020 0 ()\n");
	/* All addresses but those of the notes were moved by 0x100. */
	assert_int_equal(load(notes.data, notes.len, NOTES_BASE + 0x100, &text), 0);
	assert_string_equal(strbuf_str(&text), "shop:paid 401100 404110 (-4@%eax 8@-8(%rbp))\n"
					       "shop:closed 401120 0 ()\n");
}

TEST(cut_notes)
{
	struct strbuf notes cleanup_strbuf = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };

	make_notes(&notes);
	for (size_t len = 1; len < notes.len; len++) {
		int ret = load(notes.data, len, NOTES_BASE, &text);

		/* Fewer bytes than a header has are no note. Any other cut is an error. */
		assert_true(ret == 0 || ret == -EINVAL);
		if (ret < 0)
			assert_non_null(strstr(strbuf_str(&text), "the note at "));
	}
	assert_int_equal(load(notes.data, notes.len - 20, NOTES_BASE, &text), -EINVAL);
	assert_string_equal(strbuf_str(&text),
			    "cannot read 'shop': section .note.stapsdt: the note "
			    "at 168 is damaged");
}

TEST(damaged_notes)
{
	static const char *const bad[] = {
		"shop\0paid\0no end!",
		"\0paid\0\0           ",
		"shop\0\0args\0        ",
		"shop\0pa\nid\0\0        ",
	};
	struct strbuf text cleanup_strbuf = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct strbuf notes cleanup_strbuf = { 0 };

		add_note(&notes, "stapsdt", 3, (uint64_t[]){ 1, 0, 0 }, bad[i], 16);
		assert_int_equal(load(notes.data, notes.len, NOTES_BASE, &text), -EINVAL);
	}
}

TEST(flipped_bits)
{
	struct strbuf notes cleanup_strbuf = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };

	make_notes(&notes);
	for (size_t i = 0; i < notes.len * 8; i++) {
		notes.data[i / 8] ^= 1 << i % 8;
		load(notes.data, notes.len, NOTES_BASE, &text);
		notes.data[i / 8] ^= 1 << i % 8;
	}
}

TEST(none)
{
	struct sdt_probes probes cleanup_sdt_probes = { 0 };
	struct uft_err err = { 0 };

	assert_int_equal(object_sdt_load("/proc/self/exe", &probes, &err), 0);
	assert_int_equal(probes.nr, 0);
	assert_int_equal(object_sdt_load("/nowhere", &probes, &err), -ENOENT);
}
