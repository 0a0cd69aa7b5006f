/*
 * Matches names against regular expressions (see regex.h). The search reads a name byte by byte,
 * and follows all paths through the nodes in parallel. A state is the set of nodes that the paths
 * have reached. If a byte leads from one cached state to another cached state, the old state stores
 * a pointer to the new state. If the search meets this byte in the old state again, one look-up
 * finds the new state.
 */
#include "utils/spec/regex/regex.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/compiler.h"
#include "utils/spec/regex/regex_prog.h"

/*
 * The maximum number of cached states, and the maximum number of bytes of all cached states. If a
 * new state would exceed a maximum, all cached states are dropped.
 */
#define STATES_MAX 8192U
#define BYTES_MAX  (1U << 20)
#define BUCKETS	   256U

/*
 * A state of the search: the set of nodes at which the next byte is matched. Each set includes the
 * nodes of regex.begin, but @nodes does not list the nodes of regex.begin.
 *
 * @is_kept: true: the state is cached. False: the state does not have the member @after
 * @after: the next state for each class of bytes, or NULL when unknown; the last element is for the
 *         end of the name
 */
struct state {
	struct state *next; /* in the same bucket */
	uint32_t nr;
	bool at_start;
	bool after_word;
	bool is_kept;
	uint16_t *nodes;
	struct state *after[];
};

/*
 * @classes: the class of each byte value. All nodes treat the bytes of a class alike
 * @sample: a byte of each class
 * @list, @nr: the set of nodes that is being made
 * @marks: marks[i] equals @mark if node i was reached for the set that is being made
 * @begin, @nr_begin: a list of the possible first nodes of a match that begins after the start of
 *         the searched name
 * @begins: begins[i] is true if node i is in @begin
 * @found: the whole expression has matched
 * @none: the final state when no match is possible
 * @match: the final state when a match was found
 * @spare: the state for a set that cannot be cached
 * @era: how many times all states were dropped
 */
struct regex {
	struct regex_prog prog;
	pthread_mutex_t lock;
	bool has_words;
	uint16_t nr_classes;
	uint16_t classes[256];
	uint8_t sample[256];
	uint16_t *list;
	uint32_t nr;
	uint16_t *begin;
	uint32_t nr_begin;
	bool *begins;
	uint16_t *taken;
	uint16_t *stack;
	uint32_t *marks;
	uint32_t mark;
	bool found;
	struct state *first;
	struct state *none;
	struct state *match;
	struct state *spare;
	struct state *buckets[BUCKETS];
	uint32_t nr_states;
	uint32_t era;
	size_t bytes;
	size_t steps;
};

/* Split each class that has some bytes in @set and other bytes outside of @set. */
static void cut_classes(struct regex *re, const struct regex_set *set)
{
	int16_t numbers[2][256];

	memset(numbers, -1, sizeof(numbers));
	re->nr_classes = 0;
	for (unsigned c = 0; c < 256; c++) {
		int16_t *number = &numbers[regex_set_has(set, c)][re->classes[c]];

		if (*number < 0)
			*number = re->nr_classes++;
		re->classes[c] = *number;
	}
}

static void find_classes(struct regex *re)
{
	struct regex_set words = { 0 };

	re->nr_classes = 1;
	for (uint32_t i = 0; i < re->prog.nr; i++) {
		const struct regex_node *node = &re->prog.nodes[i];

		/* Each byte of the expression that is not in a set is a class of its own. */
		if (node->op == REGEX_BYTE && re->classes[node->value] == 0)
			re->classes[node->value] = re->nr_classes++;
		re->has_words |= node->op == REGEX_LOOK && node->value >= REGEX_LOOK_EDGE;
	}
	for (unsigned c = 0; c < 256; c++)
		words.bits[c / 64] |= (uint64_t)regex_is_word(c) << c % 64;
	if (re->has_words)
		cut_classes(re, &words);
	for (uint32_t i = 0; i < re->prog.nr_sets && re->nr_classes < 256; i++)
		cut_classes(re, &re->prog.sets[i]);
	for (unsigned c = 256; c-- > 0;)
		re->sample[re->classes[c]] = c;
}

static void find_beginning(struct regex *re);

struct regex *regex_create(const char *text, struct uft_err *err)
{
	struct regex *re = calloc(1, sizeof(*re));
	int ret = re ? regex_parse(text, &re->prog, err)
		     : err_set_errno(err, -ENOMEM, "cannot read a regular expression");

