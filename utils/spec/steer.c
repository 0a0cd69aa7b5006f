/* Words that change a running recording (see steer.h). */
#include "utils/spec/steer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/nearest.h"
#include "utils/base/units.h"
#include "utils/spec/filters.h"

void steer_change_deinit(struct steer_change *change)
{
	for (unsigned i = 0; i < SPEC_OPTIONS; i++)
		strbuf_deinit(&change->specs[i]);
	strbuf_deinit(&change->patches);
	strbuf_deinit(&change->trace_include);
	strbuf_deinit(&change->trace_exclude);
	strbuf_deinit(&change->text);
}

static int take_on(struct steer_change *change, const char *arg, struct uft_err *err)
{
	change->flags &= ~(uint32_t)STEER_OFF;
	return 0;
}

static int take_off(struct steer_change *change, const char *arg, struct uft_err *err)
{
	change->flags &= ~(uint32_t)STEER_ON;
	return 0;
}

static int add_specs(struct steer_change *change, enum spec_option option, const char *text)
{
	strbuf_addf(&change->specs[option], "%s%s", change->specs[option].len ? ";" : "", text);
	return 0;
}

static int take_filter(struct steer_change *change, const char *arg, struct uft_err *err)
{
	return add_specs(change, SPEC_FILTER, arg);
}

static int take_notrace(struct steer_change *change, const char *arg, struct uft_err *err)
{
	specs_add_notrace(&change->specs[SPEC_FILTER], arg);
	return 0;
}

static int take_caller(struct steer_change *change, const char *arg, struct uft_err *err)
{
	return add_specs(change, SPEC_CALLER, arg);
}

static int take_trigger(struct steer_change *change, const char *arg, struct uft_err *err)
{
	return add_specs(change, SPEC_TRIGGER, arg);
}

static int take_patch(struct steer_change *change, const char *arg, struct uft_err *err)
{
	strbuf_addf(&change->patches, "%s%s", change->patches.len ? ";" : "", arg);
	return 0;
}

static int take_unpatch(struct steer_change *change, const char *arg, struct uft_err *err)
{
	specs_add_notrace(&change->patches, arg);
	return 0;
}

static int take_trace_include(struct steer_change *change, const char *arg, struct uft_err *err)
{
	strbuf_reset(&change->trace_include);
	strbuf_addstr(&change->trace_include, arg);
	return 0;
}

static int take_trace_exclude(struct steer_change *change, const char *arg, struct uft_err *err)
{
	strbuf_reset(&change->trace_exclude);
	strbuf_addstr(&change->trace_exclude, arg);
	return 0;
}

static int take_match(struct steer_change *change, const char *arg, struct uft_err *err)
{
	for (enum pattern_match i = MATCH_REGEX; i <= MATCH_SIMPLE; i++) {
		if (strcmp(arg, pattern_match_name(i)) == 0) {
			change->match = i;
			return 0;
		}
	}
	return err_set(err, -ERR_USAGE, "'match %s': it is regex, glob or simple", arg);
}

static int take_depth(struct steer_change *change, const char *arg, struct uft_err *err)
{
	char *end;

	errno = 0;

	long depth = strtol(arg, &end, 10);

	if (errno || end == arg || *end || depth < 1 || depth > 65534)
		return err_set(err, -ERR_USAGE, "'depth %s': it is a number from 1 to 65534", arg);
	change->depth = depth;
	return 0;
}

static int take_time(struct steer_change *change, const char *arg, struct uft_err *err)
{
	if (parse_time(arg, &change->time_ns, err) < 0) {
		err_prefix(err, "'time'");
		return -ERR_USAGE;
	}
	return 0;
}

static int take_size(struct steer_change *change, const char *arg, struct uft_err *err)
{
	if (parse_size(arg, &change->size, err) < 0) {
		err_prefix(err, "'size'");
		return -ERR_USAGE;
	}
	return 0;
}

