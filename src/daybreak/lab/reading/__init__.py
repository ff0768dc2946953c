"""What is asked of stored runs: the law of their plateaus, their curves so far, and their forecasts."""
