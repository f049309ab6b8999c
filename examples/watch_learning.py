"""What changes while an agent learns: every birth, merge and split, with its gain in nats.

Run it as it is: `.venv/bin/python examples/watch_learning.py`.
"""

import gymnasium as gym

import tgm


def report(info: tgm.agent.LearningInfo) -> None:
    """Called after every learning step."""
    for move in info.moves:
        if move.accepted:
            names = " and ".join(str(name) for name in move.ids)
            gain = "" if move.gain is None else f", {move.gain:+.1f} nats"
            print(f"step {info.step:4}: {move.kind} of {names}{gain}; {move.cause}")


def main() -> None:
    env = gym.make("tgm/Maze-v0", maze="8")
    agent = tgm.TGMAgent(env, tgm.TGMConfig(), seed=0).learn(200, callback=report)
    print(f"{agent.n_states} states for {len(env.unwrapped.maze.cells)} cells")


if __name__ == "__main__":
    main()
