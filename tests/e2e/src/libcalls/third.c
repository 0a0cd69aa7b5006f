int which(void);

int which(void)
{
	return 3;
}
