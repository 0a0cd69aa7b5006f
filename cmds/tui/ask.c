/* Shows the help, reads a word to search for, and lets the user choose fields (see state.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/tui/keys.h"
#include "cmds/tui/screen.h"
#include "cmds/tui/state.h"
#include "utils/base/utf8.h"
#include "utils/view/graph/graph_columns.h"

#define WORD_BYTES 128

/*
 * Shows @list in place of the view. The keys that move the cursor work in the list. Returns the
 * first other key that the user presses.
 */
static int wait_in_list(struct tui *tui, struct list_view *list)
{
	struct tui_view *before = tui->view;
	int key = SCREEN_NO_KEY;

	tui->view = &list->view;
	while (!screen_signal()) {
		int command = keys_find(key);

		if (!view_do_move(&list->view, command, draw_rows()) && command != TUI_REDRAW &&
		    key != SCREEN_NO_KEY)
			break;
		draw_all(tui);
		key = screen_key(-1);
	}
	tui->view = before;
	return key;
}

void ask_help(struct tui *tui)
{
	struct list_view list cleanup(list_view_deinit) = { 0 };

	for (size_t i = 0; i < nr_tui_keys; i++) {
		if (tui_keys[i].name)
			strbuf_addf(&list.text, " %-10s %s\n", tui_keys[i].name, tui_keys[i].help);
	}
	if (list_view_init(&list, "help", "Help: any key but those that move goes back",
			   "the pages utrail-tui(1) and utrail(1) say more", NULL) == 0)
		wait_in_list(tui, &list);
}

/* --- search --- */

/* Appends the character with the code point @key, in UTF-8. */
static void add_char(char *word, size_t *len, int key)
{
	char bytes[4];
	unsigned nr = utf8_encode(bytes, key);

	if (*len + nr >= WORD_BYTES)
		return;
	memcpy(word + *len, bytes, nr);
	*len += nr;
	word[*len] = '\0';
}

static void remove_char(char *word, size_t *len)
{
	while (*len && (word[*len - 1] & 0xc0) == 0x80)
		(*len)--;
	if (*len)
		(*len)--;
	word[*len] = '\0';
}

/* Reads a word to search for. Returns false when the user has cancelled. */
static bool read_word(struct tui *tui, char *word)
{
	size_t len = 0;

	word[0] = '\0';
	while (!screen_signal()) {
		char prompt[WORD_BYTES + 2];

		snprintf(prompt, sizeof(prompt), "/%s", word);
		draw_prompt(tui, prompt);

		int key = screen_key(-1);

		if (key == SCREEN_ENTER)
			return len > 0;
		if (key == SCREEN_ESCAPE)
			return false;
		if (key == SCREEN_BACKSPACE)
			remove_char(word, &len);
		else if (key >= ' ' && key < SCREEN_UP)
			add_char(word, &len, key);
	}
	return false;
}

void ask_next_match(struct tui *tui, int step)
{
	ssize_t line;

	if (!tui->word) {
		draw_note(tui, "nothing was searched for: press / first");
		return;
	}
	if (tui->view->ops->is_long)
		draw_prompt(tui, "searching ... (Escape ends it)");
	line = view_find(tui->view, step, tui->word);
	if (line >= 0)
		view_go(tui->view, line, draw_rows());
	else if (tui->view->ops->is_long)
		draw_note(tui, "no other line has it in this direction");
	if (tui->view->ops->is_long)
		return;
	tui->nr_matches = view_count(tui->view, tui->word);
	tui->shows_count = true;
}

void ask_search(struct tui *tui)
{
	char word[WORD_BYTES];

	if (!read_word(tui, word))
		return;
	free(tui->word);
	tui->word = strdup(word);
	if (tui->word)
		ask_next_match(tui, 1);
}

/* --- fields --- */

/* The fields that the user can choose for a view. */
struct field_list {
	const void *table;
	size_t nr;
	size_t stride;
	struct column_choice *chosen;
};

static const struct column *field_at(const struct field_list *fields, size_t i)
{
	return (const struct column *)((const char *)fields->table + i * fields->stride);
}

