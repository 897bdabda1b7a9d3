"""What other people see at once: a pull request."""

from __future__ import annotations

from typing import ClassVar

from referee.kernel.action import Action, Effect, request_digest
from referee.ports import Published, PullRequest, World


class OpenPullRequest(Action[Published]):
    """Push a branch and open a pull request from it. Never done twice: cut off, it is unknown, and a person looks."""

    name: ClassVar[str] = "open_pull_request"
    effect: ClassVar[Effect] = Effect.OUTSIDE
    result_type: ClassVar[type] = Published

    request: PullRequest

    @property
    def digest(self) -> str:
        """The branch says which request it is; its text holds times, which differ when a run is resumed."""
        return request_digest(self.name, {"branch": self.request.branch})

    def perform(self, world: World) -> Published:
        """What fails outside is a result: the branch stays."""
        return world.workspace.publish(self.request)

    def recover(self, world: World) -> Published:
        """Nobody knows whether the earlier try got through, and asking again could open a second one (C5)."""
        return Published(
            said=f"the run was cut off while the pull request from {self.request.branch} was opened, so whether it is "
            "open is unknown; look at the remote first, and if it is not there",
            commands=world.workspace.by_hand(self.request),
        )
