"""Look up every quotation of the book in the sources and record where it was found.

Usage: python tools/quotations.py FOLDER

FOLDER contains the texts of the four sources, which are not in the repository. Three or more words
in double quotes, outside code and formulas, must be a quotation. For each quotation that is found,
tests/quotations.json gets its place and a hash of its words, so that no text is copied. Quotations
that are not found are printed, and the exit code is 1.
"""

import hashlib
import json
import re
import sys
import unicodedata
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parent.parent
RECORD_PATH = ROOT / "tests" / "quotations.json"
# The short name of each source by words of its title, which stand near the beginning of the text.
NAME_OF_TITLE = {
    "Exploring Classification": "Exploring",
    "Unbiased Support Vector": "USVC 2004",
    "Infinite Ensemble Learning": "Lin 2005",
    "Prototype Support Vector": "Shen 2013",
}
FENCE = re.compile(r"\s*(`{3,}|:{3,})\s*(\{?[\w:-]*\}?)(.*)")
NON_PROSE_DIRECTIVES = ("{math}", "{raw}", "{code}", "{code-block}", "{toctree}", "{reproduction}")
CODE_COMMENT_OR_TAG = re.compile(r"`[^`]*`|<!--.*?-->|<[^>]*>")
QUOTATION = re.compile(r'"([^"]{3,600})"|“([^”]{3,600})”')
OMISSION = re.compile(r"\.\.\.|…|\[[^]]*\]")
SECTION_HEADING = re.compile(r"^(\d+(?:\.\d+)*)\.?\s+[A-Z][a-z]", re.M)
MIN_WORDS = 3


def normalise(text):
    """Return only the letters and digits of a text, since scans break words and alter signs."""
    text = unicodedata.normalize("NFKD", re.sub(r"-\s+", "", text))
    return re.sub(r"[^a-z0-9]+", "", text.lower())


def digest(text):
    """Return a hash of the words of a quotation."""
    return hashlib.sha256(normalise(text).encode()).hexdigest()[:16]


def quotations():
    """Yield the page and the words of each quotation of the book."""
    notebooks = ROOT / "notebooks"
    for path in sorted([*notebooks.glob("*.ipynb"), *notebooks.glob("notes/*.ipynb")]):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown":
                yield from ((path.name, words) for words in quoted_phrases(cell.source))
    for path in sorted((ROOT / "book").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        yield from ((path.name, words) for words in quoted_phrases(text))


def quoted_phrases(text):
    """Yield the words of each quotation of a page."""
    for paragraph in "\n".join(prose_lines(text)).split("\n\n"):
        for found in QUOTATION.finditer(CODE_COMMENT_OR_TAG.sub("", paragraph.replace("\n", " "))):
            words = found[1] or found[2]
            if len(words.split()) >= MIN_WORDS and "$" not in words:
                yield words


def prose_lines(text):
    """Yield the lines of a page outside blocks of code and formulas."""
    open_blocks = []  # for each block around the line, whether it is one of code or formulas
    for line in text.splitlines():
        fence = FENCE.match(line)
        if fence and fence[2]:
            open_blocks.append(not fence[2].startswith("{") or fence[2] in NON_PROSE_DIRECTIVES)
            line = fence[3]
        elif fence and open_blocks:
            open_blocks.pop()
            line = ""
        if not any(open_blocks):
            yield line


def find_place(words, source_texts):
    """Return the source of all parts of a quotation and the place of its longest part, or None."""
    parts = [normalise(part) for part in OMISSION.split(words)]
    for name, text in source_texts.items():
        normalised_text = normalise(text)
        if all(part in normalised_text for part in parts):
            position = normalised_text.index(max(parts, key=len))
            location = f"at {100 * position // len(normalised_text)} % of the text"
            for heading in SECTION_HEADING.finditer(text):
                if len(normalise(text[: heading.start()])) > position:
                    break
                location = f"section {heading[1]}"
            return f"{name}, {location}"
    return None


def main(folder):
    texts = [path.read_text(errors="replace") for path in sorted(Path(folder).glob("*.txt"))]
    source_texts = {}
    for title, name in NAME_OF_TITLE.items():
        (source_texts[name],) = (text for text in texts if title.lower() in text[:3000].lower())
    places, n_missing = {}, 0
    for page, words in quotations():
        if place := find_place(words, source_texts):
            places[digest(words)] = place
        else:
            print(f"{page}: not found in any source: {words}")
            n_missing += 1
    RECORD_PATH.write_text(
        json.dumps(dict(sorted(places.items())), indent=1) + "\n", encoding="utf-8"
    )
    print(f"{len(places)} quotations found, {n_missing} not")
    return int(n_missing > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
