/* Uses of declared events (see check_calls.h). */
#include "cmds/build/check_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/build/check_scan.h"
#include "trace/seam/reader.h"
#include "utils/base/containers/vec.h"
#include "utils/object/c_literal.h"

/* Names that <fstrace.h> puts into preprocessed sources when FSTRACE_CHECK is defined. */
#define USE   "fstrace_check_use_"
#define DECL  "fstrace_check_decl_"
#define INT64 "fstrace_check_int64_"

static void free_event(struct check_event *event)
{
	if (!event)
		return;
	free(event->key);
	free(event->id);
	free(event->format);
	free(event->file);
	free(event);
}

void check_events_deinit(struct check_events *events)
{
	for (size_t i = 0; i < events->nr; i++)
		free_event(events->all[i]);
	free(events->all);
	strmap_deinit(&events->map);
	*events = (struct check_events){ 0 };
}

static char *without_blanks(const char *text)
{
	struct strbuf out cleanup_strbuf = { 0 };

	for (; *text; text++) {
		if (*text != ' ' && *text != '\n')
			strbuf_addch(&out, *text);
	}
	return strdup(strbuf_str(&out));
}

static char *copy_of(const struct text *text)
{
	return strndup(text->at, text_left(text));
}

static bool is_equal(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/*
 * Takes ownership of @event. Returns 0 or -ENOMEM. If @event or a required member is NULL, an
 * earlier allocation has failed, and -ENOMEM is returned.
 */
static int add_event(struct check_events *events, struct check_event *event)
{
	if (!event || !event->key || !event->id || !event->file) {
		free_event(event);
		return -ENOMEM;
	}

	struct check_event *known = strmap_get(&events->map, event->key);

	if (known) {
		/*
		 * If two declarations have different formats, the event gets no format: a call of
		 * FSTRACE() may belong to either declaration.
		 */
		if (!is_equal(known->format, event->format)) {
			free(known->format);
			known->format = NULL;
		}
		free_event(event);
		return 0;
	}

	struct check_event **more = vec_grow(events->all, events->nr, sizeof(*more));

	if (!more) {
		free_event(event);
		return -ENOMEM;
	}
	events->all = more;
	more[events->nr++] = event;
	return strmap_put(&events->map, event->key, event);
}

static struct check_event *make_event(const struct check_scan *scan, const char *key, char *id,
				      const char *format)
{
	struct check_event *event = calloc(1, sizeof(*event));

	if (!event) {
		free(id);
		return NULL;
	}
	event->key = without_blanks(key);
	event->id = id ?: strdup(key);
	event->format = c_literals_text(format);
	event->file = copy_of(&scan->file);
	event->line = scan->line;
	return event;
}

/* Reads "(NAME, FORMAT)" after "fstrace_check_decl_". */
static int take_decl(struct check_scan *scan, struct check_calls *calls)
{
	struct strbuf name cleanup_strbuf = { 0 };
	struct strbuf format cleanup_strbuf = { 0 };
	const struct check_scan here = *scan;

	if (!check_scan_next(scan) || !check_scan_argument(scan, false, &name) ||
	    !check_scan_argument(scan, true, &format))
		return 0;

	char *id = strdup(strbuf_str(&name));

	for (char *c = id; c && *c; c++) {
		if (*c == '_')
			*c = '-';
	}
	return add_event(&calls->declared,
			 make_event(&here, strbuf_str(&name), id, strbuf_str(&format)));
}

/* Returns the variable in "static fstrace_event_t *sold" or "trc->sold". */
static char *variable_of(const struct text *left_side)
{
	char *text cleanup_free = copy_of(left_side);

	if (!text)
		return NULL;

	char *star = strstr(text, "fstrace_event_t") ? strrchr(text, '*') : NULL;

	return without_blanks(star ? star + 1 : text);
}

/* Reads "(TRACE, "ID", "FORMAT")" after "VARIABLE = fstrace_declare". */
static int take_declare(struct check_scan *scan, const struct text *left_side,
			struct check_calls *calls, struct check_events *global)
{
	struct strbuf trace cleanup_strbuf = { 0 };
	struct strbuf id cleanup_strbuf = { 0 };
	struct strbuf format cleanup_strbuf = { 0 };
	const struct check_scan here = *scan;
	char *key cleanup_free = variable_of(left_side);

	if (!key)
		return -ENOMEM;
	if (!*key || !check_scan_next(scan) || !check_scan_is(scan, "(") ||
	    !check_scan_argument(scan, false, &trace) || !check_scan_argument(scan, false, &id) ||
	    !check_scan_argument(scan, true, &format))
		return 0;

	int ret = add_event(
		&calls->declared,
		make_event(&here, key, c_literals_text(strbuf_str(&id)), strbuf_str(&format)));

	if (ret == 0 && global)
		ret = add_event(global, make_event(&here, key, c_literals_text(strbuf_str(&id)),
						   strbuf_str(&format)));
	return ret;
}

/* Notes the variables in `extern fstrace_event_t *sold, *quiet;`. @scan has read the type. */
static void take_externs(struct check_scan *scan, struct check_calls *calls)
{
	while (check_scan_next(scan) && !check_scan_is(scan, ";") && !check_scan_is(scan, "(")) {
		if (scan->kind == CHECK_WORD) {
			strbuf_add(&calls->externs, scan->start, scan->left.at - scan->start);
			strbuf_addch(&calls->externs, '\0');
		}
	}
}

int check_calls_collect(const struct strbuf *text, struct check_calls *calls,
			struct check_events *global)
{
	struct check_scan scan = check_scan_of(text);
	const char *statement = scan.left.at;
	const char *type = scan.left.at;
	const char *equals = NULL;
	bool is_extern = false;
	int ret = 0;

	while (ret == 0 && check_scan_next(&scan)) {
		if (check_scan_is(&scan, DECL)) {
			ret = take_decl(&scan, calls);
		} else if (check_scan_is(&scan, "fstrace_declare") && equals) {
			struct text left_side = text_of(statement, equals - statement);

			ret = take_declare(&scan, &left_side, calls, global);
		} else if (check_scan_is(&scan, INT64)) {
			struct strbuf of cleanup_strbuf = { 0 };

			/* The text has the form: typedef long int fstrace_check_int64_; */
			strbuf_add(&of, type, scan.start - type);
			calls->has_long_64 = !strstr(strbuf_str(&of), "long long");
		}
		if (is_extern && check_scan_is(&scan, "fstrace_event_t"))
			take_externs(&scan, calls);
		equals = NULL;
		/* The type follows `extern` or `extern "C"`. */
		is_extern = check_scan_is(&scan, "extern") ||
			    (is_extern && scan.kind == CHECK_LITERAL);
		if (check_scan_is(&scan, "="))
			equals = scan.start;
		else if (check_scan_is(&scan, "typedef"))
			type = scan.start;
		else if (scan.kind == CHECK_BYTE && strchr(";{}(,", *scan.start))
			statement = scan.left.at;
	}
	return ret;
}

/* Returns the printf() conversion for an argument of @kind. */
static const char *conversion_of(enum fst_kind kind, bool has_long_64)
{
	static const char *const conversions[] = {
		[FST_INT] = "%d",	  [FST_UNSIGNED] = "%u",      [FST_HEX] = "%x",
		[FST_SIZE] = "%zd",	  [FST_DOUBLE] = "%f",	      [FST_BOOL] = "%d",
		[FST_STRING] = "%s",	  [FST_STRING_MAX] = "%s%zd", [FST_CALL] = "%p%p",
		[FST_CALL_LIST] = "%p%p", [FST_OCTETS] = "%p%zd",     [FST_HEX_OCTETS] = "%p%zd",
		[FST_ERRNO_ARG] = "%d",	  [FST_POINTER] = "%p",	      [FST_ADDRESS] = "%p%u",
	};

	switch (kind) {
	case FST_INT64:
	case FST_LLONG:
		return has_long_64 ? "%ld" : "%lld";
	case FST_UNSIGNED64:
	case FST_ULLONG:
	case FST_HEX64:
	case FST_HEX_LLONG:
		return has_long_64 ? "%lu" : "%llu";
	default:
		return (size_t)kind < ARRAY_SIZE(conversions) && conversions[kind]
			       ? conversions[kind]
			       : "";
	}
}

/*
 * Appends a call like that of printf(). In the call, "%d" precedes the event's format, and a 0
 * precedes the event's arguments: compilers do not check a format without any conversion.
 */
static void put_call(struct check_calls *calls, const struct check_event *event, const char *args)
{
	const char *at = event->format;
	struct fst_piece piece;

	strbuf_addf(&calls->text, "\n# %zu \"" CHECK_FILE "\"\nfstrace_check_(\"%%d",
		    calls->nr_uses);
	while (fst_next_piece(&at, &piece) > 0)
		strbuf_addstr(&calls->text, conversion_of(piece.kind, calls->has_long_64));
	strbuf_addf(&calls->text, "\", 0%s%s)", *args ? ", " : "", args);
}

/*
 * Appends an expression with the arguments @args of an event whose format is unknown. The compiler
 * checks that the arguments are valid expressions, and checks nothing else.
 */
static void put_unknown(struct check_calls *calls, const char *args)
{
	strbuf_addf(&calls->text, "\n# %zu \"" CHECK_FILE "\"\n((void)0%s%s)", calls->nr_uses,
		    *args ? ", " : "", args);
}

static const struct check_event *find_event(const struct check_calls *calls,
					    const struct check_events *global, const char *key)
{
	const struct check_event *event = strmap_get(&calls->declared.map, key);

	if (!event && (strpbrk(key, ".>[") || strbuf_list_has(&calls->externs, key)))
		event = strmap_get(&global->map, key);
	return event && event->format && fst_count_pieces(event->format) >= 0 ? event : NULL;
}

static int add_use(struct check_calls *calls, const struct check_use *use)
{
	struct check_use *more = vec_grow(calls->uses, calls->nr_uses, sizeof(*more));

	if (more)
		calls->uses = more;
	if (!more || !use->expression || !use->file) {
		free(use->expression);
		free(use->file);
		return -ENOMEM;
	}
	more[calls->nr_uses++] = *use;
	return 0;
}

/* Reads "(EVENT, ARGUMENTS...)" after "fstrace_check_use_". */
static int take_use(struct check_scan *scan, struct check_calls *calls,
		    const struct check_events *global)
{
	struct strbuf expression cleanup_strbuf = { 0 };
	struct strbuf args cleanup_strbuf = { 0 };
	struct check_use use = { .line = scan->line, .file = copy_of(&scan->file) };

	if (check_scan_next(scan) && check_scan_argument(scan, false, &expression) &&
	    check_scan_is(scan, ","))
		check_scan_argument(scan, true, &args);
	use.expression = without_blanks(strbuf_str(&expression));
	if (use.expression)
		use.event = find_event(calls, global, use.expression);
	if (use.event)
		put_call(calls, use.event, strbuf_str(&args));
	else
		put_unknown(calls, strbuf_str(&args));
	strbuf_addf(&calls->text, "\n# %u \"%.*s\"\n", scan->line, (int)text_left(&scan->file),
		    scan->file.at);
	return add_use(calls, &use);
}

int check_calls_rewrite(const struct strbuf *text, struct check_calls *calls,
			const struct check_events *global)
{
	struct check_scan scan = check_scan_of(text);
	const char *copied = scan.left.at;
	int ret = 0;

	while (ret == 0 && check_scan_next(&scan)) {
		bool is_use = check_scan_is(&scan, USE);

		if (!is_use && !check_scan_is(&scan, DECL))
			continue;
		strbuf_add(&calls->text, copied, scan.start - copied);
		if (is_use) {
			ret = take_use(&scan, calls, global);
		} else {
			struct strbuf rest cleanup_strbuf = { 0 };

			if (check_scan_next(&scan))
				check_scan_argument(&scan, true, &rest);
		}
		copied = scan.left.at;
	}
	if (ret == 0)
		strbuf_add(&calls->text, copied, scan.left.end - copied);
	return ret < 0 || strbuf_oom(&calls->text) || strbuf_oom(&calls->externs) ? -ENOMEM : 0;
}

void check_calls_deinit(struct check_calls *calls)
{
	check_events_deinit(&calls->declared);
	for (size_t i = 0; i < calls->nr_uses; i++) {
		free(calls->uses[i].expression);
		free(calls->uses[i].file);
	}
	free(calls->uses);
	strbuf_deinit(&calls->externs);
	strbuf_deinit(&calls->text);
	*calls = (struct check_calls){ 0 };
}
