/*
 * C++ exceptions: caught at a distance, thrown again, thrown while another one is handled, and
 * passing destructors.
 * status: 3
 * tree: main{catches{Guard::Guard{}middle{thrower{}}Guard::~Guard{}after{}}
 *      rethrows{catches_inner{thrower{}}after{}}after{}}
 */
#include "program.h"

struct Error {
	int code;
};

LEAF(after)

struct Guard {
	FN Guard()
	{
		KEEP();
	}
	FN ~Guard()
	{
		KEEP();
	}
};

FN int thrower(int n)
{
	if (n)
		throw Error{ n };
	return 0;
}

FN int middle(int n)
{
	int r = thrower(n) + 1;

	KEEP();
	return r;
}

FN int catches()
{
	try {
		Guard guard;

		middle(1);
	} catch (const Error &e) {
		after();
		return e.code;
	}
	return 50;
}

FN void catches_inner()
{
	try {
		thrower(2);
	} catch (const Error &e) {
		throw;
	}
}

FN int rethrows()
{
	int r = 50;

	try {
		catches_inner();
	} catch (const Error &e) {
		r = e.code;
	}
	after();
	KEEP();
	return r;
}

int main()
{
	int r = catches();

	r += rethrows();
	after();
	return r;
}
