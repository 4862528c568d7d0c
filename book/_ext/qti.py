"""Questions as a package in IMS QTI 1.2, which Canvas and other platforms import.

The package is a zip file: a manifest, and for each chapter a quiz.
"""

import io
import zipfile

from elements import element, written

CONTENT = "http://www.imsglobal.org/xsd/imscp_v1p1"
QUESTIONS = "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"
RESPONSE = "response"  # each question has one


def package(chapters):
    """Return the package as bytes, the same each time.

    Parameters
    ----------
    chapters : list of Chapter
        The chapters with their questions.

    Returns
    -------
    bytes
        The content of the zip file.
    """
    files = {"imsmanifest.xml": _manifest([chapter.name for chapter in chapters])}
    files |= {f"{chapter.name}.xml": _quiz(chapter) for chapter in chapters}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as packed:
        for name, root in files.items():
            packed.writestr(zipfile.ZipInfo(name), written(root), zipfile.ZIP_DEFLATED)
    return content.getvalue()


def _manifest(names):
    resources = [
        element(
            "resource",
            element("file", href=f"{name}.xml"),
            identifier=name,
            type="imsqti_xmlv1p2",
            href=f"{name}.xml",
        )
        for name in names
    ]
    return element(
        "manifest",
        element("organizations"),
        element("resources", *resources),
        identifier="svmbook-questions",
        xmlns=CONTENT,
    )


def _quiz(chapter):
    items = [
        _item(f"{chapter.name}-{number}", question)
        for number, question in enumerate(chapter.questions, start=1)
    ]
    section = element("section", *items, ident=f"{chapter.name}-questions")
    quiz = element("assessment", section, ident=chapter.name, title=chapter.title)
    return element("questestinterop", quiz, xmlns=QUESTIONS)


def _item(ident, question):
    """Return a question: what is shown, how an answer is scored, and the reasons."""
    choices = {
        f"{ident}-{number}": choice for number, choice in enumerate(question.choices, start=1)
    }
    labels = [
        element("response_label", _html(choice.text), ident=name)
        for name, choice in choices.items()
    ]
    answer = element("render_choice", *labels, shuffle="Yes")
    reasons = [_when(name, _shown(name), goes_on="Yes") for name in choices]
    (right,) = (name for name, choice in choices.items() if choice.is_right)
    score = element("setvar", "100", action="Set", varname="SCORE")
    scale = element("decvar", varname="SCORE", vartype="Decimal", minvalue="0", maxvalue="100")
    return element(
        "item",
        _metadata(question_type="multiple_choice_question", points_possible="1"),
        element(
            "presentation",
            _html(question.text),
            element("response_lid", answer, ident=RESPONSE, rcardinality="Single"),
        ),
        element(
            "resprocessing",
            element("outcomes", scale),
            *reasons,
            _when(right, score, goes_on="No"),
        ),
        *(_reason(name, choice) for name, choice in choices.items()),
        ident=ident,
        title=question.name,
    )


def _metadata(**fields):
    """Return what Canvas wants to know of a question."""
    return element(
        "itemmetadata",
        element(
            "qtimetadata",
            *(
                element(
                    "qtimetadatafield", element("fieldlabel", name), element("fieldentry", value)
                )
                for name, value in fields.items()
            ),
        ),
    )


def _html(text):
    return element("material", element("mattext", text, texttype="text/html"))


def _when(name, effect, goes_on):
    """Return the rule for a choice; later rules are looked at if it goes on."""
    chosen = element("conditionvar", element("varequal", name, respident=RESPONSE))
    return element("respcondition", chosen, effect, **{"continue": goes_on})


def _shown(name):
    return element("displayfeedback", feedbacktype="Response", linkrefid=f"{name}-reason")


def _reason(name, choice):
    return element(
        "itemfeedback", element("flow_mat", _html(choice.reason)), ident=f"{name}-reason"
    )
