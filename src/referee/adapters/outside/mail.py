"""A message by SMTP, handed over once, with a Message-ID made of the idempotency key."""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Callable, Mapping
from email.headerregistry import Address
from email.message import EmailMessage
from ipaddress import ip_address
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from referee.adapters.outside.form import formed, resolved
from referee.domain.outside import Described, Receipt
from referee.domain.risk import Risk
from referee.domain.value import Value

SECONDS = 60.0
REFUSALS = (smtplib.SMTPSenderRefused, smtplib.SMTPRecipientsRefused, smtplib.SMTPAuthenticationError)


def _address(text: str) -> str:
    try:
        parsed = Address(addr_spec=text)
    except (ValueError, IndexError):
        parsed = None
    if parsed is None or not parsed.domain or not text.isascii() or not text.isprintable():
        raise ValueError(f"{text!r} is no mail address; give name@example.org")
    return text


def _line(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise ValueError("give one line of text")
    return text


Mailbox = Annotated[str, AfterValidator(_address)]


class Mail(Value):
    """One message in plain text. `user` and `password` may be `env:NAME`; a password must be."""

    server: Annotated[str, AfterValidator(_line)]
    port: Annotated[int, Field(ge=1, le=65_535)] = 587
    sender: Mailbox
    to: Annotated[tuple[Mailbox, ...], Field(min_length=1, max_length=50)]
    subject: Annotated[str, AfterValidator(_line)]
    body: str
    user: Annotated[str, Field(pattern=r"^[!-~]*$", max_length=320)] = ""
    password: Annotated[str, Field(pattern=r"^(env:[A-Za-z_][A-Za-z0-9_]*)?$")] = ""


class MailTool:
    """Over TLS to every server that is not on this machine's loopback."""

    def __init__(self, secret: Callable[[str], str | None]) -> None:
        self._secret = secret

    def describe(self, arguments: Mapping[str, Any]) -> Described:
        """The message as its readers will see it."""
        mail = formed(Mail, arguments, "mail")
        people = f"{len(mail.to)} {'person' if len(mail.to) == 1 else 'people'}"
        return Described(
            risk=Risk.IRREVERSIBLE,
            summary=f"mail to {', '.join(mail.to)}: {mail.subject}",
            detail=f"From: {mail.sender}\nTo: {', '.join(mail.to)}\nSubject: {mail.subject}\n"
            f"By: {mail.server}:{mail.port}\nLogin: {mail.user or 'none'}, {mail.password or 'no password'}\n\n"
            f"{mail.body}",
            impact=f"{people} will read it; mail cannot be called back{_told(mail)}",
            host=mail.server,
        )

    def call(self, arguments: Mapping[str, Any], key: str, seconds: float, *, signed: bool) -> Receipt:
        """Until the message itself is sent, a fault is a failure without effect; afterwards it is unknown."""
        mail = formed(Mail, arguments, "mail")
        message, sent = _message(mail, key), False
        user, password = resolved(mail.user, self._secret), resolved(mail.password, self._secret)
        try:
            with smtplib.SMTP(mail.server, mail.port, timeout=min(SECONDS, seconds)) as server:
                _secured(server, mail)
                if user:
                    server.login(user, password)
                sent = True
                refused = server.send_message(message)
        except REFUSALS as error:
            return Receipt(status="failed", said=f"{mail.server} refused: {error}")
        except smtplib.SMTPDataError as error:  # the server's own no to the message
            return Receipt(status="failed", said=f"{mail.server} refused the message: {error}")
        except (OSError, smtplib.SMTPException, ValueError) as error:
            if sent:
                return _unknown(mail, key, f"the answer of {mail.server} did not come: {error}")
            return Receipt(status="failed", said=f"{mail.server} could not be used: {error}")
        left_out = f"; refused for {', '.join(sorted(refused))}" if refused else ""
        accepted = ", ".join(a for a in mail.to if a not in refused)
        return Receipt(
            status="done",
            said=f"{mail.server} took the message for {accepted}{left_out}",
            facts={"message_id": str(message["Message-ID"])},
        )

    def look(self, arguments: Mapping[str, Any], key: str) -> Receipt | None:
        """A mail server does not tell."""
        return _unknown(formed(Mail, arguments, "mail"), key, "the run was cut off while it was sent")


def _told(mail: Mail) -> str:
    """Which of this machine's secrets the server is told."""
    secrets = [part.removeprefix("env:") for part in (mail.user, mail.password) if part.startswith("env:")]
    return f"; {mail.server} is told what {' and '.join(secrets)} holds here" if secrets else ""


def _message(mail: Mail, key: str) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = mail.sender, ", ".join(mail.to), mail.subject
    message["Message-ID"] = f"<{key}@{mail.sender.rpartition('@')[2]}>"
    message.set_content(mail.body)
    return message


def _secured(server: smtplib.SMTP, mail: Mail) -> None:
    server.ehlo()
    if server.has_extn("starttls"):
        server.starttls(context=ssl.create_default_context())
        server.ehlo()
    elif not _loopback(mail.server):
        raise ValueError("it offers no encryption (STARTTLS)")


def _loopback(server: str) -> bool:
    try:
        return ip_address(server).is_loopback
    except ValueError:
        return server == "localhost"


def _unknown(mail: Mail, key: str, said: str) -> Receipt:
    message_id = _message(mail, key)["Message-ID"]
    check = f"the log of {mail.server}, or a recipient, for the message {message_id}"
    return Receipt(status="unknown", said=said, check=check)
