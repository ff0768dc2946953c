"""The page that `daybreak explore` serves: theory, laws, runs, forecasts and claims, on this machine and for it alone."""

from daybreak.explorer.app import explorer as explorer
from daybreak.explorer.server import listen as listen
from daybreak.explorer.server import serve as serve
from daybreak.explorer.theory import warm as warm
from daybreak.explorer.workspace import Workspace as Workspace
