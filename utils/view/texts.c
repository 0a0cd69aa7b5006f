/* Makes base64, and keeps the texts of functions for exporters (see texts.h). */
#include "utils/view/texts.h"

#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"

void text_put_base64(struct strbuf *out, const void *data, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *at = data;

	for (; len >= 3; len -= 3, at += 3) {
		uint32_t v = (uint32_t)at[0] << 16 | at[1] << 8 | at[2];
		char four[4] = { digits[v >> 18], digits[v >> 12 & 63], digits[v >> 6 & 63],
				 digits[v & 63] };

		strbuf_add(out, four, 4);
	}
	if (len) {
		uint32_t v = (uint32_t)at[0] << 16 | (len > 1 ? at[1] << 8 : 0);
		char four[4] = { digits[v >> 18], digits[v >> 12 & 63],
				 len > 1 ? digits[v >> 6 & 63] : '=', '=' };

		strbuf_add(out, four, 4);
	}
}

void func_texts_deinit(struct func_texts *texts)
{
	for (size_t i = 0; i < texts->nr; i++)
		free(texts->texts[i].text);
	free(texts->texts);
	*texts = (struct func_texts){ 0 };
}

static int grow_texts(struct func_texts *texts, size_t id)
{
	struct func_text *all = vec_reach(texts->texts, &texts->nr, id, sizeof(*all));

	if (!all)
		return -1;
	texts->texts = all;
	return 0;
}

const struct func_text *func_texts_make(struct func_texts *texts, const struct func *func)
{
	struct strbuf out = { 0 };

	if (func->id >= texts->nr && grow_texts(texts, func->id) < 0)
		return NULL;
	texts->make(func, &out);
	if (!strbuf_grow(&out, FUNC_TEXT_SLACK) || strbuf_oom(&out)) {
		strbuf_deinit(&out);
		return NULL;
	}
	texts->texts[func->id] = (struct func_text){ out.data, out.len };
	return &texts->texts[func->id];
}
