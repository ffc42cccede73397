"""Runs that fail, one after another and many at once: the second way to what laws of reliability say."""
