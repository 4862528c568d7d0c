"""Questions as an IMS QTI 1.2 package, which Canvas and other platforms import.

The package is a zip file of a manifest and one quiz per chapter.
"""

import io
import zipfile

from elements import element, serialise

MANIFEST_NAMESPACE = "http://www.imsglobal.org/xsd/imscp_v1p1"
QUESTIONS_NAMESPACE = "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"
RESPONSE_ID = "response"  # each question has one response


def package(chapters):
    """Return the package as reproducible bytes.

    Parameters
    ----------
    chapters : list of ChapterQuestions
        The chapters with their questions.

    Returns
    -------
    bytes
        The content of the zip file.
    """
    files = {"imsmanifest.xml": _manifest([chapter.name for chapter in chapters])}
    files |= {f"{chapter.name}.xml": _quiz(chapter) for chapter in chapters}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, root in files.items():
            archive.writestr(zipfile.ZipInfo(name), serialise(root), zipfile.ZIP_DEFLATED)
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
        xmlns=MANIFEST_NAMESPACE,
    )


def _quiz(chapter):
    items = [
        _item(f"{chapter.name}-{number}", question)
        for number, question in enumerate(chapter.questions, start=1)
    ]
    section = element("section", *items, ident=f"{chapter.name}-questions")
    quiz = element("assessment", section, ident=chapter.name, title=chapter.title)
    return element("questestinterop", quiz, xmlns=QUESTIONS_NAMESPACE)


def _item(ident, question):
    """Return a question as an item: its presentation, the scoring rules, and the reasons."""
    choices = {
        f"{ident}-{number}": choice for number, choice in enumerate(question.choices, start=1)
    }
    labels = [
        element("response_label", _material(choice.html), ident=choice_ident)
        for choice_ident, choice in choices.items()
    ]
    rendered_choices = element("render_choice", *labels, shuffle="Yes")
    reason_rules = [
        _rule(choice_ident, _reason_reference(choice_ident), is_last=False)
        for choice_ident in choices
    ]
    (correct_ident,) = (
        choice_ident for choice_ident, choice in choices.items() if choice.is_correct
    )
    full_score = element("setvar", "100", action="Set", varname="SCORE")
    score_declaration = element(
        "decvar", varname="SCORE", vartype="Decimal", minvalue="0", maxvalue="100"
    )
    return element(
        "item",
        _metadata(question_type="multiple_choice_question", points_possible="1"),
        element(
            "presentation",
            _material(question.html),
            element("response_lid", rendered_choices, ident=RESPONSE_ID, rcardinality="Single"),
        ),
        element(
            "resprocessing",
            element("outcomes", score_declaration),
            *reason_rules,
            _rule(correct_ident, full_score, is_last=True),
        ),
        *(_reason(choice_ident, choice) for choice_ident, choice in choices.items()),
        ident=ident,
        title=question.plain_text,
    )


def _metadata(**fields):
    """Return the metadata that Canvas needs for a question."""
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


def _material(html):
    return element("material", element("mattext", html, texttype="text/html"))


def _rule(choice_ident, effect, is_last):
    """Return a rule that applies if a choice is selected; later rules follow unless it is last."""
    condition = element("conditionvar", element("varequal", choice_ident, respident=RESPONSE_ID))
    return element("respcondition", condition, effect, **{"continue": "No" if is_last else "Yes"})


def _reason_reference(choice_ident):
    return element("displayfeedback", feedbacktype="Response", linkrefid=f"{choice_ident}-reason")


def _reason(choice_ident, choice):
    return element(
        "itemfeedback",
        element("flow_mat", _material(choice.reason_html)),
        ident=f"{choice_ident}-reason",
    )
