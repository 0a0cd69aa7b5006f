/* std::string, long and short: by value, by reference, returned, and bad addresses. */
#include <string>

#ifdef __clang__
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noipa))
#endif
#define USE(x) __asm__ volatile("" : : "g"(x) : "memory")

KEPT int by_value(std::string s, int n)
{
	USE(&s);
	return n;
}

KEPT int by_reference(const std::string &s, int n)
{
	USE(&s);
	return n;
}

KEPT std::string made(int length)
{
	return std::string(length, 'm');
}

KEPT std::string joined(std::string a, std::string b)
{
	USE(&b);
	return a + b;
}

int main()
{
	std::string nothing;
	std::string inner("a\0b", 3);

	for (int length : { 0, 1, 15, 16, 22, 23, 97, 98, 99, 4000 }) {
		by_value(std::string(length, 'v'), length);
		by_reference(std::string(length, 'r'), length);
		made(length);
	}
	by_value(nothing, -1);
	by_value(inner, -2);
	joined("short", std::string(30, 'l'));

	/* Bad references, as by mistake; the program itself does not look at them. */
	by_reference(*(std::string *)nullptr, -3);
	by_reference(*(std::string *)0x10, -4);

	/* A string whose text is at a bad address. */
	unsigned long wild[4] = { 0x4141414141414141, 0x4141414141414141, 0x4141414141414141, 9 };

	by_reference(*(std::string *)wild, -5);
	return 0;
}
