"""book/_ext/assets.py: the rules that remain in the joined style sheet."""

import tinycss2

from .conftest import ROOT, import_module_at

assets = import_module_at(ROOT / "book" / "_ext" / "assets.py")


CASES = [  # rules, and what remains of them if only the class "used" is used
    (".used{top:0}", ".used{top:0}"),
    (".unused{top:0}", ""),
    (".used .unused, a{top:0}", "a{top:0}"),
    ("p.used:not(.unused)>b{top:0}", "p.used:not(.unused)>b{top:0}"),
    ("a:is(.unused,.used){top:0}", "a:is(.unused,.used){top:0}"),
    ("[data-unused]{top:0.5px}", "[data-unused]{top:0.5px}"),
    ("@media print{.unused{top:0}}", ""),
    ("@media print{.unused{top:0}i{top:0}}", "@media print{i{top:0}\n}"),
    ("@keyframes turn{from{top:0}}", "@keyframes turn{from{top:0}}"),
    ("/*! licence */", "/*! licence */"),
    ("/* remark */", ""),
]


def test_only_selectors_with_unused_classes_are_removed():
    for rule, remaining in CASES:
        rules = tinycss2.parse_stylesheet(rule)
        assert "".join(assets.serialise_used_rules(rules, {"used"})).strip() == remaining


def test_classes_of_pages_and_words_of_scripts_are_found(tmp_path):
    page = "<p class='of-page'><script>'class=\"written\"'</script>"
    (tmp_path / "script.js").write_text('box.classList.add("of-script")')
    (tmp_path / "mathjax").mkdir()
    (tmp_path / "mathjax" / "core.js").write_text('"of-mathjax"')
    classes = assets.find_classes([page], tmp_path)
    assert {"of-page", "written", "of-script"} <= classes and "of-mathjax" not in classes
