"""A map of a room that looks the same almost everywhere: the agent sees only the walls it touches.

Run it as it is: `python examples/cognitive_map.py`. The picture needs the extra `figures`.
"""

import gymnasium as gym
import numpy as np
from matplotlib.figure import Figure

import tgm

MOVES = ((0, -1), (0, 1), (-1, 0), (1, 0))


class DarkRoom(gym.Env):
    """A room of 5 x 4 cells. All that is felt are the walls next to the agent, and the goal."""

    observation_space = gym.spaces.Discrete(32)
    action_space = gym.spaces.Discrete(4)
    action_names = ("down", "up", "left", "right")
    width, height = 5, 4

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.cell = (0, 0)
        return self.felt(), {}

    def step(self, action):
        x, y = self.cell[0] + MOVES[action][0], self.cell[1] + MOVES[action][1]
        if self.is_inside(x, y):
            self.cell = (x, y)
        is_goal = self.cell == (self.width - 1, self.height - 1)
        return self.felt(), -1.0, is_goal, False, {}

    def is_inside(self, x, y):
        return 0 <= x < self.width and 0 <= y < self.height

    def felt(self):
        x, y = self.cell
        return sum(2**i for i, (dx, dy) in enumerate(MOVES) if not self.is_inside(x + dx, y + dy))


def cognitive_map(agent: tgm.TGMAgent, start: int) -> dict[tuple[int, int], int]:
    """Where each state is, in steps from the start: follow the most likely way of each action."""
    places, found, ways = {start: (0, 0)}, [start], agent.transition_matrix
    for state in found:
        for action, (dx, dy) in enumerate(MOVES):
            after = int(ways[action, state].argmax())
            if after not in places and ways[action, state, after] > 0.5:
                places[after] = (places[state][0] + dx, places[state][1] + dy)
                found.append(after)
    return {place: state for state, place in places.items()}


def main(n_steps: int = 5000) -> Figure:
    """Train, print the map, and draw it."""
    env = gym.wrappers.TimeLimit(DarkRoom(), max_episode_steps=60)
    agent = tgm.TGMAgent(env, seed=0).learn(n_steps)
    looks = agent.means[:, 0].astype(int)
    print(f"{agent.n_states} places were told apart, by {len(set(looks))} different looks")
    observation, _ = env.reset(seed=0)
    places = cognitive_map(agent, int(agent.belief(observation).argmax()))
    print("\nlooks, as they lie in the agent's map:")
    for y in sorted({y for _, y in places}, reverse=True):
        line = [places.get((x, y)) for x in sorted({x for x, _ in places})]
        print(" ".join("   ." if state is None else f"{looks[state]:4d}" for state in line))
    best = agent.predict(observation, episode_start=np.array([True]), deterministic=True)[0]
    print(f"\nat the start the best action is '{DarkRoom.action_names[int(best)]}'")
    figure = Figure(figsize=(4.6, 3.8), layout="constrained")
    axes = figure.subplots()
    for (x, y), state in places.items():
        colour = f"C{sorted(set(looks)).index(looks[state]) % 10}"
        axes.scatter(x, y, s=900, marker="s", color=colour, alpha=0.5)
        axes.annotate(str(agent.state_ids[state]), (x, y), ha="center", va="center")
    axes.set(xticks=[], yticks=[], aspect="equal", title="the agent's map; same colour: same look")
    axes.margins(0.15)
    return figure


if __name__ == "__main__":
    main().savefig("cognitive_map.png")
