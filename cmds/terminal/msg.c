/* Prints messages for the user, such as warnings and debug messages (see msg.h). */
#include "cmds/terminal/msg.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/terminal/statusline.h"
#include "utils/base/escape.h"
#include "utils/base/containers/nearest.h"
#include "utils/base/containers/strbuf.h"

static const struct domain_name {
	const char *name;
	enum msg_domain domain;
} domain_names[] = {
	{ "utrail", MSG_UTRAIL }, { "uftrace", MSG_UTRAIL },	{ "ftrace", MSG_UTRAIL },
	{ "symbol", MSG_SYMBOL }, { "demangle", MSG_DEMANGLE }, { "filter", MSG_FILTER },
	{ "fstack", MSG_FSTACK }, { "session", MSG_SESSION },	{ "kernel", MSG_KERNEL },
	{ "mcount", MSG_MCOUNT }, { "plthook", MSG_PLTHOOK },	{ "dynamic", MSG_DYNAMIC },
	{ "event", MSG_EVENT },	  { "script", MSG_SCRIPT },	{ "dwarf", MSG_DWARF },
	{ "wrap", MSG_WRAP },
};

static const char *domain_text(enum msg_domain domain)
{
	for (size_t i = 0; i < ARRAY_SIZE(domain_names); i++) {
		if (domain_names[i].domain == domain)
			return domain_names[i].name;
	}
	return "";
}

/* Writes the whole line by one fputs(), so that lines of several processes do not mix. */
static void write_line(const struct msg *msg, const char *prefix, const struct strbuf *text)
{
	struct strbuf line cleanup_strbuf = { 0 };
	FILE *to = msg->file ? msg->file : stderr;

	strbuf_addstr(&line, prefix);
	strbuf_add(&line, strbuf_str(text), text->len);
	strbuf_addch(&line, '\n');
	if (!msg->file)
		statusline_hold();
	fputs(strbuf_str(&line), to);
	fflush(to);
	if (!msg->file)
		statusline_release();
}

/*
 * Prints one line. The text is escaped, because it may have names with any bytes. The prefix is not
 * escaped.
 */
static void put_line(const struct msg *msg, const char *prefix, const char *fmt, va_list ap)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct strbuf shown cleanup_strbuf = { 0 };

	strbuf_vaddf(&text, fmt, ap);
	escape_add(&shown, MEDIUM_TERMINAL, strbuf_str(&text), text.len);
	write_line(msg, prefix, &shown);
}

static const char *warn_prefix(const struct msg *msg)
{
	return msg->has_color && !msg->file ? "\033[33mWARN\033[0m: " : "WARN: ";
}

void msg_warn(const struct msg *msg, const char *fmt, ...)
{
	va_list ap;

	if (msg->is_muted)
		return;
	va_start(ap, fmt);
	put_line(msg, warn_prefix(msg), fmt, ap);
	va_end(ap);
}

/*
 * Appends @text to @out. If @is_one is true, replaces each part "{one|many}" of @text with "one".
 * If @is_one is false, replaces each such part with "many".
 */
static void add_forms(struct strbuf *out, const char *text, bool is_one)
{
	bool is_choice = false;
	bool is_first = false;

	for (; *text; text++) {
		if (*text == '{')
			is_choice = is_first = true;
		else if (is_choice && *text == '|')
			is_first = false;
		else if (is_choice && *text == '}')
			is_choice = false;
		else if (!is_choice || is_first == is_one)
			strbuf_addch(out, *text);
	}
}

void msg_warn_nr(const struct msg *msg, uint64_t nr, const char *fmt, ...)
{
	struct strbuf text cleanup_strbuf = { 0 };
	char prefix[48];
	va_list ap;

	if (msg->is_muted || !nr)
		return;
	snprintf(prefix, sizeof(prefix), "%s%llu ", warn_prefix(msg), (unsigned long long)nr);
	add_forms(&text, fmt, nr == 1);
	va_start(ap, fmt);
	put_line(msg, prefix, strbuf_str(&text), ap);
	va_end(ap);
}

void msg_warn_lines(const struct msg *msg, const struct strbuf *text)
{
	if (!msg->is_muted)
		write_line(msg, warn_prefix(msg), text);
}

void msg_list(const char *fmt, ...)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct strbuf line cleanup_strbuf = { 0 };
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	escape_add(&line, MEDIUM_TERMINAL, strbuf_str(&text), text.len);
	puts(strbuf_str(&line));
}

void msg_line(const struct msg *msg, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_line(msg, "utrail: ", fmt, ap);
	va_end(ap);
}

bool msg_wants(const struct msg *msg, enum msg_domain domain, int level)
{
	return msg->level >= level || msg->levels[domain] >= level;
}

void msg_debug(const struct msg *msg, enum msg_domain domain, int level, const char *fmt, ...)
{
	if (!msg_wants(msg, domain, level))
		return;

	char prefix[32];
	va_list ap;

	snprintf(prefix, sizeof(prefix), "%s: ", domain_text(domain));
	va_start(ap, fmt);
	put_line(msg, prefix, fmt, ap);
	va_end(ap);
}

/*
 * True when a command that @reads or @records has messages in @domain. Only uftrace has messages in
 * the domains that are not listed here.
 */
static bool speaks(enum msg_domain domain, bool reads, bool records)
{
	switch (domain) {
	case MSG_UTRAIL:
		return true;
	case MSG_SYMBOL:
	case MSG_FILTER:
	case MSG_SESSION:
	case MSG_KERNEL:
	case MSG_EVENT:
	case MSG_DWARF:
		return reads || records;
	case MSG_MCOUNT:
	case MSG_DYNAMIC:
		return records;
	default:
		return false;
	}
}

void msg_warn_silent(const struct msg *msg, const char *command, bool reads, bool records)
{
	struct strbuf names cleanup_strbuf = { 0 };
	size_t nr = 0;

	for (int domain = 0; domain < MSG_NR_DOMAINS; domain++) {
		if (msg->levels[domain] && !speaks(domain, reads, records))
			strbuf_addf(&names, "%s'%s'", nr++ ? ", " : "", domain_text(domain));
	}
	if (nr)
		msg_warn(msg, "option '--debug-domain': %s has no messages about %s", command,
			 strbuf_str(&names));
}

static int parse_domain(struct msg *msg, char *word, struct uft_err *err)
{
	char *colon = strchr(word, ':');
	unsigned char level = 1;
	struct nearest near;

	if (colon) {
		*colon++ = '\0';
		if (*colon < '1' || *colon > '9' || colon[1])
			return err_set(
				err, -ERR_USAGE,
				"option '--debug-domain': invalid level '%s': expected 1 to 9",
				colon);
		level = *colon - '0';
	}
	nearest_init(&near, word);
	for (size_t i = 0; i < ARRAY_SIZE(domain_names); i++) {
		if (strcmp(domain_names[i].name, word) == 0) {
			msg->levels[domain_names[i].domain] = level;
			return 0;
		}
		nearest_offer(&near, domain_names[i].name);
	}

	struct strbuf text cleanup_strbuf = { 0 };

	nearest_text(&near, "", &text);
	return err_set(err, -ERR_USAGE,
		       "option '--debug-domain': unknown domain '%s'; the nearest: %s", word,
		       strbuf_str(&text));
}

int msg_parse_domains(struct msg *msg, const char *text, struct uft_err *err)
{
	char *words cleanup_free = strdup(text);
	char *rest = words;
	int rc = words ? 0 : -ENOMEM;

	for (char *word; rc == 0 && (word = strsep(&rest, ",")) != NULL;)
		rc = parse_domain(msg, word, err);
	return rc;
}
