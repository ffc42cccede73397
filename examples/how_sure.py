"""H100 that train an 8-billion-parameter model on 3 trillion tokens in 30 days: at even odds, and to be sure."""

import volvelle

WITHIN = 30.0
"""Days."""


def main() -> None:
    """Print every count of accelerators with its days, failures included, and the first that will do."""
    print("accelerators  days, one in ten below … above    ETTR   million USD")
    jobs = {}
    for count in (64, 96, 128, 192, 256):
        job = volvelle.job("llama3-8b", on=f"dgx-h100/{count}", tokens="3T", batch=1536, tensor=2, rent="3.29 USD/h")
        jobs[count] = days = job.run.days
        money = job.run.spending[0].usd.value / 1e6
        told = f"{days.value:5.1f}, {days.p10:5.1f} … {days.p90:5.1f}"
        print(f"{count:12}  {told:>31}  {100 * job.run.ettr.value:5.1f} %  {money:11.3f}")
    even = min(count for count, days in jobs.items() if days.value <= WITHIN)
    sure = min(count for count, days in jobs.items() if days.p90 <= WITHIN)
    print(f"done in {WITHIN:g} days: {even} at even odds, {sure} with nine chances in ten")


if __name__ == "__main__":
    main()
