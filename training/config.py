"""The configuration of a training run: one small TOML file an experiment, every field checked."""

import dataclasses
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass

from pitchenv import Rules, load_rules
from pitchenv.checks import InputError, check_keys, one_line, read_toml


class ConfigError(InputError):
    """A configuration that can't be run; the message is one line with the field, the value and what is allowed."""


Fraction = Annotated[float, Field(ge=0, le=1)]
Sizes = Annotated[tuple[Annotated[int, Field(ge=1, le=8192)], ...], BeforeValidator(lambda v: tuple(v) if isinstance(v, list) else v)]
_CHECKED = ConfigDict(extra="forbid", strict=True)


@one_line(ConfigError)
@dataclass(frozen=True, kw_only=True, config=_CHECKED)
class PPOConfig:
    """Proximal policy optimisation (Schulman et al. 2017)."""

    lr: Annotated[float, Field(gt=0, le=1)] = 1e-3
    """Adam's step size at the start."""
    lr_end: Annotated[float, Field(ge=0, le=1)] = 0.0
    """And at the end; linear between."""
    deals_per_iteration: Annotated[int, Field(ge=1, le=1_000_000)] = 1024
    """Deals played before every update."""
    minibatches: Annotated[int, Field(ge=1, le=10_000)] = 16
    """Gradient steps an epoch, for each part: bidding has fewer decisions than play, and needs as many steps."""
    epochs: Annotated[int, Field(ge=1, le=100)] = 2
    """Passes over the play decisions of an iteration."""
    bidding_epochs: Annotated[int, Field(ge=1, le=100)] = 2
    """Passes over its bidding decisions, of which there are fewer, with noisier returns."""
    clip: Annotated[float, Field(gt=0, le=1)] = 0.2
    """How far the probability ratio may leave 1."""
    entropy: Annotated[float, Field(ge=0, le=1e6)] = 0.03
    """Weight of the entropy bonus at the start."""
    entropy_end: Annotated[float, Field(ge=0, le=1e6)] = 0.003
    """And at the end; linear between."""
    gae_lambda: Fraction = 0.95
    """Generalised advantage estimation; deals are short, so returns are not discounted."""
    max_grad_norm: Annotated[float, Field(gt=0, le=1e6)] = 0.5
    """Gradients are scaled down to this norm."""
    reward_scale: Annotated[float, Field(gt=0, le=1e6)] = 0.25
    """Rewards are multiplied by this, to about unit spread."""


@one_line(ConfigError)
@dataclass(frozen=True, kw_only=True, config=_CHECKED)
class NetworkConfig:
    """The networks of each part."""

    hidden: Sizes = (256, 256)
    """Widths of the actor's hidden layers."""
    critic_hidden: Sizes = (256, 256)
    """Widths of the critic's."""
    canonical_suits: bool = True
    """Rename the suits to a canonical order before the networks see them."""


@one_line(ConfigError)
@dataclass(frozen=True, kw_only=True, config=_CHECKED)
class EvaluationConfig:
    """Duplicate play against fixed opponents."""

    every: Annotated[int, Field(ge=1)] = 20
    """Iterations between evaluations."""
    deals: Annotated[int, Field(ge=2)] = 1000
    """Deals of each."""
    final_deals: Annotated[int, Field(ge=2)] = 5000
    """Deals of the last one."""


@one_line(ConfigError)
@dataclass(frozen=True, kw_only=True, config=_CHECKED)
class TrainConfig:
    """A training run."""

    game: str = "auction-4-partners"
    """A game by name, or a TOML file of house rules."""
    rules: dict[str, Any] = Field(default_factory=dict)
    """Rule fields that differ from the game's."""
    parts: Literal["both", "bidding", "play"] = "both"
    """What learns: the bidding network, the play network, or both."""
    partner: str = "heuristic"
    """The frozen player of the part that does not learn, as an agent spec."""
    opponent: str = ""
    """A frozen player of the other sides, as an agent spec: one side of each deal learns, in turn. Empty: self-play."""
    start_from: str = ""
    """The folder of a run whose networks, actors and critics, are the starting point. Empty: networks that know nothing."""
    iterations: Annotated[int, Field(ge=1)] = 200
    """Length of the run."""
    seed: Annotated[int, Field(ge=0)] = 1
    """Of everything random."""
    start_scores: Literal["zero", "spread"] = "zero"
    """Scores that deals start from."""
    reward: Literal["margin", "score"] = "margin"
    """What a deal pays."""
    device: Literal["cpu", "cuda", "auto"] = "cpu"
    """Where the networks live."""
    threads: Annotated[int, Field(ge=1, le=256)] = 1
    """Threads of the matrix products; a second one beside a busy core costs more than it brings."""
    matmul: Literal["float32", "bfloat16"] = "bfloat16"
    """Products in bfloat16 with float32 sums, on processors that have instructions for it (about twice as fast); float32 on others."""
    checkpoint_every: Annotated[int, Field(ge=1)] = 20
    """Iterations between checkpoints."""
    ppo: PPOConfig = Field(default_factory=PPOConfig)
    network: NetworkConfig = Field(default_factory=NetworkConfig)
    evaluation: EvaluationConfig = Field(default_factory=EvaluationConfig)

    def load_rules(self) -> Rules:
        """The rules of the run. Raises RulesError."""
        return load_rules(self.game, **self.rules)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON or TOML."""
        fields: dict[str, Any] = TypeAdapter(TrainConfig).dump_python(self, mode="json")
        return fields


def from_dict(fields: dict[str, Any], cls: Any = TrainConfig, prefix: str = "") -> Any:
    """A configuration from plain values. Raises ConfigError, for an unknown key with the nearest known one."""
    known = {field.name: field for field in dataclasses.fields(cls)}
    check_keys([prefix + key for key in fields], [prefix + name for name in known], ConfigError, "config key")
    values = {}
    for key, value in fields.items():
        kind = known[key].type
        if dataclasses.is_dataclass(kind):
            if not isinstance(value, dict):
                raise ConfigError(f"{prefix}{key} = {value!r}: allowed: a table of {', '.join(f.name for f in dataclasses.fields(kind))}")
            value = from_dict(value, kind, f"{prefix}{key}.")
        values[key] = value
    try:
        return cls(**values)
    except ConfigError as fault:
        raise ConfigError(f"{prefix}{fault}") from None


def load_config(path: Path) -> TrainConfig:
    """The configuration of a TOML file. Raises ConfigError or RulesError."""
    config: TrainConfig = from_dict(read_toml("config", path, ConfigError))
    config.load_rules()
    return config
