/* View: a table of functions or of tasks, as JSON (see report.h). */
#include <errno.h>
#include <string.h>

#include "utils/view/report/report_columns.h"

/* True when the csv text of a cell is a valid JSON number. JSON numbers have no leading zeros. */
static bool is_number(const char *text)
{
	size_t whole = strspn(text, "0123456789");

	if (whole == 0 || (text[0] == '0' && whole > 1))
		return false;
	if (text[whole] == '.')
		return text[whole + 1] &&
		       text[whole + 1 + strspn(text + whole + 1, "0123456789")] == '\0';
	return text[whole] == '\0';
}

static void put_value(const char *cell, bool is_text, struct sink *sink)
{
	sink_either(sink, is_text, "\"", "");
	sink_str(sink, cell);
	sink_either(sink, is_text, "\"", "");
}

/* Returns the text that was written into @cells, without blanks around it. */
static const char *cell_text(struct sink *cells, struct strbuf *text)
{
	sink_flush(cells);
	while (text->len && text->data[text->len - 1] == ' ')
		text->data[--text->len] = '\0';
	return strbuf_str(text) + strspn(strbuf_str(text), " ");
}

static void put_row(const struct report *report, const struct report_layout *layout,
		    const struct report_row *row, struct sink *cells, struct strbuf *text,
		    struct sink *sink)
{
	const struct report_table *table = report_table_of(&report->config);

	table->put_csv_name(row, cells);
	sink_lit(sink, "{\"");
	sink_str(sink, table->name_key);
	sink_lit(sink, "\":\"");
	sink_str(sink, cell_text(cells, text));
	sink_lit(sink, "\"");
	for (size_t i = 0; i < report->columns.nr; i++) {
		const struct report_column *column = &table->columns[report->columns.columns[i]];

		strbuf_reset(text);
		if (column->cells) {
			column->cells->put_json(row, layout, sink);
			continue;
		}
		column->put_csv(row, layout, cells);
		sink_lit(sink, ",\"");
		sink_str(sink, column->column.name);
		sink_lit(sink, "\":");

		const char *cell = cell_text(cells, text);

		put_value(cell, column->is_text || !is_number(cell), sink);
	}
	strbuf_reset(text);
	sink_lit(sink, "}");
}

int report_put_json(const struct report *report, const struct report_layout *layout,
		    const struct report_row *rows, size_t nr, struct sink *sink,
		    struct uft_err *err)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct sink cells cleanup_sink = { 0 };

	if (sink_init_text(&cells, &text) < 0)
		return err_set_errno(err, -ENOMEM, "cannot show %zu rows", nr);
	/* Only @sink escapes text. If @cells did so too, names would be escaped twice. */
	cells.medium = MEDIUM_BINARY;
	sink->medium = MEDIUM_JSON;
	sink_lit(sink, "[");
	for (size_t i = 0; i < nr; i++) {
		sink_either(sink, i, ",\n", "\n");
		put_row(report, layout, &rows[i], &cells, &text, sink);
	}
	sink_lit(sink, "\n]\n");
	return strbuf_oom(&text) ? err_set_errno(err, -ENOMEM, "cannot show %zu rows", nr) : 0;
}
