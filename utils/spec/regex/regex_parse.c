/*
 * Compiles a regular expression, in the syntax of glibc, to nodes (see regex_prog.h).
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/compiler.h"
#include "utils/spec/regex/regex_prog.h"

/*
 * NODES_MAX: the maximum number of nodes. COPIES_MAX: the maximum number of nodes that repetitions
 * add as copies. Both numbers limit the steps for one byte of a name.
 */
#define NODES_MAX   32768
#define COPIES_MAX  2048
#define DEPTH_MAX   64
#define TIMES_MAX   32767
#define CLASS_BYTES 32

enum token_kind {
	TOKEN_END,
	TOKEN_BYTE,
	TOKEN_ANY,
	TOKEN_LOOK,	 /* @value: enum regex_look */
	TOKEN_CLASS,	 /* \w, \W, \s, \S: @value is the letter */
	TOKEN_REFERENCE, /* a back reference: \1 */
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_OR,
	TOKEN_STAR,
	TOKEN_PLUS,
	TOKEN_MAYBE,
	TOKEN_BRACKET,
	TOKEN_BRACE,
	TOKEN_BRACE_END, /* '}'; outside of an interval, an ordinary byte */
	TOKEN_BACKSLASH, /* a backslash at the end of the text */
};

struct token {
	enum token_kind kind;
	uint8_t value;
};

/*
 * @at: the text after @token; @token is parsed next
 * @why: the error, which ends parsing; NULL: none
 */
struct parse {
	struct regex_prog *prog;
	const char *at;
	struct token token;
	uint32_t cap;
	uint32_t copies;
	unsigned depth;
	const char *why;
	bool oom;
};

bool regex_is_word(uint8_t byte)
{
	return byte < 128 && (isalnum(byte) || byte == '_');
}

static bool has_failed(const struct parse *p)
{
	return p->why || p->oom;
}

static void fail_parse(struct parse *p, const char *why)
{
	if (!p->why)
		p->why = why;
}

static struct token escaped(uint8_t c)
{
	static const struct {
		char letter;
		enum regex_look look;
	} looks[] = {
		{ '<', REGEX_LOOK_WORD },    { '>', REGEX_LOOK_WORD_END }, { 'b', REGEX_LOOK_EDGE },
		{ 'B', REGEX_LOOK_NO_EDGE }, { '`', REGEX_LOOK_START },	   { '\'', REGEX_LOOK_END },
	};

	for (size_t i = 0; i < ARRAY_SIZE(looks); i++) {
		if (looks[i].letter == c)
			return (struct token){ TOKEN_LOOK, looks[i].look };
	}
	if (strchr("wWsS", c))
		return (struct token){ TOKEN_CLASS, c };
	if (c >= '1' && c <= '9')
		return (struct token){ TOKEN_REFERENCE, c };
	return (struct token){ TOKEN_BYTE, c };
}

static struct token next_token(const char **at)
{
	static const struct {
		uint8_t byte;
		struct token token;
	} special[] = {
		{ '^', { TOKEN_LOOK, REGEX_LOOK_START } },
		{ '$', { TOKEN_LOOK, REGEX_LOOK_END } },
		{ '.', { TOKEN_ANY, '.' } },
		{ '(', { TOKEN_OPEN, '(' } },
		{ ')', { TOKEN_CLOSE, ')' } },
		{ '|', { TOKEN_OR, '|' } },
		{ '*', { TOKEN_STAR, '*' } },
		{ '+', { TOKEN_PLUS, '+' } },
		{ '?', { TOKEN_MAYBE, '?' } },
		{ '[', { TOKEN_BRACKET, '[' } },
		{ '{', { TOKEN_BRACE, '{' } },
		{ '}', { TOKEN_BRACE_END, '}' } },
	};
	uint8_t c = **at;

	if (!c)
		return (struct token){ TOKEN_END, 0 };
	++*at;
	if (c == '\\')
		return **at ? escaped(*(*at)++) : (struct token){ TOKEN_BACKSLASH, 0 };
	for (size_t i = 0; i < ARRAY_SIZE(special); i++) {
		if (special[i].byte == c)
			return special[i].token;
	}
	return (struct token){ TOKEN_BYTE, c };
}

static void advance_token(struct parse *p)
{
	p->token = next_token(&p->at);
}

/* Make room for @nr more nodes. Returns false after an error. */
static bool make_room(struct parse *p, uint32_t nr)
{
	struct regex_prog *prog = p->prog;

	if (has_failed(p))
		return false;
	if (prog->nr + nr > NODES_MAX) {
		fail_parse(p, "it is too long");
		return false;
	}
	if (prog->nr + nr <= p->cap)
		return true;

	uint32_t cap = MAX(p->cap * 2, MAX(prog->nr + nr, 32U));
	struct regex_node *nodes = reallocarray(prog->nodes, cap, sizeof(*nodes));

	if (!nodes) {
		p->oom = true;
		return false;
	}
	prog->nodes = nodes;
	p->cap = cap;
	return true;
}

