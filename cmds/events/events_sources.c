/* `utrail events check-sources` (see events_sources.h). */
#include "cmds/events/events_sources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/build/check_calls.h"
#include "cmds/build/check_compiler.h"
#include "cmds/build/check_db.h"
#include "cmds/cmd.h"
#include "trace/seam/reader.h"

/*
 * @known: declarations of all sources, collected before the checks
 * @told: messages that were already printed. An error in a header is found again in each source
 *        that includes the header
 * @nr_all: the number of uses and declarations of events
 * @nr_wrong: the number of wrong uses and wrong declarations. An error that is found again is not
 *            counted again
 */
struct tally {
	const struct opts *opts;
	struct check_events known;
	struct strmap told;
	size_t nr_sources, nr_failed;
	size_t nr_all, nr_wrong, nr_unknown;
};

static void tell_failed_file(struct tally *tally, const char *file, const char *reason)
{
	tally->nr_failed++;
	msg_warn(&tally->opts->msg, "cannot check '%s': %s", file, reason);
}

/* Returns the first line of @messages that reports an error, or the first line when none does. */
static char *first_error(const struct strbuf *messages)
{
	const char *error = strstr(strbuf_str(messages), " error: ");
	const char *start = error ?: strbuf_str(messages);

	while (start > strbuf_str(messages) && start[-1] != '\n')
		start--;

	size_t len = strcspn(start, "\n");

	return len ? strndup(start, len) : strdup("the compiler says nothing");
}

static void tell_wrong_line(struct tally *tally, const struct strbuf *line)
{
	char *key;

	if (strmap_get(&tally->told, strbuf_str(line)))
		return;
	msg_list("%s", strbuf_str(line));
	tally->nr_wrong++;
	key = strdup(strbuf_str(line));
	if (key && strmap_put(&tally->told, key, key) < 0)
		free(key);
}

/*
 * Writes the file name and the line of a place in the sources. The file name includes the
 * directory, so that tools can open the file.
 */
static void put_place(struct strbuf *out, const struct check_entry *entry, const char *file,
		      unsigned line)
{
	if (*file != '/')
		strbuf_addf(out, "%s/", entry->directory);
	if (strncmp(file, "./", 2) == 0)
		file += 2;
	strbuf_addf(out, "%s:%u: ", file, line);
}

/*
 * Returns the directive of @format that takes argument @nr. The first argument has the number 1. If
 * there is no such directive, the result is { 0 }.
 */
static struct fst_piece directive_of(const char *format, unsigned long nr)
{
	struct fst_piece piece;

	while (fst_next_piece(&format, &piece) > 0) {
		unsigned long takes = fst_kind_is_bare(piece.kind) || piece.kind == FST_LITERAL ? 0
				      : piece.kind == FST_STRING_MAX || piece.kind == FST_CALL ||
						      piece.kind == FST_CALL_LIST ||
						      piece.kind == FST_OCTETS ||
						      piece.kind == FST_HEX_OCTETS ||
						      piece.kind == FST_ADDRESS
					      ? 2
					      : 1;

		if (nr <= takes)
			return piece;
		nr -= takes;
	}
	return (struct fst_piece){ 0 };
}

/*
 * Appends the types from gcc's message "expects argument of type 'long int', but argument 3 has
 * type 'int'". Returns false for other messages.
 */
static bool put_types(struct strbuf *out, const char *format, const char *text)
{
	const char *want = strstr(text, "type '");
	const char *number = strstr(text, "but argument ");
	const char *have = strstr(text, "has type '");

	if (!want || !have || want >= have)
		return false;
	want += strlen("type '");
	have += strlen("has type '");

	int want_len = (int)strcspn(want, "'");
	int have_len = (int)strcspn(have, "'");
	/*
	 * gcc counts the arguments of fstrace_check_() (check_calls.c). Two of these arguments
	 * precede the event's arguments.
	 */
	unsigned long nr = number ? strtoul(number + strlen("but argument "), NULL, 10) : 0;
	struct fst_piece piece = nr > 2 ? directive_of(format, nr - 2) : (struct fst_piece){ 0 };

	if (piece.text)
		strbuf_addf(out, "argument %lu, of %%%.*s, is '%.*s' and should be '%.*s'", nr - 2,
			    (int)piece.len - 1, piece.text + 1, have_len, have, want_len, want);
	else
		strbuf_addf(out, "an argument is '%.*s' and should be '%.*s'", have_len, have,
			    want_len, want);
	return true;
}

/*
 * True for an argument that is accepted although its type is not the type that the format requires.
 * An untyped pointer, such as NULL, is accepted for a text. If int64_t is long, a long long is
 * accepted for a long.
 */
