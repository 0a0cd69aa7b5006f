/*
 * Response files of a recording: found by execution and name, with the reason if one could not be
 * read.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "utils/base/cleanup.h"
#include "utils/format/proc_dat.h"
#include "utils/builddb/compiler/responses.h"

static void see(struct responses *responses, size_t at, int error, const char *name,
		const char *content, enum proc_kind kind)
{
	struct strbuf payload cleanup_strbuf = { 0 };
	struct executions none = { 0 };
	struct proc_record rec = { .kind = kind };

	proc_act_encode(&(struct proc_act){ .numbers = { error },
					    .texts = { text_of(name, strlen(name)),
						       text_of(content, strlen(content)) } },
			&payload);
	rec.len = payload.len;
	rec.data = exact_copy(payload.data, payload.len);
	assert_int_equal(responses_see(&responses->listener, &none, &rec, at), 0);
	free((void *)rec.data);
}

static void check(const struct responses *responses, size_t at, const char *name, int ret,
		  const char *right)
{
	struct strbuf text cleanup_strbuf = { 0 };
	int why = 0;

	assert_int_equal(responses_get(responses, at, name, 8, &text, &why), ret);
	assert_string_equal(strbuf_str(&text), right);
	assert_int_equal(why, ret == -ENOENT && at == 1 && *name == 'e' ? -EACCES : 0);
}

TEST(each_execution_has_its_own)
{
	struct responses responses cleanup_responses = { .listener = { responses_see },
							 .is_big_endian = PROC_IS_BIG };

	see(&responses, 1, 0, "a", "-c x", PROC_RESPONSE);
	see(&responses, 2, 0, "a", "-c y", PROC_RESPONSE);
	see(&responses, 1, 0, "b", "", PROC_RESPONSE);
	see(&responses, 1, EACCES, "e", "", PROC_RESPONSE);
	see(&responses, 1, 0, "long", "123456789", PROC_RESPONSE);
	see(&responses, 1, 0, "other", "x", PROC_OPEN);
	see(&responses, EXECUTION_NONE, 0, "nobody", "x", PROC_RESPONSE);
	check(&responses, 1, "a", 0, "-c x");
	check(&responses, 2, "a", 0, "-c y");
	check(&responses, 1, "b", 0, "");
	check(&responses, 2, "b", -ENOENT, "");
	check(&responses, 1, "e", -ENOENT, "");
	check(&responses, 1, "long", -EFBIG, "");
	check(&responses, 1, "other", -ENOENT, "");
	check(NULL, 1, "a", -ENOENT, "");
	assert_int_equal(responses.nr, 5);
}
