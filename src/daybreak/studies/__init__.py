"""What the papers claim: one file per figure, each with measurements, laws, claims and a picture."""

from daybreak.studies._study import VERDICTS as VERDICTS
from daybreak.studies._study import Claim as Claim
from daybreak.studies._study import Findings as Findings
from daybreak.studies._study import Scale as Scale
from daybreak.studies._study import Study as Study
from daybreak.studies._study import TrainedData as TrainedData
from daybreak.studies.catalogue import STUDIES as STUDIES
from daybreak.studies.catalogue import find as find
from daybreak.studies.report import write_report as write_report
from daybreak.studies.reproduce import Reproduction as Reproduction
from daybreak.studies.reproduce import has_tables as has_tables
from daybreak.studies.reproduce import judge_again as judge_again
from daybreak.studies.reproduce import lacking as lacking
from daybreak.studies.reproduce import reproduce as reproduce
from daybreak.studies.status import StudyCost as StudyCost
from daybreak.studies.status import StudyStatus as StudyStatus
from daybreak.studies.status import cost_of as cost_of
from daybreak.studies.status import missing as missing
from daybreak.studies.status import statuses as statuses
