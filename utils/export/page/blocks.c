/* Blocks of the page (see blocks.h). */
#include "utils/export/page/blocks.h"

#include <errno.h>

#include "utils/export/page/pack.h"
#include "utils/export/proto.h"
#include "utils/view/texts.h"

void block_deinit(struct block *block)
{
	for (size_t i = 0; i < BLOCK_COLUMNS_MAX; i++)
		strbuf_deinit(&block->columns[i]);
	strbuf_deinit(&block->bytes);
	strbuf_deinit(&block->packed);
	strbuf_deinit(&block->base64);
}

void block_add(struct block *block, unsigned column, uint64_t number)
{
	proto_add_varint(&block->columns[column], number);
}

static bool join_columns(struct block *block)
{
	bool is_oom = false;

	strbuf_reset(&block->bytes);
	proto_add_varint(&block->bytes, block->nr);
	for (size_t i = 0; i < BLOCK_COLUMNS_MAX; i++)
		proto_add_varint(&block->bytes, block->columns[i].len);
	for (size_t i = 0; i < BLOCK_COLUMNS_MAX; i++) {
		struct strbuf *column = &block->columns[i];

		strbuf_add(&block->bytes, strbuf_str(column), column->len);
		is_oom |= strbuf_oom(column);
		strbuf_reset(column);
	}
	block->nr = 0;
	return !is_oom && !strbuf_oom(&block->bytes);
}

int block_write(struct block *block, struct sink *sink, const char *kind, size_t task)
{
	const struct strbuf *shown = &block->bytes;
	bool is_packed;

	if (block->nr == 0)
		return 0;
	if (!join_columns(block))
		return -ENOMEM;
	strbuf_reset(&block->packed);
	is_packed = pack_zlib(&block->packed, strbuf_str(&block->bytes), block->bytes.len);
	if (is_packed)
		shown = &block->packed;
	strbuf_reset(&block->base64);
	text_put_base64(&block->base64, strbuf_str(shown), shown->len);
	if (strbuf_oom(&block->base64))
		return -ENOMEM;
	sink_lit(sink, "<script type=\"text/plain\" class=\"");
	sink_str(sink, kind);
	sink_putf(sink, "\" data-task=\"%zu\"", task);
	if (is_packed)
		sink_lit(sink, " data-packed");
	sink_lit(sink, ">");
	sink_put_made(sink, &block->base64);
	sink_lit(sink, "</script>\n");
	return 0;
}

int block_end_row(struct block *block, struct sink *sink, const char *kind, size_t task)
{
	return ++block->nr < BLOCK_ROWS ? 0 : block_write(block, sink, kind, task);
}
