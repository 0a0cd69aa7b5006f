/* Split debug information (see dwarf_split.h). */
#include "utils/object/dwarf/dwarf_split.h"

#include <dwarf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/compiler.h"
#include "utils/base/path.h"
#include "utils/format/bytes.h"

/* The maximum size of an unpacked section, as a multiple of the size of its file. */
#define UNPACKED_PER_BYTE 16
/*
 * The most columns of a package's table. A table has at most one column for each kind of section.
 * Version 2 of the package format, a GNU extension of DWARF 4, has the most kinds.
 */
#define COLUMNS_MAX	  8

/*
 * A section of the ELF file that make_file() makes. @name: the section's name in this ELF file. In
 * a split file or a package, ".dwo" follows the name.
 */
struct part {
	const char *name;
	const void *data;
	size_t size;
};

/*
 * The sections of a split unit, and their numbers in tables of packages. Version 5 of the package
 * format is in DWARF 5 section 7.3.5.3. Version 2 is a GNU extension of DWARF 4.
 */
static const struct {
	const char *name;
	uint8_t in_version_5;
	uint8_t in_version_2;
} kinds[] = {
	{ ".debug_info", 1, 1 },     { ".debug_types", 0, 2 },	     { ".debug_abbrev", 3, 3 },
	{ ".debug_line", 4, 4 },     { ".debug_loclists", 5, 0 },    { ".debug_loc", 0, 5 },
	{ ".debug_rnglists", 8, 0 }, { ".debug_str_offsets", 6, 6 }, { ".debug_str", 0, 0 },
};

#define NR_PARTS (ARRAY_SIZE(kinds) + 2)

struct parts {
	struct part at[NR_PARTS];
	size_t nr;
};

/*
 * Get the bytes of section @name. A compressed section is unpacked. Returns false when the section
 * is missing or empty, cannot be unpacked, or exceeds the limit of unpacked sections
 * (UNPACKED_PER_BYTE).
 */
static bool section_bytes(const struct elf_file *file, const char *name, struct part *part)
{
	struct elf_section sec;
	GElf_Chdr packed;

	if (!elf_section_by_name(file, name, &sec) || !sec.data || !sec.data->d_size)
		return false;
	if (sec.head.sh_flags & SHF_COMPRESSED) {
		Elf_Scn *scn = NULL;
		GElf_Shdr head;

		while ((scn = elf_nextscn(file->elf, scn))) {
			if (gelf_getshdr(scn, &head) && head.sh_offset == sec.head.sh_offset &&
			    head.sh_flags & SHF_COMPRESSED)
				break;
		}
		if (!scn || !gelf_getchdr(scn, &packed) ||
		    packed.ch_size > UNPACKED_PER_BYTE * file->size ||
		    elf_compress(scn, 0, 0) < 0 || !(sec.data = elf_getdata(scn, NULL)))
			return false;
	}
	part->data = sec.data->d_buf;
	part->size = sec.data->d_size;
	return true;
}

static void add_part(struct parts *parts, const char *name, struct part bytes)
{
	if (!bytes.size)
		return;
	bytes.name = name;
	parts->at[parts->nr++] = bytes;
}

static bool split_section(const struct elf_file *file, size_t i, struct part *part)
{
	char name[32];

	snprintf(name, sizeof(name), "%s.dwo", kinds[i].name);
	return section_bytes(file, name, part);
}

static void parts_of_file(const struct elf_file *file, struct parts *parts)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct part bytes = { 0 };

		if (split_section(file, i, &bytes))
			add_part(parts, kinds[i].name, bytes);
	}
}

/*
 * The most slots that a look-up examines. A table is at most two thirds full (DWARF 5 section
 * 7.3.5.3), so a few slots are enough.
 */
#define PROBES_MAX 1024

/* The table of units of a package, .debug_cu_index. */
struct index {
	const uint8_t *data;
	size_t size;
	bool is_big_endian;
	bool is_version_5;
	uint32_t nr_columns;
	uint32_t nr_units;
	uint32_t nr_slots;
};

#define INDEX_HEAD_BYTES 16

static uint32_t index_u32(const struct index *index, size_t offset)
{
	return get_u32(index->data + offset, index->is_big_endian);
}

static size_t slots_bytes(const struct index *index)
{
	return (size_t)index->nr_slots * (8 + 4);
}

