"""The type checker that runs while tests do: beartype, with int accepted where float is asked for, as Python does."""

from beartype import BeartypeConf, beartype

check = beartype(conf=BeartypeConf(is_pep484_tower=True))
