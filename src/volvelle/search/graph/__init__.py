"""Where every operation of any graph runs: degrees, sharding, stages, tiles and fusion, searched together."""
