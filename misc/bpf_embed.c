/*
 * Converts an eBPF program to C source while utrail is built: bpf_embed PROGRAM.o OUT.h.
 *
 * libbpf generates a loader, which is an eBPF program that loads the given program inside of the
 * kernel (a "light skeleton", bpf_object__gen_loader()). So utrail need not read the types of the
 * kernel. A second loader leaves out the programs that follow files.
 */
#include <bpf/libbpf.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Programs of follow.bpf.c that only follow files. */
static const char *const of_files[] = { "see_call", "see_result" };

static bool is_of_files(const char *name)
{
	for (size_t i = 0; i < sizeof(of_files) / sizeof(*of_files); i++) {
		if (strcmp(of_files[i], name) == 0)
			return true;
	}
	return false;
}

/* Prints libbpf's warnings, and no other messages. */
static int print_warning(enum libbpf_print_level level, const char *format, va_list args)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, args) : 0;
}

/*
 * Stores NAME, in capitals, for a "name" or ".section.name". Returns false if the name is not a
 * word, like that of ".str1.1".
 */
static bool constant_of(const char *name, char *out, size_t size)
{
	const char *dot = strrchr(name, '.');
	size_t len = 0;

	for (const char *c = dot ? dot + 1 : name; *c && len + 1 < size; c++)
		out[len++] = toupper((unsigned char)*c);
	out[len] = '\0';
	return isalpha((unsigned char)*out);
}

static void write_bytes(FILE *out, const char *name, const char *bytes, uint32_t size)
{
	fprintf(out, "static const uint8_t %s[] __attribute__((aligned(8))) = {", name);
	for (uint32_t i = 0; i < size; i++)
		fprintf(out, "%s%u,", i % 24 ? " " : "\n\t", (uint8_t)bytes[i]);
	fprintf(out, "\n};\n\n");
}

/*
 * Writes the numbers of maps. A number is the index of the map in the loader's context. Programs
 * are numbered in the same way.
 */
static void write_maps(FILE *out, const struct bpf_object *object)
{
	struct bpf_map *map;
	unsigned nr = 0;

	fprintf(out, "enum {\n");
	bpf_object__for_each_map(map, object)
	{
		char name[64];

		if (constant_of(bpf_map__name(map), name, sizeof(name)))
			fprintf(out, "\tFOLLOW_%s = %u,\n\tFOLLOW_%s_BYTES = %u,\n", name, nr, name,
				bpf_map__value_size(map));
		nr++;
	}
	fprintf(out, "\tFOLLOW_MAPS = %u,\n};\n\n", nr);
}

static unsigned choose_programs(const struct bpf_object *object, bool with_files)
{
	struct bpf_program *program;
	unsigned nr = 0;

	bpf_object__for_each_program(program, object)
	{
		bool is_chosen = with_files || !is_of_files(bpf_program__name(program));

		bpf_program__set_autoload(program, is_chosen);
		nr += is_chosen;
	}
	return nr;
}

static int write_loader(FILE *out, const char *path, const char *name, bool with_files)
{
	DECLARE_LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "utrail");
	DECLARE_LIBBPF_OPTS(gen_loader_opts, loader);
	struct bpf_object *object = bpf_object__open_file(path, &opts);
	char bytes_name[64];
	unsigned nr;
	int ret;

	if (!object)
		return -1;
	nr = choose_programs(object, with_files);
	ret = bpf_object__gen_loader(object, &loader);
	if (ret == 0)
		ret = bpf_object__load(object);
	if (ret == 0) {
		if (with_files)
			write_maps(out, object);
		snprintf(bytes_name, sizeof(bytes_name), "%s_data", name);
		write_bytes(out, bytes_name, loader.data, loader.data_sz);
		snprintf(bytes_name, sizeof(bytes_name), "%s_code", name);
		write_bytes(out, bytes_name, loader.insns, loader.insns_sz);
		fprintf(out, "#define %s_PROGRAMS %u\n\n", with_files ? "FOLLOW_FILES" : "FOLLOW",
			nr);
	}
	bpf_object__close(object);
	return ret;
}

int main(int argc, char **argv)
{
	FILE *out = argc == 3 ? fopen(argv[2], "w") : NULL;
	int ret;

	libbpf_set_print(print_warning);
	if (!out) {
		fprintf(stderr, "bpf_embed: usage: bpf_embed PROGRAM.o OUT.h\n");
		return 2;
	}
	fprintf(out, "/* Made from follow.bpf.c by bpf_embed.c. */\n#include <stdint.h>\n\n");
	ret = write_loader(out, argv[1], "follow_files", true);
	if (ret == 0)
		ret = write_loader(out, argv[1], "follow", false);
	if (ret < 0)
		fprintf(stderr, "bpf_embed: libbpf makes no loader of %s: %s\n", argv[1],
			strerror(-ret));
	return fclose(out) == 0 && ret == 0 ? 0 : 1;
}
