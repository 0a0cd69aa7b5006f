/*
 * Fuzz target: the cached list of a file's functions, with the right checksum and key. Content that
 * is accepted can be used.
 */
#include <string.h>

#include "cmds/record/plan/found_patch.h"
#include "cmds/record/plan/known_functions.h"
#include "tests/fuzz/fuzz.h"

static void use(const struct known_functions *known)
{
	struct strbuf found = { 0 };
	size_t nr = 0;

	for (size_t i = 0; i < known->nr; i++) {
		const char *name = known_function_name(known, i);
		const char *why_not = known_function_why_not(known, i);

		nr += known->list[i].nr_patches;
		FUZZ_CHECK(known->list[i].kind < FUNCTION_KINDS);
		FUZZ_CHECK(unprepared_way_text(known->list[i].way) ||
			   known->list[i].way >= UNPREPARED_CANNOT);
		FUZZ_CHECK(!name || strlen(name) < known->texts_len);
		FUZZ_CHECK(!why_not || strlen(why_not) < known->texts_len);
		known_function_add_patches(known, i, &found);
	}
	FUZZ_CHECK(found.len == nr * sizeof(struct found_patch));

	const struct found_patch *list = (const struct found_patch *)found.data;
	struct strbuf bound = { 0 };

	for (size_t i = 0; i < nr; i++)
		found_patch_bind(&list[i], 0x1000, &bound);
	strbuf_deinit(&bound);
	strbuf_deinit(&found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct known_functions known = { 0 };
	struct functions_key key = { 0 };
	struct strbuf image = { 0 };

	strbuf_add(&image, data, size);
	if (known_functions_key(&image, &key))
		known_functions_seal(&image);
	if (known_functions_take(&known, &image, &key))
		use(&known);
	FUZZ_CHECK(!image.data);
	known_functions_deinit(&known);
	return 0;
}
