"""`python -m training COMMAND …`: what each command does is in its own module."""

import importlib
import os
import sys

from pitchenv.checks import InputError, near

COMMANDS = {
    "train": "train a bidding and a play network by self-play",
    "match": "measure agents head to head on duplicate deals",
    "play": "a person against any agents, in the terminal",
    "ladder": "everybody against everybody: payoffs, ratings, and who matters; goes on after a kill",
    "best-response": "train exploiters against a frozen agent: a lower bound on its exploitability",
    "cross-play": "mix agents as partners: what each pair loses by it",
    "held-out": "an agent for any rules, on random house rules that it was not trained on",
    "analyze": "what each decision of a recorded match was worth, by solver and by an agent",
    "equity": "how likely a side is to win the match from any score, as a reward for training",
    "bidding-chart": "a picture of what agents bid on which hands, and how often they make it",
    "zoo": "train, measure and pack an agent that ships; or check all of them",
    "export": "write an agent's networks as ONNX",
    "bench": "measure the speed of the engine and the environments",
}


def main(argv: list[str]) -> int:
    """Run a command; bad input is one line and exit code 2."""
    if not argv or argv[0] in ("-h", "--help"):
        print("usage: python -m training COMMAND [options]; COMMAND --help tells more\n")
        print("\n".join(f"  {name:14}{text}" for name, text in COMMANDS.items()))
        return 0
    command, *rest = argv
    if command not in COMMANDS:
        print(f"command {command!r}: unknown{near(command, COMMANDS)}; allowed: {', '.join(COMMANDS)}", file=sys.stderr)
        return 2
    if command != "train" and int(os.environ.get("WORLD_SIZE", "1")) > 1:
        if os.environ.get("RANK") == "0":
            print(f"command {command!r}: under torchrun; allowed: 'train'", file=sys.stderr)
        return 2
    try:
        importlib.import_module(f"training.{command.replace('-', '_')}").main(rest)
    except InputError as fault:
        print(fault, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
