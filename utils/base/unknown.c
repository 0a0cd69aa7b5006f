/* Unknown words (see unknown.h). */
#include "utils/base/unknown.h"

void unknown_init(struct unknown *u, const char *word, size_t len)
{
	*u = (struct unknown){ 0 };
	strbuf_add(&u->typed, word, len);
	nearest_init(&u->near, strbuf_str(&u->typed));
}

void unknown_deinit(struct unknown *u)
{
	strbuf_deinit(&u->typed);
	strbuf_deinit(&u->known);
}

void unknown_offer(struct unknown *u, const char *name)
{
	strbuf_addf(&u->known, "%s%s", u->known.len ? ", " : "", name);
	nearest_offer(&u->near, name);
}

int unknown_set(const struct unknown *u, struct uft_err *err, int code, const char *what,
		const char *expected, const char *more)
{
	struct strbuf hint cleanup_strbuf = { 0 };

	if (nearest_is_close(&u->near)) {
		strbuf_addstr(&hint, "; the nearest: ");
		nearest_text(&u->near, "", &hint);
	}
	return err_set(err, code, "unknown %s '%s': expected %s %s%s%s", what,
		       strbuf_str(&u->typed), expected, strbuf_str(&u->known), more,
		       strbuf_str(&hint));
}
