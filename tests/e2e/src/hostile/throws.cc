/*
 * Exceptions in unusual places: from destructors, in handlers, nested, through C code. And
 * exceptions that are not of C++.
 */
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <unwind.h>

static std::string story;

struct Late {
	~Late() noexcept(false)
	{
		if (!std::uncaught_exceptions())
			throw std::runtime_error("destructor");
		story += 'L';
	}
};

__attribute__((noinline)) static void thrower(int n)
{
	Late late;

	if (n)
		throw n;
}

__attribute__((noinline)) static void in_handler(int n)
{
	try {
		thrower(n);
	} catch (int value) {
		if (value > 1)
			in_handler(value - 1);
		story += static_cast<char>('0' + value);
		throw std::to_string(value);
	} catch (const std::exception &e) {
		story += e.what()[0];
	}
}

__attribute__((noinline)) static void nests(int n)
{
	try {
		if (n == 0)
			throw std::logic_error("inner");
		nests(n - 1);
	} catch (...) {
		std::throw_with_nested(std::runtime_error("outer"));
	}
}

static int depth_of(const std::exception &e)
{
	try {
		std::rethrow_if_nested(e);
	} catch (const std::exception &inner) {
		return 1 + depth_of(inner);
	}
	return 1;
}

static void forget(_Unwind_Reason_Code, _Unwind_Exception *e)
{
	free(e);
}

__attribute__((noinline)) static void foreign()
{
	auto *e = static_cast<_Unwind_Exception *>(calloc(1, sizeof(_Unwind_Exception)));

	e->exception_class = 0x1234;
	e->exception_cleanup = forget;
	_Unwind_RaiseException(e);
	abort();
}

static int compare(const void *a, const void *b)
{
	if (*static_cast<const int *>(a) == 13)
		throw std::bad_alloc();
	return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

int main()
{
	for (int i = 0; i < 50; i++) {
		try {
			in_handler(i % 5);
		} catch (const std::string &text) {
			story += text;
		}
		try {
			nests(10);
		} catch (const std::exception &e) {
			story += std::to_string(depth_of(e));
		}
		try {
			foreign();
		} catch (...) {
			story += 'f';
		}
		try {
			int values[] = { 3, 13, 2, 13 };

			qsort(values, 4, sizeof(int), compare);
		} catch (const std::bad_alloc &) {
			story += 'q';
		}
	}
	printf("%zu %s\n", story.size(), story.substr(0, 200).c_str());
}
