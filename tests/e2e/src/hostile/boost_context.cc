/*
 * Fibers of Boost.Context, which switch by hand-written assembly: they throw, are unwound half-way,
 * and nest.
 * ldflags: -lboost_context
 */
#include <boost/context/fiber.hpp>
#include <cstdio>
#include <stdexcept>

namespace ctx = boost::context;

static int destroyed, leaves;

struct Guard {
	~Guard()
	{
		destroyed++;
	}
};

__attribute__((noinline)) static int leaf(int n)
{
	leaves++;
	if (n < 0)
		throw std::runtime_error("negative");
	return n + 1;
}

__attribute__((noinline)) static int generate(ctx::fiber &caller, int n)
{
	Guard guard;
	int sum = leaf(n);

	caller = std::move(caller).resume();
	sum += leaf(n);
	return sum;
}

int main()
{
	int total = 0;

	for (int round = 0; round < 200; round++) {
		ctx::fiber a{ [&](ctx::fiber &&caller) {
			Guard guard;
			for (int i = 0; i < 20; i++)
				total += generate(caller, i);
			try {
				leaf(-1);
			} catch (const std::runtime_error &) {
				total += 1000;
			}
			return std::move(caller);
		} };
		ctx::fiber b{ [&](ctx::fiber &&caller) {
			for (;;)
				total += generate(caller, 1);
			return std::move(caller);
		} };

		while (a) {
			a = std::move(a).resume();
			if (b)
				b = std::move(b).resume();
		}
		// b is destroyed here: its stack is unwound.
	}
	printf("%d %d %d\n", total, destroyed, leaves);
}
