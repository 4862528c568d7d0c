"""What keeps readers of the live book from each other: passwords, ownership, and full buffers."""

import asyncio
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor

from jupyter_server.auth import Authorizer
from jupyter_server.auth.decorator import allow_unauthenticated
from jupyter_server.auth.login import LoginFormHandler
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from tornado import web

MOST_WAITING = 2**26  # bytes of messages that a page has still to fetch
SLOWED, MOST_GUESSES = 1.0, 40  # seconds after a wrong password; guesses at a time from an address


class OwnersOnly(Authorizer):
    """In a class only the reader who has asked for a kernel can control it."""

    async def is_authorized(self, handler, user, action, resource):
        """Say whether a reader may do something with a kernel or a session."""
        kernel_id = handler.path_kwargs.get("kernel_id")
        if session_id := handler.path_kwargs.get("session_id"):
            try:
                session = await handler.session_manager.get_session(session_id=session_id)
            except web.HTTPError:  # there is none: let the handler say so
                return True
            kernel_id = session["kernel"]["id"]
        owners = handler.settings["kernel_manager"].owners
        return kernel_id is None or owners.get(kernel_id, user.username) == user.username


class Channels(ZMQChannelsWebsocketConnection):
    """A connection to a page. What a page does not fetch does not pile up in the server."""

    _waiting = 0

    def write_message(self, message, binary=False):
        """Send a message, or close the connection if too much waits to be fetched."""
        size = len(message)
        if self._waiting + size > MOST_WAITING:
            return self.websocket_handler.close(1013, "the page does not keep up")
        self._waiting += size
        sent = self.websocket_handler.write_message(message, binary)

        def done(_):
            self._waiting -= size

        sent.add_done_callback(done)
        return sent


class Login(LoginFormHandler):
    """The form for the password: guesses from one address come one after the other, and slowly."""

    _turns, _guesses = defaultdict(asyncio.Lock), Counter()
    _hashing = ThreadPoolExecutor(1)

    @allow_unauthenticated
    async def post(self):
        """Check a password, outside of the loop that serves all others."""
        provider, address = self.identity_provider, self.request.remote_ip
        if self._guesses[address] >= MOST_GUESSES:
            raise web.HTTPError(429, "too many passwords at a time; wait a moment")
        self._guesses[address] += 1
        try:
            async with self._turns[address]:
                loop = asyncio.get_running_loop()
                user = await loop.run_in_executor(self._hashing, provider.process_login_form, self)
                if user is None:
                    await asyncio.sleep(SLOWED)
        finally:
            self._guesses[address] -= 1
        if user is None:
            self.set_status(401)
            self._render(message={"error": "Invalid credentials"})
            return
        self.current_user = user
        provider.set_login_cookie(self, user)
        self._redirect_safe(self.get_argument("next", default=self.base_url))