static bool open_index(const struct elf_file *package, struct index *index)
{
	struct part bytes;

	if (!section_bytes(package, ".debug_cu_index", &bytes) || bytes.size < INDEX_HEAD_BYTES)
		return false;
	*index = (struct index){
		.data = bytes.data,
		.size = bytes.size,
		.is_big_endian = package->head.e_ident[EI_DATA] == ELFDATA2MSB,
	};
	/*
	 * The index begins with a version number. In version 5, this number has two bytes, and two
	 * zero bytes follow. In version 2, the number has four bytes.
	 */
	index->is_version_5 = get_u16(index->data, index->is_big_endian) == 5;
	index->nr_columns = index_u32(index, 4);
	index->nr_units = index_u32(index, 8);
	index->nr_slots = index_u32(index, 12);
	if (!index->is_version_5 && index_u32(index, 0) != 2)
		return false;
	if (index->nr_columns > COLUMNS_MAX || index->nr_slots & (index->nr_slots - 1) ||
	    index->nr_slots > index->size / 12 || index->nr_units > index->size / 4)
		return false;
	/*
	 * The slots are followed by a row of section numbers, the rows of offsets, and the rows of
	 * sizes.
	 */
	return INDEX_HEAD_BYTES + slots_bytes(index) +
		       4ULL * index->nr_columns * (1 + 2ULL * index->nr_units) <=
	       index->size;
}

/*
 * Find the row of unit @id. Rows are counted from 0. Returns false when the package lacks the unit.
 */
static bool find_row(const struct index *index, uint64_t id, uint32_t *row)
{
	uint32_t mask = index->nr_slots - 1;
	uint32_t slot = id & mask;

	for (uint32_t i = 0; i < MIN(index->nr_slots, (uint32_t)PROBES_MAX); i++) {
		size_t at = INDEX_HEAD_BYTES + 8 * (size_t)slot;
		uint32_t number = index_u32(index, INDEX_HEAD_BYTES + 8 * (size_t)index->nr_slots +
							   4 * slot);

		if (!number)
			return false;
		if (get_u64(index->data + at, index->is_big_endian) == id) {
			*row = number - 1;
			return number <= index->nr_units;
		}
		slot = (slot + ((id >> 32 & mask) | 1)) & mask;
	}
	return false;
}

/*
 * Returns the part of section @whole for row @row. @number: number of the section; 0: all units
 * share the whole section.
 */
static struct part piece(const struct index *index, uint32_t row, uint8_t number, struct part whole)
{
	size_t columns = INDEX_HEAD_BYTES + slots_bytes(index);
	size_t row_bytes = 4 * (size_t)index->nr_columns;
	size_t offsets = columns + row_bytes * (1 + (size_t)row);
	size_t sizes = offsets + row_bytes * index->nr_units;

	for (uint32_t i = 0; number && i < index->nr_columns; i++) {
		if (index_u32(index, columns + 4 * i) != number)
			continue;

		uint64_t offset = index_u32(index, offsets + 4 * i);
		uint64_t size = index_u32(index, sizes + 4 * i);

		if (offset + size > whole.size)
			return (struct part){ 0 };
		return (struct part){ NULL, (const char *)whole.data + offset, size };
	}
	return number ? (struct part){ 0 } : whole;
}

/*
 * A package. Its sections are unpacked once, and not again for each skeleton: a hostile program may
 * have any number of skeletons.
 *
 * @sections: in the order of @kinds
 */
struct dwarf_package {
	struct elf_file file;
	struct index index;
	struct part sections[ARRAY_SIZE(kinds)];
};

static void close_package(struct dwarf_package *package)
{
	if (!package)
		return;
	elf_file_close(&package->file);
	free(package);
}

static struct dwarf_package *open_package(const char *module)
{
	struct dwarf_package *package = calloc(1, sizeof(*package));
	char path[PATH_MAX];

	if (!package)
		return NULL;
	package->file = (struct elf_file)ELF_FILE_CLOSED;
	if (snprintf(path, sizeof(path), "%s.dwp", module) >= (int)sizeof(path) ||
	    elf_file_open(&package->file, path, NULL) < 0 ||
	    !open_index(&package->file, &package->index)) {
		close_package(package);
		return NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		split_section(&package->file, i, &package->sections[i]);
	return package;
}

/* Look up unit @id in @package, and add the unit's sections to @parts. */
static void parts_of_package(const struct dwarf_package *package, uint64_t id, struct parts *parts)
{
	const struct index *index = &package->index;
	uint32_t row;

	if (!find_row(index, id, &row))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		uint8_t number = index->is_version_5 ? kinds[i].in_version_5
						     : kinds[i].in_version_2;
		bool is_shared = !kinds[i].in_version_5 && !kinds[i].in_version_2;

		if (number || is_shared)
			add_part(parts, kinds[i].name,
				 piece(index, row, number, package->sections[i]));
	}
}

