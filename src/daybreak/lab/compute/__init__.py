"""How the runs of a lab are computed.

driver      trains what a lab does not have, and keeps what is measured
reuse       what the lab already has of the runs to train: those that differ only in their budget
cohorts     which runs are trained together; `cost`, `programs`: their operations and memory, their compiled programs
rates       how long runs take on this machine; `calibration` measures that where it is not known
executor    the interface of executors; `inline`, `local`, `ray`: this process, processes of this machine, a cluster
messages    between driver and workers
work        what a worker does with a job; `local_worker`, `_frames`: the process of `local`, its socket
"""
