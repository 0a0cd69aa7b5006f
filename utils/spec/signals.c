/* The --signal language (see signals.h). */
#include "utils/spec/signals.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "utils/base/cleanup.h"
#include "utils/base/containers/nearest.h"
#include "utils/spec/args/actions.h"
#include "utils/spec/regex/list.h"

#define NR_SIGNALS 64

#define ACTIONS (TRIGGER_TRACE_ON | TRIGGER_TRACE_OFF | TRIGGER_FINISH)

static int offset_from(const char *text, int base, char sign)
{
	char *end;
	long offset;

	if (!*text)
		return base;
	if (*text != sign || !isdigit((unsigned char)text[1]))
		return 0;
	offset = strtol(text + 1, &end, 10);
	if (*end || offset > SIGRTMAX - SIGRTMIN)
		return 0;
	return sign == '+' ? base + offset : base - offset;
}

/* Returns the number of the signal @name, or 0 when there is no such signal. */
static int signal_of(const char *name, struct nearest *near)
{
	char *end;

	if (isdigit((unsigned char)name[0])) {
		long number = strtol(name, &end, 10);

		return !*end && number > 0 && number <= NR_SIGNALS ? number : 0;
	}
	if (spec_begins_with(name, "SIG"))
		name += 3;
	if (spec_begins_with(name, "RTMIN"))
		return offset_from(name + 5, SIGRTMIN, '+');
	if (spec_begins_with(name, "RTMAX"))
		return offset_from(name + 5, SIGRTMAX, '-');
	for (int sig = 1; sig <= NR_SIGNALS; sig++) {
		const char *word = sigabbrev_np(sig);

		if (word && strcasecmp(word, name) == 0)
			return sig;
		if (word)
			nearest_offer(near, word);
	}
	return 0;
}

static int refuse_signal_word(struct uft_err *err, const char *text, size_t at, const char *kind,
			      const struct nearest *near)
{
	struct strbuf words cleanup_strbuf = { 0 };

	nearest_text(near, "", &words);
	return err_set(err, -ERR_USAGE, "'%s': column %zu: there is no %s '%s'%s%s", text, at + 1,
		       kind, near->typed, words.len ? "; the nearest: " : "", strbuf_str(&words));
}

static void set(struct signal_switches *out, int sig, uint32_t flag)
{
	uint64_t bit = 1ULL << (sig - 1);

	out->on &= ~bit;
	out->off &= ~bit;
	out->finish &= ~bit;
	if (flag == TRIGGER_FINISH)
		out->finish |= bit;
	else if (flag == TRIGGER_TRACE_ON)
		out->on |= bit;
	else
		out->off |= bit;
}

/* Parse the item at offset @at of @text. @one is a copy of the item. */
static int parse_one(char *one, const char *text, size_t at, struct signal_switches *out,
		     struct uft_err *err)
{
	char *word = strchr(one, '@');
	const struct action *action;
	struct nearest near;
	int sig;

	if (!word)
		return err_set(err, -ERR_USAGE, "'%s': column %zu: expected SIGNAL@ACTION", text,
			       at + 1);
	*word++ = '\0';
	nearest_init(&near, spec_begins_with(one, "SIG") ? one + 3 : one);
	sig = signal_of(one, &near);
	if (!sig)
		return refuse_signal_word(err, text, at, "signal", &near);
	action = action_find(word, strlen(word));
	if (action && (action->flag & ACTIONS)) {
		set(out, sig, action->flag);
		return 0;
	}
	nearest_init(&near, word);
	for (action = actions; action->word; action++) {
		if (action->flag & ACTIONS)
			nearest_offer(&near, action->word);
	}
	return refuse_signal_word(err, text, at + (word - one), "action", &near);
}

int signal_switches_parse(const char *text, struct signal_switches *out, struct uft_err *err)
{
	struct signal_switches all = { 0 };

	for (struct spec_piece piece = { 0 }; spec_list_next(text, &piece);) {
		char *one cleanup_free = strndup(piece.at, piece.len);

		if (!one)
			return err_set_errno(err, -ENOMEM, "cannot read '%s'", text);

		int ret = parse_one(one, text, piece.at - text, &all, err);

		if (ret < 0)
			return ret;
	}
	*out = all;
	return 0;
}
