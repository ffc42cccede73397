"""Plans and calibrations of serving: what `plan` and `calibrate` take where a load is given."""
