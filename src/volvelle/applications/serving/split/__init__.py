"""Serving by two pools: prompts are computed in one, answers decoded in the other."""
