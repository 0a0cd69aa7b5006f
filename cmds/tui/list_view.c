/* Shows lines that do not change (see list_view.h). */
#include "cmds/tui/list_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"

static struct list_view *list_of(const struct tui_view *view)
{
	return (struct list_view *)view;
}

static size_t nr_lines(struct tui_view *base)
{
	return list_of(base)->nr;
}

static void put_heading(struct tui_view *base, struct sink *sink)
{
	sink_str(sink, list_of(base)->heading);
}

static const char *line_at(const struct list_view *view, size_t line, size_t *len)
{
	const char *text = view->text.data + view->starts[line];

	*len = strcspn(text, "\n");
	return text;
}

static void put_line(struct tui_view *base, size_t line, struct sink *sink)
{
	size_t len;
	const char *text = line_at(list_of(base), line, &len);

	sink_put_raw(sink, text, len);
}

static void put_place(struct tui_view *base, size_t line, struct sink *sink)
{
	sink_str(sink, list_of(base)->place);
}

static bool has_word(struct tui_view *base, size_t line, const char *word)
{
	size_t len;
	const char *text = line_at(list_of(base), line, &len);
	char *copy cleanup_free = strndup(text, len);

	return copy && view_word_is_in(copy, word);
}

static const struct tui_view_ops list_ops = {
	.nr_lines = nr_lines,
	.put_heading = put_heading,
	.put_line = put_line,
	.put_place = put_place,
	.has_word = has_word,
};

int list_view_init(struct list_view *view, const char *name, const char *heading, const char *place,
		   struct uft_err *err)
{
	view->view.ops = &list_ops;
	view->view.name = name;
	view->heading = heading;
	view->place = place;
	for (size_t at = 0; at < view->text.len;) {
		size_t *starts = vec_grow(view->starts, view->nr, sizeof(*starts));

		if (!starts)
			return err_set_errno(err, -ENOMEM, "cannot show a list");
		view->starts = starts;
		starts[view->nr++] = at;
		at += strcspn(view->text.data + at, "\n") + 1;
	}
	if (strbuf_oom(&view->text))
		return err_set_errno(err, -ENOMEM, "cannot show a list");
	return 0;
}

void list_view_deinit(struct list_view *view)
{
	strbuf_deinit(&view->text);
	free(view->starts);
	*view = (struct list_view){ 0 };
}