void dwarf_splits_init(struct dwarf_splits *splits, const struct elf_file *from, const char *path)
{
	*splits = (struct dwarf_splits){
		.from = from,
		.path = path,
		.bytes_left = SPLIT_READ_PER_BYTE * from->size + (SPLIT_READ_MORE_MB << 20),
	};
}

void dwarf_splits_deinit(struct dwarf_splits *splits)
{
	close_package(splits->package);
	free(splits->missing);
	splits->missing = NULL;
}

/*
 * Count @bytes bytes as read. Returns false, and counts nothing, when fewer than @bytes bytes may
 * still be read.
 */
static bool take_bytes(struct dwarf_splits *splits, uint64_t bytes)
{
	if (bytes > splits->bytes_left) {
		splits->is_too_much |= !splits->nr_missing;
		return false;
	}
	splits->bytes_left -= bytes;
	return true;
}

/*
 * Add section @name of the module, from an offset on. The offset is the value of the skeleton's
 * attribute @base, in bytes, or 0 if the skeleton has no such attribute.
 */
static void add_part_of_module(struct parts *parts, const struct elf_file *module, const char *name,
			       Dwarf_Die *skeleton, unsigned base)
{
	struct part bytes = { 0 };
	Dwarf_Attribute attr;
	Dwarf_Word offset = 0;

	if (!section_bytes(module, name, &bytes))
		return;
	if (dwarf_attr(skeleton, base, &attr) && dwarf_formudata(&attr, &offset) != 0)
		return;
	if (offset >= bytes.size)
		return;
	bytes.data = (const char *)bytes.data + offset;
	bytes.size -= offset;
	add_part(parts, name, bytes);
}

/* Add a section to @elf. @name_at: the offset of the section's name in the section of names. */
static bool add_section(Elf *elf, size_t name_at, uint32_t type, const void *bytes, size_t size)
{
	Elf_Scn *scn = elf_newscn(elf);
	Elf_Data *data = scn ? elf_newdata(scn) : NULL;
	GElf_Shdr head;

	if (!data || !gelf_getshdr(scn, &head))
		return false;
	data->d_buf = (void *)bytes;
	data->d_size = size;
	data->d_type = ELF_T_BYTE;
	data->d_align = 1;
	data->d_version = EV_CURRENT;
	head.sh_name = name_at;
	head.sh_type = type;
	head.sh_size = size;
	return gelf_update_shdr(scn, &head);
}

/* Make an ELF file in memory from @parts. libdw reads the file as plain debug information. */
static bool make_file(struct dwarf_split *split, const struct elf_file *module,
		      const struct parts *parts)
{
	size_t len = 1; /* the first name is the empty one */
	GElf_Ehdr head;

	/* The descriptor must be valid, although the file is never written. */
	split->elf = elf_begin(module->fd, ELF_C_WRITE, NULL);
	if (!split->elf || !gelf_newehdr(split->elf, module->head.e_ident[EI_CLASS]) ||
	    !gelf_getehdr(split->elf, &head))
		return false;
	head.e_ident[EI_DATA] = module->head.e_ident[EI_DATA];
	head.e_machine = module->head.e_machine;
	head.e_type = ET_REL;
	head.e_version = EV_CURRENT;
	head.e_shstrndx = parts->nr + 1;
	if (!gelf_update_ehdr(split->elf, &head))
		return false;
	for (size_t i = 0; i < parts->nr; i++) {
		const struct part *part = &parts->at[i];

		if (!add_section(split->elf, len, SHT_PROGBITS, part->data, part->size))
			return false;
		len += snprintf(split->names + len, sizeof(split->names) - len, "%s", part->name) +
		       1;
	}
	return add_section(split->elf, 0, SHT_STRTAB, split->names, sizeof(split->names));
}

/*
 * Returns the number that a unit and its skeleton share, or 0 when the unit has no such number. In
 * DWARF 5, the number is in the header of the unit. In GNU's extension of DWARF 4, the number is an
 * attribute.
 */
static uint64_t unit_id(Dwarf_CU *unit, Dwarf_Die *die)
{
	Dwarf_Half version;
	uint64_t id = 0;
	Dwarf_Attribute attr;
	Dwarf_Word number;

	if (dwarf_cu_info(unit, &version, NULL, NULL, NULL, &id, NULL, NULL) < 0)
		return 0;
	if (version < 5 && dwarf_attr(die, DW_AT_GNU_dwo_id, &attr) &&
	    dwarf_formudata(&attr, &number) == 0)
		id = number;
	return id;
}

