/*
 * Fuzz target: the text of arguments that are structs, by definitions of .dbg files. The input
 * describes definitions whose form is valid but whose meaning is odd: structs that contain
 * themselves or each other, repeated or empty structs, wrong sizes.
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "utils/pipeline/recording/data.h"
#include "utils/view/values/argtext.h"

#define KEYS	 6
#define ADDR	 0x1000
/*
 * A limit of the text of one call, with colours. Values follow each other up to 1,024 bytes, and
 * the last one may go beyond.
 */
#define TEXT_MAX (16U << 10)

/* The recording that the views have open. */
struct scene {
	struct trace_data data;
	struct module module;
	struct symbol symbol;
	struct task task;
	struct func func;
};

static void put_field(struct fuzz_input *in, unsigned nr, struct strbuf *out)
{
	static const uint8_t sizes[] = { 8, 16, 24, 1, 0, 4, 255, 10 };
	uint8_t kind = fuzz_u8(in);
	uint8_t how = fuzz_u8(in);
	char letter = kind >= 248 ? 'b' : "ttttiufcpe"[kind % 10];

	strbuf_addf(out, "%s%c%s@%u/%c%u", nr ? "," : "", 'a' + nr % 26, how & 128 ? "_long" : "",
		    how & 64 ? fuzz_u8(in) : 0, letter, sizes[how % 8]);
	if (letter == 't' || letter == 'e')
		strbuf_addf(out, ":K%u", kind / 10 % KEYS);
	if (how & 8)
		strbuf_addf(out, "*%u", fuzz_u8(in));
	else if (how & 16)
		strbuf_addf(out, ".%u+%u", how >> 5, fuzz_u8(in) % 65);
}

/* Describes a container with any content; the description need not make sense. */
static void put_shape(struct fuzz_input *in, unsigned nesting, struct strbuf *out)
{
	uint8_t kind = fuzz_u8(in);
	char letter = kind < 190 ? "iucfpetzsSwrnkaomqv"[kind % 19] : "xLdDQbB"[kind % 7];

	if (nesting > 4 || !in->size)
		letter = 'i';
	strbuf_addf(out, "%c0", letter);
	switch (letter) {
	case 'r':
	case 'n':
	case 'k':
	case 'a':
		strbuf_addf(out, ".%u.4:seq;", fuzz_u8(in));
		put_shape(in, nesting + 1, out);
		break;
	case 'd':
	case 'L':
	case 'D':
	case 'b':
	case 'B':
		strbuf_addstr(out, letter == 'D'		    ? ".8.16.4:D;"
				   : letter == 'd' || letter == 'L' ? ".8.4:d;"
								    : ".8:b;");
		put_shape(in, nesting + 1, out);
		break;
	case 'x':
		strbuf_addf(out, ".24.2:K%u;", nesting);
		put_shape(in, nesting + 1, out);
		put_shape(in, nesting + 1, out);
		break;
	case 'Q':
		strbuf_addstr(out, ".8.8.4.0:Q;");
		put_shape(in, nesting + 1, out);
		break;
	case 'o':
		strbuf_addstr(out, ".1:o;");
		put_shape(in, nesting + 1, out);
		break;
	case 'q':
		strbuf_addstr(out, ":q;");
		put_shape(in, nesting + 1, out);
		break;
	case 'm':
	case 'v':
		strbuf_addstr(out, letter == 'm' ? ".2:=;" : ".1.2:v;");
		put_shape(in, nesting + 1, out);
		put_shape(in, nesting + 1, out);
		break;
	case 'z':
	case 's':
	case 'S':
		strbuf_addch(out, ';');
		break;
	default:
		strbuf_addf(out, ".%u:K%u;", letter == 'c' ? 1 : 4, nesting);
		break;
	}
}

/* Adds a definition of each key, with the fields or the shape that the input gives. */
static void add_definitions(struct scene *scene, struct fuzz_input *in)
{
	for (unsigned i = 0; i < KEYS; i++) {
		struct strbuf line cleanup_strbuf = { 0 };
		uint8_t shape = fuzz_u8(in);

		strbuf_addf(&line, "K%u %u ", i, shape & 128 ? fuzz_u8(in) : 24U);
		if (shape % 64U == 63) {
			strbuf_addch(&line, '=');
			put_shape(in, 0, &line);
		}
		for (unsigned nr = 0; nr < shape % 64U && shape % 64U < 63 && in->size; nr++)
			put_field(in, nr, &line);
		struct_defs_parse(&scene->module.structs, strbuf_str(&line), line.len);
	}
}

static void show(struct scene *scene, const uint8_t *payload, size_t len)
{
	struct event event = {
		.func = &scene->func,
		.data = payload,
		.data_len = len,
		.type = EVENT_ENTRY,
	};

	for (int color = COLOR_MODE_OFF; color <= COLOR_MODE_HTML; color++) {
		const struct argtext text = { &scene->data, color };
		struct strbuf out cleanup_strbuf = { 0 };

		event.type = EVENT_ENTRY;
		argtext_put_args(&text, &scene->task, &event, &out);
		FUZZ_CHECK(out.len < TEXT_MAX);
		event.type = EVENT_EXIT;
		strbuf_reset(&out);
		argtext_put_retval(&text, &scene->task, &event, &out);
		FUZZ_CHECK(out.len < TEXT_MAX);
		argtext_put_raw(&text, &scene->task, &event, &out);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char dbg[] =
		"F: 1000 f\nA: @arg1/t24:K0,arg2/t24:K1,arg3/t8:K2\nR: @retval/t24:K0\n";
	struct fuzz_input in = { data, size };
	struct scene scene = { 0 };
	uint8_t payload[96] = { 0 };

	scene.data.is_big_endian = false;
	scene.data.args = (struct arg_book){
		.modules = &scene.data.modules,
		.word_bytes = 8,
		.is_auto = true,
	};
	scene.data.modules.demangle = DEMANGLE_SIMPLE;
	scene.symbol = (struct symbol){ .addr = ADDR, .type = 'T', .name = "f" };
	scene.module = (struct module){ .basename = "prog", .is_loaded = true, .has_debug = true };
	scene.func = (struct func){ .name = "f", .sym = &scene.symbol, .module = &scene.module };
	FUZZ_CHECK(dbg_decode(dbg, strlen(dbg), &scene.module.dbg, NULL) == 0);
	FUZZ_CHECK(dbg_find(&scene.module.dbg, ADDR));
	add_definitions(&scene, &in);
	memcpy(payload, in.data, MIN(in.size, sizeof(payload)));
	show(&scene, payload, sizeof(payload));
	arg_book_close(&scene.data.args);
	struct_defs_deinit(&scene.module.structs);
	dbg_deinit(&scene.module.dbg);
	return 0;
}
