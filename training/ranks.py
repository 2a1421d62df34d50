"""Several processes, on one machine or many, that train the same networks: what they tell each other.

`torchrun` starts the processes, called ranks, and tells each in its environment who it is. Every rank plays deals of its own, and all
take the same gradient steps, on the mean of their gradients (synchronous data parallelism: Li et al., "PyTorch Distributed:
experiences on accelerating data parallel training", 2020); so their parameters stay equal without being sent. The networks are small, so a
step's gradients go in one message, or on one machine through shared memory. A process alone calls the same methods, and nothing happens in
them.
"""

import contextlib
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import distributed, nn

from pitchenv.checks import InputError
from training.config import ConfigError
from training.shared_memory import SharedSum, shared_sum

T = TypeVar("T")
PATIENCE: Final = timedelta(hours=6)  # with a machine that has gone without a word; longer than any evaluation


class RankLost(InputError):
    """Another rank has ended in the midst of it; one line."""


@dataclass(frozen=True)
class Ranks:
    """Who this process is among those that train together, and what they do in common.

    But for the properties and `share`, every method is to be called by all ranks, in the same order. Raises RankLost when one of them has
    ended."""

    rank: int = 0
    world: int = 1  # how many there are
    local: int = 0  # the rank among those of this machine, which says which GPU is its own
    local_world: int = 1  # how many are on this machine
    sums: dict[int, SharedSum | None] = field(default_factory=dict, repr=False, compare=False)  # through shared memory, by length

    @classmethod
    @contextlib.contextmanager
    def joined(cls) -> Iterator["Ranks"]:
        """The ranks that torchrun's environment variables speak of; this process alone where there are none, or only one."""
        world = int(os.environ.get("WORLD_SIZE", "1")) if "RANK" in os.environ else 1
        if world == 1:
            yield ALONE
            return
        local, local_world = (int(os.environ.get(name, default)) for name, default in (("LOCAL_RANK", "0"), ("LOCAL_WORLD_SIZE", "1")))
        ranks = cls(int(os.environ["RANK"]), world, local, local_world)
        # NCCL wants a GPU for each rank; Gloo, which carries all else, lets several share one.
        own_gpu = torch.cuda.device_count() >= local_world
        try:
            distributed.init_process_group("cpu:gloo,cuda:nccl" if own_gpu else "gloo", timeout=PATIENCE)
        except (RuntimeError, ValueError) as fault:
            raise RankLost(f"rank {ranks.rank} of {world}: cannot reach the others: {_line(fault)}") from None
        yield ranks
        distributed.destroy_process_group()  # not after an exception: it would wait for the others

    @property
    def first(self) -> bool:
        """Whether this is the one that prints, measures and writes files."""
        return self.rank == 0

    @property
    def path(self) -> tuple[int, ...]:
        """What makes a random stream the rank's own (an end for `stream_seed`); nothing for the first, whose streams are a plain run's."""
        return (self.rank,) if self.rank else ()

    def share(self, deals: int, games: int = 1) -> int:
        """The rank's part of an iteration's deals, of several games as they weigh. Raises ConfigError where they don't divide, or where a
        rank would not deal all games."""
        if deals % self.world:
            raise ConfigError(
                f"deals_per_iteration = {deals}: does not divide among {self.world} ranks; allowed: a multiple of {self.world}"
            )
        if deals < games * self.world:
            of_ranks = f" on each of {self.world} ranks" if self.world > 1 else ""
            raise ConfigError(f"deals_per_iteration = {deals}: for games of weight {games}{of_ranks}; allowed: from {games * self.world}")
        return deals // self.world

    def gather(self, value: T) -> list[T]:
        """A value of every rank, by rank; anything that pickles."""
        if self.world == 1:
            return [value]
        values: list[Any] = [None] * self.world
        with _lost(self.rank):
            distributed.all_gather_object(values, value)
        return values

    def any(self, flag: bool) -> bool:
        """Whether it is so on some rank."""
        return any(self.gather(flag))

    def total(self, figures: Mapping[str, float]) -> dict[str, float]:
        """Sums over the ranks by name; a rank that lacks a name has nothing to add."""
        sums: dict[str, float] = {}
        for theirs in self.gather(dict(figures)):
            for name, value in theirs.items():
                sums[name] = sums[name] + value if name in sums else value
        return sums

    def moments(self, values: NDArray[np.float32]) -> tuple[np.float32, np.float32]:
        """Mean and variance of all ranks' values together, float32 (n,) where some may have none (Chan et al., "Updating formulae and a
        pairwise algorithm for computing sample variances", 1979)."""
        if self.world == 1:
            with np.errstate(invalid="ignore"):  # infinite ones are told of by `check_finite`
                return values.mean(), values.var()
        own = (len(values), float(values.mean(dtype=np.float64)), float(values.var(dtype=np.float64))) if len(values) else (0, 0.0, 0.0)
        n, mean, variance = np.array(self.gather(own)).T
        whole = float(n @ mean / n.sum())
        return np.float32(whole), np.float32(n @ (variance + (mean - whole) ** 2) / n.sum())

    def minibatch_shares(self, rows: int, most: int) -> list[float]:
        """For each minibatch, which part of it are this rank's rows, when it cuts its own into as many (`Tensor.tensor_split`).

        There are as many minibatches on every rank, at most `most`, and none is empty everywhere; a rank's own may be. No
        rows anywhere: no minibatches."""
        if self.world == 1:
            return [1.0] * min(most, rows)
        each = np.array(self.gather(rows))
        count = min(most, int(each.max()))
        sizes = each[:, None] // max(count, 1) + (np.arange(count) < each[:, None] % max(count, 1))
        shares: list[float] = (sizes[self.rank] / sizes.sum(0)).tolist()
        return shares

    def average_gradients(self, parameters: Sequence[nn.Parameter], share: float) -> None:
        """Put in place of the gradients of this rank's mean loss those of the mean over all ranks' rows, of which `share` are its own."""
        if self.world == 1:
            return
        own = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
        flat = torch.cat([gradient.flatten() for gradient in own]).mul_(share)
        with _lost(self.rank):
            self._sum(flat)
        for parameter, gradient in zip(parameters, torch.split(flat, [p.numel() for p in parameters]), strict=True):
            parameter.grad = gradient.view_as(parameter)

    def _sum(self, vector: torch.Tensor) -> None:
        if vector.device.type == "cpu" and self.local_world == self.world:
            if len(vector) not in self.sums:
                self.sums[len(vector)] = shared_sum(self.rank, self.world, len(vector), self.gather)
            if through_memory := self.sums[len(vector)]:
                return through_memory(vector)
        distributed.all_reduce(vector)

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """What is within talks to no other rank, and goes on when all are through. If it fails on some, the lowest of them raises its
        exception and the others end without a word: a fault is told once, and nobody waits for who will not come."""
        if self.world == 1:
            yield
            return
        fault = None
        try:
            yield
        except Exception as raised:
            fault = raised
        failed = [rank for rank, has in enumerate(self.gather(fault is not None)) if has]
        if failed:
            raise self.told_by(failed[0], fault)

    def told_by(self, rank: int, fault: BaseException | None) -> BaseException:
        """What to raise for a fault that one rank is to tell of: it is that, and for the others a quiet end after the teller's."""
        if rank == self.rank and fault is not None:
            return fault
        with contextlib.suppress(RankLost):
            self.gather(None)  # until the teller, which does not answer, has ended: torchrun kills the rest when one fails
        return SystemExit(2)


ALONE: Final = Ranks()


def checksum(state: Any) -> int:
    """CRC-32 over the tensors in a nest of mappings."""
    if isinstance(state, torch.Tensor):
        return zlib.crc32(state.detach().cpu().numpy().tobytes())
    below = [checksum(value) for value in state.values()] if isinstance(state, Mapping) else []
    return zlib.crc32(repr(below).encode())


@contextlib.contextmanager
def _lost(rank: int) -> Iterator[None]:
    """Say in one line that another rank has gone."""
    try:
        yield
    except RuntimeError as fault:
        raise RankLost(f"rank {rank}: another rank has ended: {_line(fault)}") from None


def _line(fault: BaseException) -> str:
    return " ".join(str(fault).split())[:160]
