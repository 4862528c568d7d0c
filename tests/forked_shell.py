"""The process that `shell_client.ShellClient` forks: an IPython shell that runs cells from a pipe.

`shell_client` imports this module, so all slow imports are inside the function.
"""

import os
import warnings


def run_cells_from_pipe(pipe):
    """Run cells from a pipe, and send back outputs and replies, until the pipe is closed."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output
    from traitlets.config import Config

    class Shell(InteractiveShell):
        """A shell that records errors as outputs, as a kernel does."""

        def _showtraceback(self, etype, evalue, stb):
            fields = {"ename": etype.__name__, "evalue": str(evalue), "traceback": stb}
            outputs.append({"output_type": "error", **fields})

    warnings.resetwarnings()
    # Minimal tracebacks are formatted ten times faster, and no test reads tracebacks of the shell.
    settings = {"HistoryManager": {"enabled": False}, "InteractiveShell": {"xmode": "Minimal"}}
    shell = Shell.instance(config=Config(settings))
    while True:
        try:
            source, store_history = pipe.recv()
        except EOFError:
            os._exit(0)
        outputs = []
        with capture_output() as captured:
            result = shell.run_cell(source, store_history=store_history)
        for name in ("stdout", "stderr"):
            if text := getattr(captured, name):
                outputs.append({"output_type": "stream", "name": name, "text": text})
        for rich_output in captured.outputs:  # with all MIME types, as a kernel sends them
            data = {
                mime_type: text
                for mime_type, text in rich_output.data.items()
                if isinstance(text, str)
            }
            outputs.append({"output_type": "display_data", "data": data, "metadata": {}})
        error = result.error_before_exec or result.error_in_exec
        reply = {"status": "ok"}
        if error is not None:
            reply = {"status": "error", "ename": type(error).__name__, "evalue": str(error)}
        pipe.send((outputs, reply))
