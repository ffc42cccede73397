"""Pure formulas, one phenomenon a file. Each names its paper and equation, and says what it assumes.

Every law broadcasts: any argument may be a number or a NumPy array.
"""
