/* Parses command line options into a struct of the caller (see optparse.h). */
#include "utils/base/optparse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "utils/base/containers/nearest.h"
#include "utils/base/units.h"
#include "utils/base/unknown.h"

bool parse_bool(const char *text, bool *value)
{
	static const char *const yes[] = { "true", "yes", "on", "y", "1" };
	static const char *const no[] = { "false", "no", "off", "n", "0" };

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++) {
		if (strcasecmp(text, yes[i]) == 0 || strcasecmp(text, no[i]) == 0) {
			*value = strcasecmp(text, yes[i]) == 0;
			return true;
		}
	}
	return false;
}

static int store_list(const struct opt_row *row, const char *text, char **list)
{
	struct strbuf joined cleanup_strbuf = { 0 };

	if (*list) {
		strbuf_addstr(&joined, *list);
		strbuf_addch(&joined, row->separator);
	}
	strbuf_addstr(&joined, text);

	char *copy = strbuf_oom(&joined) ? NULL : strdup(strbuf_str(&joined));

	if (!copy)
		return -ENOMEM;
	free(*list);
	*list = copy;
	return 0;
}

static int store_uint(const struct opt_row *row, const char *text, unsigned *number,
		      struct uft_err *err)
{
	char *end;

	errno = 0;

	unsigned long long value = strtoull(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || errno || value < row->min || value > row->max)
		return err_set(err, -ERR_USAGE,
			       "option '--%s': invalid number '%s': expected %llu to %llu",
			       row->name, text, (unsigned long long)row->min,
			       (unsigned long long)row->max);
	*number = value;
	return 0;
}

static int store_size(const struct opt_row *row, const char *text, uint64_t *bytes,
		      struct uft_err *err)
{
	uint64_t value;

	if (parse_size(text, &value, err) < 0) {
		err_prefix(err, "option '--%s'", row->name);
		return -ERR_USAGE;
	}
	if (value < row->min || value > row->max)
		return err_set(err, -ERR_USAGE,
			       "option '--%s': invalid size '%s': expected %llu to %llu bytes",
			       row->name, text, (unsigned long long)row->min,
			       (unsigned long long)row->max);
	*bytes = value;
	return 0;
}

static int store_word(const struct opt_row *row, const char *text, int *value, struct uft_err *err)
{
	struct unknown unknown cleanup_unknown = { 0 };

	for (const struct opt_word *w = row->words; w->word; w++) {
		if (strcasecmp(w->word, text) == 0) {
			*value = w->value;
			return 0;
		}
	}
	unknown_init(&unknown, text, strlen(text));
	for (const struct opt_word *w = row->words; w->word; w++) {
		if (!w->is_alias)
			unknown_offer(&unknown, w->word);
	}
	unknown_set(&unknown, err, -ERR_USAGE, "word", "one of", "");
	err_prefix(err, "option '--%s'", row->name);
	return -ERR_USAGE;
}

int opt_store(const struct opt_row *row, const char *text, void *target, struct uft_err *err)
{
	void *member = (char *)target + row->offset;

	switch (row->kind) {
	case OPT_TRUE:
	case OPT_FALSE:
		*(bool *)member = row->kind == OPT_TRUE;
		return 0;
	case OPT_CONST:
		*(int *)member = row->value;
		return 0;
	case OPT_COUNT:
		++*(int *)member;
		return 0;
	case OPT_STRING:
		*(const char **)member = text;
		return 0;
	case OPT_LIST:
		return store_list(row, text, member);
	case OPT_UINT:
		return store_uint(row, text, member, err);
	case OPT_TIME:
		if (parse_time(text, member, err) == 0)
			return 0;
		err_prefix(err, "option '--%s'", row->name);
		return -ERR_USAGE;
	case OPT_SIZE:
		return store_size(row, text, member, err);
	case OPT_WORD:
		return store_word(row, text, member, err);
	case OPT_BOOL:
		if (parse_bool(text, member))
			return 0;
		return err_set(err, -ERR_USAGE,
			       "option '--%s': unknown word '%s': expected on or off", row->name,
			       text);
	case OPT_SET:
		return row->set(row, text, target, err);
	}
	return -EINVAL;
}

