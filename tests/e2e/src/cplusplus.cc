/*
 * Templates, namespaces, operators, virtual functions, lambdas, and objects that live before and
 * after main.
 * ignore: __static_initialization_and_destruction_0 _GLOBAL__sub_I_* __cxx_global_var_init*
 * tree: shapes::Early::Early{}main{twice{}twice{}shapes::Circle::Circle{shapes::Shape::Shape{}}
 *      shapes::Circle::area{}shapes::operator+{}Functor::operator(){}
 *      shapes::Circle::~Circle{shapes::Shape::~Shape{}}}shapes::Early::~Early{}
 */
#include "program.h"

template <typename T> FN T twice(T value)
{
	KEEP();
	return value + value;
}

namespace shapes
{
struct Early {
	FN Early()
	{
		KEEP();
	}
	FN ~Early()
	{
		KEEP();
	}
};

struct Shape {
	FN Shape()
	{
		KEEP();
	}
	FN virtual ~Shape()
	{
		KEEP();
	}
	virtual int area() = 0;
};

struct Circle : Shape {
	int r;

	FN explicit Circle(int radius) : r(radius)
	{
		KEEP();
	}
	FN ~Circle() override
	{
		KEEP();
	}
	FN int area() override
	{
		KEEP();
		return 3 * r * r;
	}
};

struct Point {
	int x, y;
};

FN Point operator+(Point a, Point b)
{
	KEEP();
	return { a.x + b.x, a.y + b.y };
}
} // namespace shapes

struct Functor {
	FN int operator()(int n) const
	{
		KEEP();
		return n;
	}
};

static shapes::Early early;

int main()
{
	int n = twice(3) + (int)twice(1.5);

	{
		shapes::Circle circle(2);
		shapes::Shape *volatile shape = &circle;
		shapes::Point p = { 1, 2 };

		n += shape->area();
		n += (p + p).x;
		n += Functor()(5);
	}
	printf("%d\n", n);
	return 0;
}
