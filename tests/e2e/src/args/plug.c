/* A library that is loaded late. */
int plug(const char *s, double d);

int plug(const char *s, double d)
{
	return d;
}
