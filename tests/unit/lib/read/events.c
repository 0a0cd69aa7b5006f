/* Events as text and back (see events.h). */
#include "tests/unit/lib/read/events.h"

#include <ctype.h>

#include "tests/unit/lib/read/recording.h"
#include "tests/unit/lib/unit.h"

static const char flag_letters[] = "URFPBOIX";

/* The functions "a" to "z", "A" to "Z", and those of the kernel. */
static struct func funcs[26 * 3];
static struct symbol symbols[26 * 3];
static char names[26 * 3][3];

const struct func *events_func(const char *name)
{
	bool is_kernel = *name == '\'';
	char letter = name[is_kernel];
	bool is_libcall = letter >= 'A' && letter <= 'Z';
	size_t i = is_libcall ? 26 + letter - 'A' : (is_kernel ? 52 : 0) + letter - 'a';

	assert_true(isalpha(letter));
	if (is_kernel)
		snprintf(names[i], sizeof(names[i]), "'%c", letter);
	else
		snprintf(names[i], sizeof(names[i]), "%c", letter);
	symbols[i] = (struct symbol){ .size = is_libcall ? 16 : 64, .name = names[i] };
	funcs[i] = (struct func){
		.name = names[i],
		.id = i,
		.count_id = i,
		.is_libcall = is_libcall,
		.is_kernel = is_kernel,
		.sym = &symbols[i],
	};
	return &funcs[i];
}

static uint64_t number(const char **p)
{
	char *end;
	uint64_t n = strtoull(*p, &end, 0);

	assert_ptr_not_equal(end, *p);
	*p = end;
	return n;
}

/*
 * Parse the rest of a word after its kind. *@has_depth, *@has_indent: set when the word states it.
 */
static const char *parse_rest(const char *p, struct event *event, bool *has_depth, bool *has_indent)
{
	while (*p && *p != ' ') {
		char c = *p++;
		const char *flag = strchr(flag_letters, c);

		if (c == '@') {
			event->time_ns = number(&p);
		} else if (c == '.') {
			event->depth = number(&p);
			*has_depth = true;
		} else if (c == ':') {
			event->indent = number(&p);
			*has_indent = true;
		} else if (c == '=') {
			event->total_ns = number(&p);
		} else if (c == '/') {
			event->self_ns = number(&p);
		} else if (c == '#') {
			event->id = number(&p);
		} else if (c == '"') {
			event->data = (const uint8_t *)p;
			p = strchr(p, '"');
			assert_non_null(p);
			event->data_len = p++ - (const char *)event->data;
		} else {
			assert_non_null(flag);
			event->flags |= 1U << (flag - flag_letters);
		}
	}
	return p;
}

static uint8_t type_of(char c)
{
	static const char letters[] = "{}!*~^?";
	const char *at = strchr(letters, c);

	assert_non_null(at);
	return EVENT_ENTRY + (at - letters);
}

size_t events_parse(const char *text, struct event *events, size_t room)
{
	uint64_t time_ns = 990;
	uint16_t open = 0;
	size_t nr = 0;

	for (const char *p = text; *p;) {
		struct event *event = &events[nr++];
		const char *name = p;
		bool has_depth = false;
		bool has_indent = false;

		assert_true(nr <= room);
		*event = (struct event){ .time_ns = time_ns + 10 };
		p += *p == '\'';
		p += isalpha(*p) != 0;
		event->type = type_of(*p++);
		if (event->type == EVENT_EXIT)
			open -= open > 0;
		event->depth = open;
		if (event->type == EVENT_ENTRY)
			open++;
		if (event->type <= EVENT_EXIT) {
			event->func = events_func(name);
			event->addr = recording_addr(name);
		} else if (event->type == EVENT_LOST) {
			event->addr = 7;
		} else {
			event->id = EVENT_ID_USER;
		}
		p = parse_rest(p, event, &has_depth, &has_indent);
		if (!has_indent)
			event->indent = event->depth;
		time_ns = event->time_ns;
		p += *p == ' ';
	}
	return nr;
}

static void put_event(const struct event *event, struct strbuf *out)
{
	const char *name = event->func ? event->func->name : "-";

	if (out->len)
		strbuf_addch(out, ' ');
	if (event->type <= EVENT_EXIT)
		strbuf_addstr(out, name);
	strbuf_addch(out, "{}!*~^?"[event->type]);
	strbuf_addf(out, "@%lld.%u", (long long)event->time_ns, event->depth);
	if (event->indent != event->depth)
		strbuf_addf(out, ":%u", event->indent);
	if (event->total_ns || event->self_ns)
		strbuf_addf(out, "=%lld/%lld", (long long)event->total_ns,
			    (long long)event->self_ns);
	if (event->type > EVENT_EXIT && event->func)
		strbuf_addf(out, "(%s)", name);
	for (size_t i = 0; flag_letters[i]; i++) {
		if (event->flags & 1U << i)
			strbuf_addch(out, flag_letters[i]);
	}
}

void events_put(const struct event *events, size_t nr, struct strbuf *out)
{
	for (size_t i = 0; i < nr; i++)
		put_event(&events[i], out);
}