const struct steer_word steer_words[] = {
	{ "status", NULL, "show what is recorded just now", STEER_STATUS, NULL },
	{ "on", NULL, "record calls from now on", STEER_ON, take_on },
	{ "off", NULL, "record no calls; those that are open are recorded to their end", STEER_OFF,
	  take_off },
	{ "filter", "FUNC[@...]", "only these functions and what they call, as -F", STEER_SPECS,
	  take_filter },
	{ "notrace", "FUNC", "not these functions, nor what they call, as -N", STEER_SPECS,
	  take_notrace },
	{ "caller", "FUNC", "only these functions and the calls that lead to them, as -C",
	  STEER_SPECS, take_caller },
	{ "trigger", "FUNC@ACTION,...", "do something when these functions are called, as -T",
	  STEER_SPECS, take_trigger },
	{ "clear", NULL, "forget all filters and triggers that were given before", STEER_CLEAR,
	  NULL },
	{ "match", "HOW", "patterns of this change are regex, glob or simple", 0, take_match },
	{ "depth", "N", "this many levels of calls, as -D", STEER_DEPTH, take_depth },
	{ "time", "TIME", "only calls that are longer, as -t", STEER_TIME, take_time },
	{ "size", "SIZE", "only functions of at least that many bytes, as -Z", STEER_SIZE,
	  take_size },
	{ "patch", "FUNC[@LIB]", "put hooks into these functions, as -P", STEER_PATCH, take_patch },
	{ "unpatch", "FUNC[@LIB]", "take the hooks out of these functions, as -U", STEER_PATCH,
	  take_unpatch },
	{ "trace-include", "RE", "record only declared events whose id matches",
	  STEER_TRACE_INCLUDE, take_trace_include },
	{ "trace-exclude", "RE", "do not record declared events whose id matches",
	  STEER_TRACE_EXCLUDE, take_trace_exclude },
	{ "snapshot", NULL, "save a flight recording as it is now", STEER_SNAPSHOT, NULL },
	{ "stop", NULL, "end the recording; the program runs on", STEER_STOP, NULL },
	{ NULL },
};

const struct steer_word *steer_word_find(const char *word)
{
	for (const struct steer_word *row = steer_words; row->word; row++) {
		if (strcmp(row->word, word) == 0)
			return row;
	}
	return NULL;
}

static int unknown_word(const char *word, struct uft_err *err)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct nearest near;

	nearest_init(&near, word);
	for (const struct steer_word *row = steer_words; row->word; row++)
		nearest_offer(&near, row->word);
	nearest_text(&near, "", &text);
	return err_set(err, -ERR_USAGE, "unknown word '%s'; the nearest: %s", word,
		       strbuf_str(&text));
}

static void add_text(struct steer_change *change, const char *word)
{
	if (change->text.len)
		strbuf_addch(&change->text, ' ');
	strbuf_addstr(&change->text, word);
}

static int take_words(const struct strbuf *words, struct steer_change *change, struct uft_err *err)
{
	strbuf_list_each (words, word) {
		const struct steer_word *row = steer_word_find(word);
		const char *arg = NULL;

		if (!row)
			return unknown_word(word, err);
		if (row->arg)
			arg = word = strbuf_list_next(words, word);
		if (row->arg && (!arg || !*arg))
			return err_set(err, -ERR_USAGE, "'%s' needs an argument: %s %s", row->word,
				       row->word, row->arg);

		int ret = row->take ? row->take(change, arg, err) : 0;

		if (ret < 0)
			return ret;
		change->flags |= row->flag;
		if (row->flag & (STEER_STATUS | STEER_SNAPSHOT))
			continue;
		add_text(change, row->word);
		if (arg)
			add_text(change, arg);
	}
	return 0;
}

static bool is_incomplete(const struct steer_change *change)
{
	bool is_short = strbuf_oom(&change->text) || strbuf_oom(&change->patches) ||
			strbuf_oom(&change->trace_include) || strbuf_oom(&change->trace_exclude);

	for (unsigned i = 0; !is_short && i < SPEC_OPTIONS; i++)
		is_short = strbuf_oom(&change->specs[i]);
	return is_short;
}

int steer_parse(const struct strbuf *words, struct steer_change *change, struct uft_err *err)
{
	change->match = MATCH_REGEX;

	int ret = take_words(words, change, err);

	if (ret == 0 && is_incomplete(change))
		ret = err_set_errno(err, -ENOMEM, "cannot read the words of a change");
	return ret;
}
