"""A map of a room that looks the same almost everywhere: the agent sees only the walls it touches.

Run it as it is: `.venv/bin/python examples/cognitive_map.py`.
"""

import gymnasium as gym
import numpy as np

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


def main() -> None:
    env = gym.wrappers.TimeLimit(DarkRoom(), max_episode_steps=60)
    agent = tgm.TGMAgent(env, seed=0).learn(1600)
    looks = agent.means[:, 0].astype(int)
    print(f"{agent.n_states} places were told apart, by {len(set(looks))} different looks")
    observation, _ = env.reset(seed=0)
    start = int(agent.belief(observation).argmax())
    places = cognitive_map(agent, start)
    for row, numbers in (("places", agent.state_ids), ("looks", looks)):
        print(f"\n{row}, as they lie in the agent's map:")
        for y in sorted({y for _, y in places}, reverse=True):
            line = [places.get((x, y)) for x in sorted({x for x, _ in places})]
            print(" ".join("   ." if s is None else f"{numbers[s]:4d}" for s in line))
    best = agent.predict(observation, episode_start=np.array([True]), deterministic=True)[0]
    print(f"\nat the start the best action is '{DarkRoom.action_names[int(best)]}'")


if __name__ == "__main__":
    main()
