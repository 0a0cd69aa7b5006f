-- Common work of Lua programs, through many of the interpreter's functions: calls, tables, strings, closures, coroutines.
-- work.lua ROUNDS [without]: "without" leaves out coroutines: after their longjmp(), uftrace records nothing more.
local rounds = tonumber(arg[1])

local function fib(n)
	return n < 2 and n or fib(n - 1) + fib(n - 2)
end

local function sort(n)
	local t = {}
	local seed = 42
	for i = 1, n do
		seed = (seed * 1103515245 + 12345) % 2147483648
		t[i] = seed
	end
	table.sort(t, function(a, b) return a < b end)
	return t[1] + t[n]
end

local function words(n)
	local count = {}
	for i = 1, n do
		local text = string.format("word%d of %d", i % 97, n)
		for word in text:gmatch("%a+%d*") do
			count[word] = (count[word] or 0) + 1
		end
	end
	return count.of
end

local function objects(n)
	local point = {}
	point.__index = point
	point.__add = function(a, b) return setmetatable({ x = a.x + b.x }, point) end
	local sum = setmetatable({ x = 0 }, point)
	for i = 1, n do
		sum = sum + setmetatable({ x = i }, point)
	end
	return sum.x
end

local function generate(n)
	local sum = 0
	for i in coroutine.wrap(function() for i = 1, n do coroutine.yield(i) end end) do
		sum = sum + i
	end
	return sum
end

for _ = 1, rounds do
	print(fib(18), sort(2000), words(1000), objects(5000), arg[2] ~= "without" and generate(5000))
end
