"""XML built from the inside out: an element is made with what is in it."""

from xml.etree import ElementTree


def element(name, *content, **attributes):
    """Return an element with other elements, or one text, inside."""
    made = ElementTree.Element(name, attributes)
    for one in content:
        if isinstance(one, str):
            made.text = one
        else:
            made.append(one)
    return made


def written(root):
    """Return a document as bytes, a line for each element."""
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
