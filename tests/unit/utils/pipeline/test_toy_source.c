/* An example of a source; doc/internals/add-a-source.md explains it. */
#include "tests/unit/lib/unit.h"

#include "tests/unit/lib/read/recording.h"

/* A source with one event of a task every 20 ns, each with a text. */
struct toy {
	struct source source;
	struct trace_data *data;
	int32_t tid;
	uint64_t next_ns;
	uint64_t end_ns;
	char text[16];
};

static uint64_t toy_next_ns(struct source *source)
{
	const struct toy *toy = (const struct toy *)source;

	return toy->next_ns < toy->end_ns ? toy->next_ns : UINT64_MAX;
}

static ssize_t toy_read(struct source *source, struct event *events, size_t max, uint64_t until_ns,
			struct uft_err *err)
{
	struct toy *toy = (struct toy *)source;

	if (toy->next_ns >= toy->end_ns || toy->next_ns > until_ns)
		return 0;
	source->task = data_task(toy->data, toy->tid);
	/* One event at a time: there is room for one text, and it is valid until the next read. */
	snprintf(toy->text, sizeof(toy->text), "toy %llu", (unsigned long long)toy->next_ns);
	*events = (struct event){
		.time_ns = toy->next_ns,
		.type = EVENT_POINT,
		.id = EVENT_ID_USER + 7,
		.data = (const uint8_t *)toy->text,
		.data_len = strlen(toy->text),
	};
	toy->next_ns += 20;
	return 1;
}

static void toy_close(struct source *source)
{
	free(source);
}

static int toy_open(const struct source_context *context, struct source_list *list,
		    struct uft_err *err)
{
	static const struct source_ops ops = {
		.next_ns = toy_next_ns,
		.read = toy_read,
		.close = toy_close,
	};

	for (int32_t tid = 100; tid < 102; tid++) {
		struct toy *toy = calloc(1, sizeof(*toy));

		assert_non_null(toy);
		*toy = (struct toy){ { .ops = &ops }, context->data, tid, 1005, 1060 };
		assert_int_equal(source_list_add(list, &toy->source), 0);
	}
	return 0;
}

static const struct source_kind toy_kind = { .name = "toy", .open = toy_open };
static const struct source_kind *const kinds[] = { &toy_kind, NULL };

TEST(in_order_with_records)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct pipeline_config config;
	struct recording rec;

	pipeline_config_init(&config);
	config.stages.show_outside = true;
	config.kinds = kinds;
	recording_init(&rec);
	recording_add_task(&rec, 100, "a{b{}}", 1000);
	recording_add_task(&rec, 101, "c{}", 1022);
	recording_finish(&rec);
	recording_run(&rec, &config, &out);
	assert_string_equal(strbuf_str(&out),
			    "100:a{* 101:* 100:b{} 101:c{ 100:* 101:* 100:} 101:} 100:* 101:*");

	/* With PIPELINE_BY_TASK one task comes after the other. */
	strbuf_reset(&out);
	config.order = PIPELINE_BY_TASK;
	recording_run(&rec, &config, &out);
	assert_string_equal(strbuf_str(&out), "100:a{*b{}*}* 101:*c{*}*");

	strbuf_reset(&out);
	config.kinds = NULL;
	recording_run(&rec, &config, &out);
	assert_string_equal(strbuf_str(&out), "100:a{b{}} 101:c{}");
	recording_deinit(&rec);
}
