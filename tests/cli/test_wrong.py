"""Wrong requests, for every verb: exit code 2, one sentence on stderr, nothing else printed, nothing written, no hang.

The table is data: a command line, and a part of the sentence. `./` is an empty folder; `../things` has a file, a folder, pipes, a
lab and sweep files.
"""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from daybreak.cli import main
from daybreak.cli._help import VERBS
from daybreak.lab import Lab
from tests.lab import made
from tests.lab.compute.sweeping import TOY

LONG = "x" * 300
ID = made.run(0).id
SECONDS = 40  # generous: a case takes far less than a second

WRONG = """
dawn                                                | 'dawn' is not a verb. Available subcommands: demo
Train toy                                           | Perhaps you meant train.
--json theory                                       | '--json' is not a verb
-x                                                  | '-x' is not a verb
--version --jsn                                     | '--version' is not a verb
""                                                  | '' is not a verb
{LONG}                                              | is not a verb
théorie --T 4 --d 4                                 | Perhaps you meant theory

theory                                              | Missing from daybreak theory: --T
theory --T 64                                       | Missing from daybreak theory: --d
theory --t 64 --d 8                                 | Missing from daybreak theory: --T
theory --T                                          | --T needs a value
theory --T 1 --d 8                                  | T = 1 is not allowed
theory --T 0 --d 8                                  | T = 0 is not allowed
theory --T -64 --d 8                                | T = -64 is not allowed
theory --T nan --d 8                                | --T: 'nan' is not a whole number
theory --T inf --d 8                                | 'inf' is not a whole number
theory --T 1e400 --d 8                              | '1e400' is not a whole number
theory --T 1e16 --d 8                               | the flow is resolved up to 1e12
theory --T 2.5 --d 8                                | '2.5' is not a whole number
theory --T many --d 8                               | 'many' is not a whole number
theory --T ٣x --d 8                                 | '٣x' is not a whole number
theory --T "" --d 8                                 | --T: its value is empty
theory --T= --d 8                                   | --T: its value is empty
theory --T 64 --d 0                                 | d = 0 is not allowed
theory --T 64 --d -1                                | d = -1 is not allowed
theory --T 64 --d nan                               | --d: 'nan' is not a whole number
theory --T 64 --d 1e13                              | the flow is resolved up to 1e12
theory --T 64 --d 1e400                             | '1e400' is not a whole number
theory --T 64 --d 8 --B 0                           | B = 0 is not allowed
theory --T 64 --d 8 --B 64                          | B must be at most T − 1
theory --T 64 --d 8 --B -1                          | B = -1 is not allowed
theory --T 64 --d 8 --B nan                         | --B: 'nan' is not a whole number
theory --T 64 --d 8 --B 1e30                        | B = 1e+30 is not allowed
theory --T 64 --d 8 --p 1                           | p = 1 is not allowed
theory --T 64 --d 8 --p -0.1                        | p = -0.1 is not allowed
theory --T 64 --d 8 --p 1.00000000001               | p = 1.00000000001 is not allowed
theory --T 64 --d 8 --p nan                         | p = nan is not allowed
theory --T 64 --d 8 --p inf                         | p = inf is not allowed
theory --T 64 --d 8 --p 1e300                       | p = 1e+300 is not allowed
theory --T 64 --d 8 --p half                        | --p: 'half' is not a number
theory --T 64 --d 8 --level 0                       | level = 0 is not allowed
theory --T 64 --d 8 --level 1                       | level = 1 is not allowed
theory --T 64 --d 8 --level -1                      | level = -1 is not allowed
theory --T 64 --d 8 --level nan                     | level = nan is not allowed
theory --T 64 --d 8 --level inf                     | level = inf is not allowed
theory --T 64 --d 8 --level 1e-300                  | levels between 1e-12 and 1 − 1e-9
theory --T 64 --d 8 --level 0.9999999999999         | level = 0.9999999999999 is not allowed
theory --T 64 --d 8 --logits tide                   | Expected one of tied, free. Perhaps you meant tied
theory --T 64 --d 8 --plot x.gif                    | must end in .png, .pdf or .svg
theory --T 64 --d 8 --plot nowhere/x.png            | 'nowhere' must be a folder
theory --T 64 --d 8 --plot ../things/folder.png     | the file must not be one
theory --T 64 --d 8 --plot ../things/pipe.png       | it is not a regular file
theory --T 64 --d 8 --plot ../things/a_file/x.png   | must be a folder
theory --T 64 --d 8 --plot {LONG}.png               | File name too long
theory --T 64 --d 8 --plt x.png                     | there is no option --plt. Perhaps you meant --plot
theory --T 64 --d 8 --levl 1 --lgits tied           | Perhaps you meant --level
theory --T 64 --d 8 more                            | 'more' is not expected here
theory --T 64 --d 8 --json=maybe                    | 'maybe' is not expected here

train                                               | Expected one of {{single-location, toy, recall
train singel-location                               | Perhaps you meant single-location
train SINGLE-LOCATION                               | Perhaps you meant single-location
train ""                                            | train: its value is empty
train toy toy                                       | 'toy' is not expected here
train --task.T 8 toy                                | --task.T stands in the wrong place
train toy --task.t 8                                | there is no option --task.t. Perhaps you meant --task.T
train toy --task.x 8                                | there is no option --task.x. There are --task.T, --task.d, --task.B
train toy --JSON                                    | Perhaps you meant --json
train toy --optimizer.learningrate 1                | Perhaps you meant --optimizer.learning-rate
train toy --task.T                                  | --task.T needs a value
train toy --task.T 1                                | T = 1 is not allowed
train toy --task.T -5                               | T = -5 is not allowed
train toy --task.T nan                              | --task.T: 'nan' is not a whole number
train toy --task.T 2.5                              | --task.T: '2.5' is not a whole number
train toy --task.T 1e400                            | '1e400' is not a whole number
train toy --task.T 100000000                        | needs at least 13,9
train toy --task.T 10000000000                      | GB of memory, and a worker has
train single-location --task.T 100000000            | GB of memory, and a worker has
train single-location --model.width 1000000000      | GB of memory, and a worker has
train single-location --model.heads 100000000       | GB of memory, and a worker has
train single-location --model.mlp 100000000000      | GB of memory, and a worker has
train single-location --model.head-width 1000000000000 | GB of memory, and a worker has
train single-location --model.layers 1000000000     | layers = 1000000000 is not allowed: it must be at most 1,000
train single-location --model.layers 0              | layers = 0 is not allowed
train single-location --model.mlp -1                | mlp = -1 is not allowed
train single-location --batch 1000000000            | GB of memory, and a worker has
train single-location --evaluation 1000000000       | GB of memory, and a worker has
train single-location --task.no-feature             | feature = False is not allowed
train toy --task.d 0                                | d = 0 is not allowed
train toy --task.d 1000000000                       | GB of memory, and a worker has
train toy --task.B 0                                | B = 0 is not allowed
train toy --task.B 64                               | B must be at most T − 1 = 63
train toy --task.B 1.5                              | B = 1.5 is not allowed
train toy --task.B 1.000000001                      | B = 1.000000001 is not allowed
train toy --task.B nan                              | B = nan is not allowed
train toy --task.p 1                                | p = 1 is not allowed
train toy --task.p nan                              | p = nan is not allowed
train toy --task.p -inf                             | p = -inf is not allowed
train toy --task.position somewhere                 | Expected one of random, fixed
train toy --task.feature maybe                      | 'maybe' is not expected here
train toy --model.scale nan                         | scale = nan is not allowed
train toy --model.scale inf                         | scale = inf is not allowed
train toy --model.scale x                           | --model.scale: 'x' is not a number
train toy --optimizer.name sdg                      | Perhaps you meant sgd
train toy --optimizer.learning-rate nan             | learning_rate = nan is not allowed
train toy --optimizer.learning-rate -1              | learning_rate = -1
train toy --optimizer.learning-rate inf             | learning_rate = inf is not allowed
train toy --optimizer.momentum nan                  | momentum = nan is not allowed
train toy --optimizer.weight-decay -1               | weight_decay = -1
train toy --optimizer.clip -inf                     | clip = -inf is not allowed
train toy --stop.budget 0                           | budget = 0 is not allowed
train toy --stop.budget -5                          | budget = -5 is not allowed
train toy --stop.budget 10000000000                 | budget = 10000000000 is not allowed: it must be at most 2,147,483,647
train toy --stop.every 0                            | every = 0 is not allowed
train toy --stop.level nan                          | level = nan is not allowed
train toy --stop.level -1                           | level = -1
train toy --stop.level inf                          | level = inf is not allowed
train toy --stop.margin nan                         | margin = nan is not allowed
train toy --stop.margin inf                         | margin = inf is not allowed
train toy --schedule.name swich                     | Perhaps you meant switch
train toy --schedule.name switch                    | it needs the step of a switch
train toy --schedule.switch-at 5                    | only 'switch' and 'ramp' have a switch
train toy --schedule.switch-at nan                  | switch_at = nan is not allowed
train toy --schedule.name adaptive                  | the task has no repetition
train toy --schedule.restore-below nan              | restore_below = nan is not allowed
train toy --batch 0                                 | batch = 0 is not allowed
train toy --batch -3                                | batch = -3 is not allowed
train toy --batch 1e30                              | GB of memory, and a worker has
train toy --evaluation 0                            | evaluation = 0 is not allowed
train toy --evaluation 1e30                         | GB of memory, and a worker has
train toy --seeds 0                                 | seeds = 0 is not allowed
train toy --seeds 1e12                              | seeds = 1e+12 is not allowed: it must be at most 10,000
train toy --seeds nan                               | --seeds: 'nan' is not a whole number
train toy --seed 99999999999999999999               | seed = 99999999999999999999 is not allowed
train toy --seed 2147483648                         | seed = 2147483648 is not allowed
train toy --seed x                                  | --seed: 'x' is not a whole number
train toy --checkpoint -1                           | checkpoint = -1 is not allowed
train toy --checkpoint nan                          | checkpoint = nan is not allowed
train toy --checkpoint soon                         | --checkpoint: 'soon' is not a number
train toy --lab ""                                  | --lab: a folder needs a name
train toy --lab=                                    | --lab: a folder needs a name
train toy --lab ../things/a_file                    | it is a file, and a folder is needed
train toy --lab ../things/a_file/lab                | '../things/a_file' is a file
train toy --lab ../things/folder                    | has other files in it and is not a lab
train toy --lab ../things/pipe                      | it is a file, and a folder is needed
train toy --lab /dev/null                           | it is a file, and a folder is needed
train toy --lab /proc/daybreak                      | lab = '/proc/daybreak' is not allowed
train toy --lab {LONG}                              | File name too long
train toy --plot x.gif                              | must end in .png, .pdf or .svg
train toy --plot nowhere/x.png                      | 'nowhere' must be a folder
train recall --task.N 0                             | N = 0 is not allowed
train recall --task.N 9 --task.V 8                  | V must be at least 9 at N = 9
train recall --task.N 1000000000 --task.V 2000000000 | GB of memory, and a worker has
train recall --task.B 0                             | B = 0 is not allowed
train recall --task.B 99                            | at most N = 8 times
train recall --task.placement anywhere              | Expected one of one-plus, exactly, at-least-one, bernoulli
train markov --task.m 0                             | must be above 0. See daybreak train --help
train markov --task.beta abc                        | --task.beta: 'abc' is not allowed: it must be a number
train markov --task.weights 1 1                     | they must sum to one, but sum to 2
train markov --task.weights a b                     | it must be a number, or several
train markov --task.stride 99                       | it must be at most L = 2
train markov --task.prefix 1                        | the prefix must have at least 6
train markov --task.prefix 1000000000               | the prefix must be at most 1,000,000
train markov --task.generated 0                     | generated = 0 is not allowed
train markov --task.generated 1000000000            | must be at most 1,000,000
train markov --task.generated 100000                | GB of memory, and a worker has
train markov --task.train -1                        | train = -1 is not allowed
train markov --task.train 1000000000000             | GB of memory, and a worker has
train markov --task.validation 1000000000000        | GB of memory, and a worker has
train markov --task.d 1                             | d = 1 is not allowed
train markov --task.d 1000000000                    | GB of memory, and a worker has
train markov --task.K 1000000000                    | would look back 2,000,000,000 tokens
train markov --task.L 1000000000                    | would look back 3,000,000,000 tokens
train markov --model.heads 1000000                  | heads = 1000000 is not allowed
train markov --model.epsilon nan                    | epsilon = nan is not allowed
train markov --model.window -1                      | window = -1 is not allowed
train markov-full --model.dropout 1                 | dropout = 1 is not allowed
train markov-full --model.norm middle               | Expected one of none, pre, post
train markov-full --model.embedding-scale inf       | embedding_scale = inf is not allowed
train text --task.text nowhere.txt                  | text = 'nowhere.txt' cannot be used: No such file or directory
train text --task.text ../things/folder             | it is not a regular file
train text --task.text ../things/pipe               | it is not a regular file
train text --task.text ../things/binary             | it is not a text file, byte 0 is zero
train text --task.text ../things/empty              | it is empty
train text --task.text ../things/huge               | bytes, and at most 200,000,000 are allowed
train text --task.text ../things/a_file             | text = '../things/a_file' is not allowed: it has
train text --task.text {LONG}                       | File name too long
train text --task.text ""                           | its value is empty
train text --task.text 0123456789abcdef             | is not on this machine: it is the digest of a file
train text --task.vocabulary 2000                   | vocabulary = 2000 is not allowed: that of 'classics' has 100 to 1,000
train text --task.q 2                               | q = 2 is not allowed
train text --task.T 1000000                         | T = 1000000 need 10,000,010
train text --task.passage 17                        | 4 occurrences of it must fit into 65 tokens
train text --task.held-out                          | no run may be trained on the held-out part
train text --model.no-causal                        | each answer is the next input
train text --model.head-width 15                    | rotary positions turn pairs of entries
train text --stop.level 1                           | attention lies between 0 and 1
train text --stop.watch loss                        | Expected one of score, attention
train text --optimizer.warmup -1                    | warmup = -1 is not allowed
train text --schedule.name adaptive --task.q 0      | is not allowed at q = 0, p = 0: the task has no repetition

sweep                                               | Missing from daybreak sweep: SWEEP.toml
sweep ""                                            | sweep: its value is empty
sweep none.toml                                     | No such file or directory
sweep examples/small.toml                           | 'daybreak examples' writes it
sweep small.toml --dry-run                          | there is no file 'small.toml'
sweep ../things/folder                              | it is a folder
sweep ../things/pipe                                | it is not a regular file
sweep /dev/zero                                     | it is not a regular file
sweep ../things/binary                              | it is not UTF-8 text
sweep ../things/huge                                | bytes, and at most 10,000,000 are read
sweep {LONG}                                        | File name too long
sweep ../things/toy.toml more                       | 'more' is not expected here
sweep ../things/toy.toml --lab ../things/a_file     | it is a file, and a folder is needed
sweep ../things/toy.toml --lab ../things/folder     | has other files in it and is not a lab
sweep ../things/toy.toml --lab /proc/daybreak       | lab = '/proc/daybreak' is not allowed
sweep ../things/toy.toml --patience 0               | patience = 0 is not allowed: it must be above 0
sweep ../things/toy.toml --patience nan             | patience = nan is not allowed
sweep ../things/toy.toml --patience -1              | patience = -1 is not allowed
sweep ../things/toy.toml --workers -1               | workers = -1 is not allowed
sweep ../things/toy.toml --workers 1e9              | workers = 1000000000 is not allowed
sweep ../things/toy.toml --workers nan              | --workers: 'nan' is not a whole number
sweep ../things/toy.toml --threads 0                | threads = 0 is not allowed
sweep ../things/toy.toml --retries -1               | retries = -1 is not allowed
sweep ../things/toy.toml --checkpoint nan           | checkpoint = nan is not allowed
sweep ../things/toy.toml --gpus 1                   | it needs --executor ray
sweep ../things/toy.toml --gpus nan                 | gpus = nan is not allowed
sweep ../things/toy.toml --address 10.0.0.1:6379    | it needs --executor ray
sweep ../things/toy.toml --executor rya             | Perhaps you meant ray
sweep ../things/toy.toml --dryrun                   | Perhaps you meant --dry-run
sweep ../things/long.toml                           | needs at least 64.8 GB of memory, and a worker has
sweep ../things/long.toml --dry-run                 | needs at least 64.8 GB of memory, and a worker has

runs lst                                            | Perhaps you meant list. Available subcommands: list, show, export
runs show                                           | Missing from daybreak runs show: ID
runs show ""                                        | show: its value is empty
runs show 0                                         | there is no lab in folder 'lab'
runs show xyz --lab ../things/lab                   | starts with 'xyz'
runs show ../things --lab ../things/lab             | starts with '../things'
runs show {ID} --lab ../things/lab --plot x.gif     | must end in .png, .pdf or .svg
runs show {ID} --lab ../things/lab --plot no/x.png  | 'no' must be a folder
runs list --lab nowhere                             | there is no lab in folder 'nowhere'
runs list --lab ../things/a_file                    | there is no lab
runs list --lab ../things/pipe                      | there is no lab
runs list --lab ../things/folder                    | there is no lab
runs list --lab {LONG}                              | there is no lab
runs list --lab ../things/lab --where nonsense=1    | there is no column 'nonsense'; a text has single quotes, and there are id, task
runs list --lab ../things/lab --where "outcme = 'x'" | there is no column 'outcme'; perhaps you meant 'outcome'
runs list --lab ../things/lab --where "T=1;T=2"     | where = 'T=1;T=2' is not allowed
runs list --lab ../things/lab --where "T="          | is not allowed: syntax error
runs list --lab ../things/lab --where "f(T)=1"      | is not allowed: Scalar Function with name f does not exist.
runs list --lab ../things/lab --where "T in (select T from runs)" | is not allowed: Table with name runs does not exist.
runs list --lab ../things/lab --where "'"           | unterminated
runs list --lab ../things/lab --where ""            | --where: its value is empty
runs list --lab ../things/lab --where "T = 'x'"     | Could not convert
runs list --lab ../things/lab --where "read_text('/etc/passwd') = 'x'" | is not allowed
runs list --lab ../things/lab --where "(select count(*) from range(100000000000))>0" | it takes longer than
runs list --lab ../things/lab --where "(select list(x) from range(4000000000) t(x)) is null" | is not allowed
runs list --lab ../things/lab --where "len(repeat('x', 100000000000))>0" | is not allowed
runs export                                         | give either a FILE to write rows to, or --parameters DIR
runs export runs.csv                                | there is no lab in folder 'lab'
runs export runs.txt --lab ../things/lab            | must end in .csv, .parquet or .json
runs export nowhere/runs.csv --lab ../things/lab    | 'nowhere' must be a folder
runs export ../things/folder.csv --lab ../things/lab | the file must not be one
runs export ../things/pipe.csv --lab ../things/lab  | it is not a regular file
runs export {LONG}.csv --lab ../things/lab          | File name too long
runs export runs.csv --lab ../things/lab --where t0=1 | there is no column 't0'

fit                                                 | Missing from daybreak fit: --law
fit --law C                                         | there is no lab in folder 'lab'
fit --law "" --lab ../things/lab                    | --law: its value is empty
fit --law "C * T**" --lab ../things/lab             | cannot be read
fit --law "C * t**a" --lab ../things/lab            | did you mean 'T'?
fit --law "C * X**a" --lab ../things/lab            | 'X'
fit --law "C + T**b" --lab ../things/lab            | law 'C + T**b'
fit --law "__import__('os')" --lab ../things/lab    | cannot be read
fit --law "C * T**a * {LONG}{LONG}" --lab ../things/lab | is too long
fit --law "C * T**a" --lab ../things/lab --method oil | Expected one of huber, ols, tobit. Perhaps you meant ols
fit --law "C * T**a" --lab ../things/lab --where "nope = 1" | there is no column 'nope'
fit --law "C * T**a" --lab ../things/lab --where "T > 100000" | has no run
fit --law "C * T**a" --lab ../things/lab --plot x.gif | must end in .png, .pdf or .svg
fit --law "C * T**a" --lab nowhere                  | there is no lab

forecast {ID} --lab ../things/lab --where x         | there is no option --where. See daybreak forecast --help.
forecast                                            | Missing from daybreak forecast: RUN
forecast x                                          | there is no lab
forecast xyz --lab ../things/lab                    | starts with 'xyz'
forecast {ID} --lab ../things/lab --at -1           | at = -1 is not allowed
forecast {ID} --lab ../things/lab --at 1e9          | at = 1000000000 is not allowed
forecast {ID} --lab ../things/lab --at abc          | --at: 'abc' is not a whole number
forecast {ID} --lab ../things/lab --level 0         | level = 0 is not allowed
forecast {ID} --lab ../things/lab --level nan       | level = nan is not allowed
forecast {ID} --lab ../things/lab --level inf       | level = inf is not allowed
forecast {ID} --lab ../things/lab --law "C * X**a"  | 'X'
forecast {ID} --lab ../things/lab --plot x.gif      | must end in .png, .pdf or .svg
forecast nowhere.csv --level 1                      | there is no file or folder 'nowhere.csv'
forecast no/where --level 1                         | there is no file or folder 'no/where'
forecast ../things/folder --level 1                 | is a folder without event files of TensorBoard
forecast ../things/curves.csv                       | give --level: the value of 'loss' that counts as emerged. It starts at 3
forecast ../things/curves.csv --level nan           | level = nan is not allowed
forecast ../things/curves.csv --level 1 --value lss | perhaps you meant 'loss'
forecast ../things/curves.csv --level 1 --value xyz | there is no such column; there are loss, probe
forecast ../things/curves.csv --level 1 --probe xyz | probe = 'xyz' is not allowed
forecast ../things/curves.csv --level 1 --step xyz  | there are step, loss, probe
forecast ../things/curves.csv --level 1 --at 99     | at = 99 is not allowed: file ../things/curves.csv has steps 0 to 20
forecast ../things/curves.csv --level 1 --direction left | direction = 'left' is not allowed
forecast ../things/curves.csv --level 1 --law C     | --law is not allowed with a file
forecast ../things/a_file --level 1                 | its name must end in .csv
forecast ../things/pipe.csv --level 1               | it is not a regular file
forecast ../things/huge --level 1                   | its name must end in .csv
forecast ../things/huge.csv --level 1               | at most 1,073,741,824 are read
forecast {LONG}.csv --level 1                       | there is no file or folder
forecast {ID} --lab ../things/lab --step x          | --step is not allowed with a run
forecast {ID} --lab ../things/lab --value nothing   | there is no such column

watch                                               | Missing from daybreak watch: FILE
watch ../things/curves.csv --follow                 | give --level
watch ../things/curves.csv --follow --level 1 --value xyz | there is no such column
watch ../things/curves.csv --follow --every 0 --level 1 | every = 0 is not allowed
watch nowhere.csv --follow --level 1                | there is no file or folder 'nowhere.csv'
watch xyz --follow --lab ../things/lab              | starts with 'xyz'
watch xyz --follow                                  | there is no lab
watch {ID} --follow --lab ../things/lab --step x    | --step is not allowed with a run

runs import                                         | Missing from daybreak runs import: FILE
runs import nowhere.csv                             | it does not exist
runs import ../things/a_file                        | its name must end in .csv
runs import ../things/folder                        | has no event files of TensorBoard
runs import ../things/curves.csv --value xyz        | there is no such column
runs import ../things/curves.csv --level -1         | level = -1
runs import ../things/curves.csv --setting context  | write NAME=VALUE
runs import ../things/curves.csv --setting a=1 --setting a=2 | a is given twice
runs import ../things/curves.csv --setting "a b=1"  | setting 'a b' is not allowed
runs import ../things/curves.csv --setting a=nan    | setting a = nan is not allowed
runs import ../things/curves.csv --name " "         | an observed run needs a name
runs import ../things/curves.csv --lab ../things/folder | has other files in it and is not a lab
runs import ../things/curves.csv --lab ../things/a_file | it is a file
runs export ../things/a_file --format csv --lab ../things/lab | it is a file
runs export out --format exel --lab ../things/lab   | format = 'exel' is not allowed
runs export out --format csv --curves --lab ../things/lab | --curves is not allowed together with --format
runs export --parameters out --format csv --lab ../things/lab | --format is not allowed together with --parameters
train toy --log wandb                               | write wandb:PROJECT
train toy --log file:x                              | choose one of tensorboard:DIR

advise                                              | --T and --d missing: give both
advise --T 64                                       | --d missing: give both
advise --T 4 --d 8                                  | T = 4 is not allowed
advise --T -1 --d 8                                 | T = -1 is not allowed
advise --T nan --d 8                                | --T: 'nan' is not a whole number
advise --T 64 --d 0                                 | d = 0 is not allowed
advise --T 1000000000000000000 --d 8                | T =
advise --T 64 --d 1000000000000                     | d =
advise --T 64 --d 8 --law fig99                     | law = 'fig99' is unknown
advise --T 64 --d 8 --law fig3 --lab lab            | together with --lab
advise --T 64 --d 8 --lab nowhere                   | there is no lab
advise --T 64 --d 8 --lab ../things/a_file          | there is no lab
advise --T 64 --d 8 --results ../things/a_file      | ../things/a_file

reproduce                                           | figures at laptop scale, about
reproduce --json                                    | give names of figures, or --all
reproduce --scale smoke                             | figures at smoke scale, about
reproduce --all fig1a                               | --all is not allowed together with names
reproduce FIG1C                                     | did you mean fig1c?
reproduce fig99                                     | study 'fig99' is unknown
reproduce fig1a --scale Smoke                       | Perhaps you meant smoke
reproduce fig1a --out ../things/a_file              | it is a file
reproduce fig1a --out ../things/a_file/x            | '../things/a_file' is a file
reproduce fig1a --out ../things/pipe                | it is a file
reproduce fig1a --out {LONG}                        | File name too long
reproduce fig15 --lab ../things/a_file              | it is a file
reproduce fig15 --lab ../things/folder              | has other files in it and is not a lab
reproduce fig15 --workers -1                        | workers = -1 is not allowed
reproduce fig15 --workers 1e9                       | workers = 1000000000 is not allowed
reproduce fig15 --from-tables                       | fig15 has no tables at laptop scale in 'results'. Name the folder
reproduce fig15 --add --from-tables                 | --add is not allowed together with --from-tables
reproduce --from-tables                             | there are no tables at laptop scale

explore --port 70000                                | port = 70000 is not allowed
explore --port -1                                   | port = -1 is not allowed
explore --port web                                  | --port: 'web' is not a whole number
explore --host no.such.host.invalid                 | it is no address of this machine
explore --host 256.256.256.256                      | it is no address of this machine
explore --host ""                                   | --host: its value is empty
explore --hots x                                    | Perhaps you meant --host
explore --lab ../things/a_file --port 0             | ../things/a_file
explore --lab ../things/pipe --port 0               | ../things/pipe

examples ""                                         | examples: its value is empty
examples ../things/a_file                           | it is a file, and a folder is needed
examples ../things/a_file/x                         | is a file
examples {LONG}/x                                   | File name too long
examples one two                                    | 'two' is not expected here

doctor more                                         | 'more' is not expected here
doctor --jsn                                        | Perhaps you meant --json
doctor --lab x                                      | there is no option --lab
demo more                                           | 'more' is not expected here
demo --out ../things/a_file                         | it is a file
demo --out ../things/a_file/x                       | '../things/a_file' is a file
demo --out ../things/pipe                           | it is a file
demo --out {LONG}                                   | File name too long
"""

