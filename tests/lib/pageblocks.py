"""Reads a page of `dump --format=html`: its JSON, and blocks in the form of
utils/export/page/blocks.h."""

import base64
import json
import re
import zlib

COLUMNS = 5
BLOCK = re.compile(r'<script type="text/plain" class="(\w+)" data-task="(\d+)"( data-packed)?>([^<]*)</script>')


def read_meta(text):
    return json.loads(re.search(r'id="meta">(.*?)</script>', text, flags=re.S)[1])


def varints(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def split(data):
    """The number of rows, and the bytes of each column."""
    numbers, at = [], 0
    while len(numbers) <= COLUMNS:
        end = at
        while data[end] >= 128:
            end += 1
        numbers += varints(data[at : end + 1])
        at = end + 1
    columns = []
    for length in numbers[1:]:
        columns.append(data[at : at + length])
        at += length
    assert at == len(data)
    return numbers[0], columns


def blocks(text, kind, task=0):
    for found, owner, packed, data in BLOCK.findall(text):
        if (found, int(owner)) == (kind, task):
            data = base64.b64decode(data)
            yield split(zlib.decompress(data) if packed else data)


def points(text, task=0):
    """The events of a task: [ns, text] of each."""
    texts, time, rows = read_meta(text)["texts"], 0, []
    for nr, columns in blocks(text, "points", task):
        steps, numbers = list(varints(columns[0])), list(varints(columns[1]))
        assert len(steps) == len(numbers) == nr
        for step, number in zip(steps, numbers):
            time += step
            rows.append((time, texts[number - 1]))
    return rows
