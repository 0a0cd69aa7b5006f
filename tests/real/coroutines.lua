-- Makes an interpreter use setjmp and longjmp thousands of times: yields across calls, errors through coroutines, deep
-- recursion inside them, finalizers, and C functions that call back. Prints lines that must be the same in each run.

local function result(name, ...)
	print("RESULT " .. name .. " " .. table.concat({ ... }, " "))
end

-- Generators inside generators.
local function numbers(n)
	return coroutine.wrap(function()
		for i = 1, n do
			coroutine.yield(i)
		end
	end)
end

local function filtered(source, predicate)
	return coroutine.wrap(function()
		for i in source do
			if predicate(i) then
				coroutine.yield(i)
			end
		end
	end)
end

local sum = 0
for i in filtered(filtered(numbers(20000), function(i) return i % 2 == 0 end), function(i) return i % 3 == 0 end) do
	sum = sum + i
end
result("generators", sum)

-- A thousand coroutines take turns; each ends by an error at another moment.
local alive, rounds, errors = {}, 0, 0
for i = 1, 1000 do
	alive[i] = coroutine.create(function(limit)
		for k = 1, limit do
			coroutine.yield(k)
		end
		error({ code = limit })
	end)
end
for i, co in ipairs(alive) do
	coroutine.resume(co, i % 17)
end
while #alive > 0 do
	rounds = rounds + 1
	for i = #alive, 1, -1 do
		local ok, what = coroutine.resume(alive[i])
		if not ok then
			errors = errors + (type(what) == "table" and 1 or 0)
			table.remove(alive, i)
		end
	end
end
result("errors", errors, rounds)

-- Errors pass many levels of pcall, and handlers throw them again.
local function nest(n)
	if n == 0 then
		error("bottom", 0)
	end
	local ok, what = pcall(nest, n - 1)
	error(what .. n % 10, 0)
end
for _ = 1, 100 do
	local _, what = pcall(nest, 100)
	assert(#what == 106)
end
result("nested", #select(2, pcall(nest, 100)))

-- Recursion that is too deep for the C stack, and for the Lua stack.
local function forever(n)
	return 1 + forever(n + 1)
end
result("overflow", tostring(pcall(forever, 1)))
local function wraps(n)
	return coroutine.wrap(function() return wraps(n + 1) end)()
end
result("coroutines overflow", tostring(pcall(wraps, 1)))
result("gsub", tostring(pcall(string.gsub, string.rep("a", 1000), ".", function(c)
	if math.random() < 0 then return c end
	error("inside gsub", 0)
end)))

-- yield across pcall, metamethods and iterators, and across sort's comparison, which is an error.
local co = coroutine.wrap(function()
	local t = setmetatable({}, { __index = function(_, k) return coroutine.yield(k) end })
	local ok, v = pcall(function() return t.one + t.two end)
	coroutine.yield(ok, v)
	return pcall(table.sort, { 3, 1, 2 }, function(a, b) coroutine.yield("never") return a < b end)
end)
result("metamethods", co(), co(40), tostring(co(2)), tostring((co())))

-- Finalizers raise errors while other errors are being handled.
local finalized = 0
for i = 1, 2000 do
	setmetatable({}, { __gc = function() finalized = finalized + 1 pcall(error, "in a finalizer") end })
	if i % 100 == 0 then
		pcall(function() collectgarbage() error("x") end)
	end
end
collectgarbage()
result("finalizers", finalized)

if coroutine.close then
	local closed = 0
	for _ = 1, 1000 do
		local c = coroutine.create(function()
			local x <close> = setmetatable({}, { __close = function() closed = closed + 1 end })
			coroutine.yield()
		end)
		coroutine.resume(c)
		coroutine.close(c)
	end
	result("closed", closed)
end
