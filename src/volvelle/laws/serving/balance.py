"""Ranks of data parallelism that wait for each other's prompts."""

from volvelle.laws.citations import cites


@cites("tensorrt-llm-docs", place="ADP balance strategy: prompts wait until every rank has one")
def draws_of_each_until_all(ranks: int) -> float:
    r"""Requests that a rank has when each of all has one, on average: the n-th harmonic number.

    $$ \frac{1}{n} \cdot n \sum_{i=1}^{n} \frac{1}{i} $$

    The collector of coupons draws n times this sum until he has one of each of n. Assumes requests that fall on any
    rank alike, as they do where each takes the place of one that ended there.
    """
    return sum(1.0 / each for each in range(1, ranks + 1))