	if (ret < 0) {
		free(re);
		return NULL;
	}
	pthread_mutex_init(&re->lock, NULL);
	re->list = calloc(re->prog.nr, sizeof(*re->list));
	re->begin = calloc(re->prog.nr, sizeof(*re->begin));
	re->begins = calloc(re->prog.nr, sizeof(*re->begins));
	re->taken = calloc(re->prog.nr, sizeof(*re->taken));
	re->stack = calloc(re->prog.nr + 1, sizeof(*re->stack));
	re->marks = calloc(re->prog.nr, sizeof(*re->marks));
	re->none = calloc(1, sizeof(*re->none));
	re->match = calloc(1, sizeof(*re->match));
	re->spare = calloc(1, sizeof(*re->spare) + re->prog.nr * sizeof(*re->list));
	if (!re->list || !re->begin || !re->begins || !re->taken || !re->stack || !re->marks ||
	    !re->none || !re->match || !re->spare) {
		regex_destroy(re);
		err_set_errno(err, -ENOMEM, "cannot read a regular expression");
		return NULL;
	}
	re->spare->nodes = (uint16_t *)re->spare->after;
	find_classes(re);
	find_beginning(re);
	return re;
}

static void forget_states(struct regex *re)
{
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct state *state = re->buckets[i], *next; state; state = next) {
			next = state->next;
			free(state);
		}
		re->buckets[i] = NULL;
	}
	re->first = NULL;
	re->nr_states = 0;
	re->bytes = 0;
	re->era++;
}

void regex_destroy(struct regex *re)
{
	if (!re)
		return;
	forget_states(re);
	pthread_mutex_destroy(&re->lock);
	regex_prog_deinit(&re->prog);
	free(re->list);
	free(re->begin);
	free(re->begins);
	free(re->taken);
	free(re->stack);
	free(re->marks);
	free(re->none);
	free(re->match);
	free(re->spare);
	free(re);
}

static void begin_set(struct regex *re)
{
	re->nr = 0;
	/* After re->mark wraps around, old marks could be equal to it. */
	if (++re->mark == 0) {
		memset(re->marks, 0, re->prog.nr * sizeof(*re->marks));
		re->mark = 1;
	}
}

/* Add to the set all nodes that can be reached from node @at without matching a byte. */
static void add_reachable(struct regex *re, uint32_t at, bool is_start)
{
	uint32_t depth = 0;

	re->stack[depth++] = at;
	while (depth) {
		at = re->stack[--depth];
		/*
		 * @stack cannot overflow, because each node is marked only once, and the visit that
		 * marks a node pushes at most one other node.
		 */
		for (;;) {
			const struct regex_node *node = &re->prog.nodes[at];

			if (re->marks[at] == re->mark)
				break;
			re->marks[at] = re->mark;
			re->steps++;
			if (node->op == REGEX_MATCH) {
				re->found = true;
				break;
			}
			if (node->op == REGEX_LOOK && node->value == REGEX_LOOK_START) {
				if (!is_start)
					break;
				at++;
				continue;
			}
			if (node->op == REGEX_JUMP) {
				at += node->to;
				continue;
			}
			if (node->op != REGEX_SPLIT) {
				re->list[re->nr++] = at;
				break;
			}
			re->stack[depth++] = at + node->to;
			at++;
		}
	}
}

static void find_beginning(struct regex *re)
{
	begin_set(re);
	add_reachable(re, 0, false);
	memcpy(re->begin, re->list, re->nr * sizeof(*re->list));
	re->nr_begin = re->nr;
	for (uint32_t i = 0; i < re->nr_begin; i++)
		re->begins[re->begin[i]] = true;
}

/* True when the condition @look holds. @next: the next byte; -1: the end of the name. */
static bool looks(uint8_t look, bool after_word, int next)
{
	bool before_word = next >= 0 && regex_is_word(next);

	switch (look) {
	case REGEX_LOOK_END:
		return next < 0;
	case REGEX_LOOK_EDGE:
		return after_word != before_word;
	case REGEX_LOOK_NO_EDGE:
		return after_word == before_word;
	case REGEX_LOOK_WORD:
		return !after_word && before_word;
	case REGEX_LOOK_WORD_END:
		return after_word && !before_word;
	default:
		return false;
	}
}

static bool takes(const struct regex *re, const struct regex_node *node, uint8_t byte)
{
	switch (node->op) {
	case REGEX_BYTE:
		return node->value == byte;
	case REGEX_SET:
		return regex_set_has(&re->prog.sets[node->to], byte);
	default:
		return node->op == REGEX_ANY;
	}
}

static struct state **find_bucket(struct regex *re, bool after_word)
{
	uint64_t hash = 14695981039346656037ULL + after_word;

	for (uint32_t i = 0; i < re->nr; i++)
		hash = (hash ^ re->list[i]) * 1099511628211ULL;
	return &re->buckets[(hash ^ hash >> 32) % BUCKETS];
}

/* Copy the set in @re->list to the spare state. Each call of use_spare() overwrites this state. */
static struct state *use_spare(struct regex *re)
{
	re->spare->nr = re->nr;
	memcpy(re->spare->nodes, re->list, re->nr * sizeof(*re->list));
	return re->spare;
}

static struct state *new_state(struct regex *re)
{
	size_t nodes_at = sizeof(struct state) + (re->nr_classes + 1U) * sizeof(struct state *);
	size_t bytes = nodes_at + re->nr * sizeof(*re->list);