SMALL = '[task]\nname = "single-location"\nT = 4\nd = 2\nposition = "fixed"\nfeature = false\n[model]\nname = "toy"\n'


def _with(setting: str) -> str:
    return SMALL.replace("T = 4", setting)


SWEEPS = [
    ("", "[task] needs a name"),
    ("x", "Expected '='"),
    ("[task", "at the end, line 1"),
    ("T = " + "[" * 2000, "values are nested too deeply"),
    ("T = " + "[" * 100_000, "values are nested too deeply"),
    ("a" + ".a" * 100_000 + " = 1", "values are nested too deeply"),
    ("seeds = [" + "[" * 50 + "]" * 50 + "]\n" + SMALL, "values are nested too deeply"),
    ("\ufeffsedes = 3\n" + SMALL, "line 1: 'sedes' is unknown in a sweep: perhaps you meant 'seeds'"),
    (_with("T = " + "9" * 5000), "a number has too many digits"),
    (_with("T = " + "9" * 400), "T = 99"),
    (_with("T = nan"), "T = nan is not allowed"),
    (_with("T = inf"), "T = inf is not allowed"),
    (_with("T = -1"), "T = -1 is not allowed"),
    (_with("T = 2.5"), "T = 2.5 is not allowed"),
    (_with("T = true"), "is not allowed: it must be a whole number"),
    (_with("T = 1979-05-27"), "T = 1979-05-27 is not allowed"),
    (_with("T = []"), "an axis needs at least one value"),
    (_with("T = [[4]]"), "T = [4] is not allowed"),
    (_with("T = { logspace = [1, 2] }"), "logspace needs first, last and how many"),
    (_with("T = { linspace = [-1e308, 1e308, 5] }"), "linspace needs first, last and how many"),
    (_with("T = { linspace = [1, 2, 100000000000] }"), "linspace needs first, last and how many"),
    (_with("T = { range = [0, 1000000000000] }"), "range needs start, stop and step"),
    (_with("T = { rnage = [5, 1] }"), "a range is one of logspace, linspace, range"),
    (_with('T = "4, 5"'), "expression '4, 5' cannot be read"),
    (_with('T = "4 * d, 5"'), "cannot be read at '(4 * d, 5)'"),
    (_with('T = "4 *"'), "cannot be read"),
    (_with('T = ""'), "cannot be read"),
    (_with('T = "4 * D"'), "perhaps you meant 'd'"),
    (_with('T = "1/0"'), "division by zero"),
    (_with('T = "9**9**9"'), "cannot be computed"),
    (_with('T = "__import__(1)"'), "cannot be read"),
    (_with('T = "T + 1"'), "in a circle"),
    (_with('T = "d < 3"'), "it gives True"),
    (_with("t = 4"), "line 3: 't' is unknown in [task]: perhaps you meant 'T'"),
    (SMALL.replace('"toy"', '"Toy"'), "perhaps you meant 'toy'"),
    (SMALL.replace("single-location", "single-loction"), "perhaps you meant 'single-location'"),
    (SMALL.replace("[model]", "[modle]"), "line 7: 'modle' is unknown in a sweep: perhaps you meant 'model'"),
    (SMALL.replace('"fixed"', '"fıxed"'), "choose 'random' or 'fixed'"),
    ("seeds = 0\n" + SMALL, "seeds = 0 is not allowed"),
    ("seeds = 100000000000000000000000\n" + SMALL, "runs is too large: at most 1,000,000 are allowed"),
    ("seeds = [99999999999]\n" + SMALL, "seed = 99999999999 is not allowed"),
    ("batch = 0\n" + SMALL, "batch = 0 is not allowed"),
    ("batch = 1e30\n" + SMALL, "GB of memory, and a worker has"),
    ('where = "T"\n' + SMALL, "it gives 4, not true or false"),
    ('where = "T > 100"\n' + SMALL, "leaves out all 1 runs"),
    ('where = "q > 1"\n' + SMALL, "names 'q', which is unknown"),
    ('preset = "paper-a"\n' + SMALL, "perhaps you meant 'paper-a-re"),
    ('[task]\nname = "markov"\n[model]\nname = "toy"', "model 'toy' is not allowed with this task"),
    (_with("T = [4"), "Unclosed array (at line 4, column 1)."),
    ("task = 3", "it must be a table, [task]"),
    ("grid = 3", "'grid' must be written [[grid]]"),
    ("[stop]\nbudget = 1e30\n" + SMALL, "budget = 1e+30 is not allowed: it must be at most 2,147,483,647"),
    ('[optimizer]\nlearning_rate = "1/(d-2)"\n' + SMALL, "division by zero"),
    ('preset = "paper-a-regression"\n[task]\nT = 100000000000', "GB of memory, and a worker has"),
]

