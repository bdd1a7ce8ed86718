"""Any results folder -> raw.*: `discover` lists files, `formats` converts, `load` reads."""
