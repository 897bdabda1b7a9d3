"""Configuration: the only reader of files and environment besides the adapters."""

from referee.config.environment import DATABASE, DEBUG, environment, secret, secrets_of
from referee.config.files import text_of
from referee.config.judging import CheckSetting
from referee.config.load import load, root_of, user_path
from referee.config.people import Before, Signing
from referee.config.values import Config, IsolationMode, Models

__all__ = [
    "DATABASE",
    "DEBUG",
    "Before",
    "CheckSetting",
    "Config",
    "IsolationMode",
    "Models",
    "Signing",
    "environment",
    "load",
    "root_of",
    "secret",
    "secrets_of",
    "text_of",
    "user_path",
]
