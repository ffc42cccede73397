"""Two pools of engines: one computes prompts, the other decodes, and caches go over links between them."""
