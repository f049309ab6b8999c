"""The outcome of `tgm train`: greedy episodes, the learned map, the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gymnasium as gym

from tgm.agent import TGMAgent
from tgm.agent.diagnosis import finding_of, relevance_in_words
from tgm.cli.output import print_json, print_lines
from tgm.cli.report import report_within
from tgm.cli.words import evaluation_facts, evaluation_line, learned_map, structure_lines
from tgm.envs import facts_of
from tgm.experiments.evaluation import Evaluation, evaluate
from tgm.experiments.structure import StructureReport, compare_structure
from tgm.inspector.payload import remarks
from tgm.runs import Run
from tgm.runs.folder import write_result

EVALUATION_EPISODES = 20
_KEPT = ("mean_return", "optimal_return", "solved")  # of the evaluation, in result.json


@dataclass(frozen=True)
class Outcome:
    """What came of a call of `tgm train`.

    Attributes:
        agent: the trained agent, with its environment.
        run: its run.
        n_new: steps of this call; fewer than the agent's if the run was resumed.
        seconds: time that they took.
        evaluation: greedy episodes after the training.
        structure: the learned map against the true maze; None if the environment is not a maze.
    """

    agent: TGMAgent
    run: Run
    n_new: int
    seconds: float
    evaluation: Evaluation
    structure: StructureReport | None

    @property
    def env(self) -> gym.Env[Any, Any]:
        """The environment of the run."""
        assert self.agent.env is not None
        return self.agent.env

    @classmethod
    def of(cls, agent: TGMAgent, run: Run, n_new: int, seconds: float) -> Outcome:
        """Evaluate the agent and keep the result in the run."""
        assert agent.env is not None
        evaluation = evaluate(agent, agent.env, EVALUATION_EPISODES, run.metadata["seed"])
        facts = evaluation_facts(evaluation, run.world, agent.env)
        kept = {name: facts[name] for name in _KEPT if name in facts}
        write_result(run.folder, run.status().result | kept)
        maze = facts_of(run.world).maze
        structure = None if maze is None else compare_structure(agent, maze)
        return cls(agent, run, n_new, seconds, evaluation, structure)

    def print(self, *, as_json: bool, with_report: bool) -> None:
        """Print the outcome.

        Args:
            as_json: as one JSON object instead of lines.
            with_report: write report.html into the run, if the inspector is installed.
        """
        report = report_within(Run.open(self.run.folder)) if with_report else None
        if as_json:
            print_json(self._facts() | ({} if report is None else {"report": str(report)}))
            return
        agent, maze, structure = self.agent, self.run.world.maze, self.structure
        if maze is None or structure is None:
            print_lines(f"{agent.n_states} states found")
        else:
            print_lines(learned_map(maze, agent, structure), *structure_lines(structure))
        of_them = "" if self.n_new == agent.n_steps else f", {self.n_new} of them now,"
        took = f"{agent.n_steps} steps{of_them} in {self.seconds:.1f} s"
        print_lines(
            evaluation_line(self.evaluation, self.run.world, self.env),
            f"{took}; the run is in {self.run.folder}",
        )
        if not all(agent.relevance.values()):
            print_lines(relevance_in_words(agent.relevance))
        print_lines(*(f"advice: {advice}" for advice in agent.advice))
        print_lines(*(f"health: {words[:1].lower()}{words[1:]}" for words in self._health()))
        if report is not None:
            print_lines(f"see how it learned: {report} opens in any browser")

    def _health(self) -> list[str]:
        """What the Health tab and `tgm runs` say too, without what the advice has said."""
        said = {finding_of(str(advice)).lower() for advice in self.agent.advice}
        return [words for words in remarks(Run.open(self.run.folder)) if words.lower() not in said]

    def _facts(self) -> dict[str, Any]:
        facts = {
            "run": str(self.run.folder),
            "steps": self.agent.n_steps,
            "seconds": round(self.seconds, 3),
            "states": self.agent.n_states,
            **evaluation_facts(self.evaluation, self.run.world, self.env),
            "advice": [str(advice) for advice in self.agent.advice],
            "health": list(remarks(Run.open(self.run.folder))),
        }
        structure = self.structure
        return facts if structure is None else facts | {"structure": structure.to_dict()}