static void add_node(struct parse *p, enum regex_op op, uint8_t value, int32_t to)
{
	if (make_room(p, 1))
		p->prog->nodes[p->prog->nr++] = (struct regex_node){ op, value, to };
}

/*
 * Insert a node before node @start. Node @start and all nodes after it move. The links in these
 * nodes stay valid, because links are relative.
 */
static void insert_node(struct parse *p, uint32_t start, enum regex_op op, int32_t to)
{
	struct regex_prog *prog = p->prog;

	if (!make_room(p, 1))
		return;
	memmove(prog->nodes + start + 1, prog->nodes + start,
		(prog->nr - start) * sizeof(*prog->nodes));
	prog->nodes[start] = (struct regex_node){ .op = op, .to = to };
	prog->nr++;
}

static void add_set(struct parse *p, const struct regex_set *set)
{
	struct regex_prog *prog = p->prog;
	struct regex_set *sets = reallocarray(prog->sets, prog->nr_sets + 1, sizeof(*sets));

	if (!sets) {
		p->oom = true;
		return;
	}
	prog->sets = sets;
	sets[prog->nr_sets] = *set;
	add_node(p, REGEX_SET, 0, prog->nr_sets++);
}

static void set_add(struct regex_set *set, uint8_t byte)
{
	set->bits[byte / 64] |= 1ULL << byte % 64;
}

static void set_negate(struct regex_set *set)
{
	for (size_t i = 0; i < ARRAY_SIZE(set->bits); i++)
		set->bits[i] = ~set->bits[i];
}

static void add_escaped_class(struct parse *p, char letter)
{
	struct regex_set set = { 0 };

	for (int c = 0; c < 128; c++) {
		if (tolower(letter) == 'w' ? regex_is_word(c) : isspace(c) != 0)
			set_add(&set, c);
	}
	if (isupper((unsigned char)letter))
		set_negate(&set);
	add_set(p, &set);
}

/* An element in brackets: a byte or a class of bytes. A class cannot end a range. */
struct element {
	uint8_t byte;
	bool is_class;
	bool is_hyphen;
};

static bool add_class(const char *name, struct regex_set *set)
{
	static const struct {
		const char *name;
		int (*has)(int c);
	} classes[] = {
		{ "alnum", isalnum }, { "alpha", isalpha }, { "blank", isblank },
		{ "cntrl", iscntrl }, { "digit", isdigit }, { "graph", isgraph },
		{ "lower", islower }, { "print", isprint }, { "punct", ispunct },
		{ "space", isspace }, { "upper", isupper }, { "xdigit", isxdigit },
	};

	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		if (strcmp(classes[i].name, name) != 0)
			continue;
		for (int c = 0; c < 128; c++) {
			if (classes[i].has(c))
				set_add(set, c);
		}
		return true;
	}
	return false;
}

/* Parse "[:alpha:]", "[=a=]" or "[.a.]". */
static struct element parse_symbol(struct parse *p, struct regex_set *set)
{
	const char mark = p->at[1];
	const char end[] = { mark, ']', '\0' };
	const char *start = p->at + 2;
	/*
	 * The end of the symbol is @mark and ']', for example ".]". A ']' without @mark is not the
	 * end: in "[.].]", the first ']' is the symbol's name.
	 */
	const char *close = *start ? strstr(start, end) : NULL;
	char name[CLASS_BYTES + 1];
	size_t len = close ? (size_t)(close - start) : CLASS_BYTES;

	if (len >= CLASS_BYTES) {
		fail_parse(p, "a '[' has no ']'");
		return (struct element){ 0 };
	}
	memcpy(name, start, len);
	name[len] = '\0';
	p->at = close + 2;
	if (mark == ':') {
		if (!add_class(name, set))
			fail_parse(p, "there is no such class of characters");
		return (struct element){ .is_class = true };
	}
	if (len != 1)
		fail_parse(p, "there is no such character");
	if (mark == '=')
		set_add(set, name[0]);
	return (struct element){ .byte = name[0], .is_class = mark == '=' };
}

static struct element parse_element(struct parse *p, struct regex_set *set)
{
	struct element element = { 0 };

	if (!*p->at) {
		fail_parse(p, "a '[' has no ']'");
		return element;
	}
	if (p->at[0] == '[' && p->at[1] && strchr(":.=", p->at[1]))
		return parse_symbol(p, set);
	element.is_hyphen = *p->at == '-';
	element.byte = *p->at++;
	return element;
}