CASES = [tuple(x.strip() for x in line.rsplit("|", 1)) for line in WRONG.strip().splitlines() if line]


@pytest.fixture(scope="module")
def things(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What requests may name: everything but what the option needs."""
    folder = tmp_path_factory.mktemp("wrong") / "things"
    (folder / "folder").mkdir(parents=True)
    (folder / "folder" / "notes").write_text("mine")
    (folder / "a_file").write_text("hello\n")
    (folder / "binary").write_bytes(bytes(range(256)))
    (folder / "empty").touch()
    for name in ("huge", "huge.csv"):
        with (folder / name).open("wb") as file:
            file.truncate(10**12)  # a sparse file: it takes no space
    (folder / "curves.csv").write_text("step,loss,probe\n0,3,0.1\n10,3,0.2\n20,3,0.3\n")
    for suffix in ("", ".png", ".csv"):
        os.mkfifo(folder / f"pipe{suffix}")
        (folder / f"folder{suffix}").mkdir(exist_ok=True)
    (folder / "toy.toml").write_text(TOY)
    (folder / "long.toml").write_text(TOY.replace("T = 4", "T = 100000000"))
    made.fill(Lab(folder / "lab"))
    return folder


@pytest.fixture(autouse=True)
def _here(things: Path, monkeypatch: pytest.MonkeyPatch, as_a_user: None) -> Iterator[None]:
    """In an empty folder, which stays empty, beside things that stay as they are; a hang is an error."""
    here = things.parent / "here"
    here.mkdir(exist_ok=True)
    monkeypatch.chdir(here)
    before = _snapshot(things.parent)
    usual = signal.signal(signal.SIGALRM, _hangs)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, usual)
    assert _snapshot(things.parent) == before, "nothing is written"


def _hangs(*_) -> None:
    raise TimeoutError(f"it took longer than {SECONDS} seconds")


def _snapshot(folder: Path) -> list[tuple[str, int, int]]:
    paths = sorted(folder.rglob("*"))
    return [(str(x), x.lstat().st_size, 0 if x.is_dir() else x.lstat().st_mtime_ns) for x in paths]


def _one_sentence(capsys: pytest.CaptureFixture[str], sentence: str) -> None:
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("daybreak: ")
    assert err.endswith(".\n")
    assert err.count("\n") == 1
    assert sentence in err
    for python in ("Traceback", "Error: ", "<class", "lambda", "typing.", "object at"):
        assert python not in err


@pytest.mark.parametrize(("line", "sentence"), CASES)
def test_a_wrong_request_is_one_sentence_and_writes_nothing(line: str, sentence: str, capsys) -> None:
    assert main(shlex.split(line.format(LONG=LONG, ID=ID))) == 2
    _one_sentence(capsys, sentence.format())


@pytest.mark.parametrize(("text", "sentence"), SWEEPS)
def test_a_wrong_sweep_file_is_one_sentence_and_writes_nothing(
    text: str, sentence: str, tmp_path: Path, capsys
) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(text, encoding="utf-8")
    assert main(["sweep", str(file)]) == 2
    _one_sentence(capsys, sentence)


@pytest.mark.parametrize("line", ["reproduce fig1a --out /proc/daybreak", "demo --out /proc/daybreak"])
def test_what_cannot_be_written_is_one_sentence(line: str, capsys) -> None:
    assert main(line.split()) in (1, 2)
    _one_sentence(capsys, "/proc/daybreak")


def test_there_are_many_and_every_verb_has_some() -> None:
    verbs = [line.split()[0] for line, _ in CASES]
    assert len(CASES) + len(SWEEPS) > 300
    assert {verb for verb in VERBS if verbs.count(verb) < 3} == set()


@pytest.mark.parametrize("verb", VERBS)
def test_a_process_of_its_own_says_the_same(verb: str, things: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "daybreak", verb, "--nonsense", "1"],
        cwd=things.parent / "here",
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("daybreak: ")
