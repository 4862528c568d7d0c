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


def tree_items(tree, array_key):
    """Yield the keys and values of a number tree ("/Nums") or a name tree ("/Names")."""
    pairs = tree.get(array_key, ArrayObject())
    yield from zip(pairs[::2], pairs[1::2], strict=True)
    for kid in tree.get("/Kids", ()):
        yield from tree_items(kid.get_object(), array_key)


def offset_parent_tree_keys(pages, originals, offset):
    """Add an offset to the numbers by which pages and links refer to the parent tree.

    pypdf copies links with these numbers but pages without them.
    """
    for page, original in zip(pages, originals, strict=True):
        key = NameObject("/StructParents")
        page[key] = NumberObject(original[key] + offset)
        for reference in page.get("/Annots", ()):
            annotation, key = reference.get_object(), NameObject("/StructParent")
            if key in annotation:
                annotation[key] = NumberObject(annotation[key] + offset)


def distinct_id(identifier, number):
    """Return an ID with the number of its document as a prefix, which makes it unique."""
    original = identifier if isinstance(identifier, bytes) else identifier.encode()
    return ByteStringObject(b"%d-%s" % (number, original))


def rename_ids(element, number):
    """Make the ID of an element, and those of its header cells, unique among all documents."""
    if "/ID" in element:
        element[NameObject("/ID")] = distinct_id(element["/ID"], number)
    attributes = element.get("/A", ())
    for attribute in attributes if isinstance(attributes, ArrayObject) else [attributes]:
        attribute_object = attribute.get_object() if attribute else {}
        if isinstance(attribute_object, DictionaryObject) and "/Headers" in attribute_object:
            headers = [distinct_id(header_id, number) for header_id in attribute_object["/Headers"]]
            attribute_object[NameObject("/Headers")] = ArrayObject(headers)


def structure_elements(element):
    """Yield a structure element and all its descendants."""
    yield element
    kids = element.get("/K", ())
    for kid in kids if isinstance(kids, ArrayObject) else [kids]:
        child = kid.get_object()
        if isinstance(child, DictionaryObject) and "/S" in child:
            yield from structure_elements(child)


def merge_tags(writer, readers):
    """Merge into a writer the structure trees of readers, appended to it in this order."""
    tree = DictionaryObject({NameObject("/Type"): NameObject("/StructTreeRoot")})
    tree_reference = writer._add_object(tree)
    kids, parent_tree_entries, ids = ArrayObject(), ArrayObject(), {}
    start_page, offset = 0, 0
    for number, reader in enumerate(readers):
        end_page = start_page + len(reader.pages)
        tree_copy = reader.trailer["/Root"]["/StructTreeRoot"].clone(writer)
        offset_parent_tree_keys(writer.pages[start_page:end_page], reader.pages, offset)
        kids_of_copy = tree_copy["/K"]
        if not isinstance(kids_of_copy, ArrayObject):
            kids_of_copy = [tree_copy.raw_get("/K")]
        for kid in kids_of_copy:
            kids.append(kid)
            kid.get_object()[NameObject("/P")] = tree_reference
            for element in structure_elements(kid.get_object()):
                rename_ids(element, number)
        for key, value in tree_items(tree_copy["/ParentTree"], "/Nums"):
            parent_tree_entries.extend([NumberObject(key + offset), value])
        for key, value in tree_items(tree_copy.get("/IDTree", {}), "/Names"):
            ids[distinct_id(key, number)] = value
        start_page, offset = end_page, offset + tree_copy["/ParentTreeNextKey"]
    id_tree_entries = ArrayObject(entry for pair in sorted(ids.items()) for entry in pair)
    tree[NameObject("/K")] = kids
    tree[NameObject("/ParentTree")] = DictionaryObject({NameObject("/Nums"): parent_tree_entries})
    tree[NameObject("/ParentTreeNextKey")] = NumberObject(offset)
    tree[NameObject("/IDTree")] = DictionaryObject({NameObject("/Names"): id_tree_entries})
    writer.root_object[NameObject("/StructTreeRoot")] = tree_reference
    mark_info = DictionaryObject({NameObject("/Marked"): BooleanObject(True)})
    writer.root_object[NameObject("/MarkInfo")] = mark_info
