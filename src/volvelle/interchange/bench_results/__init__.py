"""Results of benchmarks of serving: ``vllm bench serve --save-result``, SGLang's ``bench_serving``, AIPerf."""
