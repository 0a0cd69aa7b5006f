/*
 * C++20 coroutines: their frames are on the heap; other functions resume and destroy them.
 * cflags: -std=c++20
 * only: gcc
 */
#include <coroutine>
#include <cstdio>
#include <exception>
#include <utility>

struct Generator {
	struct promise_type {
		int value = 0;
		std::exception_ptr error;
		Generator get_return_object()
		{
			return Generator{ std::coroutine_handle<promise_type>::from_promise(
				*this) };
		}
		std::suspend_always initial_suspend() noexcept
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		std::suspend_always yield_value(int v)
		{
			value = v;
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
			error = std::current_exception();
		}
	};
	std::coroutine_handle<promise_type> handle;

	explicit Generator(std::coroutine_handle<promise_type> h) : handle(h)
	{
	}
	Generator(Generator &&other) : handle(std::exchange(other.handle, {}))
	{
	}
	~Generator()
	{
		if (handle)
			handle.destroy();
	}
	bool next()
	{
		handle.resume();
		if (handle.promise().error)
			std::rethrow_exception(handle.promise().error);
		return !handle.done();
	}
};

static Generator numbers(int n)
{
	for (int i = 0; i < n; i++)
		co_yield i;
	if (n == 7)
		throw 42;
}

static Generator doubled(int n)
{
	auto source = numbers(n);

	while (source.next())
		co_yield source.handle.promise().value * 2;
}

int main()
{
	long sum = 0;
	int caught = 0;

	for (int n = 0; n < 100; n++) {
		auto g = doubled(n);

		try {
			while (g.next())
				sum += g.handle.promise().value;
		} catch (int value) {
			caught += value;
		}
		auto abandoned = doubled(n);
		if (n)
			abandoned.next();
	}
	printf("%ld %d\n", sum, caught);
}
