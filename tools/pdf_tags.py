"""Merge the structure trees of PDFs, whose tags tell a screen reader what each text is.

A structure tree has elements such as headings, paragraphs and tables. Its parent tree leads from a
page or link, by the number in `/StructParents` or `/StructParent`, to the elements on it. Its ID
tree lists elements, such as header cells of tables, by the IDs by which others refer to them
(ISO 32000-1, section 14.7).
"""

from pypdf.generic import (
    ArrayObject,
    BooleanObject,
    ByteStringObject,
    DictionaryObject,
    NameObject,
    NumberObject,
)


def leaves(tree, kind):
    """Yield the pairs of key and value of a number tree or name tree; ``kind`` names its arrays."""
    pairs = tree.get(kind, ArrayObject())
    yield from zip(pairs[::2], pairs[1::2], strict=True)
    for kid in tree.get("/Kids", ()):
        yield from leaves(kid.get_object(), kind)


def shift_parents(pages, originals, offset):
    """Add an offset to the numbers by which pages and links refer to the parent tree.

    pypdf copies pages without their numbers.
    """
    for page, original in zip(pages, originals, strict=True):
        key = NameObject("/StructParents")
        page[key] = NumberObject(original[key] + offset)
        for reference in page.get("/Annots", ()):
            annotation, key = reference.get_object(), NameObject("/StructParent")
            if key in annotation:
                annotation[key] = NumberObject(annotation[key] + offset)


def distinct_id(identifier, number):
    """Return an ID of the document with this number as one that no other document has."""
    original = identifier if isinstance(identifier, bytes) else identifier.encode()
    return ByteStringObject(b"%d-%s" % (number, original))


def rename_ids(element, number):
    """Make the ID of an element, and those of its header cells, distinct from other documents'."""
    if "/ID" in element:
        element[NameObject("/ID")] = distinct_id(element["/ID"], number)
    attributes = element.get("/A", ())
    for attribute in attributes if isinstance(attributes, ArrayObject) else [attributes]:
        owner = attribute.get_object() if attribute else {}
        if isinstance(owner, DictionaryObject) and "/Headers" in owner:
            headers = [distinct_id(each, number) for each in owner["/Headers"]]
            owner[NameObject("/Headers")] = ArrayObject(headers)


def elements(element):
    """Yield a structure element and all below it."""
    yield element
    kids = element.get("/K", ())
    for kid in kids if isinstance(kids, ArrayObject) else [kids]:
        below = kid.get_object()
        if isinstance(below, DictionaryObject) and "/S" in below:
            yield from elements(below)


def merge_tags(writer, readers):
    """Give a writer, to which readers were appended in this order, their structure as one tree."""
    tree = DictionaryObject({NameObject("/Type"): NameObject("/StructTreeRoot")})
    root = writer._add_object(tree)
    kids, parents, ids = ArrayObject(), ArrayObject(), {}
    first_page, offset = 0, 0
    for number, reader in enumerate(readers):
        last_page = first_page + len(reader.pages)
        copy = reader.trailer["/Root"]["/StructTreeRoot"].clone(writer)
        shift_parents(writer.pages[first_page:last_page], reader.pages, offset)
        top = copy["/K"] if isinstance(copy["/K"], ArrayObject) else [copy.raw_get("/K")]
        for kid in top:
            kids.append(kid)
            kid.get_object()[NameObject("/P")] = root
            for element in elements(kid.get_object()):
                rename_ids(element, number)
        for key, value in leaves(copy["/ParentTree"], "/Nums"):
            parents.extend([NumberObject(key + offset), value])
        for key, value in leaves(copy.get("/IDTree", {}), "/Names"):
            ids[distinct_id(key, number)] = value
        first_page, offset = last_page, offset + copy["/ParentTreeNextKey"]
    names = ArrayObject(part for pair in sorted(ids.items()) for part in pair)
    tree[NameObject("/K")] = kids
    tree[NameObject("/ParentTree")] = DictionaryObject({NameObject("/Nums"): parents})
    tree[NameObject("/ParentTreeNextKey")] = NumberObject(offset)
    tree[NameObject("/IDTree")] = DictionaryObject({NameObject("/Names"): names})
    writer.root_object[NameObject("/StructTreeRoot")] = root
    marked = DictionaryObject({NameObject("/Marked"): BooleanObject(True)})
    writer.root_object[NameObject("/MarkInfo")] = marked