/* Parse a byte, class or range in brackets. @is_first: no item precedes it. */
static void parse_item(struct parse *p, struct regex_set *set, bool is_first)
{
	struct element low = parse_element(p, set);
	struct element high = low;

	if (has_failed(p))
		return;
	if (low.is_hyphen && !is_first && *p->at != ']') {
		fail_parse(p, "a range of characters is not right");
		return;
	}
	if (!low.is_class && *p->at == '-' && p->at[1] && p->at[1] != ']') {
		p->at++;
		high = parse_element(p, set);
		if (high.is_class || high.byte < low.byte)
			fail_parse(p, "a range of characters is not right");
	}
	for (unsigned c = low.byte; !low.is_class && c <= high.byte; c++)
		set_add(set, c);
}

/* Parse the text after the '['. */
static void parse_bracket(struct parse *p)
{
	struct regex_set set = { 0 };
	bool is_negated = *p->at == '^';
	bool is_first = true;

	p->at += is_negated;
	for (; !has_failed(p) && (is_first || *p->at != ']'); is_first = false)
		parse_item(p, &set, is_first);
	if (has_failed(p))
		return;
	p->at++;
	if (is_negated)
		set_negate(&set);
	add_set(p, &set);
}

static void parse_branches(struct parse *p);

static void parse_group(struct parse *p)
{
	if (p->depth == DEPTH_MAX) {
		fail_parse(p, "its groups are nested too deeply");
		return;
	}
	p->depth++;
	advance_token(p);
	parse_branches(p);
	p->depth--;
	if (p->token.kind != TOKEN_CLOSE)
		fail_parse(p, "a '(' has no ')'");
}

/*
 * Parse the text up to the next ',' or '}' as a number, and advance to this token. Returns the
 * number, -1 when the text is empty, or -2 when the text is not a number.
 */
static long parse_number(struct parse *p)
{
	long number = -1;

	for (;;) {
		advance_token(p);
		if (p->token.kind == TOKEN_END)
			return -2;
		if (p->token.kind == TOKEN_BRACE_END || p->token.value == ',')
			return number;
		if (p->token.kind != TOKEN_BYTE || !isdigit(p->token.value) || number == -2)
			number = -2;
		else
			number = MIN(MAX(number, 0L) * 10 + p->token.value - '0', TIMES_MAX + 1L);
	}
}

/* Parse "{2}", "{2,}", "{,3}" or "{2,3}". *@high gets -1 if there is no upper limit. */
static bool parse_interval(struct parse *p, long *low, long *high)
{
	*low = parse_number(p);
	if (*low == -1 && p->token.kind == TOKEN_BYTE && p->token.value == ',')
		*low = 0;
	*high = *low;
	if (*low >= 0 && p->token.kind != TOKEN_BRACE_END)
		*high = p->token.kind == TOKEN_BYTE ? parse_number(p) : -2;
	if (*low < 0 || *high < -1 || (*high != -1 && *high < *low) ||
	    p->token.kind != TOKEN_BRACE_END)
		fail_parse(p, "what stands in '{}' is not right");
	else if (MAX(*low, *high) > TIMES_MAX)
		fail_parse(p, "it repeats too much");
	return !has_failed(p);
}

/* Append a copy of the @len nodes at @start. */
static void add_copy(struct parse *p, uint32_t start, uint32_t len)
{
	struct regex_prog *prog = p->prog;

	p->copies += len;
	if (p->copies > COPIES_MAX)
		fail_parse(p, "it repeats too much");
	if (!make_room(p, len))
		return;
	memcpy(prog->nodes + prog->nr, prog->nodes + start, len * sizeof(*prog->nodes));
	prog->nr += len;
}

/*
 * The nodes from @start to the end are those of "x". Change these nodes to the nodes of "x*".
 * add_plus() changes the nodes to those of "x+", and add_maybe() to those of "x?".
 */
static void add_star(struct parse *p, uint32_t start)
{
	int32_t len = p->prog->nr - start;

	insert_node(p, start, REGEX_SPLIT, len + 2);
	add_node(p, REGEX_JUMP, 0, -(len + 1));
}

static void add_plus(struct parse *p, uint32_t start)
{
	add_node(p, REGEX_SPLIT, 0, -(int32_t)(p->prog->nr - start));
}

static void add_maybe(struct parse *p, uint32_t start)
{
	insert_node(p, start, REGEX_SPLIT, p->prog->nr - start + 1);
}

