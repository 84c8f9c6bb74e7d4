"""Work that requests wait for: one piece at a time, each computed once, the latest kept."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable
from math import inf
from time import monotonic
from typing import Any

from starlette.concurrency import run_in_threadpool

from attnlab.errors import BusyError

MOST_WAITING = 100
MOST_KEPT = 128


class Queue:
    """Whoever waits in it holds no thread, so that other requests go on."""

    def __init__(self, *, most_kept: int = MOST_KEPT) -> None:
        self._most_kept = most_kept
        self._turn = asyncio.Lock()
        self._waiting = 0
        self._kept: OrderedDict[Hashable, tuple[float, Any]] = OrderedDict()

    async def result(
        self,
        key: Hashable,
        compute: Callable[[], Any],
        *,
        lasts: float = inf,
        keep: bool = True,
    ) -> Any:
        """Return what ``compute`` gives, or gave for this key at most ``lasts`` seconds ago."""
        if not self._is_fresh(key, lasts):
            await self._computed(key, compute, lasts)
        self._kept.move_to_end(key)
        return self._kept[key][1] if keep else self._kept.pop(key)[1]

    async def _computed(self, key: Hashable, compute: Callable[[], Any], lasts: float) -> None:
        if self._waiting >= MOST_WAITING:
            raise BusyError("the server is busy with other requests. Try again in a moment.")
        self._waiting += 1
        try:
            async with self._turn:
                if not self._is_fresh(key, lasts):  # nobody ahead in the queue wanted the same
                    value = await run_in_threadpool(compute)
                    self._kept[key] = monotonic(), value
                    self._kept.move_to_end(key)
                    while len(self._kept) > self._most_kept:
                        self._kept.popitem(last=False)
        finally:
            self._waiting -= 1

    def _is_fresh(self, key: Hashable, lasts: float) -> bool:
        return key in self._kept and monotonic() - self._kept[key][0] <= lasts
