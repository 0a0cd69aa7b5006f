/* Response files of a recording (see responses.h). */
#include "utils/builddb/compiler/responses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/compiler.h"
#include "utils/base/containers/vec.h"
#include "utils/format/proc_dat.h"

/*
 * @before: 1 + the index of the execution's previous response file; 0: none
 * @text: NULL when the recorder could not read the file, or RESPONSES_MAX would be exceeded; then
 *         @why is a negative errno
 */
struct response_file {
	size_t before;
	char *name;
	char *text;
	size_t len;
	int why;
};

/*
 * Returns a copy of a text, and ends the copy with a NUL. The text may contain NULs. Returns NULL
 * when memory is short.
 */
static char *copy_of(const struct text *text)
{
	char *copy = malloc(text_left(text) + 1);

	if (copy) {
		memcpy(copy, text->at, text_left(text));
		copy[text_left(text)] = '\0';
	}
	return copy;
}

static int take_response(struct responses *responses, const struct proc_act *act, size_t at)
{
	struct response_file *all = vec_grow(responses->all, responses->nr, sizeof(*all));
	size_t before = (uintptr_t)intmap_get(&responses->last_of, at);
	size_t len = text_left(&act->texts[1]);
	bool fits = responses->is_unlimited || responses->bytes + len <= RESPONSES_MAX;
	struct response_file file = {
		.before = before,
		.len = len,
		.why = act->numbers[0] ? -(int)MIN(act->numbers[0], 4095U)
		       : fits	       ? 0
				       : -EFBIG,
	};

	if (!all)
		return -ENOMEM;
	responses->all = all;
	file.name = copy_of(&act->texts[0]);
	file.text = file.why ? NULL : copy_of(&act->texts[1]);
	all[responses->nr] = file;
	if (!file.name || (!file.why && !file.text) ||
	    intmap_put(&responses->last_of, at, (void *)(uintptr_t)(responses->nr + 1)) < 0) {
		free(file.name);
		free(file.text);
		return -ENOMEM;
	}
	responses->nr++;
	responses->bytes += file.text ? len : 0;
	return 0;
}

int responses_see(struct executions_listener *listener, const struct executions *executions,
		  const struct proc_record *rec, size_t at)
{
	struct responses *responses = container_of(listener, struct responses, listener);
	struct proc_act act;

	if (rec->kind != PROC_RESPONSE || at == EXECUTION_NONE ||
	    !proc_act_decode(rec->data, rec->len, responses->is_big_endian, &act))
		return 0;
	return take_response(responses, &act, at);
}

void responses_deinit(struct responses *responses)
{
	for (size_t i = 0; i < responses->nr; i++) {
		free(responses->all[i].name);
		free(responses->all[i].text);
	}
	free(responses->all);
	intmap_deinit(&responses->last_of);
	*responses = (struct responses){ 0 };
}

int responses_get(const struct responses *responses, size_t at, const char *name, size_t max,
		  struct strbuf *text, int *why)
{
	size_t next = responses ? (uintptr_t)intmap_get(&responses->last_of, at) : 0;

	while (next) {
		const struct response_file *file = &responses->all[next - 1];

		next = file->before;
		if (strcmp(file->name, name) != 0)
			continue;
		*why = file->why;
		if (!file->text)
			return -ENOENT;
		if (file->len > max)
			return -EFBIG;
		strbuf_add(text, file->text, file->len);
		return strbuf_oom(text) ? -ENOMEM : 0;
	}
	return -ENOENT;
}
