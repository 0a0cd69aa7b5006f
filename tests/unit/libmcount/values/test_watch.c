/* -W: each change is told once, with the value at that time. All first values are told. */
#include "libmcount/values/watch.h"

#include "libmcount/hot/planned.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"
#include "utils/format/event_ids.h"

static struct {
	uint64_t eight;
	uint32_t four;
	uint16_t two;
	uint8_t one;
	uint8_t three[4];
} vars;

struct scene {
	struct pair pair;
	struct thread *t;
	struct planned *planned;
	struct live_plan plan;
	struct strbuf file;
	size_t at;
};

static void watch(struct scene *s, void *var, uint32_t bytes)
{
	s->plan.watches[s->plan.nr_watches++] = (struct plan_watch){ (uint64_t)var, bytes };
}

static int setup(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	pair_init(&s->pair);
	pair_open(&s->pair);
	s->t = self = pair_thread();
	assert_non_null(s->t);
	s->planned = calloc(1, sizeof(*s->planned));
	assert_non_null(s->planned);
	s->planned->plan = &s->plan;
	s->t->planned = s->planned;
	memset(&vars, 0, sizeof(vars));
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct scene *s = *state;

	s->t->planned = NULL;
	pair_stop(&s->pair);
	pair_close(&s->pair);
	strbuf_deinit(&s->file);
	free(s->planned);
	free(s);
	return 0;
}

/*
 * Returns the changes since the last time: "NUMBER=VALUE" with the number of a watch, and "cpu" for
 * the CPU.
 */
static const char *told(struct scene *s)
{
	static char text[512];
	size_t len = 0;

	text[0] = '\0';
	pair_look(&s->pair, true);
	strbuf_deinit(&s->file);
	s->file = pair_data(&s->pair, s->t->ring->tid);
	while (s->at < s->file.len) {
		const struct record *r = (const struct record *)(s->file.data + s->at);
		const char *payload = (const char *)(r + 1) + sizeof(uint16_t);
		uint64_t words[2] = { 0 };
		uint16_t bytes;

		assert_int_equal(record_type(r->data), RECORD_EVENT);
		memcpy(&bytes, r + 1, sizeof(bytes));
		s->at += sizeof(*r) + (sizeof(bytes) + bytes + 7) / 8 * 8;
		if (record_addr(r->data) == EVENT_ID_WATCH_CPU) {
			assert_int_equal(bytes, sizeof(uint32_t));
			len += sprintf(text + len, "%scpu", len ? " " : "");
			continue;
		}
		assert_int_equal(record_addr(r->data), EVENT_ID_WATCH_VAR);
		memcpy(words, payload, bytes);
		for (uint32_t i = 0; i < s->plan.nr_watches; i++) {
			if (s->plan.watches[i].addr != words[0])
				continue;
			assert_int_equal(bytes, 8 + s->plan.watches[i].bytes);
			len += sprintf(text + len, "%s%u=%llx", len ? " " : "", i,
				       (unsigned long long)words[1]);
		}
	}
	return text;
}

static void look(struct scene *s)
{
	watch_look(s->t, 1000);
}

/* The first value of a variable is reported even if it is zero. */
TEST_WITH(changes, setup, teardown)
{
	struct scene *s = *state;

	watch(s, &vars.eight, 8);
	watch(s, &vars.four, 4);
	look(s);
	assert_string_equal(told(s), "0=0 1=0");
	look(s);
	assert_string_equal(told(s), "");
	vars.four = 0x80000001;
	look(s);
	look(s);
	assert_string_equal(told(s), "1=80000001");
	vars.eight = 0x1122334455667788;
	vars.four = 0;
	look(s);
	assert_string_equal(told(s), "0=1122334455667788 1=0");
}

/* Exactly the bytes of each variable are read, whatever lies after them. */
TEST_WITH(sizes, setup, teardown)
{
	struct scene *s = *state;

	watch(s, &vars.two, 2);
	watch(s, &vars.one, 1);
	watch(s, vars.three, 3);
	vars.two = 0xfffe;
	vars.one = 0xfd;
	memcpy(vars.three, "\x01\x02\x83\xff", 4);
	look(s);
	assert_string_equal(told(s), "0=fffe 1=fd 2=830201");
	vars.three[3] = 0;
	look(s);
	assert_string_equal(told(s), "");
	vars.three[2] = 0;
	look(s);
	assert_string_equal(told(s), "2=201");
}

/* The CPU is watched only on request. A change of the CPU is told before those of variables. */
TEST_WITH(the_cpu, setup, teardown)
{
	struct scene *s = *state;

	watch(s, &vars.one, 1);
	look(s);
	assert_string_equal(told(s), "0=0");
	s->plan.settings.flags = PLAN_WATCH_CPU;
	s->planned->watched = (struct watch_state){ 0 };
	look(s);
	assert_string_equal(told(s), "cpu 0=0");
	assert_true(s->planned->watched.has_seen);
	/* Simulate that the thread has come from another CPU. */
	s->planned->watched.cpu = UINT32_MAX;
	look(s);
	assert_string_equal(told(s), "cpu");
}