static int report_unknown(const struct optparse *p, const char *name, struct uft_err *err)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct nearest near;

	nearest_init(&near, name);
	for (size_t i = 0; i < p->nr; i++)
		nearest_offer(&near, p->rows[i].name);
	if (!nearest_is_close(&near))
		return err_set(err, -ERR_USAGE, "unknown option '--%s'; --help lists them", name);
	nearest_text(&near, "--", &text);
	return err_set(err, -ERR_USAGE, "unknown option '--%s'; the nearest: %s", name,
		       strbuf_str(&text));
}

static int report_ambiguous(const struct optparse *p, const char *name, size_t len,
			    struct uft_err *err)
{
	struct strbuf text cleanup_strbuf = { 0 };

	for (size_t i = 0; i < p->nr; i++) {
		if (strncmp(p->rows[i].name, name, len) == 0)
			strbuf_addf(&text, "%s--%s", text.len ? ", " : "", p->rows[i].name);
	}
	return err_set(err, -ERR_USAGE, "option '--%.*s' is ambiguous: %s", (int)len, name,
		       strbuf_str(&text));
}

/* Find the row of a long name, which may be abbreviated. */
static int find_long(const struct optparse *p, const char *name, size_t len,
		     const struct opt_row **row, struct uft_err *err)
{
	const struct opt_row *found = NULL;
	unsigned matches = 0;

	for (size_t i = 0; i < p->nr; i++) {
		if (strncmp(p->rows[i].name, name, len) != 0)
			continue;
		found = &p->rows[i];
		if (found->name[len] == '\0') {
			matches = 1;
			break;
		}
		matches++;
	}
	if (matches > 1)
		return report_ambiguous(p, name, len, err);
	if (matches == 1) {
		*row = found;
		return 0;
	}

	char *copy cleanup_free = strndup(name, len);

	return copy ? report_unknown(p, copy, err) : -ENOMEM;
}

/*
 * Find the argument of an option: @text (after the '=') if set, else the row's @without, else the
 * next word.
 */
static int take_argument(struct optparse *p, const struct opt_row *row, const char **text,
			 struct uft_err *err)
{
	if (!*text)
		*text = row->without;
	if (*text)
		return 0;
	if (p->next >= p->argc)
		return err_set(err, -ERR_USAGE, "option '--%s' needs an argument: %s", row->name,
			       row->arg);
	*text = p->argv[p->next++];
	p->last = row;
	p->last_text = *text;
	return 0;
}

static int store(struct optparse *p, const struct opt_row *row, const char *text, void *target,
		 struct uft_err *err)
{
	if (p->given)
		p->given[row - p->rows] = true;
	return opt_store(row, text, target, err);
}

static int take_long(struct optparse *p, const char *word, void *target, struct uft_err *err)
{
	size_t len = strcspn(word, "=");
	const char *text = word[len] == '=' ? word + len + 1 : NULL;
	const struct opt_row *row = NULL;
	int rc = find_long(p, word, len, &row, err);

	if (rc < 0)
		return rc;
	if (!row->arg && text)
		return err_set(err, -ERR_USAGE, "option '--%s' takes no argument", row->name);
	if (row->arg) {
		rc = take_argument(p, row, &text, err);
		if (rc < 0)
			return rc;
	}
	return store(p, row, text, target, err);
}

static const struct opt_row *find_letter(const struct optparse *p, char letter)
{
	const struct opt_row *found = NULL;

	for (size_t i = 0; i < p->nr; i++) {
		if (p->rows[i].letter != letter)
			continue;
		if (p->rows[i].cmds & p->cmds)
			return &p->rows[i];
		found = found ? found : &p->rows[i];
	}
	return found;
}

