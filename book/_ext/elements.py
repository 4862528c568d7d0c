"""Build XML from nested calls: each element is created together with its content."""

from xml.etree import ElementTree


def element(name, *content, **attributes):
    """Return an element; its content is other elements or one text."""
    parent = ElementTree.Element(name, attributes)
    for child in content:
        if isinstance(child, str):
            parent.text = child
        else:
            parent.append(child)
    return parent


def serialise(root):
    """Return the document with this root element as indented XML, in bytes."""
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