static bool find_unit(struct dwarf_split *split, uint64_t id)
{
	Dwarf_CU *unit = NULL;
	uint8_t type;

	while (dwarf_get_units(split->dwarf, unit, &unit, NULL, &type, &split->die, NULL) == 0) {
		if ((type == DW_UT_split_compile || type == DW_UT_compile) &&
		    unit_id(unit, &split->die) == id)
			return true;
	}
	return false;
}

/*
 * Open a unit from its parts. @taken: number of bytes that the caller has already counted for this
 * unit with take_bytes()
 */
static bool open_parts(struct dwarf_split *split, struct dwarf_splits *splits, Dwarf_Die *skeleton,
		       uint64_t id, struct parts *parts, uint64_t taken)
{
	const struct elf_file *module = splits->from;
	bool is_version_5 = dwarf_hasattr(skeleton, DW_AT_addr_base);

	if (!parts->nr || strcmp(parts->at[0].name, ".debug_info") != 0)
		return false;
	split->info_bytes = parts->at[0].size;
	if (split->info_bytes > taken && !take_bytes(splits, split->info_bytes - taken))
		return false;
	add_part_of_module(parts, module, ".debug_addr", skeleton,
			   is_version_5 ? DW_AT_addr_base : DW_AT_GNU_addr_base);
	if (!is_version_5)
		add_part_of_module(parts, module, ".debug_ranges", skeleton, DW_AT_GNU_ranges_base);
	if (!make_file(split, module, parts))
		return false;
	split->dwarf = dwarf_begin_elf(split->elf, DWARF_C_READ, NULL);
	return split->dwarf && find_unit(split, id);
}

static void close_parts(struct dwarf_split *split)
{
	if (split->dwarf)
		dwarf_end(split->dwarf);
	elf_end(split->elf);
	split->dwarf = NULL;
	split->elf = NULL;
}

static bool open_file(struct dwarf_split *split, struct dwarf_splits *splits, const char *dir,
		      size_t dir_len, const char *name, Dwarf_Die *skeleton, uint64_t id)
{
	struct parts parts = { 0 };
	char path[PATH_MAX];
	bool is_absolute = *name == '/';

	if (is_absolute)
		dir_len = 0;
	if (snprintf(path, sizeof(path), "%.*s%s%s", (int)dir_len, dir, is_absolute ? "" : "/",
		     name) >= (int)sizeof(path) ||
	    elf_file_open_strange(&split->file, path) < 0)
		return false;
	if (take_bytes(splits, split->file.size)) {
		parts_of_file(&split->file, &parts);
		if (open_parts(split, splits, skeleton, id, &parts, split->file.size))
			return true;
	}
	close_parts(split);
	elf_file_close(&split->file);
	return false;
}

static const char *text_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;

	return dwarf_attr(die, name, &attr) ? dwarf_formstring(&attr) : NULL;
}

static bool open_packed(struct dwarf_split *split, struct dwarf_splits *splits, Dwarf_Die *skeleton,
			uint64_t id)
{
	struct parts parts = { 0 };

	if (!splits->has_looked)
		splits->package = open_package(splits->path);
	splits->has_looked = true;
	if (!splits->package)
		return false;
	parts_of_package(splits->package, id, &parts);
	if (open_parts(split, splits, skeleton, id, &parts, 0))
		return true;
	close_parts(split);
	return false;
}

bool dwarf_split_open(struct dwarf_splits *splits, Dwarf_CU *unit, Dwarf_Die *skeleton,
		      struct dwarf_split *split)
{
	const char *name = text_of(skeleton, DW_AT_dwo_name);
	const char *dir = text_of(skeleton, DW_AT_comp_dir);
	bool has_dir = dir && *dir == '/';
	const char *slash = strrchr(splits->path, '/');
	size_t beside = slash ? slash - splits->path : 1;
	uint64_t id = unit_id(unit, skeleton);

	*split = (struct dwarf_split){ .file = ELF_FILE_CLOSED };
	if (!name)
		name = text_of(skeleton, DW_AT_GNU_dwo_name);
	if (!name)
		return false;

	const char *base = path_base(name);

	if (open_packed(split, splits, skeleton, id) ||
	    (has_dir && open_file(split, splits, dir, strlen(dir), name, skeleton, id)) ||
	    open_file(split, splits, slash ? splits->path : ".", beside, name, skeleton, id) ||
	    (base != name &&
	     open_file(split, splits, slash ? splits->path : ".", beside, base, skeleton, id)))
		return true;
	if (splits->nr_missing++ == 0)
		splits->missing = strdup(name);
	return false;
}

void dwarf_split_close(struct dwarf_split *split)
{
	close_parts(split);
	elf_file_close(&split->file);
}
