"""The configuration of a training run: one small TOML file an experiment, every field checked."""

import dataclasses
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass

from pitchenv import Rules, load_rules
from pitchenv.checks import InputError, check_keys, one_line, read_toml
from training.house_rules import random_games


class ConfigError(InputError):
    """A configuration that can't be run; the message is one line with the field, the value and what is allowed."""


Fraction = Annotated[float, Field(ge=0, le=1)]
Sizes = Annotated[tuple[Annotated[int, Field(ge=1, le=8192)], ...], BeforeValidator(lambda v: tuple(v) if isinstance(v, list) else v)]
Names = Annotated[tuple[str, ...], BeforeValidator(lambda v: tuple(v) if isinstance(v, list) else v)]
_CHECKED = ConfigDict(extra="forbid", strict=True)


@one_line(ConfigError)
@dataclass(frozen=True, kw_only=True, config=_CHECKED)
class PPOConfig:
    """Proximal policy optimisation (`training.ppo`)."""

    lr: Annotated[float, Field(gt=0, le=1)] = 1e-3
    """Adam's step size at the start."""
    lr_end: Annotated[float, Field(ge=0, le=1)] = 0.0
    """And at the end; linear between."""
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
    magnet: Annotated[float, Field(ge=0, le=1e6)] = 0.0
    """Weight of the reverse KL divergence to a slow copy of the policy (magnetic mirror descent); 0: no such copy."""
    magnet_rate: Fraction = 0.05
    """How far the slow copy follows the policy, each iteration."""
    teaching: Annotated[float, Field(ge=0, le=1e6)] = 1.0
    """Weight of the divergence from the teachers' policies at the start, where there are teachers."""
    teaching_end: Annotated[float, Field(ge=0, le=1e6)] = 0.0
    """And at the end; linear between."""
    exact_cards: Annotated[int, Field(ge=0, le=30)] = 0
    """With at most so many cards in all hands the exact solution with open hands is the critic, for every card at once (two sides):
    against an opponent too, as if it played them without a fault."""
    gae_lambda: Fraction = 0.95
    """Generalised advantage estimation; deals are short, so returns are not discounted."""
    max_grad_norm: Annotated[float, Field(gt=0, le=1e6)] = 0.5
    """Gradients are scaled down to this norm."""


