"""How far actions are ahead of one of them in the same sampled worlds, and how sure that is."""

import numpy as np
from numpy.typing import NDArray


def paired(values: NDArray[np.float64], weights: NDArray[np.float64], own: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(means, standard errors), each (a,), of the differences between actions and the action in column `own`.

    `values` (w, a): what each action comes to in each world; `weights` (w,) sum to 1. An error is that of a weighted mean, the root of
    Σ w² (x − mean)² / (1 − Σ w²): of n equal weights the usual s / √n. It is inf where one world has all the weight: then nothing is sure.
    """
    ahead = values - values[:, own, None]
    means: NDArray[np.float64] = weights @ ahead
    squares = weights**2
    if weights.max() >= 1:
        return means, np.full(len(means), np.inf)
    errors: NDArray[np.float64] = np.sqrt(squares @ (ahead - means) ** 2 / (1 - squares.sum()))
    return means, errors
