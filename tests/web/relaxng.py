"""Validate XML by a schema in RELAX NG, of which this knows what the schemas of the tests use.

https://relaxng.org/spec-20011203.html is the specification.
"""

import re
from xml.etree import ElementTree

RNG = "{http://relaxng.org/ns/structure/1.0}"


class Schema:
    """A grammar in which elements have required attributes, and elements or one text inside."""

    def __init__(self, path):
        grammar = ElementTree.parse(path).getroot()
        self.namespace = f"{{{grammar.get('ns')}}}" if "ns" in grammar.attrib else ""
        self.start = grammar.find(f"{RNG}start")
        self.defined = {one.get("name"): list(one) for one in grammar.iterfind(f"{RNG}define")}

    def accepts(self, root):
        """Say whether a document is valid."""
        return 1 in self._ends_of_all(self.start, [root], 0)

    def _ends_of_all(self, patterns, elements, begin):
        """Return where in a list of elements a match of all patterns in order can end."""
        ends = {begin}
        for pattern in patterns:
            ends = {end for one in ends for end in self._ends(pattern, elements, one)}
        return ends

    def _ends(self, pattern, elements, begin):
        """Return where a match of one pattern can end."""
        kind = _kind(pattern)
        if kind == "empty":
            return {begin}
        if kind == "element":
            fits = begin < len(elements) and self._fits(pattern, elements[begin])
            return {begin + 1} if fits else set()
        if kind == "ref":
            return self._ends_of_all(self.defined[pattern.get("name")], elements, begin)
        if kind in ("oneOrMore", "zeroOrMore"):
            ends = new = self._ends_of_all(pattern, elements, begin)
            while new:
                new = {end for one in new for end in self._ends_of_all(pattern, elements, one)}
                new, ends = new - ends, ends | new
            return ends | {begin} if kind == "zeroOrMore" else ends
        raise NotImplementedError(kind)

    def _fits(self, pattern, element):
        """Say whether an element has the name, the attributes and the content of a pattern."""
        attributes = {one.get("name"): one[0] for one in pattern if _kind(one) == "attribute"}
        if (
            element.tag != self.namespace + pattern.get("name")
            or element.attrib.keys() != attributes.keys()
            or not all(self._is_text(attributes[name], text) for name, text in element.items())
        ):
            return False
        inside = [one for one in pattern if _kind(one) != "attribute"]
        if len(inside) == 1 and _kind(self._resolved(inside[0])) in ("value", "data"):
            return not len(element) and self._is_text(inside[0], element.text or "")
        between = [element.text, *(child.tail for child in element)]
        if "".join(filter(None, between)).strip():
            return False
        return len(element) in self._ends_of_all(inside, list(element), 0)

    def _resolved(self, pattern):
        """Return a pattern, or the first one of those that it refers to."""
        return self.defined[pattern.get("name")][0] if _kind(pattern) == "ref" else pattern

    def _is_text(self, pattern, text):
        """Say whether a text is the value, or has the form, that a pattern wants."""
        pattern = self._resolved(pattern)
        if _kind(pattern) == "value":
            return text.strip() == pattern.text
        return re.fullmatch(pattern.findtext(f"{RNG}param"), text) is not None


def _kind(pattern):
    return pattern.tag.removeprefix(RNG)