static int show_fields(struct list_view *list, const struct field_list *fields)
{
	size_t cursor = list->view.cursor;

	list_view_deinit(list);
	for (size_t i = 0; i < fields->nr; i++) {
		const char *name = field_at(fields, i)->name;

		strbuf_addf(&list->text, " [ %c ] %s\n", columns_has(fields->chosen, i) ? 'x' : ' ',
			    name);
	}
	list->view.cursor = cursor;
	return list_view_init(list, "fields",
			      "Fields: Space chooses, Enter shows them, f or q goes back",
			      "fields of this view", NULL);
}

/* Lets the user choose fields. Returns true when the chosen fields are to be shown. */
static bool choose_fields(struct tui *tui, const struct field_list *fields)
{
	struct list_view list cleanup(list_view_deinit) = { 0 };

	while (show_fields(&list, fields) == 0 && !screen_signal()) {
		int key = wait_in_list(tui, &list);

		if (key == SCREEN_ENTER)
			return true;
		if (key == 'f' || key == 'q' || key == SCREEN_ESCAPE)
			return false;
		if (key != ' ' && key != 'x')
			continue;
		if (columns_has(fields->chosen, list.view.cursor))
			columns_remove(fields->chosen, list.view.cursor);
		else
			columns_add(fields->chosen, list.view.cursor);
	}
	return false;
}

/* Returns the chosen fields in the form of an argument of -f, or NULL when memory is short. */
static char *text_of_fields(const struct field_list *fields)
{
	struct strbuf text = { 0 };

	for (size_t i = 0; i < fields->chosen->nr; i++) {
		strbuf_addstr(&text, i ? "," : "");
		strbuf_addstr(&text, field_at(fields, fields->chosen->columns[i])->name);
	}
	if (fields->chosen->nr == 0)
		strbuf_addstr(&text, "none");
	return text.data;
}

static int ask_graph_fields(struct tui *tui, struct uft_err *err)
{
	const struct graph_table *table = graph_table_of(&tui->graph);
	struct column_choice chosen = tui->graph.columns;
	const struct field_list fields = { table->columns, table->nr, sizeof(*table->columns),
					   &chosen };

	if (choose_fields(tui, &fields))
		tui->graph.columns = chosen;
	return 0;
}

static int ask_report_fields(struct tui *tui, struct uft_err *err)
{
	const struct report_table *table = report_table_of(&tui->report.report.config);
	struct column_choice chosen = tui->report.report.columns;
	const struct field_list fields = { table->columns, table->nr_columns,
					   sizeof(*table->columns), &chosen };

	if (!choose_fields(tui, &fields))
		return 0;
	free(tui->report_fields);
	tui->report_fields = text_of_fields(&fields);
	if (!tui->report_fields)
		return err_set_errno(err, -ENOMEM, "cannot show these fields");
	return wait_for_report(tui, err);
}

static int ask_replay_fields(struct tui *tui, struct uft_err *err)
{
	const char *before = tui->replay.pages.source.view.fields;
	struct column_choice chosen;
	struct field_list fields = { .chosen = &chosen };
	char *text;
	int ret;

	fields.table = replay_fields(&fields.nr, &fields.stride);
	ret = columns_choose(fields.table, fields.nr, fields.stride, before, &chosen, err);
	if (ret < 0 || !choose_fields(tui, &fields))
		return ret;
	text = text_of_fields(&fields);
	if (!text)
		return err_set_errno(err, -ENOMEM, "cannot show these fields");
	draw_prompt(tui, "reading ...");
	ret = replay_view_show(&tui->replay, text, draw_rows(), err);
	free(tui->replay_fields);
	tui->replay_fields = text;
	return ret;
}

int ask_fields(struct tui *tui, struct uft_err *err)
{
	if (tui->view == &tui->program.view || tui->view == &tui->func.view)
		return ask_graph_fields(tui, err);
	if (tui->view == &tui->report.view)
		return ask_report_fields(tui, err);
	if (tui->view == &tui->replay.view)
		return ask_replay_fields(tui, err);
	draw_note(tui, "this view has no fields to choose from");
	return 0;
}
