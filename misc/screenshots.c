/* A small server. -DAFTER makes a changed version, which has a cache and a slower log. */
#define F __attribute__((noinline)) void

static volatile int sink;

F spin(int n)
{
	for (int i = 0; i < n * 1000; i++)
		sink++;
}
F read_request(void)
{
	spin(3);
}
F parse_header(void)
{
	spin(2);
}
F parse(void)
{
	read_request();
	for (int i = 0; i < 6; i++)
		parse_header();
}
F compare_keys(void)
{
	spin(1);
}
F search_table(int n)
{
	for (int i = 0; i < n; i++)
		compare_keys();
}
F escape_html(void)
{
	spin(4);
}
F render_row(void)
{
	escape_html();
}
F render(void)
{
	for (int i = 0; i < 8; i++)
		render_row();
}
#ifdef AFTER
F hash_key(void)
{
	spin(2);
}
F look_into_cache(void)
{
	hash_key();
	search_table(2);
}
F format_time(void)
{
	spin(9);
}
F write_log(void)
{
	format_time();
	spin(4);
}
#else
F sort_rows(void)
{
	spin(14);
}
F query(void)
{
	search_table(24);
	sort_rows();
}
F write_log(void)
{
	spin(4);
}
#endif
F answer(void)
{
	parse();
#ifdef AFTER
	look_into_cache();
#else
	query();
#endif
	render();
	write_log();
}
int main(void)
{
	for (int i = 0; i < 200; i++)
		answer();
	return 0;
}
