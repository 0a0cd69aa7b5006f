/* A program that does nothing: what remains is the price of starting. */
int main(void)
{
	return 0;
}
