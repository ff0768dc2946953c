"""What mathematics predicts: reduced losses, gradient flows, escape times of paper A's toy model and paper B's regression.

Numbers or arrays in, NumPy float64 out. Nothing here samples data or trains a network, except `sgd`, which follows the
toy model's stochastic gradient descent.
"""

from daybreak.theory._setting import Logits as Logits
from daybreak.theory._setting import ToySetting as ToySetting
from daybreak.theory.equilibrium import sharpness as sharpness
from daybreak.theory.equilibrium import w_equilibrium as w_equilibrium
from daybreak.theory.escape import Linearised as Linearised
from daybreak.theory.escape import escape_time as escape_time
from daybreak.theory.escape import escape_time_log as escape_time_log
from daybreak.theory.escape import growth_rate as growth_rate
from daybreak.theory.escape import linearised as linearised
from daybreak.theory.escape import plateau_estimate as plateau_estimate
from daybreak.theory.escape import takeoff_time as takeoff_time
from daybreak.theory.flow import Trajectory as Trajectory
from daybreak.theory.flow import flow as flow
from daybreak.theory.full import FullTrajectory as FullTrajectory
from daybreak.theory.full import full_flow as full_flow
from daybreak.theory.full import full_plateau as full_plateau
from daybreak.theory.head_flow import HeadTrajectory as HeadTrajectory
from daybreak.theory.head_flow import head_flow as head_flow
from daybreak.theory.heads import HeadFlow as HeadFlow
from daybreak.theory.patterns import Patterns as Patterns
from daybreak.theory.patterns import patterns as patterns
from daybreak.theory.patterns import plateau_levels as plateau_levels
from daybreak.theory.plateau import plateau as plateau
from daybreak.theory.saddle import saddle_rate as saddle_rate
from daybreak.theory.saddle import saddle_time as saddle_time
from daybreak.theory.saddle import start_rates as start_rates
from daybreak.theory.schedule import Lever as Lever
from daybreak.theory.schedule import ScheduledPlateau as ScheduledPlateau
from daybreak.theory.schedule import best_schedule as best_schedule
from daybreak.theory.schedule import best_switch as best_switch
from daybreak.theory.schedule import scheduled_plateau as scheduled_plateau
from daybreak.theory.sgd import Descent as Descent
from daybreak.theory.sgd import sgd as sgd
from daybreak.theory.sgd import sgd_limit as sgd_limit
