"""Arrays that are also read and written number by number.

One number of a memoryview takes a quarter of the time of one number of an array. Where a step
touches a few numbers of large arrays, that is most of what it costs.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np


class NumberByNumber:
    """Owner of arrays with memoryviews of some of them: the numbers row by row.

    A subclass names these arrays in `VIEWED` and calls `_view` whenever it has other arrays; the
    view of `mean` is `_mean_numbers`. A copy of the owner has views of its own arrays.
    """

    VIEWED: ClassVar[tuple[str, ...]] = ()

    def _view(self) -> None:
        """Have views of the arrays there are now."""
        for name in self.VIEWED:
            values = getattr(self, name)
            setattr(self, f"_{name.lstrip('_')}_numbers", np.ravel(values).data)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the views, which cannot be copied."""
        return {name: value for name, value in vars(self).items() if type(value) is not memoryview}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take it over, and view it."""
        vars(self).update(state)
        self._view()
