"""`daybreak demo`: the tour."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, final

import tyro
from rich.console import Console

from daybreak.cli._answer import Answer, Json, check_new_folder
from daybreak.cli.reproduce import Reproduce

_FIGURES = ("fig1a", "fig1c", "fig2-left", "fig2-right")
_LAWS = (
    ("fig1c", "plateau", "d^≈0.5 T^≈1"),
    ("fig2-left", "tied", "1.51 d^0.49 T^0.99 B^−0.99"),
    ("fig2-left", "free", "not in the paper"),
    ("fig2-right", "plateau", "2.15 (√d T / √(p²d+(1−p)²))^1.02"),
)


@final
@dataclass(frozen=True)
class Demo:
    """The tour: laws of the toy model next to the paper's, and a Transformer that emerges. Three minutes on two cores.

    Example: daybreak demo --out demo
    """

    out: Annotated[Path, tyro.conf.arg(help="Folder for data and pictures.")] = Path("demo")
    json: Json = False

    def answer(self) -> Answer:
        """Reproduce the laws of figures 1c and 2, and train the Transformer of figure 3 at its smallest."""
        from daybreak.cli.train import TrainSingleLocation

        check_new_folder("out", self.out)
        data = Reproduce(names=_FIGURES, scale="laptop", out=self.out).answer().data
        training = TrainSingleLocation(lab=self.out / "lab", plot=self.out / "transformer.png").answer()
        return Answer(data | {"training": training.data}, lambda console: self._show(console, data, training))

    def _show(self, console: Console, data: dict, training: Answer) -> None:
        studies = {one["study"].split("/")[1]: one for one in data["reproduced"]}
        console.print("Length of the plateau: the paper's laws, and ours", style="bold")
        for figure, name, paper in _LAWS:
            law = studies[figure]["laws"][name]
            console.print(f"\n  {figure}, {name}", style="bold", highlight=False)
            console.print(f"    paper  {paper}", highlight=False)
            console.print(f"    ours   {law['formula']}   R² {law['r2']:.4f}", highlight=False)
        console.print("\nClaims", style="bold")
        for one in data["reproduced"]:
            for claim in one["claims"]:
                console.print(
                    f"  {claim['verdict']:<6} {claim['id']:<12} {claim['sentence']}", markup=False, highlight=False
                )
        console.print("\nA Transformer of two layers, T = 32, d = 16: the paper's law predicts 435 steps", style="bold")
        training.show(console)
        console.print(f"\nPictures: {self.out}/emergence/*/laptop/figure.png", highlight=False)
        console.print(
            "Next: daybreak theory --T 512 --d 64 --plot flow.png    daybreak reproduce --list", highlight=False
        )