@one_line(ConfigError)
@dataclass(frozen=True, kw_only=True, config=_CHECKED)
class DMCConfig:
    """Deep Monte-Carlo (`training.dmc`)."""

    lr: Annotated[float, Field(gt=0, le=1)] = 1e-3
    """Adam's step size at the start."""
    lr_end: Annotated[float, Field(ge=0, le=1)] = 0.0
    """And at the end; linear between."""
    minibatches: Annotated[int, Field(ge=1, le=10_000)] = 16
    """Gradient steps an epoch, for each part."""
    epochs: Annotated[int, Field(ge=1, le=100)] = 1
    """Passes over the decisions of an iteration."""
    epsilon: Fraction = 0.1
    """The share of actions drawn uniformly, at the start."""
    epsilon_end: Fraction = 0.02
    """And at the end; linear between."""
    temperature: Annotated[float, Field(ge=1e-3, le=1e6)] = 0.05
    """What is saved are the values, in scaled rewards, over this: its softmax is what `sampled:RUN` and inference take for the policy."""
    max_grad_norm: Annotated[float, Field(gt=0, le=1e6)] = 1.0
    """Gradients are scaled down to this norm."""


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
    games: Names = ()
    """Several games, by name or file, mixed in every batch in place of `game`: one network learns them all, and plays any rules."""
    house_rules: Annotated[int, Field(ge=0, le=10_000)] = 0
    """So many random combinations of the rules are mixed with `games` (`training.house_rules`)."""
    games_weight: Annotated[int, Field(ge=1, le=10_000)] = 1
    """Deals of each of `games` for one of each of the house rules."""
    parts: Literal["both", "bidding", "play"] = "both"
    """What learns: the bidding network, the play network, or both."""
    play_values: Literal["played", "exact"] = "played"
    """With parts = "bidding", what comes of a deal: as the partner plays it, or solved with open hands (`training.exact_play`)."""
    exact_play_cards: Annotated[int, Field(ge=1, le=30)] = 24
    """With exact play values, two sides: cards in all hands from which on play is exact; before that the rule-based player plays."""
    algorithm: Literal["ppo", "dmc"] = "ppo"
    """How they learn: proximal policy optimisation, or deep Monte-Carlo."""
    partner: str = "heuristic"
    """The frozen player of the part that does not learn, as an agent spec."""
    opponent: str = ""
    """A frozen player of the other sides, as an agent spec: one side of each deal learns, in turn. Empty: self-play."""
    opponent_share: Fraction = 1.0
    """The share of deals that is played against it; in the rest all sides learn."""
    past_share: Fraction = 0.0
    """The share of deals that is played against an earlier state of the run itself."""
    past_every: Annotated[int, Field(ge=1)] = 50
    """Iterations between the states that are kept for it."""
    past_kept: Annotated[int, Field(ge=1, le=1000)] = 10
    """How many of them are played against, the newest; one is drawn for each iteration."""
    start_from: str = ""
    """The folder of a run whose networks, actors and critics, are the starting point. Empty: networks that know nothing."""
    teachers: Names = ()
    """Agents of single games, as specs, at most one for each: in their games the policies are drawn to theirs (`training.teachers`)."""
    iterations: Annotated[int, Field(ge=1)] = 200
    """Length of the run."""
    deals_per_iteration: Annotated[int, Field(ge=1, le=1_000_000)] = 1024
    """Deals played before every update."""
    seed: Annotated[int, Field(ge=0)] = 1
    """Of everything random."""
    start_scores: Literal["zero", "spread"] = "zero"
    """Scores that deals start from."""
    reward: Literal["margin", "score", "equity"] = "margin"
    """What a deal pays: points, or how much likelier it has made it to win the match, by a table."""
    equity: str = ""
    """The table, as `python -m training equity` makes it."""
    reward_scale: Annotated[float, Field(gt=0, le=1e6)] = 0.25
    """Rewards are multiplied by this, which brings margins to about unit spread: less in auction-7, more in oklahoma-4."""
    device: Literal["cpu", "cuda", "auto"] = "cpu"
    """Where the networks live."""
    threads: Annotated[int, Field(ge=1, le=256)] = 1
    """Threads of the matrix products; a second one beside a busy core costs more than it brings."""
    matmul: Literal["float32", "bfloat16"] = "bfloat16"
    """Products in bfloat16 with float32 sums, on processors that have instructions for it (faster); float32 on others."""
    checkpoint_every: Annotated[int, Field(ge=1)] = 20
    """Iterations between checkpoints."""
    exploiters: Annotated[int, Field(ge=0, le=10**9)] = 0
    """Iterations of exploiters that are trained against the finished agent, as by best-response, to report what they gain; 0: none."""
    ppo: PPOConfig = Field(default_factory=PPOConfig)
    dmc: DMCConfig = Field(default_factory=DMCConfig)
    network: NetworkConfig = Field(default_factory=NetworkConfig)
    evaluation: EvaluationConfig = Field(default_factory=EvaluationConfig)

    def __post_init__(self) -> None:
        if self.house_rules and not self.games:
            raise ConfigError(f"house_rules = {self.house_rules}: nothing to mix them with; allowed: with games")
        if self.games_weight > 1 and not self.house_rules:
            raise ConfigError(f"games_weight = {self.games_weight}: nothing to outweigh; allowed: with house_rules, or 1")
        if self.teachers and self.algorithm != "ppo":
            raise ConfigError(f"teachers = {self.teachers!r}: with algorithm = {self.algorithm!r}; allowed: with 'ppo'")
        for name in ("rules", "opponent") if self.games else ():
            if value := getattr(self, name):
                raise ConfigError(f"{name} = {value!r}: with several games; allowed: none")
        if self.games and len(set(self.games)) + self.house_rules < 2:
            raise ConfigError(f"games = {self.games!r}: one game; allowed: several, some house_rules, or that one as game")
        if self.games and self.parts != "both":
            raise ConfigError(f"parts = {self.parts!r}: with several games; allowed: 'both'")
        if (self.reward == "equity") != bool(self.equity):
            allowed = 'with reward = "equity"' if self.equity else 'a table with reward = "equity"'
            raise ConfigError(f"equity = {self.equity!r}: allowed: {allowed}")
        if self.games and self.exploiters:
            raise ConfigError(f"exploiters = {self.exploiters}: with several games; allowed: none; best-response takes one game at a time")
        if self.games and self.equity:
            raise ConfigError(f"equity = {self.equity!r}: with several games; allowed: none, a table is for one game")
        if self.algorithm == "ppo" and self.ppo.exact_cards and self.reward != "margin":
            raise ConfigError(
                f"ppo.exact_cards = {self.ppo.exact_cards}: with reward = {self.reward!r}; allowed: with 'margin', that it solves for; or 0"
            )
        if self.play_values == "exact" and self.parts != "bidding":
            raise ConfigError(f"play_values = 'exact': with parts = {self.parts!r}; allowed: with parts = 'bidding'")
        shares = (self.opponent_share if self.opponent else 0.0) + self.past_share
        if shares > 1:
            raise ConfigError(
                f"past_share = {self.past_share}: with opponent_share = {self.opponent_share} more than all; allowed: a sum up to 1"
            )

    def load_games(self) -> dict[str, Rules]:
        """The rules of the run by name: one game, or several. Raises RulesError."""
        if not self.games:
            return {self.game: load_rules(self.game, **self.rules)}
        named = {name: load_rules(name) for name in self.games}
        return named | random_games(self.house_rules, self.seed, without=named.values())

    def load_rules(self) -> Rules:
        """The rules of the run, of several games the first. Raises RulesError."""
        return next(iter(self.load_games().values()))

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
