"""Any results folder -> raw.*: `discover` finds files, `formats` describes them, `load` reads."""