/* Parse letters after one dash: "-vvD3". */
static int take_letters(struct optparse *p, const char *letters, void *target, struct uft_err *err)
{
	for (; *letters; letters++) {
		const struct opt_row *row = find_letter(p, *letters);
		const char *text = NULL;

		if (!row)
			return err_set(err, -ERR_USAGE, "unknown option '-%c'; --help lists them",
				       *letters);
		if (row->arg) {
			text = letters[1] ? letters + 1 : NULL;

			int rc = take_argument(p, row, &text, err);

			if (rc < 0)
				return rc;
		}

		int rc = store(p, row, text, target, err);

		if (rc < 0 || row->arg)
			return rc;
	}
	return 0;
}

int optparse_run(struct optparse *p, void *target, struct uft_err *err)
{
	while (!p->ended && p->next < p->argc) {
		const char *word = p->argv[p->next];
		int rc;

		if (word[0] != '-' || word[1] == '\0')
			break;
		p->next++;
		if (strcmp(word, "--") == 0) {
			p->ended = true;
			break;
		}
		if (word[1] == '-')
			rc = take_long(p, word + 2, target, err);
		else
			rc = take_letters(p, word + 1, target, err);
		if (rc == -ENOMEM)
			return err_set(err, -ENOMEM, "cannot read the command line: no memory");
		if (rc < 0)
			return rc;
	}
	return 0;
}

/*
 * Find the row of "--data=x", "--data" or "-d...". @text: the part of the word that is the
 * argument, or NULL.
 */
static const struct opt_row *find_exact(const struct optparse *p, const char *word,
					const char **text)
{
	size_t len = strcspn(word, "=");

	*text = NULL;
	if (word[0] != '-' || !word[1])
		return NULL;
	if (word[1] != '-') {
		const struct opt_row *row = find_letter(p, word[1]);

		*text = row && row->arg && word[2] ? word + 2 : NULL;
		return row;
	}
	for (size_t i = 0; i < p->nr; i++) {
		if (strncmp(p->rows[i].name, word + 2, len - 2) == 0 && !p->rows[i].name[len - 2]) {
			*text = word[len] ? word + len + 1 : NULL;
			return &p->rows[i];
		}
	}
	return NULL;
}

/* True when @item is one of the items in @list. Commas separate the items. */
static bool has_item(const struct strbuf *list, const char *item)
{
	size_t len = strlen(item);

	for (const char *at = strbuf_str(list); (at = strstr(at, item)) != NULL; at += len) {
		if (at[len] == ',' || at[len] == '\0')
			return true;
	}
	return false;
}

/* Add a name to @ignored, unless it is there already: an option may be given several times. */
static void add_ignored(struct strbuf *ignored, const char *dashes, const char *name,
			const char *what)
{
	struct strbuf text cleanup_strbuf = { 0 };

	strbuf_addf(&text, "%s%s%s", dashes, name, what);
	if (!has_item(ignored, strbuf_str(&text)))
		strbuf_addf(ignored, "%s%s", ignored->len ? ", " : "", strbuf_str(&text));
}

int optparse_run_recorded(struct optparse *p, void *target, struct strbuf *ignored,
			  struct uft_err *err)
{
	while (p->next < p->argc) {
		const char *text;
		const struct opt_row *row = find_exact(p, p->argv[p->next++], &text);
		struct uft_err why = { 0 };

		if (!row) {
			add_ignored(ignored, "", "words that are no options", "");
			continue;
		}

		int rc = row->arg ? take_argument(p, row, &text, &why) : 0;

		if (!row->is_recorded) {
			add_ignored(ignored, "--", row->name, "");
			continue;
		}
		if (rc == 0)
			rc = opt_store(row, text, target, &why);
		if (rc == -ENOMEM)
			return err_set(err, -ENOMEM, "cannot read options: no memory");
		if (rc < 0)
			add_ignored(ignored, "--", row->name, " with a wrong argument");
	}
	if (strbuf_oom(ignored))
		return err_set(err, -ENOMEM, "cannot read options: no memory");
	return 0;
}

void optparse_free(const struct opt_row *rows, size_t nr, void *target)
{
	for (size_t i = 0; i < nr; i++) {
		if (rows[i].kind == OPT_LIST) {
			char **list = (char **)((char *)target + rows[i].offset);

			free(*list);
			*list = NULL;
		}
	}
}