	if (re->nr_states == STATES_MAX || re->bytes + bytes > BYTES_MAX)
		forget_states(re);

	struct state *state = bytes > BYTES_MAX / 4 ? NULL : calloc(1, bytes);

	if (!state)
		return use_spare(re);
	state->nodes = (uint16_t *)((char *)state + nodes_at);
	state->nr = re->nr;
	state->is_kept = true;
	memcpy(state->nodes, re->list, re->nr * sizeof(*re->list));
	re->nr_states++;
	re->bytes += bytes;
	return state;
}

/* Find or make the state for the set in @re->list. */
static struct state *state_of_set(struct regex *re, bool at_start, bool after_word)
{
	uint32_t nr = 0;

	if (re->found)
		return re->match;
	for (uint32_t i = 0; i < re->nr; i++) {
		if (!re->begins[re->list[i]])
			re->list[nr++] = re->list[i];
	}
	re->nr = nr;
	if (nr + re->nr_begin == 0)
		return re->none;

	struct state **bucket = find_bucket(re, after_word);

	for (struct state *state = *bucket; state; state = state->next) {
		if (state->nr == re->nr && state->at_start == at_start &&
		    state->after_word == after_word &&
		    memcmp(state->nodes, re->list, re->nr * sizeof(*re->list)) == 0)
			return state;
	}

	struct state *state = new_state(re);

	state->at_start = at_start;
	state->after_word = after_word;
	if (state->is_kept) {
		state->next = *bucket;
		*bucket = state;
	}
	return state;
}

static struct state *first_state(struct regex *re)
{
	if (re->first)
		return re->first;
	re->found = false;
	begin_set(re);
	add_reachable(re, 0, true);

	struct state *state = state_of_set(re, true, false);

	if (state != re->spare)
		re->first = state;
	return state;
}

/*
 * Put the nodes of @state into the set. If one of these nodes is a condition, and the condition
 * holds before @next, add the nodes that can be reached from the condition.
 *
 * @next: the next byte of the searched name; -1: the end of this name
 */
static void look_around(struct regex *re, const struct state *state, int next)
{
	re->found = false;
	begin_set(re);
	for (uint32_t i = 0; i < state->nr; i++) {
		re->marks[state->nodes[i]] = re->mark;
		re->list[re->nr++] = state->nodes[i];
	}
	for (uint32_t i = 0; i < re->nr_begin; i++) {
		re->marks[re->begin[i]] = re->mark;
		re->list[re->nr++] = re->begin[i];
	}
	for (uint32_t i = 0; i < re->nr && !re->found; i++) {
		const struct regex_node *node = &re->prog.nodes[re->list[i]];

		re->steps++;
		if (node->op == REGEX_LOOK && looks(node->value, state->after_word, next))
			add_reachable(re, re->list[i] + 1, state->at_start);
	}
}

/* Find the state after @state. @class: class of the next byte; nr_classes: the end of the name. */
static struct state *next_state(struct regex *re, const struct state *state, unsigned class)
{
	int next = class < re->nr_classes ? re->sample[class] : -1;
	uint32_t nr = 0;

	look_around(re, state, next);
	if (re->found)
		return re->match;
	if (next < 0)
		return re->none;
	for (uint32_t i = 0; i < re->nr; i++) {
		if (takes(re, &re->prog.nodes[re->list[i]], next))
			re->taken[nr++] = re->list[i] + 1;
	}
	begin_set(re);
	for (uint32_t i = 0; i < nr && !re->found; i++)
		add_reachable(re, re->taken[i], false);
	return state_of_set(re, false, re->has_words && regex_is_word(next));
}

static struct state *step_state(struct regex *re, struct state *state, unsigned class)
{
	if (state->is_kept && state->after[class])
		return state->after[class];

	uint32_t era = re->era;
	struct state *next = next_state(re, state, class);

	if (era == re->era && state->is_kept && next != re->spare)
		state->after[class] = next;
	return next;
}

bool regex_finds(struct regex *re, const char *name, size_t len)
{
	pthread_mutex_lock(&re->lock);

	struct state *state = first_state(re);
	size_t at = 0;

	for (; at < len && state != re->match && state != re->none; at++)
		state = step_state(re, state, re->classes[(uint8_t)name[at]]);
	re->steps += at;
	if (state != re->match && state != re->none)
		state = step_state(re, state, re->nr_classes);

	bool found = state == re->match;

	pthread_mutex_unlock(&re->lock);
	return found;
}

size_t regex_steps(const struct regex *re)
{
	return re->steps;
}

size_t regex_steps_per_byte(const struct regex *re)
{
	/*
	 * A byte costs at most three steps for each node, and one step for the look-up of the
	 * state. The steps for a node are: examine the node as a member of the set, reach the node
	 * before the byte is matched, and reach the node after the byte is matched.
	 */
	return 3 * (size_t)re->prog.nr + 1;
}
