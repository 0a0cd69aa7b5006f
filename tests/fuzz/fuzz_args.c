/* Fuzz target: rules about arguments, and payloads that these rules take apart. */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "utils/spec/args/argrules.h"

static void walk(const struct argspecs *list, const uint8_t *blob, size_t len, bool big)
{
	ssize_t at = 0;

	for (size_t i = 0; i < list->nr && at >= 0; i++) {
		struct arg_value value;
		ssize_t next = argblob_next(blob, len, at, list->specs[i].type, big, &value);

		if (next >= 0) {
			FUZZ_CHECK(next >= at && next <= (ssize_t)len);
			FUZZ_CHECK(value.data >= blob && value.data + value.len <= blob + len);
		}
		at = next;
	}
}

/* Input: a byte of choices, a length, the rules, then the payload. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	uint8_t choice = fuzz_u8(&in);
	size_t len;
	const uint8_t *bytes = fuzz_bytes(&in, fuzz_u8(&in), &len);
	char *text = strndup((const char *)bytes, len);
	struct argrules_source source = {
		.match = choice % 3,
		.about = 1 + choice / 4 % 3,
		.word_bytes = choice & 64 ? 4 : 8,
		.is_trigger = choice & 16,
		.is_lenient = choice & 32,
	};
	struct argrules rules cleanup_argrules = { 0 };
	struct argspecs args cleanup_argspecs = { 0 };
	struct argspecs retval cleanup_argspecs = { 0 };
	struct argrules_subject subject = { "f", "prog", choice & 128 };
	struct uft_err err = { 0 };
	int ret = argrules_parse(&rules, text, &source, source.is_lenient ? NULL : &err);

	if (!source.is_lenient)
		fuzz_check_error(ret < 0, &err);
	FUZZ_CHECK(argrules_collect(&rules, &subject, &args, &retval) >= 0);
	walk(&args, in.data, in.size, choice & 128);
	walk(&retval, in.data, in.size, choice & 128);
	free(text);
	return 0;
}
