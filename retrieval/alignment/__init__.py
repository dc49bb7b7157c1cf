"""One formula for every late-interaction scorer, sim(Q, D) = 1/Z sum S * A (ALIGNER, Qian et al. 2022): which tokens
are aligned, and how salient each is.

`pairs` and `gate` hold the mathematics on PyTorch; what is named here loads nothing.
"""

from propcite.retrieval.alignment.forms import FORMS, NEAREST, Alignment, alignment_of

__all__ = ["FORMS", "NEAREST", "Alignment", "alignment_of"]
