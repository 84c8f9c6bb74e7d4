"""What a layer keeps of past tokens, so that the next token costs one row instead of all."""

from torch import Tensor


class Cache:
    """Belongs to one layer and one batch; used without gradients, while text is generated."""

    def __init__(self) -> None:
        self.n_tokens = 0
        self.sums: Tensor | None = None
        """All that a variant with linear cost keeps."""
        self._rooms: list[Tensor] = []

    def extend(self, *new: Tensor) -> list[Tensor]:
        """Append along the tokens, which are the second-last axis, and return all there is.

        Room is doubled when it runs out, so that a token is copied twice on average.
        """
        start, end = self.n_tokens, self.n_tokens + new[0].shape[-2]
        if not self._rooms or end > self._rooms[0].shape[-2]:
            self._rooms = [self._enlarged(i, tensor, 2 * end) for i, tensor in enumerate(new)]
        for room, tensor in zip(self._rooms, new, strict=True):
            room[..., start:end, :] = tensor
        self.n_tokens = end
        return [room[..., :end, :] for room in self._rooms]

    def replace(self, sums: Tensor, n_new: int) -> None:
        """Keep these sums, which hold ``n_new`` more tokens, instead of the old."""
        self.sums = sums
        self.n_tokens += n_new

    def _enlarged(self, index: int, like: Tensor, length: int) -> Tensor:
        room = like.new_empty(*like.shape[:-2], length, like.shape[-1])
        if self._rooms:
            room[..., : self.n_tokens, :] = self._rooms[index][..., : self.n_tokens, :]
        return room
