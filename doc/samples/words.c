/* The program of utrail-tutorial(7), which counts the words of a text and takes too long: gcc -g -O1 -pg words.c -o words */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number of lists that words are kept in; the pause after each hundred words, in microseconds. */
#ifndef LISTS
#define LISTS 1
#endif
#ifndef PAUSE_US
#define PAUSE_US 2000
#endif

struct word {
	struct word *next;
	int count;
	char text[32];
};

static struct word *lists[LISTS];

int same(const struct word *word, const char *text)
{
	return strcmp(word->text, text) == 0;
}

unsigned list_of(const char *text)
{
	unsigned sum = 0;

	for (; *text; text++)
		sum = sum * 31 + (unsigned char)*text;
	return sum % LISTS;
}

struct word *find(const char *text)
{
	struct word **link = &lists[list_of(text)];

	while (*link && !same(*link, text))
		link = &(*link)->next;
	if (!*link) {
		*link = calloc(1, sizeof(**link));
		if (!*link)
			abort();
		strcpy((*link)->text, text);
	}
	return *link;
}

int next_word(FILE *file, char *text)
{
	int c, len = 0;

	while ((c = getc_unlocked(file)) != EOF && !isalpha(c))
		;
	for (; c != EOF && isalpha(c); c = getc_unlocked(file)) {
		if (len < 31)
			text[len++] = tolower(c);
	}
	text[len] = '\0';
	return len;
}

void show_progress(int nr)
{
	fprintf(stderr, "\r%d words", nr);
	if (PAUSE_US)
		usleep(PAUSE_US);
}

void count(FILE *file)
{
	char text[32];
	int nr = 0;

	while (next_word(file, text)) {
		find(text)->count++;
		if (++nr % 100 == 0)
			show_progress(nr);
	}
}

int main(void)
{
	const struct word *most = NULL;

	count(stdin);
	for (int i = 0; i < LISTS; i++) {
		for (const struct word *word = lists[i]; word; word = word->next) {
			if (!most || word->count > most->count)
				most = word;
		}
	}
	fprintf(stderr, "\r");
	if (most)
		printf("most often: %s, %d times\n", most->text, most->count);
	return 0;
}
