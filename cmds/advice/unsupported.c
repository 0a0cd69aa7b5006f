/* Refuses options of uftrace that utrail does not have (see unsupported.h). */
#include "cmds/advice/unsupported.h"

#include <stddef.h>
#include <string.h>

#include "utils/base/compiler.h"

int unsupported_refuse(const struct opt_row *row, const char *text, void *target,
		       struct uft_err *err)
{
	return err_set(err, -ERR_USAGE, "utrail has no option '--%s' yet: %s", row->name,
		       row->help);
}

static const struct {
	const char *word;
	const char *instead;
} commands[] = {
	{ "recv", "record where the program runs, copy the data directory, and read it with -d" },
};

int unsupported_check_command(const char *word, struct uft_err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(commands[i].word, word) == 0)
			return err_set(err, -ERR_USAGE, "utrail has no command '%s' yet: %s", word,
				       commands[i].instead);
	}
	return 0;
}
