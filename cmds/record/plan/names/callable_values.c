/* Chooses the values that are recorded at calls of Python functions (see callable_values.h). */
#include "cmds/record/plan/names/callable_values.h"

#include <stdio.h>
#include <string.h>

#include "cmds/record/plan/values/captures.h"
#include "utils/format/probe/capture.h"
#include "utils/spec/args/argfind.h"

#define WORD_BYTES 8

const char *callable_items_of(struct callable_items *items, uint32_t nr)
{
	uint32_t nr_items = MIN(nr, CALLABLE_ARGS_MAX);
	char *text = items->texts[nr_items];
	size_t len = 0;

	*text = '\0';
	for (uint32_t i = 1; i <= nr_items; i++)
		len += snprintf(text + len, sizeof(items->texts[0]) - len, "%sarg%u/s",
				i > 1 ? "," : "", i);
	return text;
}

/*
 * Chooses the values for -a. If @about contains ARGRULES_ARGS, chooses the first CALLABLE_ARGS_MAX
 * parameters. If @about contains ARGRULES_RETVAL, chooses the result.
 */
static int ask_callable(void *self, int about, struct argfound *found)
{
	const struct callable *c = self;
	struct callable_items items;
	const char *args = callable_items_of(&items, c->nr_args);
	int told = about & ARGRULES_RETVAL;
	int ret = 0;

	if ((about & ARGRULES_ARGS) && *args) {
		told |= ARGRULES_ARGS;
		ret = argspecs_parse(args, strlen(args), WORD_BYTES, &found->args, NULL);
	}
	if (ret == 0 && (about & ARGRULES_RETVAL))
		ret = argspecs_parse("retval/s", strlen("retval/s"), WORD_BYTES, &found->retval,
				     NULL);
	return ret < 0 ? ret : told;
}

static void add_text_step(struct strbuf *steps, uint32_t index)
{
	const struct capture_step step = { .op = CAPTURE_TEXT, .index = index };

	strbuf_add(steps, &step, sizeof(step));
}

/*
 * Makes the capture program: a CAPTURE_HEAD step, then a step for each argument in @found, then a
 * step for the result if @found has one. Each step after CAPTURE_HEAD captures one element of an
 * array of struct capture_text. The step for argument N captures element N. If @c does not have
 * argument N, the step for this argument captures element 0. When a call of @c begins, element 0 is
 * the text "<unset>". The step for the result runs when the call ends. At that time, element 0 is
 * the result, and the step captures element 0.
 */
static bool add_steps(struct callable *c, const struct argfound *found, struct strbuf *steps)
{
	const struct capture_step head = {
		.op = CAPTURE_HEAD,
		.bytes = found->args.nr,
		.index = found->retval.nr != 0,
	};

	if (found->args.nr > CALLABLE_ARGS_MAX)
		return false;
	strbuf_add(steps, &head, sizeof(head));
	for (size_t i = 0; i < found->args.nr; i++) {
		uint32_t index = found->args.specs[i].index;
		bool is_there = index && index <= MIN(c->nr_args, CALLABLE_ARGS_MAX);

		add_text_step(steps, is_there ? index : 0);
		if (is_there)
			c->values |= 1ULL << index;
	}
	if (found->retval.nr) {
		add_text_step(steps, 0);
		c->values |= CALLABLE_RESULT;
	}
	return !strbuf_oom(steps);
}

bool callable_values_choose(const struct capture_settings *settings, struct callable *c,
			    struct strbuf *steps)
{
	static const struct argrules no_rules;
	struct argfound found cleanup_argfound = { 0 };
	const struct argfind find = {
		.rules = settings->rules ? settings->rules : &no_rules,
		.is_auto = settings->is_auto,
		.debug = ask_callable,
		.self = c,
		.has_texts = true,
	};
	const struct argrules_subject subject = { .name = c->name, .module = CALLABLES_MODULE };

	c->values = 0;
	c->told = 0;
	if (c->is_native || !capture_is_wanted(settings) ||
	    argfind_function(&find, &subject, &found) < 0 || found.args.nr + found.retval.nr == 0)
		return false;
	if (!add_steps(c, &found, steps)) {
		strbuf_reset(steps);
		c->values = 0;
		return false;
	}
	c->told = found.from_debug;
	return true;
}
