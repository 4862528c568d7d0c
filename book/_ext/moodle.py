"""Questions in Moodle's XML format: https://docs.moodle.org/en/Moodle_XML_format."""

from elements import element, serialise


def question_bank(book_title, chapters):
    """Return the questions of a book as XML, with one category per chapter.

    Parameters
    ----------
    book_title : str
        The name of the parent category of the chapters.
    chapters : list of ChapterQuestions
        The chapters with their questions.

    Returns
    -------
    bytes
        The content of the file.
    """
    quiz = element("quiz")
    for chapter in chapters:
        category_path = "/".join(title.replace("/", "//") for title in (book_title, chapter.title))
        category = element("category", element("text", f"$course$/top/{category_path}"))
        quiz.append(element("question", category, type="category"))
        quiz.extend(map(_question, chapter.questions))
    return serialise(quiz)


def _question(question):
    return element(
        "question",
        element("name", element("text", question.plain_text)),
        element("questiontext", element("text", question.html), format="html"),
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
        element("text", choice.html),
        element("feedback", element("text", choice.reason_html), format="html"),
        fraction="100" if choice.is_correct else "0",
        format="html",
    )
