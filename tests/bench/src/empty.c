/* A program that does nothing: it measures the price of starting. */
int main(void)
{
	return 0;
}
