"""Pictures: arrays in, Matplotlib figures out. One style for the command, the studies and the docs."""

from daybreak.pictures.curves import learning_curves as learning_curves
from daybreak.pictures.fitted import fitted_law as fitted_law
from daybreak.pictures.fitted import fitted_laws as fitted_laws
from daybreak.pictures.forecast import forecast_picture as forecast_picture
from daybreak.pictures.laws import law_panel as law_panel
from daybreak.pictures.maps import attention_picture as attention_picture
from daybreak.pictures.portrait import portrait as portrait
from daybreak.pictures.staircase import attention_map as attention_map
from daybreak.pictures.staircase import shade_stages as shade_stages
from daybreak.pictures.style import MARKERS as MARKERS
from daybreak.pictures.style import NEUTRAL as NEUTRAL
from daybreak.pictures.style import OURS as OURS
from daybreak.pictures.style import PAPER as PAPER
from daybreak.pictures.style import caption as caption
from daybreak.pictures.style import logarithmic as logarithmic
from daybreak.pictures.style import look as look
from daybreak.pictures.style import panels as panels
from daybreak.pictures.style import plain_numbers as plain_numbers
from daybreak.pictures.style import save as save
from daybreak.pictures.style import shades as shades
from daybreak.pictures.trained import BANDS as BANDS
from daybreak.pictures.trained import curve_panel as curve_panel
from daybreak.pictures.trained import plateau_panel as plateau_panel
