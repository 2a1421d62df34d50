"""`python -m training export AGENT --onnx FILE`: the networks of an agent for programs that have no torch.

One file for the whole agent: both networks over the same inputs, and for each row the logits of the one whose phase it is, which the
observation says. So a program needs no more than observation and mask, and the largest logit is what the agent does. The graph is written
node by node (linear layers and ReLU), with no tracing.

Inputs    observation (n, F) float32, as `pitchenv.observation.observe` makes it; mask (n, 70) bool, the legal actions
Output    logits (n, 70) float32, −1e9 where an action is not legal; their softmax is the probabilities
Metadata  card: JSON of both networks (rules, slots, layout …); canonical_suits: "true" or "false"

**Canonical suits.** With `canonical_suits` the networks know suits by canonical names only: observation, mask and actions are in those.
`agents.canonical.canonical_observations(views, slots)` gives observations and the suits' names `to`; with
`original = agents.canonical.original_actions(to)`, (n, 70), canonical action k of row i is action `original[i, k]` at the table. The mask
to give is `mask[i, original[i]]`, the action to take `original[i, logits[i].argmax()]`.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import torch
import tyro

import agents
from agents.learned import PARTS, NetworkPolicy, network_card
from agents.networks import NO_CHANCE
from pitchenv.actions import ACTIONS
from pitchenv.checks import InputError
from pitchenv.engine.state import TRUMP
from pitchenv.observation import layout
from training.command_line import check_new_file, option_names, parse
from training.result_file import write_result

OPSET: Final = 13  # what the nodes below need; any runtime of the last years has it
IR_VERSION: Final = 8
FORMAT: Final = "pitchenv-onnx-1"


@dataclass(frozen=True)
class Arguments:
    """Write the bidding and the play network of an agent as one ONNX file.

    Example: python -m training export zoo:auction-4-partners --onnx agent.onnx
    """

    agent: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="AGENT")]
    """An agent of two networks: zoo:NAME, the folder of a run, or of a checkpoint."""

    onnx: Path
    """The file to write."""


def main(argv: Sequence[str]) -> None:
    """Run the command. Raises InputError with one line on wrong input."""
    arguments = parse(Arguments, argv, "export", option_names(Arguments, without=("agent",)))
    check_new_file("onnx", arguments.onnx)
    content = onnx_bytes(networks_of(arguments.agent), arguments.agent)
    write_result("onnx", arguments.onnx, content)
    print(f"{arguments.onnx}: {len(content):,} bytes")


def networks_of(spec: str) -> dict[str, NetworkPolicy]:
    """The networks of an agent, by part. Raises InputError where a part is none, or the two are for different inputs."""
    policy = agents.load(spec)
    networks: dict[str, NetworkPolicy] = {}
    for part in PARTS:
        network = getattr(policy, "parts", {}).get(part)
        if not isinstance(network, NetworkPolicy):
            raise InputError(f"agent {spec!r}: its {part} part is no network; allowed: zoo:NAME, or the folder of a run with both")
        networks[part] = network
    for field in ("slots", "canonical_suits"):
        bidding, play = (getattr(networks[part], field) for part in PARTS)
        if bidding != play:
            raise InputError(f"agent {spec!r}: {field} = {bidding} in bidding, {play} in play; allowed in one file: the same")
    return networks


def onnx_bytes(networks: dict[str, NetworkPolicy], name: str) -> bytes:
    """The ONNX file (see the module) of a bidding and a play network that read the same inputs. Raises InputError without the package."""
    try:
        import onnx
        from onnx import TensorProto, helper, numpy_helper
    except ImportError:
        raise InputError('export: the package onnx is not installed; allowed: after pip install -e ".[train,onnx]"') from None
    legend = layout(networks["play"].slots)
    nodes: list[Any] = []
    constants: dict[str, torch.Tensor] = {}
    for part, network in networks.items():
        last = "observation"
        for k, layer in enumerate(network.actor.layers):
            out = f"{part}.{k}"
            if isinstance(layer, torch.nn.Linear):
                constants |= {f"{out}.weight": layer.weight, f"{out}.bias": layer.bias}
                nodes.append(helper.make_node("Gemm", [last, f"{out}.weight", f"{out}.bias"], [out], transB=1))
            elif isinstance(layer, torch.nn.ReLU):
                nodes.append(helper.make_node("Relu", [last], [out]))
            else:
                raise InputError(f"agent {name!r}: a layer {type(layer).__name__}; allowed: Linear, ReLU")
            last = out
        nodes.append(helper.make_node("Identity", [last], [f"{part}_logits"]))
    begin = legend.slices["phase"].start
    arrays: dict[str, Any] = {key: tensor.detach().cpu().float().numpy() for key, tensor in constants.items()} | {
        "phase_begin": np.array([begin]), "phase_end": np.array([begin + TRUMP + 1]), "phase_axis": np.array([1]),
        "half": np.array(0.5, np.float32), "no_chance": np.array(NO_CHANCE, np.float32),
    }  # fmt: skip
    nodes += [
        helper.make_node("Slice", ["observation", "phase_begin", "phase_end", "phase_axis"], ["bidding_phases"]),
        helper.make_node("ReduceMax", ["bidding_phases"], ["in_bidding"], axes=[1], keepdims=1),
        helper.make_node("Greater", ["in_bidding", "half"], ["is_bidding"]),
        helper.make_node("Where", ["is_bidding", "bidding_logits", "play_logits"], ["of_phase"]),
        helper.make_node("Where", ["mask", "of_phase", "no_chance"], ["logits"]),
    ]
    graph = helper.make_graph(
        nodes,
        "pitchenv",
        [
            helper.make_tensor_value_info("observation", TensorProto.FLOAT, ["n", legend.size]),
            helper.make_tensor_value_info("mask", TensorProto.BOOL, ["n", ACTIONS]),
        ],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", ACTIONS])],
        [numpy_helper.from_array(array, key) for key, array in arrays.items()],
        doc_string=__doc__ or "",
    )
    opset = helper.make_opsetid("", OPSET)
    model = helper.make_model(graph, producer_name="pitchenv", opset_imports=[opset], ir_version=IR_VERSION)
    helper.set_model_props(model, metadata(networks, name))
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString())


def metadata(networks: dict[str, NetworkPolicy], name: str) -> dict[str, str]:
    """What an ONNX file says of its networks: texts by name."""
    canonical = networks["play"].canonical_suits
    card = {"format": FORMAT, "agent": name, "parts": {part: network_card(network, part) for part, network in networks.items()}}
    return {"card": json.dumps(card), "canonical_suits": json.dumps(canonical)}
