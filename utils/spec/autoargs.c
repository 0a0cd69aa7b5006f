/* What is known of library functions without debug information (see autoargs.h). */
#include "utils/spec/autoargs.h"

#include <stdlib.h>
#include <string.h>

#include "utils/spec/autoargs_table.h"

static int compare_name(const void *name, const void *row)
{
	return strcmp(name, ((const struct autoargs *)row)->name);
}

const struct autoargs *autoargs_find(const char *name)
{
	return bsearch(name, autoargs_table, autoargs_table_nr, sizeof(*autoargs_table),
		       compare_name);
}

void autoargs_put_args(struct strbuf *out)
{
	for (size_t i = 0; i < autoargs_table_nr; i++) {
		const struct autoargs *row = &autoargs_table[i];

		if (row->args)
			strbuf_addf(out, "%s@%s;", row->name, row->args);
	}
}

void autoargs_put_retvals(struct strbuf *out)
{
	for (size_t i = 0; i < autoargs_table_nr; i++) {
		const struct autoargs *row = &autoargs_table[i];

		if (row->retval)
			strbuf_addf(out, "%s@%s;", row->name, row->retval);
	}
}

void autoargs_put_enums(struct strbuf *out)
{
	for (size_t i = 0; i < autoargs_enums_nr; i++)
		strbuf_addf(out, "%s;", autoargs_enums[i]);
}