static bool does_fit(const struct check_calls *calls, const char *text)
{
	const char *have = strstr(text, "has type '");

	if (!have)
		return false;
	if (strstr(text, "'char *'") || strstr(text, "'char*'")) {
		have += strlen("has type '");
		if (strncmp(have, "const ", strlen("const ")) == 0)
			have += strlen("const ");
		return strncmp(have, "void *'", 7) == 0 || strncmp(have, "void*'", 6) == 0;
	}
	return calls->has_long_64 && strstr(have, "long long") &&
	       (strstr(text, "type 'long ") || strstr(text, "type 'long'") ||
		strstr(text, "type 'unsigned long'"));
}

static void put_problem(struct strbuf *out, const char *format, const char *text)
{
	if (put_types(out, format, text))
		return;
	if (strstr(text, "expects a matching") || strstr(text, "more '%' conversions"))
		strbuf_addstr(out, "an argument is missing");
	else if (strstr(text, "too many arguments") || strstr(text, "not used by format"))
		strbuf_addstr(out, "there are more arguments than the format takes");
	else
		strbuf_addstr(out, text);
}

/*
 * Parses "<utrail>:7:22: warning: ... [-Wformat=]", a message about calls->uses[7]. Returns
 * &calls->uses[7], and sets *@text to the text after the message's kind. Returns NULL for other
 * messages.
 */
static const struct check_use *use_of(const char *line, const struct check_calls *calls,
				      const char **text)
{
	char *end;

	if (strncmp(line, CHECK_FILE ":", strlen(CHECK_FILE ":")) != 0)
		return NULL;

	unsigned long nr = strtoul(line + strlen(CHECK_FILE ":"), &end, 10);
	const char *kind = strstr(end, ": ");

	/* clang has a separate warning, non-pod-varargs, for objects as arguments. */
	if (nr >= calls->nr_uses || !calls->uses[nr].event || !kind ||
	    (!strstr(kind, "[-Wformat") && !strstr(kind, "[-Wnon-pod-varargs]")))
		return NULL;
	kind = strstr(kind + 2, ": ");
	*text = kind ? kind + 2 : end;
	return &calls->uses[nr];
}

static void tell_uses(struct tally *tally, const struct check_entry *entry,
		      const struct check_calls *calls, char *messages)
{
	char *line;

	while ((line = strsep(&messages, "\n"))) {
		struct strbuf out cleanup_strbuf = { 0 };
		const char *text;
		const struct check_use *use = use_of(line, calls, &text);

		if (!use || does_fit(calls, text))
			continue;
		put_place(&out, entry, use->file, use->line);
		strbuf_addf(&out, "%s \"%s\": ", use->event->id, use->event->format);
		put_problem(&out, use->event->format, text);
		tell_wrong_line(tally, &out);
	}
}

/* Reports declared formats that are not valid. Events with such a format are never enabled. */
static void tell_formats(struct tally *tally, const struct check_entry *entry,
			 const struct check_events *declared)
{
	for (size_t i = 0; i < declared->nr; i++) {
		const struct check_event *event = declared->all[i];
		struct strbuf out cleanup_strbuf = { 0 };

		if (!event->format || fst_count_pieces(event->format) >= 0)
			continue;
		put_place(&out, entry, event->file, event->line);
		strbuf_addf(&out, "%s \"%s\": the format is wrong, so the event is never on",
			    event->id, event->format);
		tell_wrong_line(tally, &out);
	}
}

static void count_uses(struct tally *tally, const struct check_entry *entry,
		       const struct check_calls *calls)
{
	tally->nr_sources++;
	tally->nr_all += calls->nr_uses + calls->declared.nr;
	for (size_t i = 0; i < calls->nr_uses; i++) {
		const struct check_use *use = &calls->uses[i];
		struct strbuf out cleanup_strbuf = { 0 };

		if (use->event)
			continue;
		tally->nr_unknown++;
		put_place(&out, entry, use->file, use->line);
		msg_debug(&tally->opts->msg, MSG_UTRAIL, 1,
			  "%snot checked: no one format of '%s' was found", strbuf_str(&out),
			  use->expression);
	}
}

/* True when the compiler has failed for a reason other than wrong arguments of events. */
static bool is_broken(const struct check_calls *calls, const struct strbuf *messages)
{
	char *all cleanup_free = strdup(strbuf_str(messages));
	char *rest = all;
	bool has_errors = false;
	const char *text;
	char *line;

	while ((line = strsep(&rest, "\n"))) {
		if (!strstr(line, " error: "))
			continue;
		if (!use_of(line, calls, &text))
			return true;
		has_errors = true;
	}
	return !has_errors;
}