static void repeat_nodes(struct parse *p, uint32_t start)
{
	uint32_t len = p->prog->nr - start;
	uint32_t last = start;
	long low;
	long high;

	if (!parse_interval(p, &low, &high))
		return;
	if (high == 0)
		p->prog->nr = start;
	if (len == 0 || high == 0)
		return;
	/*
	 * First make the copies that must match. Every copy is made from the nodes at @start, so
	 * these nodes must not change before the last copy is made. If low is 0, the last step
	 * makes the nodes at @start optional.
	 */
	for (long i = 1; i < MAX(low, 1L) && !has_failed(p); i++) {
		last = p->prog->nr;
		add_copy(p, start, len);
	}
	if (high == -1) {
		if (low)
			add_plus(p, last);
		else
			add_star(p, start);
		return;
	}
	for (long i = MAX(low, 1L); i < high && !has_failed(p); i++) {
		uint32_t copy = p->prog->nr;

		add_copy(p, start, len);
		add_maybe(p, copy);
	}
	if (low == 0)
		add_maybe(p, start);
}

static bool is_repetition(enum token_kind kind)
{
	return kind == TOKEN_STAR || kind == TOKEN_PLUS || kind == TOKEN_MAYBE ||
	       kind == TOKEN_BRACE;
}

static void parse_repetitions(struct parse *p, uint32_t start)
{
	for (; is_repetition(p->token.kind) && !has_failed(p); advance_token(p)) {
		switch (p->token.kind) {
		case TOKEN_STAR:
			add_star(p, start);
			break;
		case TOKEN_PLUS:
			add_plus(p, start);
			break;
		case TOKEN_MAYBE:
			add_maybe(p, start);
			break;
		default:
			repeat_nodes(p, start);
			break;
		}
	}
}

static void parse_piece(struct parse *p)
{
	uint32_t start = p->prog->nr;

	switch (p->token.kind) {
	case TOKEN_LOOK:
		add_node(p, REGEX_LOOK, p->token.value, 0);
		advance_token(p);
		return; /* a repetition cannot follow */
	case TOKEN_REFERENCE:
		fail_parse(
			p,
			"it refers back to a group, which cannot be found in any reasonable time");
		return;
	case TOKEN_STAR:
	case TOKEN_PLUS:
	case TOKEN_MAYBE:
	case TOKEN_BRACE:
		fail_parse(p, "a repetition has nothing before it");
		return;
	case TOKEN_BACKSLASH:
		fail_parse(p, "a '\\' has nothing after it");
		return;
	case TOKEN_OPEN:
		parse_group(p);
		break;
	case TOKEN_BRACKET:
		parse_bracket(p);
		break;
	case TOKEN_CLASS:
		add_escaped_class(p, p->token.value);
		break;
	case TOKEN_ANY:
		add_node(p, REGEX_ANY, 0, 0);
		break;
	default:
		add_node(p, REGEX_BYTE, p->token.value, 0);
		break;
	}
	if (has_failed(p))
		return;
	advance_token(p);
	parse_repetitions(p, start);
}

static bool is_at_end(const struct parse *p)
{
	return p->token.kind == TOKEN_END || p->token.kind == TOKEN_OR ||
	       (p->token.kind == TOKEN_CLOSE && p->depth);
}

static void parse_branches(struct parse *p)
{
	struct regex_prog *prog = p->prog;
	/*
	 * The jump at the end of the previous alternative, or -1. Until the common target of all
	 * jumps is known, each jump stores its distance to the previous jump.
	 */
	int32_t jump = -1;

	for (;;) {
		uint32_t start = prog->nr;

		while (!is_at_end(p) && !has_failed(p))
			parse_piece(p);
		if (p->token.kind != TOKEN_OR || has_failed(p))
			break;
		advance_token(p);
		insert_node(p, start, REGEX_SPLIT, prog->nr - start + 2);
		add_node(p, REGEX_JUMP, 0, jump < 0 ? 0 : (int32_t)prog->nr - jump);
		jump = prog->nr - 1;
	}
	while (jump >= 0 && !has_failed(p)) {
		int32_t back = prog->nodes[jump].to;

		prog->nodes[jump].to = prog->nr - jump;
		jump = back ? jump - back : -1;
	}
}

void regex_prog_deinit(struct regex_prog *prog)
{
	free(prog->nodes);
	free(prog->sets);
	*prog = (struct regex_prog){ 0 };
}

int regex_parse(const char *text, struct regex_prog *prog, struct uft_err *err)
{
	struct parse p = { .prog = prog, .at = text };

	*prog = (struct regex_prog){ 0 };
	advance_token(&p);
	parse_branches(&p);
	add_node(&p, REGEX_MATCH, 0, 0);
	if (!has_failed(&p))
		return 0;
	regex_prog_deinit(prog);
	if (p.why)
		return err_set(err, -ERR_USAGE, "%s", p.why);
	return err_set_errno(err, -ENOMEM, "cannot read a regular expression");
}
