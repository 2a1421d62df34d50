"""What a run reports: TensorBoard scalars under CleanRL's prefixes, and figures of the bidding and the play of an iteration."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from torch.utils.tensorboard import SummaryWriter

from pitchenv.engine.state import POINTS, SEATS, THROWN_IN
from training.config import TrainConfig


class Metrics:
    """The event file of a run that has come to a number of deals. On resume, what was logged after the checkpoint is hidden."""

    def __init__(self, run: Path, config: TrainConfig, deals: int) -> None:
        self._writer = SummaryWriter(str(run / "tensorboard"), purge_step=deals + 1 if deals else None)
        if not deals:
            text = json.dumps(config.to_dict(), indent=2)
            self._writer.add_text("configuration", "    " + text.replace("\n", "\n    "))

    def log(self, scalars: dict[str, float], step: int) -> None:
        """Write scalars at a number of deals."""
        for name, value in scalars.items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        """Write out what is buffered."""
        self._writer.close()


def deal_statistics(public: Any) -> dict[str, float]:
    """`bidding/` and `play/` figures of ended deals, PUBLIC records (deals,), of one game or several."""
    figures = {"bidding/thrown_in_rate": float((public["scored"] == THROWN_IN).mean())}
    played = public[public["scored"] == POINTS]
    if len(played):
        sides = played["rules"]["sides"].astype(np.int64)
        points = np.where(np.arange(SEATS) < sides[:, None], played["points"], 0).astype(np.float64)
        own = points[np.arange(len(played)), played["pitcher"] % sides]
        made = own >= played["bid"]
        figures |= {
            "bidding/level": float(played["bid"].mean()),
            "bidding/made_rate": float(made.mean()),
            "bidding/set_rate": float(1 - made.mean()),
            "bidding/dealer_pitches": float((played["pitcher"] == played["dealer"]).mean()),
            "play/pitchers_points": float(own.mean()),
            "play/points_per_other_side": float(((points.sum(1) - own) / (sides - 1)).mean()),
        }
        levels = range(int(played["rules"]["min_bid"].min()), int(played["rules"]["max_bid"].max()) + 1)
        figures |= {f"bidding/level_{bid}": float((played["bid"] == bid).mean()) for bid in levels}
    return figures
