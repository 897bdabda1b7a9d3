"""Keys of people: to sign with, and to tell whose a signature is."""

from referee.adapters.signing.keyring import Keyring
from referee.adapters.signing.person import account

__all__ = ["Keyring", "account"]
