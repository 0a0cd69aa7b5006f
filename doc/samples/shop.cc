// The sample program of README's example with arguments. To compile: g++ -g -O1 -pg shop.cc -o shop
#include <cstdio>
#include <string>
#include <unistd.h>
#include <vector>

#define NOINLINE __attribute__((noinline))

struct Point {
	int x, y;
};

enum Color { Red, Green };

NOINLINE double price_of(const double *article)
{
	return *article;
}

NOINLINE double total(const std::vector<double> &articles)
{
	double sum = 0;

	for (const double &article : articles)
		sum += price_of(&article);
	return sum;
}

NOINLINE Point move(Point from, int dx, int dy)
{
	return { from.x + dx, from.y + dy };
}

NOINLINE float half(float value, float shift)
{
	return (value + 2 * shift) / 2;
}

NOINLINE std::string paint(Color color, std::string what)
{
	return what + (color == Red ? " red" : " green");
}

int main()
{
	std::vector<double> articles = { 3, 3.25 };

	printf("%.2f\n", total(articles));
	int x = move({ 1, 2 }, 3, 4).x;
	float y = half(3, 1);
	size_t length = paint(Red, "box").size();
	usleep(1000);
	return x == 4 && y == 2.5f && length == 7 ? 0 : 1;
}
