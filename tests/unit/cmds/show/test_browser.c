/* cmds/show/browser.c: words of $BROWSER. */
#include <stdlib.h>
#include <sys/wait.h>

#include "cmds/show/browser.h"
#include "tests/unit/lib/unit.h"

static void check(const char *text, const char *const *words)
{
	struct browser_command command;
	size_t i = 0;

	browser_command_init(&command, text, "http://x/%s");
	assert_non_null(command.args);
	for (; words[i]; i++)
		assert_string_equal(command.args[i], words[i]);
	assert_null(command.args[i]);
	browser_command_deinit(&command);
}

TEST(words_of_a_command)
{
	check("firefox", (const char *[]){ "firefox", "http://x/%s", NULL });
	check(" a  -b\t", (const char *[]){ "a", "-b", "http://x/%s", NULL });
	check("a --url=%s -q", (const char *[]){ "a", "--url=http://x/%s", "-q", NULL });
	check("a 100%% %d %", (const char *[]){ "a", "100%", "%d", "%", "http://x/%s", NULL });
	check("a %s%s", (const char *[]){ "a", "http://x/%shttp://x/%s", NULL });
	/* Words are not passed to a shell. */
	check("a;b $(c)", (const char *[]){ "a;b", "$(c)", "http://x/%s", NULL });
	check("", (const char *[]){ NULL });
	check("  ", (const char *[]){ NULL });
}

static int status_of(const char *browsers)
{
	int status;

	setenv("BROWSER", browsers, 1);

	pid_t pid = browser_start("http://127.0.0.1:1/");

	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WEXITSTATUS(status);
}

TEST(the_first_that_does_not_fail)
{
	assert_int_equal(status_of("true"), 0);
	assert_int_equal(status_of("false"), 1);
	assert_int_equal(status_of("/nosuch/browser:false::true"), 0);
	assert_int_equal(status_of("test x = %s:test x !="), 0);
}

TEST(without_any)
{
	unsetenv("BROWSER");
	unsetenv("DISPLAY");
	unsetenv("WAYLAND_DISPLAY");
	assert_int_equal(browser_start("x"), 0);
	setenv("BROWSER", ": :", 1);
	assert_int_equal(browser_start("x"), 0);
}
