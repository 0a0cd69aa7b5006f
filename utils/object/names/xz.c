/* Unpacking of xz streams with liblzma (see xz.h). */
#include "utils/object/names/xz.h"

#include <errno.h>
#include <lzma.h>

#include "utils/base/cleanup.h"

#define DECODER_MEMORY_MAX (128ULL << 20)
#define STEP_BYTES	   (256U << 10)

static int lzma_errno(lzma_ret ret)
{
	switch (ret) {
	case LZMA_MEM_ERROR:
		return -ENOMEM;
	case LZMA_MEMLIMIT_ERROR: /* the stream wants more than DECODER_MEMORY_MAX */
		return -EFBIG;
	default:
		return -EINVAL;
	}
}

int xz_decode(const void *data, size_t len, size_t max_bytes, struct strbuf *out)
{
	lzma_stream stream cleanup(lzma_end) = LZMA_STREAM_INIT;
	lzma_ret ret = lzma_stream_decoder(&stream, DECODER_MEMORY_MAX, 0);
	size_t start = out->len;

	if (ret != LZMA_OK)
		return lzma_errno(ret);
	stream.next_in = data;
	stream.avail_in = len;
	while (ret != LZMA_STREAM_END) {
		if (!strbuf_grow(out, STEP_BYTES))
			return -ENOMEM;
		stream.next_out = (uint8_t *)out->data + out->len;
		stream.avail_out = STEP_BYTES;
		ret = lzma_code(&stream, LZMA_FINISH);
		out->len += STEP_BYTES - stream.avail_out;
		out->data[out->len] = '\0';
		if (ret != LZMA_OK && ret != LZMA_STREAM_END)
			return lzma_errno(ret);
		if (out->len - start > max_bytes)
			return -EFBIG;
	}
	return 0;
}
