"""The copy button copies code without prompts and without output."""

import pytest


@pytest.fixture(scope="module")
def copier(browser, site):
    """Return a function that copies a block and returns its text and the copy, and the pages."""
    context = browser.new_context()
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    pages = {}

    def copy(name, block):
        if name not in pages:
            pages[name] = context.new_page()
            pages[name].goto(site + name)
        code = pages[name].locator(block).first
        code.locator("button.copybtn").dispatch_event("click")  # hidden until the pointer comes
        text = pages[name].evaluate("() => navigator.clipboard.readText()")
        return code.locator("pre").inner_text().rstrip("\n"), text

    yield copy, pages
    context.close()


def test_examples_are_copied_without_prompts_and_output(copier):
    shown, text = copier[0]("book/api/estimators.html", "div.doctest")
    lines = shown.splitlines()
    assert any(not line.startswith((">>>", "...")) for line in lines)  # the block has output
    code = [line[4:] for line in lines if line.startswith((">>>", "..."))]
    assert text == "\n".join(code)
    compile(text, "copied", "exec")


@pytest.mark.parametrize("prompt, number", [("$ ", 0), ("> ", 1)])
def test_commands_are_copied_without_prompts(copier, prompt, number):
    block = f"div.highlight-console:has-text('{prompt}')" + ":has-text('Scripts')" * number
    shown, text = copier[0]("book/how_to_use.html", block)
    assert text == "\n".join(line.removeprefix(prompt) for line in shown.splitlines())


def test_cells_are_copied_whole_and_output_has_no_button(copier):
    copy, pages = copier
    shown, text = copy("notebooks/prototype_svms.html", "div.cell_input")
    assert text == shown and "import" in text
    assert pages["notebooks/prototype_svms.html"].locator("div.output button.copybtn").count() == 0
