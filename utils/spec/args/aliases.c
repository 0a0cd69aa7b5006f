/* Functions with several names (see aliases.h). */
#include "utils/spec/args/aliases.h"

#include <errno.h>

/* A question about a symbol. @name and @others are buffers for the symbol's names. */
struct asking {
	is_asked_for_fn is_asked_for;
	void *arg;
	enum demangle_mode mode;
	struct strbuf name;
	struct strbuf others;
};

static bool is_symbol_asked_for(struct asking *asking, const char *symbol)
{
	strbuf_reset(&asking->name);
	strbuf_reset(&asking->others);
	demangle(symbol, asking->mode, &asking->name);
	demangle_others(symbol, asking->mode, &asking->others);
	return asking->is_asked_for(asking->arg, &asking->name, strbuf_str(&asking->others));
}

static void prefer(struct symtab *symbols, size_t index, struct asking *asking)
{
	uint64_t addr = symbols->syms[index].addr;
	size_t at = symtab_find_alias(symbols, addr);

	if (at == symbols->nr_aliases || symbols->aliases[at].addr != addr ||
	    is_symbol_asked_for(asking, symbols->syms[index].name))
		return;
	for (; at < symbols->nr_aliases && symbols->aliases[at].addr == addr; at++) {
		if (!is_symbol_asked_for(asking, symbols->aliases[at].name))
			continue;
		symtab_swap_alias(symbols, index, at);
		return;
	}
}

int aliases_prefer(struct symtab *symbols, enum demangle_mode mode, is_asked_for_fn is_asked_for,
		   void *arg)
{
	struct asking asking = { .is_asked_for = is_asked_for, .arg = arg, .mode = mode };
	bool is_short;

	for (size_t i = 0; i < symbols->nr && symbols->nr_aliases; i++)
		prefer(symbols, i, &asking);
	is_short = strbuf_oom(&asking.name) || strbuf_oom(&asking.others);
	strbuf_deinit(&asking.name);
	strbuf_deinit(&asking.others);
	return is_short ? -ENOMEM : 0;
}

struct filtered {
	struct filters *filters;
	const char *module;
};

static bool is_filtered(void *arg, const struct strbuf *name, const char *others)
{
	const struct filtered *filtered = arg;
	const struct filter_subject subject = {
		.name = strbuf_str(name),
		.name_len = name->len,
		.others = others,
		.module = filtered->module,
	};
	struct filter_walk walk;

	filter_walk_begin(&walk, filtered->filters, &subject);
	return filter_walk_next(&walk) != NULL;
}

int aliases_prefer_filtered(struct symtab *symbols, struct filters *filters,
			    enum demangle_mode mode, const char *module)
{
	struct filtered filtered = { filters, module };

	if (!filters->nr)
		return 0;
	return aliases_prefer(symbols, mode, is_filtered, &filtered);
}

void aliases_all_names(const struct symtab *symbols, const struct symbol *sym,
		       enum demangle_mode mode, struct strbuf *name, struct strbuf *others)
{
	strbuf_reset(name);
	strbuf_reset(others);
	demangle(sym->name, sym->type == 'K' ? DEMANGLE_NO : mode, name);
	if (sym->type == 'K')
		return;
	demangle_others(sym->name, mode, others);
	for (size_t at = symtab_find_alias(symbols, sym->addr);
	     at < symbols->nr_aliases && symbols->aliases[at].addr == sym->addr; at++) {
		demangle(symbols->aliases[at].name, mode, others);
		strbuf_addch(others, '\0');
	}
}
