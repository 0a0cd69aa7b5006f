/*
 * Fuzz target: .dbg files, and the specifications and enums in them. A file that is read and
 * written again reads the same.
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "utils/format/dbg.h"
#include "utils/spec/args/argspec.h"
#include "utils/spec/args/enumdef.h"
#include "utils/spec/args/structdef.h"

/* Check that a specification written as text reads as the same specification. */
static void check_specs(const char *text)
{
	struct argspecs list cleanup_argspecs = { 0 };
	struct uft_err err = { 0 };

	if (!text)
		return;

	int ret = argspecs_parse(text, strlen(text), 8, &list, &err);

	fuzz_check_error(ret < 0, &err);
	for (size_t i = 0; i < list.nr; i++) {
		struct strbuf out cleanup_strbuf = { 0 };
		struct argspec again;

		argspec_put(&list.specs[i], 8, &out);
		FUZZ_CHECK(argspec_parse(strbuf_str(&out), out.len, 8, &again, NULL) == 0);
		FUZZ_CHECK(again.type.format == list.specs[i].type.format);
		FUZZ_CHECK(again.type.size == list.specs[i].type.size);
		argspec_deinit(&again);
	}
}

static void check_enum(const char *text)
{
	struct enum_defs defs cleanup_enum_defs = { 0 };
	struct uft_err err = { 0 };
	int ret = enum_defs_parse(&defs, text, strlen(text), &err);

	fuzz_check_error(ret < 0, &err);
	for (size_t i = 0; i < defs.nr; i++) {
		struct strbuf out cleanup_strbuf = { 0 };

		FUZZ_CHECK(enum_defs_find(&defs, defs.defs[i].name));
		enum_def_put(&defs.defs[i], INT64_MAX, "|", &out);
		enum_def_put(&defs.defs[i], INT64_MIN, "|", &out);
		enum_def_put(&defs.defs[i], 7, "|", &out);
	}
}

static void check_struct(const char *text)
{
	struct struct_defs defs cleanup_struct_defs = { 0 };

	if (struct_defs_parse(&defs, text, strlen(text)) < 0)
		return;
	FUZZ_CHECK(struct_defs_find(&defs, defs.defs[0].key) == defs.defs);
	for (size_t i = 0; i < defs.defs[0].nr; i++) {
		const struct struct_field *field = &defs.defs[0].fields[i];

		FUZZ_CHECK(field->offset + field->type.size <= defs.defs[0].bytes);
		FUZZ_CHECK(field->shift + field->width <= 64);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dbg dbg cleanup_dbg = { 0 };
	struct dbg again cleanup_dbg = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };
	int ret = dbg_decode((const char *)data, size, &dbg, &err);

	fuzz_check_error(ret < 0, &err);
	for (size_t i = 0; i < dbg.nr_enums; i++)
		check_enum(dbg.enums[i]);
	for (size_t i = 0; i < dbg.nr_structs; i++)
		check_struct(dbg.structs[i]);
	for (size_t i = 0; i < dbg.nr_funcs; i++) {
		check_specs(dbg.funcs[i].args);
		check_specs(dbg.funcs[i].retval);
		FUZZ_CHECK(dbg_find(&dbg, dbg.funcs[i].addr));
	}
	dbg_encode(&dbg, &text);
	FUZZ_CHECK(dbg_decode(text.data, text.len, &again, NULL) == 0);
	FUZZ_CHECK(again.nr_funcs == dbg.nr_funcs && again.nr_enums == dbg.nr_enums);
	return 0;
}
