/* The --watch language (see watch.h). */
#include "utils/spec/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "utils/base/containers/vec.h"
#include "utils/spec/regex/list.h"

static int add_var(struct watch_spec *spec, const char *name, size_t len)
{
	char **vars = vec_grow(spec->vars, spec->nr_vars, sizeof(*vars));

	if (!vars)
		return -ENOMEM;
	spec->vars = vars;
	vars[spec->nr_vars] = strndup(name, len);
	return vars[spec->nr_vars++] ? 0 : -ENOMEM;
}

static int parse_one(struct watch_spec *spec, const char *text, const char *at, size_t len,
		     struct uft_err *err)
{
	int ret = 0;

	if (len == 3 && strncasecmp(at, "cpu", 3) == 0)
		spec->cpu = true;
	else if (len > 4 && strncasecmp(at, "var:", 4) == 0)
		ret = add_var(spec, at + 4, len - 4);
	else
		return err_set(err, -ERR_USAGE, "'%s': column %zu: expected cpu or var:NAME", text,
			       at - text + 1);
	return ret < 0 ? err_set_errno(err, ret, "cannot read '%s'", text) : 0;
}

int watch_spec_parse(const char *text, struct watch_spec *out, struct uft_err *err)
{
	struct watch_spec spec = { 0 };
	int ret = 0;

	for (struct spec_piece one = { 0 }; ret == 0 && spec_list_next(text, &one);)
		ret = parse_one(&spec, text, one.at, one.len, err);
	if (ret < 0)
		watch_spec_deinit(&spec);
	else
		*out = spec;
	return ret;
}

void watch_spec_deinit(struct watch_spec *spec)
{
	for (size_t i = 0; i < spec->nr_vars; i++)
		free(spec->vars[i]);
	free(spec->vars);
	*spec = (struct watch_spec){ 0 };
}
