"""The copy button copies code without prompts and without output."""

import pytest


@pytest.fixture(scope="module")
def open_page(browser, site):
    """Return a function that opens each page once, with access to the clipboard."""
    context = browser.new_context()
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    pages = {}

    def open_once(name):
        if name not in pages:
            pages[name] = context.new_page()
            pages[name].goto(site + name)
        return pages[name]

    yield open_once
    context.close()


@pytest.fixture(scope="module")
def copy_block(open_page):
    """Return a function that copies a block and returns the shown and the copied text."""

    def copy(name, selector):
        page = open_page(name)
        block = page.locator(selector).first
        # The button is hidden until the pointer is over the block.
        block.locator("button.copybtn").dispatch_event("click")
        copied = page.evaluate("() => navigator.clipboard.readText()")
        return block.locator("pre").inner_text().rstrip("\n"), copied

    return copy


def test_examples_are_copied_without_prompts_and_output(copy_block):
    shown, copied = copy_block("book/api/estimators.html", "div.doctest")
    lines = shown.splitlines()
    assert any(not line.startswith((">>>", "...")) for line in lines)  # the block has output
    code = [line[4:] for line in lines if line.startswith((">>>", "..."))]
    assert copied == "\n".join(code)
    compile(copied, "copied", "exec")


@pytest.mark.parametrize("prompt, is_windows", [("$ ", False), ("> ", True)])
def test_commands_are_copied_without_prompts(copy_block, prompt, is_windows):
    selector = f"div.highlight-console:has-text('{prompt}')" + ":has-text('Scripts')" * is_windows
    shown, copied = copy_block("book/how_to_use.html", selector)
    assert copied == "\n".join(line.removeprefix(prompt) for line in shown.splitlines())


def test_cells_are_copied_whole_and_output_has_no_button(copy_block, open_page):
    name = "notebooks/prototype_svms.html"
    shown, copied = copy_block(name, "div.cell_input")
    assert copied == shown and "import" in copied
    assert open_page(name).locator("div.output button.copybtn").count() == 0
