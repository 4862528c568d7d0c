"""Protection of the live book and its readers: ownership, limited buffers, and delayed logins."""

import asyncio
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor

from jupyter_server.auth import Authorizer
from jupyter_server.auth.decorator import allow_unauthenticated
from jupyter_server.auth.login import LoginFormHandler
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from tornado import web

MAX_PENDING_BYTES = 2**26  # of messages that a page has not yet received
LOGIN_DELAY = 1.0  # seconds after a wrong password
MAX_PENDING_LOGINS = 40  # from one address


class OwnerAuthorizer(Authorizer):
    """In a class, only the reader who started a kernel can control it."""

    async def is_authorized(self, handler, user, action, resource):
        """Return whether a reader may access a kernel or a session."""
        kernel_id = handler.path_kwargs.get("kernel_id")
        if session_id := handler.path_kwargs.get("session_id"):
            try:
                session = await handler.session_manager.get_session(session_id=session_id)
            except web.HTTPError:  # no such session; the handler reports that
                return True
            kernel_id = session["kernel"]["id"]
        owners = handler.settings["kernel_manager"].owners
        return kernel_id is None or owners.get(kernel_id, user.username) == user.username


class LimitedBufferConnection(ZMQChannelsWebsocketConnection):
    """A connection to a page, with a limit on messages that the page has not yet received."""

    _pending_bytes = 0

    def write_message(self, message, binary=False):
        """Send a message, or close the connection if too many bytes are pending."""
        size = len(message)
        if self._pending_bytes + size > MAX_PENDING_BYTES:
            return self.websocket_handler.close(1013, "the page receives messages too slowly")
        self._pending_bytes += size
        future = self.websocket_handler.write_message(message, binary)

        def release(_):
            self._pending_bytes -= size

        future.add_done_callback(release)
        return future


class DelayedLoginHandler(LoginFormHandler):
    """The login form: one attempt per address at a time, and a delay after a wrong password."""

    _locks, _pending_logins = defaultdict(asyncio.Lock), Counter()
    _executor = ThreadPoolExecutor(1)

    @allow_unauthenticated
    async def post(self):
        """Check a password in another thread, so that hashing does not block the event loop."""
        provider, address = self.identity_provider, self.request.remote_ip
        if self._pending_logins[address] >= MAX_PENDING_LOGINS:
            raise web.HTTPError(429, "too many attempts to log in; wait a moment")
        self._pending_logins[address] += 1
        try:
            async with self._locks[address]:
                loop = asyncio.get_running_loop()
                user = await loop.run_in_executor(self._executor, provider.process_login_form, self)
                if user is None:
                    await asyncio.sleep(LOGIN_DELAY)
        finally:
            self._pending_logins[address] -= 1
        if user is None:
            self.set_status(401)
            self._render(message={"error": "Invalid credentials"})
            return
        self.current_user = user
        provider.set_login_cookie(self, user)
        self._redirect_safe(self.get_argument("next", default=self.base_url))
