"""A whole job: days, money, energy and carbon of a run that will be interrupted."""
