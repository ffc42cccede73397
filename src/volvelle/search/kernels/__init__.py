"""The best mapping in kernel-by-kernel execution: degrees, choices and the split of every operation, with a proof."""
