/* The sample program of README's first example. To compile: gcc -pg shop.c -o shop */
#include <stdio.h>
#include <unistd.h>

#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#else
#define DTRACE_PROBE(provider, name)
#endif

static const int prices[] = { 3, 4, 5 };

int price(int article)
{
	return prices[article];
}

int total(void)
{
	int sum = 0;

	for (int article = 0; article < 3; article++)
		sum += price(article);
	return sum;
}

void deliver(void)
{
	DTRACE_PROBE(shop, sent);
	usleep(2000);
}

int main(void)
{
	printf("%d to pay\n", total());
	deliver();
	return 0;
}
