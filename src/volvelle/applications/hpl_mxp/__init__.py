"""HPL-MxP, the mixed-precision Linpack."""
