"""Accelerators that finish a trillion tokens in 30 days, at even odds and with nine chances in ten.

Each accelerator trains on 410 tokens a second among 512, a little less among more; a step is known to 12 %. Failures,
restarts and the price of an hour are as below.
"""

from math import exp

from volvelle.applications.goodput.run_estimate import chance_within, run_estimate, simulated_chance
from volvelle.applications.goodput.run_plan import HourlyPrice, JobHazard, PartHazard, RecoveryPolicy, RunPhase, RunPlan
from volvelle.spread import LogNormal

DAY = 86_400.0
WITHIN = 30.0
"""Days."""
STEP_TOKENS = 4e6


def planned(accelerators: int) -> RunPlan:
    """The run on so many accelerators."""
    pace = accelerators * 410.0 * (accelerators / 512) ** -0.06
    rate = PartHazard(part="node", count=accelerators / 8, rate=4.1e-3 / DAY)
    return RunPlan(
        model="a trillion tokens",
        system="H100",
        accelerators=accelerators,
        nodes=accelerators // 8,
        phases=(RunPhase(tokens=1e12, tokens_per_step=STEP_TOKENS, step=STEP_TOKENS / pace, doubt=exp(0.12)),),
        hazard=JobHazard(parts=(rate,), doubt=1.73),
        recovery=RecoveryPolicy(restart=LogNormal(720.0, 1.65), stall=LogNormal(5.0, 1.0)),
        prices=(HourlyPrice(way="rented", low=3.29, middle=3.29, high=3.29, what="as given"),),
    )


def main() -> None:
    """Print every count, and how certain each is."""
    print("accelerators  days at even odds  in 30 days  million USD")
    answers = {}
    for accelerators in range(896, 1537, 128):
        plan = planned(accelerators)
        run, chance = run_estimate(plan), chance_within(plan, WITHIN)
        answers[accelerators] = chance
        print(f"{accelerators:12}  {run.days.p50:17.1f}  {chance:10.3f}  {run.spending[0].usd.p50 / 1e6:11.2f}")
    even = min(count for count, chance in answers.items() if chance >= 0.5)
    sure = min(count for count, chance in answers.items() if chance >= 0.9)
    print(f"even odds need {even}, nine in ten {sure}")
    print(
        f"{sure} simulated failure by failure, 10,000 times: {simulated_chance(planned(sure), WITHIN, runs=10_000):.3f}"
    )


if __name__ == "__main__":
    main()
