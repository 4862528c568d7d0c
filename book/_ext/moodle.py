"""Questions in Moodle's XML format: https://docs.moodle.org/en/Moodle_XML_format."""

from elements import element, written


def bank(book, chapters):
    """Return the questions of a book as XML, with a category for each chapter.

    Parameters
    ----------
    book : str
        Title of the book, which becomes the category above those of the chapters.
    chapters : list of Chapter
        The chapters with their questions.

    Returns
    -------
    bytes
        The content of the file.
    """
    quiz = element("quiz")
    for chapter in chapters:
        path = "/".join(one.replace("/", "//") for one in (book, chapter.title))
        category = element("category", element("text", f"$course$/top/{path}"))
        quiz.append(element("question", category, type="category"))
        quiz.extend(_question(one) for one in chapter.questions)
    return written(quiz)


def _question(question):
    return element(
        "question",
        element("name", element("text", question.name)),
        element("questiontext", element("text", question.text), format="html"),
        element("defaultgrade", "1"),
        element("single", "true"),
        element("shuffleanswers", "true"),
        element("answernumbering", "abc"),
        *map(_answer, question.choices),
        type="multichoice",
    )


def _answer(choice):
    return element(
        "answer",
        element("text", choice.text),
        element("feedback", element("text", choice.reason), format="html"),
        fraction="100" if choice.is_right else "0",
        format="html",
    )
