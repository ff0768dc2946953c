"""Who computes the runs of a lab: the driver, its executors, the messages between them, and what a run costs."""
