"""The kernel's files of data directories that take as much time and memory to read as files of
their size can. Each function writes files, which its docstring describes."""

import struct

import kernel
from costly_data import kernel_calls, kernel_formats, kernel_known_task, kernel_names, kernel_tasks

NUMBER = 3000


def field(declaration, size, offset=8):
    return f"\tfield:{declaration};\toffset:{offset};\tsize:{size};\tsigned:0;\n"


def event_format(number, fields, text):
    body = f"name: e{number}\nID: {number}\nformat:\n{field('unsigned short common_type', 2, 0)}\n{fields}\nprint fmt: {text}\n".encode()
    return f"TRACEFS: events/x/e{number}/format: {len(body)}\n".encode() + body


def records(rec, formats, data, nr):
    """Write @nr records. @data(i): number and fields of record i"""
    out, page = bytearray(), kernel.Page(2000)
    for i in range(nr):
        number, fields = data(i)
        if len(page.body) + len(fields) + 32 > 4000:
            out += page.pack()
            page = kernel.Page(2000 + i)
        page.record(2000 + i, number, 100, fields)
    rec.put("kernel_header", kernel.header() + formats)
    rec.put("kernel-cpu0.dat", bytes(out + page.pack()))


def kernel_wide_fields(rec):
    """Arrays of 64 KB, in records of a few bytes."""
    fields = "".join(field(f"unsigned short f{k}[32000]", 64000) for k in range(300))
    records(rec, event_format(NUMBER, fields, '"%d", REC->x'), lambda i: (NUMBER, bytes(8)), 60000)


def kernel_dynamic_arrays(rec):
    """Hundreds of arrays in each record. All of them are the same 3,800 bytes of the record."""
    fields = "".join(field(f"__data_loc unsigned int[] f{k}", 4) for k in range(300))
    records(rec, event_format(NUMBER, fields, '"%d", REC->x'), lambda i: (NUMBER, struct.pack("<I", 3800 << 16 | 12) + bytes(3800)), 100)


def kernel_strings(rec):
    """One string that each line prints many times."""
    text = '"' + "%s" * 1500 + '"' + ",__get_str(f)" * 1500
    data = struct.pack("<I", 3000 << 16 | 12) + b"x" * 3000
    records(rec, event_format(NUMBER, field("__data_loc char[] f", 4), text), lambda i: (NUMBER, data), 200)


def kernel_symbols(rec):
    """A number that is searched for in a list of thousands of names, in vain."""
    text = '"%s", __print_symbolic(REC->f, ' + ",".join('{%d,"a"}' % (i % 9) for i in range(3000)) + ")"
    records(rec, event_format(NUMBER, field("unsigned int f", 4), text), lambda i: (NUMBER, struct.pack("<I", 77)), 60000)


def kernel_fields_by_name(rec):
    """Many arguments, each of which searches for the last of many fields."""
    fields = "".join(field(f"unsigned char f{k}", 1) for k in range(330))
    formats = b"".join(event_format(NUMBER + i, fields, '"' + "%d" * 800 + '"' + ",REC->f329" * 800) for i in range(20))
    records(rec, formats, lambda i: (NUMBER + i % 20, bytes(8)), 200)


def kernel_long_names(rec):
    """Addresses with names of 1 MB, in each record."""
    text = '"' + "%pS" * 100 + '"' + ",(void *)REC->f" * 100
    data = struct.pack("<Q", 0xFFFFFFFF81000000)
    records(rec, event_format(NUMBER, field("void * f", 8), text), lambda i: (NUMBER, data), 1000)
    rec.put("kallsyms", f"ffffffff81000000 T {'x' * (1 << 20)}\n")


DIRECTORIES = (
    kernel_tasks, kernel_known_task, kernel_calls, kernel_names, kernel_formats, kernel_wide_fields, kernel_dynamic_arrays, kernel_strings,
    kernel_symbols, kernel_fields_by_name, kernel_long_names)