static void fail_with(struct tally *tally, const struct check_entry *entry,
		      const struct check_calls *calls, const struct strbuf *messages)
{
	struct strbuf out cleanup_strbuf = { 0 };
	char *error cleanup_free = first_error(messages);
	const char *text = error ?: strerror(ENOMEM);
	char *end;

	if (strncmp(text, CHECK_FILE ":", strlen(CHECK_FILE ":")) == 0) {
		unsigned long nr = strtoul(text + strlen(CHECK_FILE ":"), &end, 10);
		const char *behind = strchr(end, ' ');

		if (nr < calls->nr_uses && behind) {
			put_place(&out, entry, calls->uses[nr].file, calls->uses[nr].line);
			text = behind + 1;
		}
	}
	strbuf_addstr(&out, text);
	tell_failed_file(tally, entry->file, strbuf_str(&out));
}

/* Lets the compiler check the rewritten text. */
static int check_text(struct tally *tally, const struct check_entry *entry,
		      const struct check_compiler *compiler, struct check_calls *calls)
{
	struct strbuf nothing cleanup_strbuf = { 0 };
	struct strbuf messages cleanup_strbuf = { 0 };
	int ret = check_compiler_run(entry->directory, &compiler->check, &calls->text, &nothing,
				     &messages);

	if (ret < 0)
		return ret;
	if (ret > 0 && is_broken(calls, &messages)) {
		fail_with(tally, entry, calls, &messages);
		return 0;
	}
	count_uses(tally, entry, calls);
	tell_formats(tally, entry, &calls->declared);
	if (messages.len)
		tell_uses(tally, entry, calls, messages.data);
	return 0;
}

/*
 * @is_first: true in the first of two passes, which collects the declarations of all sources. The
 *            second pass checks the sources
 */
static int look_at(struct tally *tally, const struct check_entry *entry, bool is_first)
{
	struct check_compiler compiler cleanup_check_compiler = { 0 };
	struct check_calls calls cleanup_check_calls = { 0 };
	struct strbuf nothing cleanup_strbuf = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };
	struct strbuf messages cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };
	int ret = check_compiler_choose(entry, &compiler, &err);

	if (ret == 0 && !compiler.is_source)
		return 0;
	if (ret == 0)
		ret = check_compiler_run(entry->directory, &compiler.preprocess, &nothing, &text,
					 &messages);
	if (ret == -ENOMEM || (is_first && ret != 0))
		return ret == -ENOMEM ? ret : 0;
	if (ret != 0) {
		char *error cleanup_free = first_error(&messages);

		tell_failed_file(tally, entry->file,
				 err.code  ? err.text
				 : ret < 0 ? strerror(-ret)
				 : error   ? error
					   : strerror(ENOMEM));
		return 0;
	}
	ret = check_calls_collect(&text, &calls, is_first ? &tally->known : NULL);
	if (ret < 0 || is_first)
		return ret;
	ret = check_calls_rewrite(&text, &calls, &tally->known);
	if (ret == 0 && (calls.nr_uses || calls.declared.nr))
		ret = check_text(tally, entry, &compiler, &calls);
	return ret;
}

static int look_at_all(struct tally *tally, const struct check_db *db)
{
	int ret = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; ret == 0 && i < db->nr; i++)
			ret = look_at(tally, &db->entries[i], pass == 0);
	}
	return ret;
}

static void deinit_tally(struct tally *tally)
{
	check_events_deinit(&tally->known);
	for (size_t i = 0; i < tally->told.nr_slots; i++)
		free(tally->told.slots[i].value);
	strmap_deinit(&tally->told);
}

int events_sources_check(const struct opts *opts, struct uft_err *err)
{
	struct tally tally = { .opts = opts };
	struct check_db db cleanup_check_db = { 0 };
	struct strbuf more cleanup_strbuf = { 0 };
	int ret = 0;

	/* The messages of compilers are parsed, so they must be in English. */
	setenv("LC_ALL", "C", 1);
	for (int i = 1; ret == 0 && i < opts->nr_args; i++)
		ret = check_db_load(opts->args[i], &db, err);
	if (ret == 0) {
		ret = look_at_all(&tally, &db);
		deinit_tally(&tally);
		if (ret < 0)
			err_set_errno(err, ret, "cannot check the sources");
	}
	if (ret < 0)
		return ret;
	if (tally.nr_unknown)
		strbuf_addf(&more, "; of %zu no format was found (-v says which)",
			    tally.nr_unknown);
	if (tally.nr_failed)
		strbuf_addf(&more, "; %zu sources were not checked", tally.nr_failed);
	msg_list("%zu problems in %zu uses and declarations of events in %zu sources%s",
		 tally.nr_wrong, tally.nr_all, tally.nr_sources, strbuf_str(&more));
	return tally.nr_wrong || tally.nr_failed ? CMD_FAILED : CMD_DONE;
}
